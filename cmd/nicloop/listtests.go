package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/spf13/cobra"
)

// listTests prints a line for each test: what it opens first on the device, how long it took when
// it last ran there, its tags and its description.
func listTests(cmd *cobra.Command, tests []regress.Test, device, db string) error {
	last := lastTimes(db, device)
	opened := regress.Machines(tests, device)
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TEST\tDEVICE\tLAST TIME\tTAGS\tDESCRIPTION")
	for i, t := range tests {
		took := "-"
		if d, ok := last[t.Name]; ok {
			took = d.Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", t.Name, cmp.Or(opened[i], "-"), took, cmp.Or(strings.Join(t.Tags, ","), "-"), t.Doc)
	}
	return tw.Flush()
}

// lastTimes returns the real time of the newest recorded pass of each test on a device.
func lastTimes(db, device string) map[string]time.Duration {
	if db == "" {
		return nil
	}
	points, err := runs.At(db).Trend("*/*", device)
	if err != nil {
		return nil // nothing is recorded yet, or the file is damaged: the list needs neither
	}
	last := map[string]time.Duration{}
	newest := map[string]uint64{}
	for _, p := range points {
		if p.Status == string(regress.Passed) && p.Run >= newest[p.Test] {
			newest[p.Test], last[p.Test] = p.Run, time.Duration(p.Real*float64(time.Second))
		}
	}
	return last
}
