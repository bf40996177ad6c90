package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var reuseFig7 = &Experiment{
	IDs: []string{"reuse-fig5.7"}, Title: "Put and get of buffers that are used again: latency with a fence",
	Paper: "SPEC, section 5.5.1, Figure 5.7", PaperSize: "2 nodes, 10,000 operations of 128 bytes to 8 KB",
	measure: measureReuse7, plot: plotReuse7,
	claims: []claim{
		{"put of 8 KB: faster", "about 20 %", func(t *Table) (string, bool) { return reuseGains(t, opPut, 8<<10, 18) }},
		{"put: close to what the copy that is saved says", "very close", func(t *Table) (string, bool) {
			v, w := t.only("gain (%)", "operation", opPut, "bytes", 8<<10), t.only("theory (%)", "operation", opPut, "bytes", 8<<10)
			return fmt.Sprintf("%.1f of %.1f %%", v, w), math.Abs(v-w) <= 1.5
		}},
		{"put gains from 256 bytes on", "larger than 256 bytes", func(t *Table) (string, bool) {
			return first(t.where("operation", opPut), func(n float64) bool { return n <= 512 })
		}},
		{"get of 8 KB: faster", "about 17 %", func(t *Table) (string, bool) { return reuseGains(t, opGet, 8<<10, 15) }},
		{"get: noticeably less than the copy that is saved says", "part of the copy is beside the synchronization", func(t *Table) (string, bool) {
			v, w := t.only("gain (%)", "operation", opGet, "bytes", 8<<10), t.only("theory (%)", "operation", opGet, "bytes", 8<<10)
			return fmt.Sprintf("%.1f of %.1f %%", v, w), v < w-1.5
		}},
		{"get gains only from 3 KB on", "after 3 KB", func(t *Table) (string, bool) {
			return first(t.where("operation", opGet), func(n float64) bool { return n > 2<<10 })
		}},
		{"get that says that it is done before it copies: noticeably less, as the paper explains its own", "(the reason)", func(t *Table) (string, bool) {
			v, w := t.only("gain (%)", "operation", opGetLate, "bytes", 8<<10), t.only("theory (%)", "operation", opGetLate, "bytes", 8<<10)
			return fmt.Sprintf("%.1f of %.1f %%", v, w), v < w-1.5
		}},
		{"and it gains nothing up to 1 KB, whose copy is shorter than that message", "(the reason)", func(t *Table) (string, bool) {
			return first(t.where("operation", opGetLate), func(n float64) bool { return n > 1<<10 })
		}},
	},
}

// The operations. A late get copies when it has said that it is done, beside a message there and
// back (host.Window.CopyLate).
const (
	opPut     = "put"
	opGet     = "get"
	opGetLate = "get, copied late"
)

var reuseOps = []string{opPut, opGet, opGetLate}

func reuseGains(t *Table, op string, n int, least float64) (string, bool) {
	v := t.only("gain (%)", "operation", op, "bytes", n)
	return fmt.Sprintf("%.1f %%", v), v >= least
}

// first is the size from which on there is a gain of 1 %.
func first(t *Table, holds func(float64) bool) (string, bool) {
	at := math.Inf(1)
	v, n := t.values("gain (%)"), t.values("bytes")
	for i := len(v) - 1; i >= 0 && v[i] >= 1; i-- {
		at = n[i]
	}
	return fmt.Sprintf("from %.0f bytes on", at), holds(at)
}

var reuse7Columns = []string{"operation", "bytes", "operations", "copied (µs)", "adaptive (µs)", "gain (%)", "theory (%)", "without a copy (%)"}

func measureReuse7(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: reuse7Columns}
	times := e.repeats(50, 1000, 10000)
	var runs []reuseRun
	for _, op := range reuseOps {
		for _, n := range e.reuseSizes() {
			for _, mode := range []host.ReuseMode{host.ReuseCopy, host.ReuseAdapt} {
				runs = append(runs, reuseRun{
					world: reusePair, mode: mode, bytes: n, arena: 3 * reuseStep(n, false),
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
	}
	s, err := e.reuse(ctx, runs)
	if err != nil {
		return nil, err
	}
	for _, op := range reuseOps {
		for _, n := range e.reuseSizes() {
			before, after := s[0], s[1]
			s = s[2:]
			t.add(op, n, times, before.time, after.time, gain(before, after), theory(n, before), after.direct)
		}
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

func plotReuse7(t *Table) (list []*figure.Figure) {
	for _, op := range reuseOps {
		rows := t.where("operation", op)
		f := reuseFigure("One-sided: latency that a copy less saves, " + op)
		f.Series = []figure.Series{
			{Name: "measured", Points: rows.points("bytes", "gain (%)")},
			{Name: "theory, equation 5.6", Points: rows.points("bytes", "theory (%)")},
		}
		list = append(list, f)
	}
	return list
}
