package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/selftest"
	"github.com/spf13/cobra"
)

// selfTest is the result of a self-test.
type selfTest struct {
	Device  drivers.Info      `json:"device"`
	Seed    uint64            `json:"seed,string"`
	Results []selftest.Result `json:"results"`
}

func (f *deviceFlags) selftest() *cobra.Command {
	var c selftest.Config
	var asJSON, list bool
	cmd := &cobra.Command{
		Use: "selftest", Short: "Test registers, DMA, interrupts, links and rates of a device", Args: checked(cobra.NoArgs),
		Long: `Test a device that no other program uses: registers bit by bit and address by
address, packets and RMA with guard bytes around everything that the NIC writes,
every interrupt cause, a PRBS over every link with both ends on the device, latency
percentiles and throughput. A failed check reports where it failed, the expected
and the found value, and how to proceed. Checks of features that the device lacks are
skipped, with the reason. Memory of the device is overwritten; registers are restored.

All nodes are tested unless --node is given. A failed check is exit code 1.`,
		Example: `  nicloop device selftest --device uart:/dev/ttyUSB0,/dev/ttyUSB1
  nicloop device selftest --device model: --check scratch,links
  nicloop device selftest --device 'rtl:?link_errors=1e-3' --check links      a bad cable`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return listChecks(cmd.OutOrStdout())
			}
			if c.Samples < 1 {
				return misused("--samples %d: expected at least 1", c.Samples)
			}
			if err := positive("patience", c.Patience); err != nil {
				return err
			}
			return f.with(cmd, func(sys drivers.System, _ drivers.Device) error {
				if cmd.Flags().Changed("node") {
					c.Nodes = []int{f.node}
				}
				return runSelftest(cmd, f.uri, sys, c, asJSON)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&c.Only, "check", nil, "run only these `CHECKS` (see --list)")
	fs.IntVar(&c.Samples, "samples", 256, "samples of each measurement, and packets over each link")
	fs.Uint64Var(&c.Seed, "seed", 1, "seed of the written data")
	fs.DurationVar(&c.Patience, "patience", 10*time.Second, "time to wait for events")
	fs.BoolVar(&list, "list", false, "list the checks")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func listChecks(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range selftest.Checks() {
		fmt.Fprintf(tw, "%s\t%s\n", c[0], c[1])
	}
	return tw.Flush()
}

func runSelftest(cmd *cobra.Command, uri string, sys drivers.System, c selftest.Config, asJSON bool) error {
	bar := newBar(cmd.ErrOrStderr(), "selftest")
	c.Progress = func(done, of int, _ string) { bar.set(done, of) }
	results, err := selftest.Run(cmd.Context(), sys, c)
	bar.finish()
	if err != nil && len(results) == 0 {
		return err
	}
	if asJSON {
		if werr := writeJSON(cmd.OutOrStdout(), &selfTest{sys.Info(), c.Seed, results}); werr != nil {
			return werr
		}
	} else {
		printSelftest(cmd.OutOrStdout(), results, fmt.Sprintf("nicloop device selftest --device '%s' --seed %d", uri, c.Seed))
	}
	for _, r := range results {
		if err == nil && r.Outcome == selftest.Failed {
			err = errFailed
		}
	}
	return err
}

// printSelftest ends with the command that repeats a failed test.
func printSelftest(w io.Writer, results []selftest.Result, again string) {
	var passed, failed, skipped int
	for _, r := range results {
		switch r.Outcome {
		case selftest.Passed:
			passed++
			fmt.Fprintf(w, "node %d  PASS  %-11s %s\n", r.Node, r.Check, r.Did)
		case selftest.Skipped:
			skipped++
			fmt.Fprintf(w, "node %d  SKIP  %-11s %s\n", r.Node, r.Check, r.Why)
		case selftest.Failed:
			failed++
			fmt.Fprintf(w, "node %d  FAIL  %-11s %s\n              expected %s\n              found    %s\n              %s\n",
				r.Node, r.Check, r.Fault.Where, r.Fault.Expected, r.Fault.Found, r.Fault.Advice)
		}
		for _, x := range r.Figures {
			fmt.Fprintf(w, "              %s\n", rateText(x))
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		fmt.Fprintf(w, "rerun: %s\n", again)
	}
}

func rateText(x selftest.Rate) string {
	clock := "real time"
	if x.Simulated {
		clock = "simulated"
	}
	if x.PerS > 0 {
		return fmt.Sprintf("%s: %.0f/s, %.2f MB/s (%d, %s)", x.What, x.PerS, x.MBPerS, x.Samples, clock)
	}
	t := func(ns float64) drivers.Time { return drivers.Time(ns * float64(drivers.Nanosecond)) }
	return fmt.Sprintf("%s: median %v, 90 %% %v, 99 %% %v, minimum %v, maximum %v (%d, %s)",
		x.What, t(x.P50NS), t(x.P90NS), t(x.P99NS), t(x.LeastNS), t(x.MostNS), x.Samples, clock)
}
