package imb

import (
	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/host"
)

// class determines the number of processes and the reported columns, as in IMB.
type class int

const (
	single     class = iota // two processes; time and rate
	parallel                // all processes; times over the ranks and rate
	collective              // all of them; times over the ranks
	barrier                 // the same without a length
)

type benchmark struct {
	name  string
	class class
	// transfers is the number of messages of the given length that a rank moves per iteration, for
	// the rate; half: the time is half of an iteration.
	transfers int
	half      bool
	// kind is the measured collective, if any.
	kind host.Collective
	// reduction: lengths are multiples of the element size.
	reduction bool
	// blocks returns the number of buffers of the given length that a rank of p needs, longest the
	// largest number of them in one message.
	blocks, longest func(p int) int
	// prepare returns the function of one iteration; nil for collectives, which bench.Member
	// implements.
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

// all lists the benchmarks in IMB's order.
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
