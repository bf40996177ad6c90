package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/libfabric"
)

// mpiReport is what nicloop mpi prints when the programs have ended.
type mpiReport struct {
	Config   bench.Spec           `json:"config"`
	Ranks    int                  `json:"ranks"`
	Compute  string               `json:"compute"`
	PollCost drivers.Time         `json:"poll_cost_ps"`
	Report   *libfabric.Report    `json:"programs"`
	Result   *bench.ProgramResult `json:"hardware"`
	real     time.Duration
}

// mpiHang is the verdict on an MPI program that hangs.
type mpiHang struct {
	At    drivers.Time         `json:"at_ps"`
	Ranks []libfabric.RankWait `json:"ranks"`
}

func (r *mpiReport) print(out io.Writer) {
	c, p := &r.Config, r.Report
	fmt.Fprintf(out, "%d ranks on %d nodes, --device %s, %v simulated in %.1f s; --compute %s, --poll-cost %v\n",
		r.Ranks, c.Nodes, c.Device, p.Simulated, r.real.Seconds(), r.Compute, r.PollCost)
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "PATH\tMESSAGES\tBYTES\t")
	for _, name := range []string{"eager", "rendezvous", "one-sided", "local"} {
		if path := p.Paths[name]; path.Messages > 0 {
			fmt.Fprintf(tw, "%s\t%d\t%d\t\n", name, path.Messages, path.Bytes)
		}
	}
	_ = tw.Flush()
	var mpi, all drivers.Time
	for _, rank := range p.Ranks {
		mpi, all = mpi+rank.MPI, all+rank.End
	}
	fmt.Fprintf(out, "%.1f %% of the ranks' time in MPI; the slowest is rank %d\n", 100*float64(mpi)/float64(max(all, 1)), p.Slowest)
	fmt.Fprintf(out, "critical path: %v\n", p.Critical)
	sent, received := r.packets()
	fmt.Fprintf(out, "the NICs sent %d packets and received %d, and %d of RMA; %d provider calls\n",
		sent, received, r.Result.RMAPackets, p.Calls)
	if p.Detached {
		fmt.Fprintln(out, "a rank waited outside of MPI: the next run may differ")
	}
	fmt.Fprintf(out, "trace %.16s, bytes %.16s\n", p.Trace, p.TraceBytes)
}

func (r *mpiReport) packets() (sent, received uint64) {
	for _, n := range r.Result.NICs {
		sent, received = sent+n.Sent, received+n.Received
	}
	return sent, received
}

// crossed proves that the messages of the program crossed the simulated NIC. The NICs count for
// themselves; that every packet arrived has been checked. A single rank sends to itself only.
func (r *mpiReport) crossed(ranks int) error {
	if ranks == 1 {
		return nil
	}
	sent, _ := r.packets()
	p := r.Report.Paths
	remote := p["eager"].Messages + p["rendezvous"].Messages
	oneSided := p["one-sided"].Messages
	sum := sent + r.Result.RMAPackets
	switch {
	case sum > 0 && sent >= remote && sum >= remote+oneSided:
		return nil
	case remote+oneSided == 0 && p["local"].Messages > 0:
		return nil
	}
	return fmt.Errorf("no message of the program crossed the NIC: %d messages, %d packets of the NICs; "+
		"is it an MPI program of Open MPI whose %d ranks communicate?", remote+oneSided, sum, ranks)
}
