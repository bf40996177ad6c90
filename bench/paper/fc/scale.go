package fc

import (
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/velo"
)

// cluster1024 is the paper's machine at Full scale and what stands for it at the others. From
// Medium on, 16 processes share a NIC as in the paper: then the NIC is the bottleneck, not the
// host.
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

// What reasons of several experiments change.
const (
	bookkeepingIsFree = "bookkeeping of credits takes a core no time"
	haveSettled       = "ten times the repetitions before those that are timed, so that quotas have settled"
)

func free(r *paper.Run) { r.Free = true }

func settled(r *paper.Run) { r.Warmup *= 10 }

func freeAndSettled(r *paper.Run) { free(r); settled(r) }
