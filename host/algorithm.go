package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/velo"
)

// A Collective is one of the collective operations. Its number is also the tag of the messages of a
// blocking collective, in the context that the communicator reserves for collectives. Successive
// calls cannot mix, because messages between two ranks do not overtake each other.
type Collective int

// The collectives.
const (
	Barrier Collective = iota
	Bcast
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Reduce
	Allreduce
	ReduceScatter
	collectives
)

var collectiveNames = [collectives]string{
	"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
	"reduce", "allreduce", "reduce-scatter",
}

func (k Collective) String() string { return collectiveNames[k] }

// Collectives returns all collectives.
func Collectives() (list []Collective) {
	for k := range collectives {
		list = append(list, k)
	}
	return list
}

// A call holds the arguments of a collective at one rank. An algorithm turns it into a schedule.
type call struct {
	kind    Collective
	root    int
	out, in []byte // sent and received data; data that is changed in place is in
	lo, li  Layout // layouts of out and in, if they consist of blocks
	op      Op
	// bytes selects the algorithm and must be equal at all ranks: the length of the message, or of
	// one block if every pair of ranks exchanges its own. 0 if ranks cannot know the others' lengths.
	bytes int
}

// An algorithm is one implementation of a collective, under its usual name.
type algorithm struct {
	name  string
	build func(s *schedule, c *Comm, x *call)
	// powerOfTwo: the number of ranks must be a power of two.
	powerOfTwo bool
	// floods: it sends to all ranks before it receives, which requires flow control.
	floods bool
	// joins: its longest message holds the blocks of half of the ranks.
	joins bool
}

var algorithms = [collectives][]algorithm{
	Barrier:       {{name: "dissemination", build: dissemination}},
	Bcast:         {{name: Linear, build: linearBcast}, {name: "binomial", build: binomialBcast}, {name: "scatter-allgather", build: scatterAllgather}},
	Gather:        {{name: Linear, build: linearGather}, {name: "binomial", build: binomialGather, joins: true}},
	Gatherv:       {{name: Linear, build: linearGather}},
	Scatter:       {{name: Linear, build: linearScatter}, {name: "binomial", build: binomialScatter, joins: true}},
	Scatterv:      {{name: Linear, build: linearScatter}},
	Allgather:     {{name: Linear, build: linearAllgather, floods: true}, {name: "ring", build: ringAllgather}, {name: "bruck", build: bruckAllgather, joins: true}, {name: "recursive-doubling", build: doublingAllgather, powerOfTwo: true, joins: true}},
	Allgatherv:    {{name: Linear, build: linearAllgather, floods: true}, {name: "ring", build: ringAllgather}, {name: "recursive-doubling", build: doublingAllgather, powerOfTwo: true, joins: true}},
	Alltoall:      {{name: Linear, build: linearAlltoall, floods: true}, {name: "pairwise", build: pairwiseAlltoall}, {name: "bruck", build: bruckAlltoall, joins: true}},
	Alltoallv:     {{name: Linear, build: linearAlltoall, floods: true}, {name: "pairwise", build: pairwiseAlltoall}},
	Reduce:        {{name: Linear, build: linearReduce}, {name: "binomial", build: binomialReduce}},
	Allreduce:     {{name: Linear, build: linearAllreduce}, {name: "recursive-doubling", build: doublingAllreduce}, {name: "ring", build: ringAllreduce}},
	ReduceScatter: {{name: Linear, build: linearReduceScatter}, {name: "pairwise", build: pairwiseReduceScatter}},
}

// Linear is the algorithm in which each rank exchanges messages with each peer directly.
const Linear = "linear"

// Algorithms returns the names of the algorithms of a collective.
func (k Collective) Algorithms() (names []string) {
	for _, a := range algorithms[k] {
		names = append(names, a.name)
	}
	return names
}

// Check returns an error if name is not an algorithm of the collective.
func (k Collective) Check(name string) error {
	if k < 0 || k >= collectives {
		return fmt.Errorf("%w: collective %d: expected 0 to %d", drivers.ErrConfig, int(k), int(collectives)-1)
	}
	if k.named(name) != nil {
		return nil
	}
	names := k.Algorithms()
	return fmt.Errorf("%w: no algorithm %q of %s%s; known: %v", drivers.ErrConfig, name, k, suggest.Nearest(name, names), names)
}

// Longest returns the largest number of blocks that one message of the named algorithm can hold.
func (k Collective) Longest(name string, ranks int) int {
	if a := k.named(name); a != nil && a.joins {
		return (ranks + 1) / 2
	}
	return 1
}

// SetAlgorithm selects the algorithm of a collective for this communicator and for those that are
// derived from it later. All members must select the same one. An empty name restores the selection
// by ranks and bytes (table.go). An algorithm that requires a power of two of ranks is used only if
// the communicator has one. Groups inherit the selection of the world.
func (c *Comm) SetAlgorithm(k Collective, name string) error {
	if k < 0 || k >= collectives {
		return fmt.Errorf("%w: collective %d: expected 0 to %d", drivers.ErrConfig, int(k), int(collectives)-1)
	}
	if name == "" {
		c.fixed[k] = nil
		return nil
	}
	if err := k.Check(name); err != nil {
		return err
	}
	c.fixed[k] = k.named(name)
	return nil
}

// SetLinear selects the linear algorithm for all collectives that have one, as in the alltoall runs
// of the FC paper (section 5.3). SetLinear(false) restores the selection by the table.
func (c *Comm) SetLinear(on bool) {
	for k := range collectives {
		c.fixed[k] = nil
		if a := &algorithms[k][0]; on && a.name == Linear {
			c.fixed[k] = a
		}
	}
}

// choose selects the algorithm of a call.
func (c *Comm) choose(x *call) *algorithm {
	if a := c.fixed[x.kind]; a != nil && a.fits(c.size) {
		return a
	}
	a := x.kind.choose(c.size, x.bytes)
	if a.floods && c.rank.Endpoint().Flow() == velo.None || a.joins && x.kind == Allgatherv && x.li.longestHalf() > EagerMax {
		return &algorithms[x.kind][1]
	}
	return a
}

func (a *algorithm) fits(ranks int) bool { return !a.powerOfTwo || ranks&(ranks-1) == 0 }

// Fits reports whether the table may select the named algorithm. Algorithms that join the blocks of
// several ranks are limited to messages of EagerMax: longer ones would need DMA memory that the
// caller has not provided.
func (k Collective) Fits(name string, ranks, bytes int) bool {
	a := k.named(name)
	return a != nil && a.fits(ranks) && (!a.joins || (ranks+1)/2*bytes <= EagerMax)
}

// wait executes a blocking collective.
func (c *Comm) wait(x call, err error) error {
	if err != nil {
		return err
	}
	s := c.rank.schedules.blank(c, int(x.kind))
	c.choose(&x).build(s, c, &x)
	return c.rank.walk(s)
}

// start begins a nonblocking collective.
func (c *Comm) start(x call, err error) (*Request, error) {
	if err != nil {
		return nil, err
	}
	if c.context == contextNone {
		return nil, fmt.Errorf("%w: nonblocking collective in a group: a group has no context of its own; make a communicator of it with Dup", drivers.ErrConfig)
	}
	s := c.rank.schedules.blank(c, tagSchedule+int(c.started%(MaxTag-tagSchedule)))
	c.started++
	c.choose(&x).build(s, c, &x)
	return s.begin(), nil
}
