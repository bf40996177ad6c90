// Package messages tests matching and collectives over random messages on several ranks.
package messages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// A collective is one call of the host library beside what it must leave at a
// rank, computed from what all ranks put in.
type collective struct {
	name string
	call func(c *host.Comm, d *Draw) ([]byte, error)
	want func(d *Draw, me int) []byte // nil: nothing is promised at this rank
}

// collectives are those of the host library, except the barrier, which moves no data.
var collectives = []collective{
	{"bcast", func(c *host.Comm, d *Draw) ([]byte, error) {
		b := d.input(c.ID(), d.n)
		return b, c.Bcast(d.root, b)
	}, func(d *Draw, _ int) []byte { return d.input(d.root, d.n) }},
	{"gather", func(c *host.Comm, d *Draw) ([]byte, error) {
		all := make([]byte, d.even().Bytes())
		return all, c.Gather(d.root, d.input(c.ID(), d.n), all)
	}, func(d *Draw, me int) []byte { return d.atRoot(me, d.joined(d.even())) }},
	{"gatherv", func(c *host.Comm, d *Draw) ([]byte, error) {
		all := make([]byte, d.uneven().Bytes())
		return all, c.Gatherv(d.root, d.input(c.ID(), d.counts[c.ID()]), all, d.uneven())
	}, func(d *Draw, me int) []byte { return d.atRoot(me, d.joined(d.uneven())) }},
	{"scatter", func(c *host.Comm, d *Draw) ([]byte, error) {
		mine := make([]byte, d.n)
		return mine, c.Scatter(d.root, d.atRoot(c.ID(), d.input(d.root, d.even().Bytes())), mine)
	}, func(d *Draw, me int) []byte { return d.even().Of(d.input(d.root, d.even().Bytes()), me) }},
	{"scatterv", func(c *host.Comm, d *Draw) ([]byte, error) {
		mine := make([]byte, d.counts[c.ID()])
		return mine, c.Scatterv(d.root, d.atRoot(c.ID(), d.input(d.root, d.uneven().Bytes())), mine, d.uneven())
	}, func(d *Draw, me int) []byte { return d.uneven().Of(d.input(d.root, d.uneven().Bytes()), me) }},
	{"allgather", func(c *host.Comm, d *Draw) ([]byte, error) {
		all := make([]byte, d.even().Bytes())
		return all, c.Allgather(d.input(c.ID(), d.n), all)
	}, func(d *Draw, _ int) []byte { return d.joined(d.even()) }},
	{"allgatherv", func(c *host.Comm, d *Draw) ([]byte, error) {
		all := make([]byte, d.uneven().Bytes())
		return all, c.Allgatherv(d.input(c.ID(), d.counts[c.ID()]), all, d.uneven())
	}, func(d *Draw, _ int) []byte { return d.joined(d.uneven()) }},
	{"alltoall", func(c *host.Comm, d *Draw) ([]byte, error) {
		in := make([]byte, d.even().Bytes())
		return in, c.Alltoall(d.input(c.ID(), len(in)), in, d.n)
	}, func(d *Draw, me int) []byte {
		return d.column(me, func(int) host.Layout { return d.even() })
	}},
	{"alltoallv", func(c *host.Comm, d *Draw) ([]byte, error) {
		lo, li := d.row(c.ID()), d.into(c.ID())
		in := make([]byte, li.Bytes())
		return in, c.Alltoallv(d.input(c.ID(), lo.Bytes()), lo, in, li)
	}, func(d *Draw, me int) []byte { return d.column(me, d.row) }},
	{"reduce", func(c *host.Comm, d *Draw) ([]byte, error) {
		b := d.numbers(c.ID(), d.words(d.n))
		return b, c.Reduce(d.root, b, d.op.op)
	}, func(d *Draw, me int) []byte { return d.atRoot(me, d.reduced(d.words(d.n))) }},
	{"allreduce", func(c *host.Comm, d *Draw) ([]byte, error) {
		b := d.numbers(c.ID(), d.words(d.n))
		return b, c.Allreduce(b, d.op.op)
	}, func(d *Draw, _ int) []byte { return d.reduced(d.words(d.n)) }},
	{"reduce_scatter", func(c *host.Comm, d *Draw) ([]byte, error) {
		l := d.wordLayout()
		mine := make([]byte, len(l.Of(make([]byte, l.Bytes()), c.ID())))
		return mine, c.ReduceScatter(d.numbers(c.ID(), l.Bytes()/8), mine, l, d.op.op)
	}, func(d *Draw, me int) []byte {
		l := d.wordLayout()
		return l.Of(d.reduced(l.Bytes()/8), me)
	}},
}

// A round is one call of a collective at one rank.
type round func(r *host.Rank, c *host.Comm, d *Draw) error

