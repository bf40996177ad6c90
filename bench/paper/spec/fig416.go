package spec

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
)

func fig416() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig4.16", "spec-fig4.15"}, Title: "Exchange models: what speculation gains, by how much there is to communicate",
		Paper: "SPEC, section 4.4.1, Figures 4.15 and 4.16", PaperSize: "2 and 4 nodes, 128 KB",
		Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) { return measureSpec416(ctx, e, nil) }, Plot: plotSpec416,
		Mutations: []paper.Mutation{{
			What: "receivers send no RTR", Mutate: paper.WithFault(bench.NoRTRs),
			Claims: []string{"model 1 gains", "model 2 gains", "model 1 uses its RTRs, and model 2 needs none"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "model 1 gains",
				Paper: "up to 32 %", Judge: modelGains(exchangeModels()[0], 32),
			},
			{
				Text:  "model 1 gains little where there is little or much to communicate",
				Paper: "less at both ends", Judge: peaks(exchangeModels()[0]),
			},
			{
				Text:  "model 2 gains",
				Paper: "up to 20 %", Judge: modelGains(exchangeModels()[1], 20),
			},
			{
				Text:  "model 2 gains little where there is little or much to communicate",
				Paper: "less at both ends", Judge: peaks(exchangeModels()[1]),
			},
			{
				Text:  "model 2 gains most with less to communicate than model 1",
				Paper: "50 against 80 %", Judge: peaksEarlier,
			},
			{
				Text:  "model 1 uses its RTRs, and model 2 needs none",
				Paper: "most, none", Judge: modelsUse,
			},
			{
				Text:  "adaptation changes nothing",
				Paper: "very close", Judge: adaptsClose,
			},
		},
		Reasons: specReasons416(),
	}
}

func exchangeModels() []string {
	return []string{"exchange1", "exchange2"}
}

func spec416Columns() []string {
	return []string{"model", "communication (%)", "speculation", "iteration (µs)", "gain (%)", "RTRs", "used (%)"}
}

// ratios are of communication to computation, in percent.
func ratios(e *paper.Env) []int {
	if e.Scale == paper.Small {
		return []int{10, 50, 100, 400}
	}
	return []int{10, 20, 30, 40, 50, 60, 70, 80, 100, 125, 150, 200, 300, 400}
}

func measureSpec416(ctx context.Context, e *paper.Env, change func(*bench.Config)) (*paper.Table, error) {
	t := &paper.Table{Columns: spec416Columns()}
	w := paper.World{Nodes: 2, Procs: 1}
	bytes := 128 << 10
	if e.Scale == paper.Small {
		bytes = 32 << 10
	}
	base := appRun{speculate: speculateNot, bytes: bytes, seed: e.Seed, iterations: 10, change: change}
	var alone []appRun // nothing is computed
	for _, model := range exchangeModels() {
		r := base
		r.pattern = model
		alone = append(alone, r)
	}
	whole, err := apps(ctx, e, w, alone)
	if err != nil {
		return nil, err
	}
	var runs []appRun
	for i, model := range exchangeModels() {
		for _, ratio := range ratios(e) {
			for _, speculate := range speculates() {
				r := base
				r.pattern, r.speculate = model, speculate
				r.compute = whole[i].Iteration * 100 / drivers.Time(2*ratio) // produced and consumed
				runs = append(runs, r)
			}
		}
	}
	rows, err := apps(ctx, e, w, runs)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		before := rows[i-i%len(speculates())]
		ratio := ratios(e)[i/len(speculates())%len(ratios(e))]
		t.Add(r.pattern, ratio, r.speculate, micros(rows[i].Iteration), shorter(before.Iteration, rows[i].Iteration), int(rows[i].App.RTRs), 100*rows[i].App.RTRUsage())
	}
	return t, nil
}

func model(t *paper.Table, name, speculate string) *paper.Table {
	return t.Where("model", name, "speculation", speculate)
}

// bestOf is the largest gain, and at which ratio.
func bestOf(t *paper.Table, name string) (most, at float64) {
	rows := model(t, name, speculateAlways)
	v := rows.Values("gain (%)")
	i := slices.Index(v, slices.Max(v))
	return v[i], rows.Values("communication (%)")[i]
}

// modelGains: as much as in the paper, within a quarter.
func modelGains(name string, published float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		most, at := bestOf(t, name)
		return judge.Of(fmt.Sprintf("up to %.1f %%, where communication is %.0f %% of computation", most, at),
			judge.Near(most, published, published/4))
	}
}

func peaks(name string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := model(t, name, speculateAlways).Values("gain (%)")
		most := slices.Max(v)
		return judge.Of(fmt.Sprintf("%.1f %% and %.1f %% at the ends, %.1f %% at best", v[0], v[len(v)-1], most),
			judge.Below(v[0]/most, 0.5), judge.Below(v[len(v)-1]/most, 0.75))
	}
}

func peaksEarlier(t *paper.Table) judge.Finding {
	_, one := bestOf(t, exchangeModels()[0])
	_, two := bestOf(t, exchangeModels()[1])
	return judge.Of(fmt.Sprintf("%.0f against %.0f %%", two, one), judge.Less(two, one, 0))
}

func modelsUse(t *paper.Table) judge.Finding {
	used := model(t, exchangeModels()[0], speculateAlways).Values("used (%)")
	needless := model(t, exchangeModels()[1], speculateAlways).Values("RTRs")
	sent := model(t, exchangeModels()[0], speculateAlways).Values("RTRs")
	return judge.Of(fmt.Sprintf("model 1 uses %s of %.0f; model 2 sends %.0f at most", spread(used, "%"), slices.Max(sent), slices.Max(needless)),
		judge.AtLeast(slices.Min(used), 80), judge.AtMost(slices.Max(needless)/max(slices.Max(sent), 1), 0.1))
}

func adaptsClose(t *paper.Table) judge.Finding {
	most := 0.0
	for _, name := range exchangeModels() {
		adapted := model(t, name, speculateAdapt).Values("gain (%)")
		for i, v := range model(t, name, speculateAlways).Values("gain (%)") {
			most = max(most, math.Abs(v-adapted[i]))
		}
	}
	return judge.Of(fmt.Sprintf("%.2f points apart at most", most), judge.AtMost(most, 2))
}

func plotSpec416(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "Exchange models: gain over the rendezvous of before",
		X:     figure.Axis{Label: "communication", Unit: "% of computation"}, Y: figure.Axis{Label: "gain", Unit: "% of an iteration"},
	}
	for _, name := range exchangeModels() {
		for _, speculate := range speculates()[1:] {
			f.Series = append(f.Series, figure.Series{Name: name + ", " + speculate, Points: model(t, name, speculate).Points("communication (%)", "gain (%)")})
		}
	}
	return []*figure.Figure{f}
}
