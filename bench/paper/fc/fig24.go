package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/velo"
)

var fcFig24 = &Experiment{
	IDs: []string{"fc-fig24", "fc-fig25"}, Title: "Scatterv, Reduce_scatter and Gatherv; Scatterv with a root that stays",
	Paper: "FC, section 7.4.1, Figures 24 and 25", PaperSize: "1,024 processes (4x4x4)",
	Thinned: "at the paper's size Reduce_scatter is repeated 20 times, which is 20,460 messages of each process", measure: measureFig24, plot: plotFig24,
	claims: []claim{
		{inefficient, "very inefficient", scattervInefficient},
		{approaches, "close to the reference", scattervConverges},
		{"Scatterv: the times of reference and static grow with the repetitions per root", "important increment", scattervGrows},
		{"Reduce_scatter: static is better than dynamic", "better", staticBetter},
		{"Gatherv: dynamic is faster than the reference", "below the reference", belowReference},
	},
	reasons: []reason{
		{claim: inefficient, changed: "a barrier before each repetition, so that roots do not scatter beside each other", measure: scattervThatMeets},
		{claim: approaches, changed: bookkeepingIsFree, measure: freeScatterv},
	},
}

const (
	inefficient = "Scatterv: both are inefficient below 64 slots"
	approaches  = "Scatterv: dynamic approaches the reference as the root stays longer"
)

// rootShifts are repetitions per root; every run has the same number in all.
var rootShifts = []int{1, 2, 5, 10, 25, 50}

func measureFig24(ctx context.Context, e *Env) (*Table, error) {
	var runs []run
	for _, flow := range flows {
		for _, b := range []string{"Scatterv", "Reduce_scatter", "Gatherv"} {
			for _, slots := range imbSlots {
				runs = append(runs, e.shifted(b, flow, slots, 1))
			}
		}
		for _, shift := range rootShifts[1:] {
			runs = append(runs, e.shifted("Scatterv", flow, 16, shift))
		}
	}
	return e.table24(ctx, runs)
}

func (e *Env) table24(ctx context.Context, runs []run) (*Table, error) {
	t := &Table{Columns: []string{"benchmark", "per root", "flow control", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.add(r.benchmark, r.rootShift, string(r.flow), r.slots, s.time, refs[i].time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

// scattervThatMeets is Figure 24's Scatterv where each repetition begins when the one before has
// ended.
func scattervThatMeets(ctx context.Context, e *Env, _ *Table) (*Table, error) {
	var runs []run
	for _, flow := range flows {
		for _, slots := range imbSlots {
			r := e.shifted("Scatterv", flow, slots, 1)
			r.meet = true
			runs = append(runs, r)
		}
	}
	return e.table24(ctx, runs)
}

// freeScatterv is what a root that stays costs where only waiting for credits does.
func freeScatterv(ctx context.Context, e *Env, _ *Table) (*Table, error) {
	var runs []run
	for _, shift := range rootShifts {
		r := e.shifted("Scatterv", velo.Dynamic, 16, shift)
		r.free = true
		runs = append(runs, r)
	}
	return e.table24(ctx, runs)
}

func (e *Env) shifted(benchmark string, flow velo.Flow, slots, shift int) run {
	r := e.imbRun(benchmark, flow, slots)
	r.rootShift, r.iterations, r.warmup = shift, e.repeats(200, 100, 100), 0
	if benchmark == "Reduce_scatter" && e.Scale == Full {
		r.iterations = 20
	}
	return r
}

func scattervInefficient(t *Table) (string, bool) {
	v := t.where("benchmark", "Scatterv", "per root", 1).keep("slots", below(64)).values("overhead (%)")
	return fmt.Sprintf("%.1f %% to %.1f %%", slices.Min(v), slices.Max(v)), slices.Min(v) > acceptable
}

// byShift is a column of Scatterv with 16 slots over the repetitions per root.
func byShift(t *Table, flow velo.Flow, column string) []float64 {
	return t.where("benchmark", "Scatterv", "slots", 16, "flow control", string(flow)).values(column)
}

func scattervConverges(t *Table) (string, bool) {
	v := byShift(t, velo.Dynamic, "overhead (%)")
	last := v[len(v)-1]
	return "overhead " + list(v, "%.1f %%"), last < v[0] && last <= visible
}

func scattervGrows(t *Table) (string, bool) {
	ref, static := byShift(t, velo.Static, "reference (µs)"), byShift(t, velo.Static, "time (µs)")
	return fmt.Sprintf("reference %.1f to %.1f µs, static %.1f to %.1f µs", ref[0], ref[len(ref)-1], static[0], static[len(static)-1]),
		ref[len(ref)-1] > ref[0] && static[len(static)-1] > static[0]
}

func staticBetter(t *Table) (string, bool) {
	rows := t.where("benchmark", "Reduce_scatter")
	a, b := mean(rows.where("flow control", "static").values("time (µs)")), mean(rows.where("flow control", "dynamic").values("time (µs)"))
	return fmt.Sprintf("mean %.1f µs static, %.1f µs dynamic", a, b), a < b
}

func belowReference(t *Table) (string, bool) {
	v := t.where("benchmark", "Gatherv", "flow control", "dynamic").values("overhead (%)")
	return "overhead " + list(v, "%.1f %%"), slices.Max(v) < 0
}

func plotFig24(t *Table) (figures []*figure.Figure) {
	for _, b := range []string{"Scatterv", "Reduce_scatter", "Gatherv"} {
		figures = append(figures, curves(t.where("benchmark", b, "per root", 1), b, "overhead", "%", "flow control", "%v"))
	}
	f := &figure.Figure{Title: "Scatterv with 16 slots per process", X: figure.Axis{Label: "repetitions per root"}, Y: figure.Axis{Label: "time", Unit: "µs"}}
	rows := t.where("benchmark", "Scatterv", "slots", 16)
	for _, flow := range []string{"static", "dynamic"} {
		f.Series = append(f.Series, figure.Series{Name: flow, Points: rows.where("flow control", flow).points("per root", "time (µs)")})
	}
	f.Series = append(f.Series, figure.Series{Name: "reference", Points: rows.where("flow control", "static").points("per root", "reference (µs)")})
	return append(figures, f)
}