// Collectives run every collective in worlds of one rank per node and of
// several, over all protocols and paths that messages take.
func Collectives() []regress.Test {
	list := []regress.Test{{
		Name: "collectives/barrier", Tags: []string{"collectives"}, Doc: "no rank leaves the barrier before all have entered, in random groups",
		Run: func(t *regress.T) error { return inWorlds(t, barriers) },
	}}
	list = append(list, regress.Test{
		Name: "collectives/communicators", Tags: []string{"collectives", "rma"},
		Doc: "in halves of the world, split at random, with messages of the same tags in all communicators",
		Run: func(t *regress.T) error { return inSplitWorlds(t, checkAll) },
	}, regress.Test{
		Name: "collectives/nonblocking", Tags: []string{"collectives", "rma"},
		Doc: "all collectives outstanding at once, in halves of the world, waited for in any order",
		Run: func(t *regress.T) error { return inSplitWorlds(t, atOnce) },
	})
	for _, x := range collectives {
		list = append(list, regress.Test{
			Name: "collectives/" + x.name, Tags: []string{"collectives", "rma"},
			Doc: "against a naive reference: random sizes, roots and groups, by the library's choice and by each of all algorithms",
			Run: func(t *regress.T) error {
				return inWorlds(t, func() round { return func(_ *host.Rank, c *host.Comm, d *Draw) error { return x.check(c, d) } })
			},
		})
	}
	return list
}

func (x *collective) check(c *host.Comm, d *Draw) error {
	got, err := x.call(c, d)
	if err != nil {
		return err
	}
	want := x.want(d, c.ID())
	if want == nil || bytes.Equal(got, want) {
		return nil
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Errorf("%s at rank %d of %d: %d bytes that differ from byte %d on, expected %d bytes", x.name, c.ID(), c.Size(), len(got), i, len(want))
		}
	}
	return fmt.Errorf("%s at rank %d of %d: %d bytes, expected %d", x.name, c.ID(), c.Size(), len(got), len(want))
}

// barriers checks by a clock that all ranks of a world share.
func barriers() round {
	var mu sync.Mutex                // ranks may run in parallel
	came := map[int][]drivers.Time{} // by round
	return func(r *host.Rank, c *host.Comm, d *Draw) error {
		r.Compute(drivers.Time(rand.New(rand.NewSource(d.seed+int64(c.ID()))).Intn(20)) * drivers.Microsecond)
		mu.Lock()
		if came[d.round] == nil {
			came[d.round] = slices.Repeat([]drivers.Time{drivers.Never}, c.Size())
		}
		came[d.round][c.ID()] = r.Now()
		mu.Unlock()
		if err := c.Barrier(); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for p, at := range came[d.round] {
			if at > r.Now() {
				return fmt.Errorf("rank %d left the barrier at %v before rank %d entered", c.ID(), r.Now(), p)
			}
		}
		return nil
	}
}

const collectiveRounds = 12

// CollectiveSizes are around what fits a packet, a piggyback, and VELO.
func CollectiveSizes() []int {
	return []int{0, 1, 8, 40, 41, 333, host.EagerMax, host.EagerMax + 1, 5000}
}

func inWorlds(t *regress.T, begin func() round) error {
	return launchWorlds(t, func() func(r *host.Rank) error {
		once := begin()
		return func(r *host.Rank) error { return CollectiveWorld(r, t.Seed, collectiveRounds, once) }
	})
}

// launchWorlds runs a body in worlds with one rank per node and several, over all protocols and
// paths that messages take.
func launchWorlds(t *regress.T, begin func() func(r *host.Rank) error) error {
	for _, w := range []struct {
		nodes, procs int
		rendezvous   host.Rendezvous
	}{{2, 1, host.RGET}, {4, 1, host.RPUT}, {2, 3, host.Chunked}, {3, 1, host.Spec}} {
		c := bench.Default("")
		c.Nodes, c.Procs, c.Rendezvous, c.Chunk, c.Outstanding = w.nodes, w.procs, w.rendezvous, 1500, 2
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true}
		c.Sizes = []int{w.nodes * w.procs * CollectiveSizes()[len(CollectiveSizes())-1]} // blocks of a subtree travel together
		t.Logf("%d nodes x %d processes, %s", w.nodes, w.procs, w.rendezvous)
		if err := t.Launch(c, 8, begin()); err != nil {
			return fmt.Errorf("%d nodes x %d processes, %s: %w", w.nodes, w.procs, w.rendezvous, err)
		}
	}
	return nil
}

// CollectiveWorld runs rounds on one rank: each with a group, algorithms and data drawn for it.
func CollectiveWorld(r *host.Rank, seed int64, rounds int, once round) error {
	for k := range rounds {
		d := NewDraw(seed, k, r.Size())
		c, err := r.Group(d.Order)
		if err != nil {
			return err
		}
		if err := d.SetAlgorithms(c); err != nil {
			return err
		}
		if err := once(r, c, d); err != nil {
			return fmt.Errorf("round %d (algorithms %q, root %d, %d bytes, group %v): %w", k, d.algorithms, d.root, d.n, d.Order, err)
		}
	}
	return nil
}

