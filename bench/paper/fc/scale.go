package fc

import (
	"fmt"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/velo"
)

// cluster1024 is the paper's machine at scale Full, and a smaller world at the other scales. From
// Medium on, 16 processes share a NIC as in the paper, so that the NIC is the bottleneck and not
// the host.
func cluster1024() map[paper.Scale]paper.World {
	return map[paper.Scale]paper.World{
		paper.Small: {Nodes: 4, Procs: 4}, paper.Medium: {Nodes: 4, Procs: 16}, paper.Large: {Nodes: 16, Procs: 16},
		paper.Full: {Nodes: 64, Procs: 16, Dims: "4x4x4"},
	}
}

// cluster256 is the same for the smaller of the paper's two machines.
func cluster256() map[paper.Scale]paper.World {
	return map[paper.Scale]paper.World{
		paper.Small: {Nodes: 4, Procs: 2}, paper.Medium: {Nodes: 2, Procs: 16}, paper.Large: {Nodes: 4, Procs: 16}, paper.Full: {Nodes: 16, Procs: 16},
	}
}

// flows are the flow controls that are compared.
func flows() []velo.Flow {
	return []velo.Flow{velo.Static, velo.Dynamic}
}

// meansByFlow returns the means of a column for static and for dynamic flow control.
func meansByFlow(t *paper.Table, column string) (static, dynamic float64) {
	of := func(flow velo.Flow) float64 { return paper.Mean(t.Where("flow control", string(flow)).Values(column)) }
	return of(velo.Static), of(velo.Dynamic)
}

// percentsByFlow returns the same for a column in percent, with a text.
func percentsByFlow(t *paper.Table, column string) (static, dynamic float64, ours string) {
	static, dynamic = meansByFlow(t, column)
	return static, dynamic, fmt.Sprintf("mean %.1f %% static, %.1f %% dynamic", static, dynamic)
}

// What reasons of several experiments change.
const (
	bookkeepingIsFree = "bookkeeping of credits takes a core no time"
	tenfoldWarmup     = "ten times the repetitions before those that are timed"
)

func free(r *paper.Run) { r.Free = true }

// warmTenfold moves the timed repetitions away from the start. It does not show that they are in
// steady state: there are too few of them for MSER-5 (package steady).
func warmTenfold(r *paper.Run) { r.Warmup *= 10 }

func freeAndWarm(r *paper.Run) { free(r); warmTenfold(r) }
