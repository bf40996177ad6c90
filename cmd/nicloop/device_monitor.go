package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/monitor"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// A watch samples the nodes of a system at regular intervals.
type watch struct {
	sys      drivers.System
	nodes    []int
	monitors []*monitor.Monitor
	interval time.Duration
	began    time.Time
}

func (f *deviceFlags) monitor() *cobra.Command {
	var interval time.Duration
	var count int
	var asCSV bool
	cmd := &cobra.Command{
		Use: "monitor", Short: "Monitor counters and links, once per second", Args: checked(cobra.NoArgs),
		Long: `Show the counters and links of a device: which counters changed, how fast, and marks
at those that should not have changed. A terminal is redrawn in place. The command
runs until it is interrupted, or for --count samples. Of a design: device, all
read-only registers of its map are shown.

--csv writes the values of all counters, a line per node and sample. On a simulated
device whose time no other program advances, --interval is simulated time.`,
		Example: `  nicloop device monitor --device uart:/dev/ttyUSB0,/dev/ttyUSB1
  nicloop device monitor --device shared:/tmp/nic --csv --count 3600 >night.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := positive("interval", interval); err != nil {
				return err
			}
			return f.with(cmd, func(sys drivers.System, _ drivers.Device) error {
				w := &watch{sys: sys, interval: interval, began: time.Now()}
				for n := range sys.Info().Nodes {
					if cmd.Flags().Changed("node") && n != f.node {
						continue
					}
					m, err := monitor.New(sys.Device(n), sys.Info().Registers)
					if err != nil {
						return err
					}
					w.nodes, w.monitors = append(w.nodes, n), append(w.monitors, m)
				}
				if asCSV {
					return w.csv(cmd, count)
				}
				return w.show(cmd, count)
			})
		},
	}
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between samples")
	cmd.Flags().IntVar(&count, "count", 0, "number of samples; 0: until interrupted")
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print values as CSV")
	return cmd
}

// now returns simulated time if the device has it.
func (w *watch) now() time.Duration {
	if timed, ok := w.sys.(drivers.Timed); ok {
		return time.Duration(timed.Now()) * time.Duration(w.sys.Info().ClockPS) / 1000
	}
	return time.Since(w.began)
}

// pass waits for an interval. It returns false when the user has interrupted, which is the normal
// end.
func (w *watch) pass(cmd *cobra.Command) (bool, error) {
	ctx := cmd.Context()
	timed, ok := w.sys.(drivers.Timed)
	if !ok {
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(w.interval):
			return true, nil
		}
	}
	const slice = 1 << 20
	var stop drivers.Stop
	end := timed.Now() + drivers.Cycle(w.interval*1000/time.Duration(w.sys.Info().ClockPS))
	for timed.Now() < end {
		if ctx.Err() != nil {
			return false, nil
		}
		if err := timed.Run(min(end, timed.Now()+slice), &stop); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (w *watch) take() (list []monitor.Sample, err error) {
	at := w.now()
	for _, m := range w.monitors {
		s, err := m.Take(at)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// show redraws in place on a terminal.
func (w *watch) show(cmd *cobra.Command, count int) error {
	was, err := w.take()
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		if on, err := w.pass(cmd); !on || err != nil {
			return err
		}
		is, err := w.take()
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if isTerminal(cmd.OutOrStdout()) {
			b.WriteString("\033[H\033[J")
		}
		for n, m := range w.monitors {
			fmt.Fprintf(&b, "node %d of %s, after %v\n", w.nodes[n], w.sys.Info().URI, is[n].At.Round(time.Microsecond))
			if err := m.Show(&b, was[n], is[n]); err != nil {
				return err
			}
		}
		if _, err := cmd.OutOrStdout().Write(b.Bytes()); err != nil {
			return err
		}
		was = is
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// csv prints values as they arrive.
func (w *watch) csv(cmd *cobra.Command, count int) error {
	out := csv.NewWriter(cmd.OutOrStdout())
	for i := 0; count == 0 || i < count; i++ {
		if i > 0 {
			if on, err := w.pass(cmd); !on || err != nil {
				return err
			}
		}
		list, err := w.take()
		if err != nil {
			return err
		}
		for n, s := range list {
			if i == 0 && n == 0 {
				if err := w.monitors[n].Head(out); err != nil {
					return err
				}
			}
			if err := w.monitors[n].Row(out, w.nodes[n], s); err != nil {
				return err
			}
		}
	}
	return nil
}
