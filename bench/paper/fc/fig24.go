package fc

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/velo"
)

func fig24() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig24", "fc-fig25"}, Title: "Scatterv, Reduce_scatter and Gatherv; Scatterv with a root that stays",
		Paper: "FC, section 7.4.1, Figures 24 and 25", PaperSize: "1,024 processes (4x4x4)",
		Thinned: "at the paper's size Reduce_scatter is repeated 20 times, which is 20,460 messages of each process",
		Freedom: paper.StartSkew, Measure: measureFig24, Plot: plotFig24,
		Mutations: []paper.Mutation{{
			What: "static instead of dynamic flow control", Mutate: neverDynamic(), Claims: []string{"Reduce_scatter: static is better than dynamic"},
			Measure: measured(func(e *paper.Env) (runs []paper.Run) {
				for _, flow := range flows() {
					r := shifted(e, "Reduce_scatter", flow, 32, 1)
					r.Iterations = 20
					runs = append(runs, r)
				}
				return runs
			}, table24),
		}},
		Claims: []paper.Claim{
			{
				Text:  inefficient,
				Paper: "very inefficient", Judge: scattervInefficient,
			},
			{
				Text:  approaches,
				Paper: "close to the reference", Judge: scattervConverges,
			},
			{
				Text:  "Scatterv: the times of reference and static grow with the repetitions per root",
				Paper: "important increment", Judge: scattervGrows,
			},
			{
				Text:  "Reduce_scatter: static is better than dynamic",
				Paper: "better", Judge: staticBetter,
			},
			{
				Text:  "Gatherv: dynamic is faster than the reference",
				Paper: "below the reference", Judge: belowReference,
			},
		},
		Reasons: []paper.Hypothesis{
			{Claim: inefficient, Changed: "a barrier before each repetition, so that roots do not scatter beside each other", Measure: scattervThatMeets},
			{Claim: approaches, Changed: bookkeepingIsFree, Measure: freeScatterv},
		},
	}
}

const (
	inefficient = "Scatterv: both are inefficient below 64 slots"
	approaches  = "Scatterv: dynamic approaches the reference as the root stays longer"
)

// rootShifts are repetitions per root; every run has the same number in all.
func rootShifts() []int {
	return []int{1, 2, 5, 10, 25, 50}
}

func measureFig24(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	var runs []paper.Run
	for _, flow := range flows() {
		for _, b := range []string{"Scatterv", "Reduce_scatter", "Gatherv"} {
			for _, slots := range imbSlots() {
				runs = append(runs, shifted(e, b, flow, slots, 1))
			}
		}
		for _, shift := range rootShifts()[1:] {
			runs = append(runs, shifted(e, "Scatterv", flow, 16, shift))
		}
	}
	return table24(e, ctx, runs)
}

func table24(e *paper.Env, ctx context.Context, runs []paper.Run) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"benchmark", "per root", "flow control", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.Add(r.Benchmark, r.RootShift, string(r.Flow), r.Slots, s.Time, refs[i].Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

// scattervThatMeets is Figure 24's Scatterv where each repetition begins when the one before has
// ended.
func scattervThatMeets(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
	var runs []paper.Run
	for _, flow := range flows() {
		for _, slots := range imbSlots() {
			r := shifted(e, "Scatterv", flow, slots, 1)
			r.Meet = true
			runs = append(runs, r)
		}
	}
	return table24(e, ctx, runs)
}

// freeScatterv is what a root that stays costs where only waiting for credits does.
func freeScatterv(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
	var runs []paper.Run
	for _, shift := range rootShifts() {
		r := shifted(e, "Scatterv", velo.Dynamic, 16, shift)
		r.Free = true
		runs = append(runs, r)
	}
	return table24(e, ctx, runs)
}

func shifted(e *paper.Env, benchmark string, flow velo.Flow, slots, shift int) paper.Run {
	r := imbRun(e, benchmark, flow, slots)
	r.RootShift, r.Iterations, r.Warmup = shift, e.Repeats(200, 100, 100), 0
	if benchmark == "Reduce_scatter" && e.Scale == paper.Full {
		r.Iterations = 20
	}
	return r
}

func scattervInefficient(t *paper.Table) judge.Finding {
	v := t.Where("benchmark", "Scatterv", "per root", 1).Keep("slots", paper.Below(64)).Values("overhead (%)")
	return judge.Of(fmt.Sprintf("%.1f %% to %.1f %%", slices.Min(v), slices.Max(v)),
		judge.Above(slices.Min(v), acceptable))
}

// byShift is a column of Scatterv with 16 slots over the repetitions per root.
func byShift(t *paper.Table, flow velo.Flow, column string) []float64 {
	return t.Where("benchmark", "Scatterv", "slots", 16, "flow control", string(flow)).Values(column)
}

func scattervConverges(t *paper.Table) judge.Finding {
	v := byShift(t, velo.Dynamic, "overhead (%)")
	last := v[len(v)-1]
	return judge.Of("overhead "+paper.Join(v, "%.1f %%"),
		judge.Less(last, v[0], judge.Points), judge.AtMost(last, visible))
}

func scattervGrows(t *paper.Table) judge.Finding {
	ref, static := byShift(t, velo.Static, "reference (µs)"), byShift(t, velo.Static, "time (µs)")
	return judge.Of(fmt.Sprintf("reference %.1f to %.1f µs, static %.1f to %.1f µs", ref[0], ref[len(ref)-1], static[0], static[len(static)-1]),
		judge.Less(ref[0], ref[len(ref)-1], 0), judge.Less(static[0], static[len(static)-1], 0))
}

func staticBetter(t *paper.Table) judge.Finding {
	a, b := meansByFlow(t.Where("benchmark", "Reduce_scatter"), "time (µs)")
	return judge.Of(fmt.Sprintf("mean %.1f µs static, %.1f µs dynamic", a, b), judge.Less(a, b, 0))
}

func belowReference(t *paper.Table) judge.Finding {
	v := t.Where("benchmark", "Gatherv", "flow control", "dynamic").Values("overhead (%)")
	return judge.Of("overhead "+paper.Join(v, "%.1f %%"), judge.Below(slices.Max(v), 0))
}

func plotFig24(t *paper.Table) (figures []*figure.Figure) {
	for _, b := range []string{"Scatterv", "Reduce_scatter", "Gatherv"} {
		figures = append(figures, paper.Curves(t.Where("benchmark", b, "per root", 1), b, "overhead", "%", "flow control", "%v"))
	}
	f := &figure.Figure{Title: "Scatterv with 16 slots per process", X: figure.Axis{Label: "repetitions per root"}, Y: figure.Axis{Label: "time", Unit: "µs"}}
	rows := t.Where("benchmark", "Scatterv", "slots", 16)
	for _, flow := range []string{"static", "dynamic"} {
		f.Series = append(f.Series, figure.Series{Name: flow, Points: rows.Where("flow control", flow).Points("per root", "time (µs)")})
	}
	f.Series = append(f.Series, figure.Series{Name: "reference", Points: rows.Where("flow control", "static").Points("per root", "reference (µs)")})
	return append(figures, f)
}
