package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var reuseFig5 = &Experiment{
	IDs: []string{"reuse-fig5.5"}, Title: "Eager from buffers that are used again: latency",
	Paper: "SPEC, section 5.5.1, Figure 5.5 (a)", PaperSize: "2 nodes, 10,000 ping-pongs of 128 bytes to 8 KB",
	measure: measureReuse5, plot: plotReuse5,
	claims: []claim{
		{"8 KB, always from one buffer: faster", "14 %", func(t *Table) (string, bool) {
			v := t.only("gain (%)", "buffers", oneBuffer, "bytes", 8<<10)
			return fmt.Sprintf("%.1f %%", v), v >= 14
		}},
		{"8 KB gains most", "maximum at 8 KB", func(t *Table) (string, bool) {
			rows := t.where("buffers", oneBuffer)
			v := rows.values("gain (%)")
			at := slices.Index(v, slices.Max(v))
			return fmt.Sprintf("%.1f %% at %.0f bytes", v[at], rows.values("bytes")[at]), at == len(v)-1
		}},
		{"8 KB: as much as the copy that is saved says (equation 5.6)", "14 of 15 %", func(t *Table) (string, bool) {
			v, w := t.only("gain (%)", "buffers", oneBuffer, "bytes", 8<<10), t.only("theory (%)", "buffers", oneBuffer, "bytes", 8<<10)
			return fmt.Sprintf("%.1f of %.1f %%", v, w), math.Abs(v-w) <= 1.5
		}},
		{"8 KB, from no buffer twice: slower by little", "< 1 % (CG, section 5.5.2)", func(t *Table) (string, bool) {
			v := -t.only("gain (%)", "buffers", newBuffers, "bytes", 8<<10)
			return fmt.Sprintf("%.2f %%", v), v <= 1
		}},
	},
}

const (
	oneBuffer  = "one"
	newBuffers = "all new"
)

var reuse5Columns = []string{"buffers", "bytes", "messages", "copied (µs)", "adaptive (µs)", "without rings (µs)", "gain (%)", "theory (%)", "without a copy (%)"}

func measureReuse5(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: reuse5Columns}
	type row struct {
		buffers  string
		bytes, n int
	}
	var rows []row
	var runs []reuseRun
	for _, buffers := range []string{oneBuffer, newBuffers} {
		for _, n := range e.reuseSizes() {
			x := row{buffers, n, e.repeats(50, 1000, 10000)}
			if buffers == newBuffers {
				x.n = e.repeats(50, 400, 1000)
			}
			rows = append(rows, x)
			for _, mode := range []host.ReuseMode{host.ReuseCopy, host.ReuseAdapt, host.ReuseOff} {
				runs = append(runs, reuse5Run(mode, x.buffers, x.bytes, x.n))
			}
		}
	}
	s, err := e.reuse(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i, x := range rows {
		before, after, off := s[3*i], s[3*i+1], s[3*i+2]
		t.add(x.buffers, x.bytes, x.n, before.time, after.time, off.time, gain(before, after), theory(x.bytes, before), after.direct)
	}
	return t, nil
}

func reuse5Run(mode host.ReuseMode, buffers string, n, messages int) reuseRun {
	count := 1
	if buffers == newBuffers {
		count = messages
	}
	return reuseRun{
		world: reusePair, mode: mode, bytes: n, arena: (count + 1) * reuseStep(n, false),
		body: func(x *reuseRank) (drivers.Time, error) {
			list, err := x.buffers(count, n, false)
			if err != nil {
				return 0, err
			}
			if count == 1 {
				return x.pingpong(warmup(n), again(list[0], messages+warmup(n)))
			}
			return x.pingpong(0, once(list))
		},
	}
}

func plotReuse5(t *Table) []*figure.Figure {
	f := reuseFigure("Eager from one buffer, always: latency that a copy less saves")
	rows := t.where("buffers", oneBuffer)
	f.Series = []figure.Series{
		{Name: "measured", Points: rows.points("bytes", "gain (%)")},
		{Name: "theory, equation 5.6", Points: rows.points("bytes", "theory (%)")},
		{Name: "no buffer twice", Points: t.where("buffers", newBuffers).points("bytes", "gain (%)")},
	}
	return []*figure.Figure{f}
}

func reuseFigure(title string) *figure.Figure {
	return &figure.Figure{
		Title: title,
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y:     figure.Axis{Label: "improvement", Unit: "%"},
	}
}
