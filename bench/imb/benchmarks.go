package imb

import (
	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/host"
)

// class says how many processes take part and what is reported, as IMB has it.
type class int

const (
	single     class = iota // two processes; a time and a rate
	parallel                // all of them; times over the ranks and a rate
	collective              // all of them; times over the ranks
	barrier                 // the same without a length
)

type benchmark struct {
	name  string
	class class
	// transfers is how many messages of the given length a rank moves in one
	// iteration, for the rate; half: the time is half of an iteration.
	transfers int
	half      bool
	// kind is the collective of one that measures a collective.
	kind host.Collective
	// reduction: lengths are whole numbers of elements.
	reduction bool
	// blocks is how many buffers of the given length a rank of p needs, longest
	// how many of them one message may hold.
	blocks, longest func(p int) int
	// prepare makes what a rank does in one iteration; nil for collectives, which bench.Member has.
	prepare func(x *rank, n int) (func(k int) error, error)
}

func (b *benchmark) unit() int {
	if b.reduction {
		return bench.ElementBytes
	}
	return 1
}

func one(int) int    { return 1 }
func two(int) int    { return 2 }
func four(int) int   { return 4 }
func each(p int) int { return p }

// all is in IMB's order.
var all = []*benchmark{
	{name: "PingPong", class: single, transfers: 1, half: true, blocks: one, longest: one, prepare: (*rank).pingPong},
	{name: "PingPing", class: single, transfers: 1, blocks: two, longest: one, prepare: (*rank).pingPing},
	{name: "Sendrecv", class: parallel, transfers: 2, blocks: two, longest: one, prepare: (*rank).sendrecv},
	{name: "Exchange", class: parallel, transfers: 4, blocks: four, longest: one, prepare: (*rank).exchange},
	{name: "Allreduce", class: collective, kind: host.Allreduce, reduction: true, blocks: one, longest: one},
	{name: "Reduce", class: collective, kind: host.Reduce, reduction: true, blocks: one, longest: one},
	{name: "Reduce_scatter", class: collective, kind: host.ReduceScatter, reduction: true, blocks: two, longest: one},
	{name: "Allgather", class: collective, kind: host.Allgather, blocks: plusOne, longest: one},
	{name: "Allgatherv", class: collective, kind: host.Allgatherv, blocks: plusOne, longest: one},
	{name: "Gather", class: collective, kind: host.Gather, blocks: plusOne, longest: each},
	{name: "Gatherv", class: collective, kind: host.Gatherv, blocks: plusOne, longest: one},
	{name: "Scatter", class: collective, kind: host.Scatter, blocks: plusOne, longest: each},
	{name: "Scatterv", class: collective, kind: host.Scatterv, blocks: plusOne, longest: one},
	{name: "Alltoall", class: collective, kind: host.Alltoall, blocks: twice, longest: one},
	{name: "Alltoallv", class: collective, kind: host.Alltoallv, blocks: twice, longest: one},
	{name: "Bcast", class: collective, kind: host.Bcast, blocks: one, longest: one},
	{name: "Barrier", class: barrier, kind: host.Barrier, blocks: one, longest: one},
}

func plusOne(p int) int { return p + 1 }
func twice(p int) int   { return 2 * p }
