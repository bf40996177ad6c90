package reuse

import (
	"context"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/drivers"
)

func fig8() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-fig5.8"}, Title: "Put and get of buffers that are used 1 to 1,000 times",
		Paper: "SPEC, section 5.5.1, Figure 5.8", PaperSize: "2 nodes, 1,000 buffers, buffer i used i times",
		Thinned: "sizes between 1 KB and 4 KB",
		Measure: measureReuse8, Plot: plotReuse8,
		Mutations: []paper.Mutation{{
			What: "every message is copied", Mutate: alwaysCopied(), Claims: []string{"put of 8 KB: faster, but less than from one buffer"},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureSpectrum8(ctx, e, fewBuffers, []string{opPut}, []int{8 << 10})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  "put of 8 KB: faster, but less than from one buffer",
				Paper: "lower than Figure 5.7", Judge: gainsLess("operation", opPut),
			},
			{
				Text:  "get of 8 KB: faster, but less than into one buffer",
				Paper: "lower than Figure 5.7", Judge: gainsLess("operation", opGet),
			},
		},
	}
}

func reuse8Columns() []string {
	return []string{"operation", "bytes", "buffers", "copied (µs)", "adaptive (µs)", "gain (%)", "theory (%)", "without a copy (%)"}
}

func measureReuse8(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureSpectrum8(ctx, e, spectrumBuffers(e), []string{opPut, opGet}, spectrumSizes(e))
}

func measureSpectrum8(ctx context.Context, e *paper.Env, count int, ops []string, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: reuse8Columns()}
	var runs []reuseRun
	for _, op := range ops {
		for _, n := range sizes {
			runs = append(runs, reuseRun{
				World: reusePair(), bytes: n, arena: (count + 2) * reuseStep(n, false),
				body: func(x *reuseRank) (drivers.Time, error) {
					list, err := x.buffers(count, n, false)
					if err != nil {
						return 0, err
					}
					return x.oneSided(op, 0, spectrum(list))
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
		t.Add(ops[i/len(sizes)], n, count, before.time, after.time, gain(before, after), theory(n, before), after.direct)
	}
	return t, nil
}

func plotReuse8(t *paper.Table) []*figure.Figure {
	f := reuseFigure("Put and get of buffers that are used 1 to 1,000 times")
	for _, op := range []string{opPut, opGet} {
		f.Series = append(f.Series, figure.Series{Name: op, Points: t.Where("operation", op).Points("bytes", "gain (%)")})
	}
	return []*figure.Figure{f}
}
