package reuse

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
)

func fig6() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-fig5.6"}, Title: "Eager from buffers that are used 1 to 1,000 times",
		Paper: "SPEC, section 5.5.1, Figure 5.6 (a)", PaperSize: "2 nodes, 1,000 buffers, buffer i used i times",
		Thinned: "sizes between 1 KB and 4 KB",
		Measure: measureReuse6, Plot: plotReuse6,
		Mutations: []paper.Mutation{{
			What: "every message is copied", Mutate: alwaysCopied(), Claims: []string{spectrumFaster},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureSpectrum6(ctx, e, fewBuffers, []string{ownPages}, []int{8 << 10})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  spectrumFaster,
				Paper: "12.7 of 14 %", Judge: gainsLess("allocation", ownPages),
			},
			{
				Text:  "8 KB gains most",
				Paper: "maximum at 8 KB", Judge: func(t *paper.Table) judge.Finding {
					v := t.Where("allocation", ownPages).Values("gain (%)")
					return judge.Of(fmt.Sprintf("%.1f %%", v[len(v)-1]), judge.True(slices.Max(v) == v[len(v)-1]))
				},
			},
			{
				Text:  "short buffers back to back gain more: their pages are registered already",
				Paper: "evident below a page", Judge: func(t *paper.Table) judge.Finding {
					return apart(t, 1<<10, func(d float64) judge.Check { return judge.AtLeast(d, judge.Points) })
				},
			},
			{
				Text:  "from a page on how they lie makes no difference",
				Paper: "almost vanishes", Judge: func(t *paper.Table) judge.Finding {
					return apart(t, 8<<10, func(d float64) judge.Check { return judge.Near(d, 0, judge.Points) })
				},
			},
		},
	}
}

// apart is by how many points buffers back to back gain more.
func apart(t *paper.Table, n int, is func(float64) judge.Check) judge.Finding {
	v, w := t.Only("gain (%)", "allocation", backToBack, "bytes", n), t.Only("gain (%)", "allocation", ownPages, "bytes", n)
	return judge.Of(fmt.Sprintf("%.1f and %.1f %%", v, w), is(v-w))
}

const (
	ownPages   = "pages of their own"
	backToBack = "back to back"
)

func reuse6Columns() []string {
	return []string{"allocation", "bytes", "buffers", "copied (µs)", "adaptive (µs)", "gain (%)", "theory (%)", "without a copy (%)", "registrations"}
}

const spectrumFaster = "8 KB, pages of their own: faster, but less than from one buffer"

// fewBuffers stand for the thousand where only the sign of a gain matters.
const fewBuffers = 4

func measureReuse6(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureSpectrum6(ctx, e, spectrumBuffers(e), []string{ownPages, backToBack}, spectrumSizes(e))
}

func measureSpectrum6(ctx context.Context, e *paper.Env, count int, allocations []string, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: reuse6Columns()}
	var runs []reuseRun
	for _, allocation := range allocations {
		for _, n := range sizes {
			runs = append(runs, reuseRun{
				World: reusePair(), bytes: n, arena: (count + 1) * reuseStep(n, allocation == backToBack),
				body: func(x *reuseRank) (drivers.Time, error) {
					list, err := x.buffers(count, n, allocation == backToBack)
					if err != nil {
						return 0, err
					}
					return x.pingpong(0, spectrum(list))
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
		t.Add(allocations[i/len(sizes)], n, count, before.time, after.time, gain(before, after), theory(n, before), after.direct, int(after.pins))
	}
	return t, nil
}

func plotReuse6(t *paper.Table) []*figure.Figure {
	f := reuseFigure("Eager from buffers that are used 1 to 1,000 times")
	for _, allocation := range []string{ownPages, backToBack} {
		f.Series = append(f.Series, figure.Series{Name: allocation, Points: t.Where("allocation", allocation).Points("bytes", "gain (%)")})
	}
	return []*figure.Figure{f}
}
