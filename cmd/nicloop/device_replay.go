package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/record"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
)

// replayed is the result of a replay.
type replayed struct {
	Log      string        `json:"log"`
	Recorded drivers.Info  `json:"recorded"`
	Device   drivers.Info  `json:"device"`
	Report   record.Report `json:"report"`
	Waves    *waveFile     `json:"waves,omitempty"` // waves around the divergence
}

type waveFile struct {
	File string        `json:"file"`
	From drivers.Cycle `json:"from_cycles"`
	To   drivers.Cycle `json:"to_cycles"`
}

type replayFlags struct {
	device *deviceFlags
	waves  string
	force  bool
	around uint64
	asJSON bool
}

func (f *deviceFlags) replay() *cobra.Command {
	r := &replayFlags{device: f}
	cmd := &cobra.Command{
		Use: "replay FILE", Short: "Replay a recording of record: on the RTL", Args: checked(cobra.ExactArgs(1)),
		Long: `Replay the transactions between software and a device on another device, in the
recorded order but not with the recorded timing, and report the first difference:
the register with its fields or the first byte of memory, the recorded and the found
value, and the calls before it. A difference is exit code 1.

Recordings are written by the device record:FILE!DEVICE. The number of nodes and their
memory are those of the recording. With --waves a divergence is repeated once more to
write the waves around it.`,
		Example: `  nicloop device selftest --device 'record:board.log!uart:/dev/ttyUSB0'
  nicloop device replay board.log --device rtl: --waves why.fst
  nicloop device log board.log | less`,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&r.waves, "waves", "", "write waveforms around a divergence to `FILE` (FST)")
	cmd.Flags().Uint64Var(&r.around, "around", 1000, "cycles that --waves shows before the call, and at most after it")
	cmd.Flags().BoolVar(&r.force, "force", false, "overwrite existing output files")
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "print as JSON")
	return cmd
}

func (r *replayFlags) run(cmd *cobra.Command, file string) (err error) {
	data, err := userfile.Read(file, userfile.LogLimit)
	if err != nil {
		return usageError{err}
	}
	meta, err := record.Read(data)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", file, err)}
	}
	opt, err := r.options(cmd, &meta)
	if err != nil {
		return err
	}
	out, err := r.once(cmd, file, data, opt)
	if err != nil {
		return err
	}
	d := out.Report.Divergence
	if d != nil && r.waves != "" {
		w := &waveFile{r.waves, d.Since - min(d.Since, drivers.Cycle(r.around)), min(d.Since+drivers.Cycle(r.around), d.Cycle)}
		opt.Waves = &drivers.WaveWindow{File: w.File, From: w.From, To: w.To}
		if out, err = r.once(cmd, file, data, opt); err != nil {
			return err
		}
		out.Waves = w
	}
	if r.asJSON {
		err = writeJSON(cmd.OutOrStdout(), out)
	} else {
		printReplay(cmd.OutOrStdout(), out)
	}
	if err == nil && d != nil {
		err = errFailed
	}
	return err
}

// once replays the log on a newly opened device.
func (r *replayFlags) once(cmd *cobra.Command, file string, data []byte, opt drivers.Options) (out *replayed, err error) {
	bar := newBar(cmd.ErrOrStderr(), "replay")
	defer bar.finish()
	opt.Progress = bar.describe
	sys, err := registry.Open(cmd.Context(), r.device.uri, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	timed, ok := sys.(drivers.Timed)
	if !ok {
		return nil, misused("--device %s: expected a device with simulated time, such as rtl:, model: or ideal:", r.device.uri)
	}
	rep, err := record.Replay(cmd.Context(), data, timed, record.Config{Progress: bar.set})
	if err != nil {
		return nil, err
	}
	meta, err := record.Read(data)
	return &replayed{Log: file, Recorded: meta.Info, Device: sys.Info(), Report: *rep}, err
}

// options returns the parameters of the recorded system.
func (r *replayFlags) options(cmd *cobra.Command, meta *translog.Meta) (opt drivers.Options, err error) {
	if cmd.Flags().Changed("nodes") || cmd.Flags().Changed("node") {
		return opt, misused("--nodes and --node come from the log: remove them")
	}
	opt = record.Shape(meta)
	if r.waves == "" {
		return opt, nil
	}
	if err := mayWrite(r.waves, r.force); err != nil {
		return opt, err
	}
	if !registry.CanRepeat(r.device.uri) {
		return opt, misused("--waves: %s has no waveforms: expected rtl:", r.device.uri)
	}
	if r.around == 0 {
		return opt, misused("--around 0: expected at least 1 cycle")
	}
	return opt, nil
}

func printReplay(w io.Writer, out *replayed) {
	rep := &out.Report
	fmt.Fprintf(w, "%s: %d nodes of %s, on %s\n", out.Log, out.Recorded.Nodes, out.Recorded.URI, out.Device.URI)
	fmt.Fprintf(w, "%d of %d operations equal: %d register reads, %d bytes written by the NIC (%d responses earlier than recorded); %d bytes attributed to software\n",
		rep.Operations, rep.Of, rep.Reads, rep.Bytes, rep.Ahead, rep.Stored)
	if rep.Cut != "" {
		fmt.Fprintf(w, "the log is truncated: %s\n", rep.Cut)
	}
	d := rep.Divergence
	if d == nil {
		return
	}
	fmt.Fprintf(w, "DIFFERS at operation %d, node %d, cycle %d of the replay: %s\n  recorded  %s\n  found     %s\n", d.Operation, d.Node, d.Cycle, d.Where, d.Expected, d.Found)
	for _, line := range d.Before {
		fmt.Fprintf(w, "  before    %s\n", line)
	}
	fmt.Fprintf(w, "  then      %d %s\n", d.Operation, d.Call)
	if v := out.Waves; v != nil {
		fmt.Fprintf(w, "waves of cycles %d to %d, call in cycle %d: %s\n", v.From, v.To, d.Since, v.File)
	}
}

func newDeviceLog() *cobra.Command {
	return &cobra.Command{
		Use: "log FILE", Short: "Print a log of record: or run --record as text", Args: checked(cobra.ExactArgs(1)),
		Example: "  nicloop device log board.log | grep -n MBOX_WP",
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := userfile.Read(args[0], userfile.LogLimit)
			if err != nil {
				return usageError{err}
			}
			err = translog.Dump(cmd.OutOrStdout(), data)
			var bad *translog.FormatError
			if errors.As(err, &bad) {
				return usageError{fmt.Errorf("%s: %w", args[0], err)}
			}
			return err
		},
	}
}
