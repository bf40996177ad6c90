package reuse

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig7() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-fig5.7"}, Title: "Put and get of buffers that are used again: latency with a fence",
		Paper: "SPEC, section 5.5.1, Figure 5.7", PaperSize: "2 nodes, 10,000 operations of 128 bytes to 8 KB",
		Measure: measureReuse7, Plot: plotReuse7,
		Mutations: []paper.Mutation{
			{What: "copying takes ten times as long", Mutate: tenfoldCopies(), Measure: decides7, Claims: []string{asTheCopy7}},
			{What: "every message is copied", Mutate: alwaysCopied(), Measure: decides7, Claims: []string{fasterPut, asTheCopy7}},
		},
		Claims: []paper.Claim{
			{
				Text:  fasterPut,
				Paper: "about 20 %", Judge: gains("operation", opPut),
			},
			{
				Text:  "put of 8 KB: faster by as much as in the paper",
				Paper: "about 20 %", Judge: gainsAs("operation", opPut, 20),
			},
			{
				Text:  asTheCopy7,
				Paper: "very close", Judge: asTheory("operation", opPut),
			},
			{
				Text:  "put gains from 256 bytes on",
				Paper: "larger than 256 bytes", Judge: func(t *paper.Table) judge.Finding {
					return first(t.Where("operation", opPut), func(n float64) judge.Check { return judge.AtMost(n, 512) })
				},
			},
			{
				Text:  "get of 8 KB: faster",
				Paper: "about 17 %", Judge: gains("operation", opGet),
			},
			{
				Text:  "get of 8 KB: faster by as much as in the paper",
				Paper: "about 17 %", Judge: gainsAs("operation", opGet, 17),
			},
			{
				Text:  "get: noticeably less than the copy that is saved says",
				Paper: "part of the copy is beside the synchronization", Judge: belowTheory("operation", opGet),
			},
			{
				Text:  "get gains only from 3 KB on",
				Paper: "after 3 KB", Judge: func(t *paper.Table) judge.Finding {
					return first(t.Where("operation", opGet), func(n float64) judge.Check { return judge.Above(n, 2<<10) })
				},
			},
			{
				Text:  "get that reports completion before it copies: noticeably less, as the paper explains its result",
				Paper: "(the reason)", Judge: belowTheory("operation", opGetLate),
			},
			{
				Text:  "and it gains nothing up to 1 KB, whose copy is shorter than that message",
				Paper: "(the reason)", Judge: func(t *paper.Table) judge.Finding {
					return first(t.Where("operation", opGetLate), func(n float64) judge.Check { return judge.Above(n, 1<<10) })
				},
			},
		},
	}
}

// The operations. A late get reports completion before it copies, so that the copy overlaps with a
// message and its answer (host.Window.CopyLate).
const (
	opPut     = "put"
	opGet     = "get"
	opGetLate = "get, copied late"
)

func reuseOps() []string {
	return []string{opPut, opGet, opGetLate}
}

// first is the size from which on there is a gain of 1 %.
func first(t *paper.Table, is func(float64) judge.Check) judge.Finding {
	at := math.Inf(1)
	v, n := t.Values("gain (%)"), t.Values("bytes")
	for i := len(v) - 1; i >= 0 && v[i] >= 1; i-- {
		at = n[i]
	}
	return judge.Of(fmt.Sprintf("from %.0f bytes on", at), is(at))
}

func reuse7Columns() []string {
	return []string{"operation", "bytes", "operations", "copied (µs)", "adaptive (µs)", "gain (%)", "theory (%)", "without a copy (%)"}
}

const (
	fasterPut  = "put of 8 KB: faster"
	asTheCopy7 = "put: close to what the copy that is saved says"
)

func measureReuse7(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureOps7(ctx, e, reuseOps(), reuseSizes(e))
}

// decides7 is what decides the claims about a put of 8 KB.
func decides7(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureOps7(ctx, e, []string{opPut}, []int{8 << 10})
}

func measureOps7(ctx context.Context, e *paper.Env, ops []string, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: reuse7Columns()}
	times := e.Repeats(50, 1000, 10000)
	var runs []reuseRun
	for _, op := range ops {
		for _, n := range sizes {
			runs = append(runs, reuseRun{
				World: reusePair(), bytes: n, arena: 3 * reuseStep(n, false),
				body: func(x *reuseRank) (drivers.Time, error) {
					list, err := x.buffers(1, n, false)
					if err != nil {
						return 0, err
					}
					return x.oneSided(op, warmup(n), again(list[0], times+warmup(n)))
				},
			})
		}
	}
	copied, adaptive, err := copiedAndAdaptive(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	for i, before := range copied {
		after, n := adaptive[i], sizes[i%len(sizes)]
		t.Add(ops[i/len(sizes)], n, times, before.time, after.time, gain(before, after), theory(n, before), after.direct)
	}
	return t, nil
}

// oneSided has rank 0 put into, or get from, the window of rank 1, with a fence behind each. Some
// at the beginning are not timed.
func (x *reuseRank) oneSided(op string, warmup int, next func(int) []byte) (drivers.Time, error) {
	mine, err := x.Alloc(x.run.bytes)
	if err != nil {
		return 0, err
	}
	w, err := x.NewWindow(mine)
	if err != nil {
		return 0, err
	}
	if op == opGetLate {
		w.CopyLate()
	}
	if err := w.Fence(); err != nil {
		return 0, err
	}
	began := x.Now()
	k := 0
	for ; ; k++ {
		if k == warmup {
			began = x.Now()
		}
		b := next(k)
		if b == nil {
			break
		}
		if err := x.operate(w, op, b, mine, k); err != nil {
			return 0, err
		}
	}
	return (x.Now() - began) / drivers.Time(k-warmup), nil
}

// operate is one operation and its fence. What a get finds was put there while rank 0 was in the
// fence before, or is the same as ever.
func (x *reuseRank) operate(w *host.Window, op string, b, mine []byte, k int) error {
	zero := x.ID() == 0
	switch {
	case op == opPut && zero:
		x.fill(b, k)
		if err := w.Put(1, 0, b); err != nil {
			return err
		}
	case op != opPut && zero:
		clear(b)
		if err := w.Get(1, 0, b); err != nil {
			return err
		}
	case op != opPut && k == 0:
		x.fill(mine, 1)
	}
	if err := w.Fence(); err != nil {
		return err
	}
	switch {
	case op == opPut && !zero:
		return x.verify(mine, k)
	case op != opPut && zero && k > 0:
		return x.verify(b, 1)
	}
	return nil
}

func plotReuse7(t *paper.Table) (list []*figure.Figure) {
	for _, op := range reuseOps() {
		rows := t.Where("operation", op)
		f := reuseFigure("One-sided: latency that a copy less saves, " + op)
		f.Series = []figure.Series{
			{Name: "measured", Points: rows.Points("bytes", "gain (%)")},
			{Name: "theory, equation 5.6", Points: rows.Points("bytes", "theory (%)")},
		}
		list = append(list, f)
	}
	return list
}
