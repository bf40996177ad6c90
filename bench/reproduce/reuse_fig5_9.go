package reproduce

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var reuseFig9 = &Experiment{
	IDs: []string{"reuse-fig5.9"}, Title: "Broadcast and scatter from buffers that are used again",
	Paper: "SPEC, section 5.5.1, Figure 5.9", PaperSize: "4 nodes, 4 and 16 processes, 10,000 operations of 128 bytes to 8 KB",
	measure: measureReuse9, plot: plotReuse9,
	claims: []claim{
		{"broadcast among 4: more than a message between two", "up to 25 %", func(t *Table) (string, bool) {
			v, w := ofLine(t, "bcast", 4, 8<<10, meanGains), ofLine(t, "pingpong", 2, 8<<10, meanGains)
			return fmt.Sprintf("%.1f %%, %.1f between two", v, w), v > w
		}},
		{"16 processes gain less than 4: most of their messages stay on a node (broadcast)", "lower", lessOf16("bcast", 8<<10, meanGains)},
		{"16 processes gain less than 4 (scatter)", "the lowest", lessOf16("scatter", 1<<10, meanGains)},
		{"scatter gains less beyond 4.5 KB: two blocks are no eager message", "decreases sharply", drops(meanGains)},
		{"the reason: the root's sends end when the bytes have left, not when they are copied", "(not said)", func(t *Table) (string, bool) {
			v, w := ofLine(t, "bcast", 4, 8<<10, rootGains), ofLine(t, "bcast", 4, 8<<10, lastGains)
			return fmt.Sprintf("broadcast of 8 KB: the root takes %.0f %% longer, the last rank %.1f %% less", -v, w), v < 0 && w > 20
		}},
		{"if its sends were over when they are begun: broadcast among 4, more than a message between two", "up to 25 % (the reason)", func(t *Table) (string, bool) {
			v, w := ofLine(t, begunBcast, 4, 8<<10, meanGains), ofLine(t, "pingpong", 2, 8<<10, meanGains)
			return fmt.Sprintf("%.1f %%, %.1f between two", v, w), v > w
		}},
		{"if its sends were over when they are begun: 16 processes gain less (broadcast)", "lower (the reason)", lessOf16(begunBcast, 8<<10, meanGains)},
		{"until the last rank has it: 16 processes gain less (broadcast)", "lower", lessOf16("bcast", 8<<10, lastGains)},
		{"until the last rank has it: scatter gains less beyond 4.5 KB", "decreases sharply", drops(lastGains)},
	},
}

// The columns that claims are about: the mean over all ranks, as in the paper, and single ranks.
const (
	meanGains = "gain (%)"
	rootGains = "root gains (%)"
	lastGains = "last rank gains (%)"
)

func ofLine(t *Table, what string, ranks, n int, column string) float64 {
	return t.only(column, "collective", what, "processes", ranks, "bytes", n)
}

func lessOf16(what string, n int, column string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v, w := ofLine(t, what, 16, n, column), ofLine(t, what, 4, n, column)
		return fmt.Sprintf("%.1f and %.1f %%", v, w), v < w
	}
}

func drops(column string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v, w := ofLine(t, "scatter", 4, 4<<10, column), ofLine(t, "scatter", 4, 8<<10, column)
		return fmt.Sprintf("%.1f %% at 4 KB, %.1f %% at 8 KB", v, w), w < v/2
	}
}

var reuse9Columns = []string{"collective", "processes", "bytes", "operations", "copied (µs)", "adaptive (µs)", meanGains, rootGains, lastGains, "without a copy (%)"}

// begunBcast counts of the root's time only what it takes to begin its sends: the experiment that shows what their ends make of a broadcast.
const begunBcast = "bcast, begun by its root"

// A reuse9 is a line of the figure.
type reuse9 struct {
	what  string
	world world
}

var reuse9Lines = []reuse9{
	{"bcast", world{nodes: 4, procs: 1}}, {"bcast", world{nodes: 4, procs: 4}},
	{"scatter", world{nodes: 4, procs: 1}}, {"scatter", world{nodes: 4, procs: 4}},
	{begunBcast, world{nodes: 4, procs: 1}}, {begunBcast, world{nodes: 4, procs: 4}},
	{"pingpong", reusePair},
}

func measureReuse9(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: reuse9Columns}
	times := e.repeats(30, 300, 3000)
	var runs []reuseRun
	for _, l := range reuse9Lines {
		for _, n := range e.reuseSizes() {
			for _, mode := range []host.ReuseMode{host.ReuseCopy, host.ReuseAdapt} {
				run := reuse5Run(mode, oneBuffer, n, times)
				if l.what != "pingpong" {
					run = reuseRun{
						world: l.world, mode: mode, bytes: n, arena: (l.world.ranks() + 2) * reuseStep(n, false), local: true,
						body: func(x *reuseRank) (drivers.Time, error) { return x.fromOne(l.what, times) },
					}
				}
				runs = append(runs, run)
			}
		}
	}
	s, err := e.reuse(ctx, runs)
	if err != nil {
		return nil, err
	}
	for _, l := range reuse9Lines {
		for _, n := range e.reuseSizes() {
			before, after := s[0], s[1]
			s = s[2:]
			t.add(l.what, l.world.ranks(), n, times, before.time, after.time, gain(before, after), 100*(1-after.first/before.first), 100*(1-after.last/before.last), after.direct)
		}
	}
	return t, nil
}

// fromOne does a collective of root 0 again and again, a barrier behind each, by the algorithm of the paper. The barrier is not timed.
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
		case "bcast":
			err = x.Bcast(0, mine)
		case begunBcast:
			ended, err = x.begunBcast(mine)
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

// begunBcast is a broadcast that ends for the root when its sends are begun.
func (x *reuseRank) begunBcast(b []byte) (ended drivers.Time, err error) {
	q, err := x.Ibcast(0, b)
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

func plotReuse9(t *Table) []*figure.Figure {
	f := reuseFigure("Broadcast and scatter from buffers that are used again")
	for _, l := range reuse9Lines {
		rows := t.where("collective", l.what, "processes", l.world.ranks())
		f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, %d processes", l.what, l.world.ranks()), Points: rows.points("bytes", "gain (%)")})
	}
	return []*figure.Figure{f}
}
