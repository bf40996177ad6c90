package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
)

// A Collective is one of the collective operations; also the tag of those that wait, in the context
// of their communicator's collectives. Successive calls of one cannot mix: messages of a pair do
// not overtake.
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

// Collectives lists them all.
func Collectives() (list []Collective) {
	for k := range collectives {
		list = append(list, k)
	}
	return list
}

// A call is a collective at one rank: what an algorithm makes a schedule of.
type call struct {
	kind    Collective
	root    int
	out, in []byte // what goes out and what comes in; data that is changed in place is in
	lo, li  Layout // of them, where they have blocks
	op      Op
	// bytes is what the algorithm is chosen by, the same at all ranks: the message, or a block of it
	// where every pair of ranks has one of its own. 0 where ranks cannot know.
	bytes int
}

// An algorithm is one way to do a collective, under the name that it usually has.
type algorithm struct {
	name  string
	build func(s *schedule, c *Comm, x *call)
	// power: it wants a power of two of ranks.
	power bool
	// floods: it sends to all before it receives, which only flow control bears.
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
	Allgather:     {{name: Linear, build: linearAllgather, floods: true}, {name: "ring", build: ringAllgather}, {name: "bruck", build: bruckAllgather, joins: true}, {name: "recursive-doubling", build: doublingAllgather, power: true, joins: true}},
	Allgatherv:    {{name: Linear, build: linearAllgather, floods: true}, {name: "ring", build: ringAllgather}, {name: "recursive-doubling", build: doublingAllgather, power: true, joins: true}},
	Alltoall:      {{name: Linear, build: linearAlltoall, floods: true}, {name: "pairwise", build: pairwiseAlltoall}, {name: "bruck", build: bruckAlltoall, joins: true}},
	Alltoallv:     {{name: Linear, build: linearAlltoall, floods: true}, {name: "pairwise", build: pairwiseAlltoall}},
	Reduce:        {{name: Linear, build: linearReduce}, {name: "binomial", build: binomialReduce}},
	Allreduce:     {{name: Linear, build: linearAllreduce}, {name: "recursive-doubling", build: doublingAllreduce}, {name: "ring", build: ringAllreduce}},
	ReduceScatter: {{name: Linear, build: linearReduceScatter}, {name: "pairwise", build: pairwiseReduceScatter}},
}

// Linear has everybody talk to everybody directly.
const Linear = "linear"

// Algorithms names the algorithms of a collective.
func (k Collective) Algorithms() (names []string) {
	for _, a := range algorithms[k] {
		names = append(names, a.name)
	}
	return names
}

// Check refuses what is no algorithm of the collective.
func (k Collective) Check(name string) error {
	if k < 0 || k >= collectives {
		return fmt.Errorf("%w: collective %d: expected 0 to %d", drivers.ErrConfig, int(k), int(collectives)-1)
	}
	if k.named(name) != nil {
		return nil
	}
	names := k.Algorithms()
	return fmt.Errorf("%w: no algorithm %q of %s%s; known: %v", drivers.ErrConfig, name, k, drivers.Nearest(name, names), names)
}

// Longest is how many blocks a message of the named algorithm may hold.
func (k Collective) Longest(name string, ranks int) int {
	if a := k.named(name); a != nil && a.joins {
		return (ranks + 1) / 2
	}
	return 1
}

// SetAlgorithm fixes how a communicator does a collective, and those that are made from it; all
// members must say the same. Without a name it is chosen by ranks and bytes again (table.go). One
// that wants a power of two of ranks is used where there is one. Groups take over what the world
// has.
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

// SetLinear has everybody talk to everybody directly, as the FC paper's alltoall runs do (section
// 5.3), or gives the choice back to the table.
func (c *Comm) SetLinear(on bool) {
	for k := range collectives {
		c.fixed[k] = nil
		if a := &algorithms[k][0]; on && a.name == Linear {
			c.fixed[k] = a
		}
	}
}

// choose gives the algorithm of a call.
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

func (a *algorithm) fits(ranks int) bool { return !a.power || ranks&(ranks-1) == 0 }

// Fits tells whether a rank may choose the named algorithm by itself. Messages that join the blocks
// of several ranks are to be short: longer ones need room in DMA memory that the caller may not
// have thought of.
func (k Collective) Fits(name string, ranks, bytes int) bool {
	a := k.named(name)
	return a != nil && a.fits(ranks) && (!a.joins || (ranks+1)/2*bytes <= EagerMax)
}

// wait does a collective.
func (c *Comm) wait(x call, err error) error {
	if err != nil {
		return err
	}
	s := c.rank.schedules.blank(c, int(x.kind))
	c.choose(&x).build(s, c, &x)
	return c.rank.walk(s)
}

// start begins a collective.
func (c *Comm) start(x call, err error) (*Request, error) {
	if err != nil {
		return nil, err
	}
	if c.context == contextNone {
		return nil, fmt.Errorf("%w: a collective that does not wait in a group, which has no context for it: make a communicator of it with Dup", drivers.ErrConfig)
	}
	s := c.rank.schedules.blank(c, tagSchedule+int(c.started%(MaxTag-tagSchedule)))
	c.started++
	c.choose(&x).build(s, c, &x)
	return s.begin(), nil
}
