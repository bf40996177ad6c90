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

// selfTest is what a self-test found.
type selfTest struct {
	Device  drivers.Info      `json:"device"`
	Seed    uint64            `json:"seed,string"`
	Results []selftest.Result `json:"results"`
}

func (f *deviceFlags) selftest() *cobra.Command {
	var c selftest.Config
	var asJSON, list bool
	cmd := &cobra.Command{
		Use: "selftest", Short: "Look for what is broken: registers, DMA, interrupts, links, rates", Args: checked(cobra.NoArgs),
		Long: `Test a device that nobody else uses: registers bit by bit and address by address, packets and
RMA with guard bytes around all that the NIC writes, every cause of an interrupt, a PRBS over
every link whose both ends are there, latencies with percentiles, throughput. A check that
fails says where, what was expected and found, and what to do. What a device has not got is
left out, and said. Memory of the device is overwritten; registers are put back.

All nodes, but with --node. Exit code 1 tells that a check failed.`,
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
	fs.StringSliceVar(&c.Only, "check", nil, "only these `CHECKS` (--list)")
	fs.IntVar(&c.Samples, "samples", 256, "of every figure; packets over every link")
	fs.Uint64Var(&c.Seed, "seed", 1, "of what is written")
	fs.DurationVar(&c.Patience, "patience", 10*time.Second, "for what must come by itself")
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

// printSelftest ends with what repeats a test that failed.
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
		fmt.Fprintf(w, "again: %s\n", again)
	}
}

func rateText(x selftest.Rate) string {
	clock := "by the clock on the wall"
	if x.Simulated {
		clock = "simulated"
	}
	if x.PerS > 0 {
		return fmt.Sprintf("%s: %.0f/s, %.2f MB/s (%d, %s)", x.What, x.PerS, x.MBPerS, x.Samples, clock)
	}
	t := func(ns float64) drivers.Time { return drivers.Time(ns * float64(drivers.Nanosecond)) }
	return fmt.Sprintf("%s: median %v, 90 %% %v, 99 %% %v, least %v, most %v (%d, %s)",
		x.What, t(x.P50NS), t(x.P90NS), t(x.P99NS), t(x.LeastNS), t(x.MostNS), x.Samples, clock)
}
