package reuse

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig5() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-fig5.5"}, Title: "Eager from buffers that are used again: latency",
		Paper: "SPEC, section 5.5.1, Figure 5.5 (a)", PaperSize: "2 nodes, 10,000 ping-pongs of 128 bytes to 8 KB",
		Measure: measureReuse5, Plot: plotReuse5,
		Mutations: []paper.Mutation{
			{What: "copying takes ten times as long", Mutate: tenfoldCopies(), Measure: decides5, Claims: []string{asTheCopy5}},
			{What: "every message is copied", Mutate: alwaysCopied(), Measure: decides5, Claims: []string{fasterFromOne, asTheCopy5}},
		},
		Claims: []paper.Claim{
			{
				Text:  fasterFromOne,
				Paper: "14 %", Judge: gains("buffers", oneBuffer),
			},
			{
				Text:  "8 KB, always from one buffer: faster by as much as in the paper",
				Paper: "14 %", Judge: gainsAs("buffers", oneBuffer, 14),
			},
			{
				Text:  "8 KB gains most",
				Paper: "maximum at 8 KB", Judge: func(t *paper.Table) judge.Finding {
					rows := t.Where("buffers", oneBuffer)
					v := rows.Values("gain (%)")
					at := slices.Index(v, slices.Max(v))
					return judge.Of(fmt.Sprintf("%.1f %% at %.0f bytes", v[at], rows.Values("bytes")[at]),
						judge.Equal(rows.Values("bytes")[at], rows.Values("bytes")[len(v)-1]))
				},
			},
			{
				Text:  asTheCopy5,
				Paper: "14 of 15 %", Judge: asTheory("buffers", oneBuffer),
			},
			{
				Text:  "8 KB, from no buffer twice: slower by little",
				Paper: "< 1 % (CG, section 5.5.2)", Judge: func(t *paper.Table) judge.Finding {
					v := -gainOf8K(t, "buffers", newBuffers)
					return judge.Of(fmt.Sprintf("%.2f %%", v), judge.AtMost(v, 1))
				},
			},
		},
	}
}

const (
	oneBuffer  = "one"
	newBuffers = "all new"
)

func reuse5Columns() []string {
	return []string{"buffers", "bytes", "messages", "copied (µs)", "adaptive (µs)", "without rings (µs)", "gain (%)", "theory (%)", "without a copy (%)"}
}

const (
	fasterFromOne = "8 KB, always from one buffer: faster"
	asTheCopy5    = "8 KB: as much as the copy that is saved says (equation 5.6)"
)

func measureReuse5(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureBuffers5(ctx, e, []string{oneBuffer, newBuffers}, reuseSizes(e))
}

// decides5 is what decides the claims about one buffer of 8 KB.
func decides5(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureBuffers5(ctx, e, []string{oneBuffer}, []int{8 << 10})
}

func measureBuffers5(ctx context.Context, e *paper.Env, kinds []string, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: reuse5Columns()}
	type row struct {
		buffers  string
		bytes, n int
	}
	var rows []row
	var runs []reuseRun
	for _, buffers := range kinds {
		for _, n := range sizes {
			x := row{buffers, n, e.Repeats(50, 1000, 10000)}
			if buffers == newBuffers {
				x.n = e.Repeats(50, 400, 1000)
			}
			rows = append(rows, x)
			r := reuse5Run(x.buffers, x.bytes, x.n)
			for _, r.mode = range []host.ReuseMode{host.ReuseCopy, host.ReuseAdapt, host.ReuseOff} {
				runs = append(runs, r)
			}
		}
	}
	s, err := measureReuse(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	for i, x := range rows {
		before, after, off := s[3*i], s[3*i+1], s[3*i+2]
		t.Add(x.buffers, x.bytes, x.n, before.time, after.time, off.time, gain(before, after), theory(x.bytes, before), after.direct)
	}
	return t, nil
}

func reuse5Run(buffers string, n, messages int) reuseRun {
	count := 1
	if buffers == newBuffers {
		count = messages
	}
	return reuseRun{
		World: reusePair(), bytes: n, arena: (count + 1) * reuseStep(n, false),
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

func plotReuse5(t *paper.Table) []*figure.Figure {
	f := reuseFigure("Eager from one buffer, always: latency that a copy less saves")
	rows := t.Where("buffers", oneBuffer)
	f.Series = []figure.Series{
		{Name: "measured", Points: rows.Points("bytes", "gain (%)")},
		{Name: "theory, equation 5.6", Points: rows.Points("bytes", "theory (%)")},
		{Name: "no buffer twice", Points: t.Where("buffers", newBuffers).Points("bytes", "gain (%)")},
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
