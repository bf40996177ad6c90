package reuse

import (
	"cmp"
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig9() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-fig5.9"}, Title: "Broadcast and scatter from buffers that are used again",
		Paper: "SPEC, section 5.5.1, Figure 5.9", PaperSize: "4 nodes, 4 and 16 processes, 10,000 operations of 128 bytes to 8 KB",
		Measure: measureReuse9, Plot: plotReuse9,
		Mutations: []paper.Mutation{{
			What: "every message is copied", Mutate: alwaysCopied(), Claims: []string{lastEarlier},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return fromRoots(ctx, e, reuse9Lines()[:1], []int{8 << 10})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  lastEarlier,
				Paper: "up to 25 %, mean of all ranks", Judge: func(t *paper.Table) judge.Finding {
					v := ofLine(t, "bcast", 4, 8<<10, lastGains)
					return judge.Of(fmt.Sprintf("%.1f %% earlier", v), judge.AtLeast(v, 100*judge.Margin))
				},
			},
			{
				Text:  moreThanTwo,
				Paper: "up to 25 %", Judge: func(t *paper.Table) judge.Finding {
					v, w := ofLine(t, "bcast", 4, 8<<10, meanGains), ofLine(t, "pingpong", 2, 8<<10, meanGains)
					return judge.Of(fmt.Sprintf("%.1f %%, %.1f between two", v, w), judge.Less(w, v, judge.Points))
				},
			},
			{
				Text:  bcastOf16,
				Paper: "lower", Judge: lessOf16("bcast", 8<<10, meanGains),
			},
			{
				Text:  scatterOf16,
				Paper: "the lowest", Judge: lessOf16("scatter", 1<<10, meanGains),
			},
			{
				Text:  scatterDrops,
				Paper: "decreases sharply", Judge: drops(meanGains),
			},
		},
		Reasons: reuseReasons9(),
	}
}

const lastEarlier = "broadcast of 8 KB among 4: the last rank has it earlier"

// The columns that claims are about: the mean over all ranks, as in the paper, and single ranks.
const (
	meanGains = "gain (%)"
	rootGains = "root gains (%)"
	lastGains = "last rank gains (%)"
)

func ofLine(t *paper.Table, what string, ranks, n int, column string) float64 {
	return t.Only(column, "collective", what, "processes", ranks, "bytes", n)
}

func lessOf16(what string, n int, column string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v, w := ofLine(t, what, 16, n, column), ofLine(t, what, 4, n, column)
		return judge.Of(fmt.Sprintf("%.1f and %.1f %%", v, w), judge.Less(v, w, judge.Points))
	}
}

func drops(column string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v, w := ofLine(t, "scatter", 4, 4<<10, column), ofLine(t, "scatter", 4, 8<<10, column)
		return judge.Of(fmt.Sprintf("%.1f %% at 4 KB, %.1f %% at 8 KB", v, w), judge.Below(w/v, 0.5))
	}
}

func reuse9Columns() []string {
	return []string{"collective", "processes", "bytes", "operations", "copied (µs)", "adaptive (µs)", meanGains, rootGains, lastGains, "without a copy (%)"}
}

// What ranks do in a line of the figure, and instead of it.
const (
	ofBcast    = "bcast"
	ofScatter  = "scatter"
	ofPingpong = "pingpong"
	// Only the time in which the root begins its sends counts as its time.
	begunBcast   = "bcast, begun by its root"
	begunScatter = "scatter, begun by its root"
	// The same holds for all ranks, in the same tree and in a chain, in which no rank sends two
	// messages.
	begunTree  = "bcast, begun by all"
	begunChain = "bcast along a chain, begun by all"
)

// A reuse9 is a line of the figure.
type reuse9 struct {
	what  string
	world paper.World
	does  string // instead of what it is named for; empty: that
	part  int    // of the bytes of a block; 0: all of them
}

// nodes4 is a world of one rank per node, nodes16 one of four ranks per node.
func nodes4() paper.World {
	return paper.World{Nodes: 4, Procs: 1}
}

func nodes16() paper.World {
	return paper.World{Nodes: 4, Procs: 4}
}

func reuse9Lines() []reuse9 {
	return []reuse9{
		{what: ofBcast, world: nodes4()}, {what: ofBcast, world: nodes16()}, {what: ofScatter, world: nodes4()}, {what: ofScatter, world: nodes16()},
		{what: ofPingpong, world: reusePair()},
	}
}

func measureReuse9(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return fromRoots(ctx, e, reuse9Lines(), reuseSizes(e))
}

