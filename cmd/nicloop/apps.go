package main

import (
	"fmt"
	"io"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

// computation returns the time of one computation of a pattern's rank.
func (f *runFlags) computation(cmd *cobra.Command, workload string) drivers.Time {
	if bench.IsApp(workload) && given(cmd, "compute") == "" {
		return bench.DefaultCompute
	}
	return drivers.Time(min(f.compute, 2*time.Second).Nanoseconds()) * drivers.Nanosecond // longer times are rejected later
}

// idleInApps returns an error for a flag of application patterns that has no effect here.
func (f *runFlags) idleInApps(cmd *cobra.Command, workload string) error {
	switch name := given(cmd, "jitter", "compute"); {
	case name == "compute" && bench.IsExchange(workload):
		return positive(name, f.compute)
	case name == "compute" && !bench.IsApp(workload):
		return misused("--compute applies to patterns of applications, such as %scg, and to stencil and halo", bench.AppPrefix)
	case name != "" && !bench.IsApp(workload):
		return misused("--%s applies to patterns of applications, such as %scg", name, bench.AppPrefix)
	case name == "":
		return nil
	case f.c.Jitter > 0 && given(cmd, "compute") != "" && f.compute == 0:
		return misused("--jitter varies --compute, which is 0s: set --compute")
	}
	return notNegative(cmd, "compute")
}

// printApps prints the time that the ranks of a pattern spent outside their messages.
func printApps(w io.Writer, res *bench.Result) {
	if !bench.IsApp(res.Config.Workload) {
		return
	}
	for _, r := range res.Rows {
		a := r.App
		fmt.Fprintf(w, "iteration of %v with %d bytes, per rank: wait %v, send (including its wait) %v, receive (likewise) %v, compute %v\n", r.Iteration, r.Bytes, a.Wait, a.Send, a.Receive, a.Compute)
		if res.Config.Rendezvous == host.Spec && r.Bytes > host.EagerMax {
			fmt.Fprintf(w, "RTRs: %d, %s of them used; the unused ones add %.4f %% of data\n", a.RTRs, percent(a.Used, a.RTRs), 100*float64(a.Extra)/float64(max(a.Messages, 1)))
		}
	}
	fmt.Fprintln(w)
}
