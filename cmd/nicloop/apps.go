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

// computation is what a rank of a pattern computes at a time.
func (f *runFlags) computation(cmd *cobra.Command, workload string) drivers.Time {
	if bench.IsApp(workload) && given(cmd, "compute") == "" {
		return bench.DefaultCompute
	}
	return drivers.Time(min(f.compute, 2*time.Second).Nanoseconds()) * drivers.Nanosecond // refused if too long
}

// idleInApps names a flag of patterns that does nothing.
func (f *runFlags) idleInApps(cmd *cobra.Command, workload string) error {
	switch name := given(cmd, "jitter", "compute"); {
	case name == "compute" && bench.IsExchange(workload):
		return positive(name, f.compute)
	case name == "compute" && !bench.IsApp(workload):
		return misused("--compute belongs to patterns of applications, such as %scg, and to stencil and halo", bench.AppPrefix)
	case name != "" && !bench.IsApp(workload):
		return misused("--%s belongs to patterns of applications, such as %scg", name, bench.AppPrefix)
	case name == "":
		return nil
	case f.c.Jitter > 0 && given(cmd, "compute") != "" && f.compute == 0:
		return misused("--jitter is of what is computed: --compute is 0s")
	}
	return notNegative(cmd, "compute")
}

// printApps says what the ranks of a pattern did besides their messages.
func printApps(w io.Writer, res *bench.Result) {
	if !bench.IsApp(res.Config.Workload) {
		return
	}
	for _, r := range res.Rows {
		a := r.App
		fmt.Fprintf(w, "of an iteration of %v with %d bytes a rank waits %v, sends (and waits for that) %v, receives (likewise) %v and computes %v\n", r.Iteration, r.Bytes, a.Wait, a.Send, a.Receive, a.Compute)
		if res.Config.Rendezvous == host.Spec && r.Bytes > host.EagerMax {
			fmt.Fprintf(w, "RTRs: %d, %s of them used; the others are %.4f %% more data\n", a.RTRs, percent(a.Used, a.RTRs), 100*float64(a.Extra)/float64(max(a.Messages, 1)))
		}
	}
	fmt.Fprintln(w)
}