// run is a line's, for messages of n bytes.
func (l reuse9) run(n, times int) reuseRun {
	if l.what == ofPingpong {
		return reuse5Run(oneBuffer, n, times)
	}
	does := cmp.Or(l.does, l.what)
	n /= cmp.Or(l.part, 1)
	return reuseRun{
		World: l.world, bytes: n, arena: (l.world.Ranks() + 2) * reuseStep(n, false), local: true,
		body: func(x *reuseRank) (drivers.Time, error) { return x.fromOne(does, times) },
	}
}

func fromRoots(ctx context.Context, e *paper.Env, lines []reuse9, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: reuse9Columns()}
	times := e.Repeats(30, 300, 3000)
	var runs []reuseRun
	for _, l := range lines {
		for _, n := range sizes {
			runs = append(runs, l.run(n, times))
		}
	}
	copied, adaptive, err := copiedAndAdaptive(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	for i, before := range copied {
		after, l, n := adaptive[i], lines[i/len(sizes)], sizes[i%len(sizes)]
		t.Add(l.what, l.world.Ranks(), n, times, before.time, after.time, gain(before, after), 100*(1-after.first/before.first), 100*(1-after.last/before.last), after.direct)
	}
	return t, nil
}

// fromOne does a collective of root 0 again and again, a barrier behind each, by the algorithm of
// the paper. The barrier is not timed.
func (x *reuseRank) fromOne(what string, times int) (drivers.Time, error) {
	n, size := x.run.bytes, x.Size()
	for _, k := range []host.Collective{host.Bcast, host.Scatter} {
		if err := x.SetAlgorithm(k, "binomial"); err != nil {
			return 0, err
		}
	}
	mine, err := x.Alloc(n)
	if err != nil {
		return 0, err
	}
	all, err := x.Alloc(n * size)
	if err != nil {
		return 0, err
	}
	var spent drivers.Time
	for k := range times + warmup(n) {
		if x.ID() == 0 {
			x.fill(mine, k)
			for i := range size {
				x.fill(all[i*n:][:n], k+i)
			}
		}
		want := k
		if k == warmup(n) {
			spent = 0
		}
		began := x.Now()
		ended := drivers.Time(0)
		switch what {
		case ofBcast:
			err = x.Bcast(0, mine)
		case begunBcast:
			ended, err = x.begun(x.Ibcast(0, mine))
		case begunTree:
			ended, err = x.passOn(mine, binomialOf4())
		case begunChain:
			ended, err = x.passOn(mine, chainOf4())
		case begunScatter:
			want += x.ID()
			ended, err = x.begun(x.Iscatter(0, all, mine))
		default:
			want += x.ID()
			err = x.Scatter(0, all, mine)
		}
		if ended == 0 {
			ended = x.Now()
		}
		spent += ended - began
		if err != nil {
			return 0, err
		}
		if err := x.verify(mine, want); err != nil {
			return 0, err
		}
		if err := x.Barrier(); err != nil {
			return 0, err
		}
	}
	return spent / drivers.Time(times), nil
}

// begun waits for a collective that has begun. The time of the root ends before that wait.
func (x *reuseRank) begun(q *host.Request, err error) (ended drivers.Time, _ error) {
	if err != nil {
		return 0, err
	}
	begun := x.Now()
	if _, err := x.Wait(q); err != nil {
		return 0, err
	}
	if x.ID() == 0 {
		return begun, nil
	}
	return x.Now(), nil
}

// A tree of a broadcast from rank 0 has the children of each rank, in the order of sending, and its
// parent.
type tree struct {
	children [][]int
	parent   []int
}

func binomialOf4() tree {
	return tree{[][]int{{2, 1}, nil, {3}, nil}, []int{-1, 0, 0, 2}}
}

func chainOf4() tree {
	return tree{[][]int{{1}, {2}, {3}, nil}, []int{-1, 0, 1, 2}}
}

// passOn is a broadcast that ends for every rank when it has the message and has begun to pass it
// on.
func (x *reuseRank) passOn(b []byte, t tree) (ended drivers.Time, err error) {
	const tag = 1
	if from := t.parent[x.ID()]; from >= 0 {
		if _, err := x.Recv(from, tag, b); err != nil {
			return 0, err
		}
	}
	var sends []*host.Request
	for _, to := range t.children[x.ID()] {
		q, err := x.Isend(to, tag, b)
		if err != nil {
			return 0, err
		}
		sends = append(sends, q)
	}
	ended = x.Now()
	return ended, x.Waitall(sends)
}

func plotReuse9(t *paper.Table) []*figure.Figure {
	f := reuseFigure("Broadcast and scatter from buffers that are used again")
	for _, l := range reuse9Lines() {
		rows := t.Where("collective", l.what, "processes", l.world.Ranks())
		f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, %d processes", l.what, l.world.Ranks()), Points: rows.Points("bytes", "gain (%)")})
	}
	return []*figure.Figure{f}
}