// A Draw is what all ranks of a round agree on: they draw it from one seed.
type Draw struct {
	seed  int64
	round int
	ranks int
	Order []int // of the ranks in the group
	// algorithms are those of the collectives, by their number; empty: the library's choice.
	algorithms []string
	root       int
	n          int   // bytes of a block
	counts     []int // of uneven blocks
	op         operation
}

type operation struct {
	op   host.Op
	one  func(r, i int) uint64 // element i of rank r
	fold func(a, b uint64) uint64
}

// Small whole numbers add up exactly in floating point, in any order.
var operations = []operation{
	{host.SumInt64, func(r, i int) uint64 { return uint64(r*1000 + i) }, func(a, b uint64) uint64 { return a + b }},
	{host.MaxInt64, func(r, i int) uint64 { return uint64(int64((r*7+i)%11) - 5) }, func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }},
	{host.SumFloat64, func(r, i int) uint64 { return math.Float64bits(float64(r - i)) }, func(a, b uint64) uint64 {
		return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
	}},
}

// NewDraw draws one round. Round 0 has the ranks in the order of the world, odd rounds have an
// algorithm for each collective.
func NewDraw(seed int64, round, ranks int) *Draw {
	rnd := rand.New(rand.NewSource(seed<<16 + int64(round)))
	d := &Draw{
		seed: rnd.Int63(), round: round, ranks: ranks, Order: rnd.Perm(ranks), root: rnd.Intn(ranks),
		n: CollectiveSizes()[(round+rnd.Intn(2)*5)%len(CollectiveSizes())], op: operations[rnd.Intn(len(operations))],
	}
	if round == 0 { // as the world itself
		for i := range d.Order {
			d.Order[i] = i
		}
	}
	for range ranks {
		d.counts = append(d.counts, CollectiveSizes()[rnd.Intn(len(CollectiveSizes()))])
	}
	for _, k := range host.Collectives() {
		name := ""
		if names := k.Algorithms(); round%2 == 1 {
			name = names[(round/2+rnd.Intn(len(names)))%len(names)]
		}
		d.algorithms = append(d.algorithms, name)
	}
	return d
}

// SetAlgorithms has a communicator use the algorithms of the round.
func (d *Draw) SetAlgorithms(c *host.Comm) error {
	for i, k := range host.Collectives() {
		if err := c.SetAlgorithm(k, d.algorithms[i]); err != nil {
			return err
		}
	}
	return nil
}

// input is what rank r puts in.
func (d *Draw) input(r, n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(d.seed + int64(r))).Read(b)
	return b
}

func (d *Draw) even() host.Layout   { return host.Even(d.ranks, d.n) }
func (d *Draw) uneven() host.Layout { return host.NewLayout(d.counts) }

// row is what rank s sends to every rank, into what rank r receives from every one.
func (d *Draw) row(s int) host.Layout {
	return d.layout(func(to int) int { return d.counts[(s+2*to)%d.ranks] })
}

func (d *Draw) into(r int) host.Layout {
	return d.layout(func(from int) int { return d.counts[(from+2*r)%d.ranks] })
}

func (d *Draw) layout(n func(p int) int) host.Layout {
	counts := make([]int, d.ranks)
	for p := range counts {
		counts[p] = n(p)
	}
	return host.NewLayout(counts)
}

func (d *Draw) atRoot(me int, b []byte) []byte {
	if me != d.root {
		return nil
	}
	return b
}

// joined are all ranks' blocks behind each other.
func (d *Draw) joined(l host.Layout) []byte {
	all := make([]byte, l.Bytes())
	for r := range d.ranks {
		block := l.Of(all, r)
		copy(block, d.input(r, len(block)))
	}
	return all
}

// column are the blocks that all ranks send to rank me.
func (d *Draw) column(me int, row func(s int) host.Layout) (all []byte) {
	all = []byte{}
	for s := range d.ranks {
		l := row(s)
		all = append(all, l.Of(d.input(s, l.Bytes()), me)...)
	}
	return all
}

func (d *Draw) words(bytes int) int { return (bytes + 7) / 8 }

func (d *Draw) wordLayout() host.Layout {
	return d.layout(func(p int) int { return 8 * d.words(d.counts[p]) })
}

// numbers are n elements of rank r.
func (d *Draw) numbers(r, n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, d.op.one(r, i))
	}
	return b
}

// reduced combines the elements of all ranks, one after the other.
func (d *Draw) reduced(n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		v := d.op.one(0, i)
		for r := 1; r < d.ranks; r++ {
			v = d.op.fold(v, d.op.one(r, i))
		}
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// EachCollective runs all collectives one after the other and checks their results.
func EachCollective(_ *host.Rank, c *host.Comm, d *Draw) error {
	for i := range collectives {
		if err := collectives[i].check(c, d); err != nil {
			return err
		}
	}
	return nil
}
