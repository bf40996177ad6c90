package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
)

var specFig416 = &Experiment{
	IDs: []string{"spec-fig4.16", "spec-fig4.15"}, Title: "Exchange models: what speculation gains, by how much there is to communicate",
	Paper: "SPEC, section 4.4.1, Figures 4.15 and 4.16", PaperSize: "2 and 4 nodes, 128 KB",
	measure: func(ctx context.Context, e *Env) (*Table, error) { return measureSpec416(ctx, e, nil) }, plot: plotSpec416,
	claims: []claim{
		{"model 1 gains", "up to 32 %", modelGains(exchangeModels[0], 32)},
		{"model 1 gains little where there is little or much to communicate", "less at both ends", peaks(exchangeModels[0])},
		{"model 2 gains", "up to 20 %", modelGains(exchangeModels[1], 20)},
		{"model 2 gains little where there is little or much to communicate", "less at both ends", peaks(exchangeModels[1])},
		{"model 2 gains most with less to communicate than model 1", "50 against 80 %", peaksEarlier},
		{"model 1 uses its RTRs, and model 2 needs none", "most, none", modelsUse},
		{"adaptation changes nothing", "very close", adaptsClose},
	},
	reasons: specReasons416,
}

var exchangeModels = []string{"exchange1", "exchange2"}

var spec416Columns = []string{"model", "communication (%)", "speculation", "iteration (µs)", "gain (%)", "RTRs", "used (%)"}

// ratios are of communication to computation, in percent.
func (e *Env) ratios() []int {
	if e.Scale == Small {
		return []int{10, 50, 100, 400}
	}
	return []int{10, 20, 30, 40, 50, 60, 70, 80, 100, 125, 150, 200, 300, 400}
}

func measureSpec416(ctx context.Context, e *Env, change func(*bench.Config)) (*Table, error) {
	t := &Table{Columns: spec416Columns}
	w := world{nodes: 2, procs: 1}
	bytes := 128 << 10
	if e.Scale == Small {
		bytes = 32 << 10
	}
	base := appRun{speculate: speculateNot, bytes: bytes, seed: e.Seed, iterations: 10, change: change}
	var alone []appRun // nothing is computed
	for _, model := range exchangeModels {
		r := base
		r.pattern = model
		alone = append(alone, r)
	}
	whole, err := e.apps(ctx, w, alone)
	if err != nil {
		return nil, err
	}
	var runs []appRun
	for i, model := range exchangeModels {
		for _, ratio := range e.ratios() {
			for _, speculate := range speculates {
				r := base
				r.pattern, r.speculate = model, speculate
				r.compute = whole[i].Iteration * 100 / drivers.Time(2*ratio) // produced and consumed
				runs = append(runs, r)
			}
		}
	}
	rows, err := e.apps(ctx, w, runs)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		before := rows[i-i%len(speculates)]
		ratio := e.ratios()[i/len(speculates)%len(e.ratios())]
		t.add(r.pattern, ratio, r.speculate, micros(rows[i].Iteration), shorter(before.Iteration, rows[i].Iteration), int(rows[i].App.RTRs), 100*rows[i].App.RTRUsage())
	}
	return t, nil
}

func model(t *Table, name, speculate string) *Table {
	return t.where("model", name, "speculation", speculate)
}

// bestOf is the largest gain, and at which ratio.
func bestOf(t *Table, name string) (most, at float64) {
	rows := model(t, name, speculateAlways)
	v := rows.values("gain (%)")
	i := slices.Index(v, slices.Max(v))
	return v[i], rows.values("communication (%)")[i]
}

// modelGains: as much as in the paper, within a quarter.
func modelGains(name string, paper float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		most, at := bestOf(t, name)
		return fmt.Sprintf("up to %.1f %%, where communication is %.0f %% of computation", most, at), math.Abs(most-paper) <= paper/4
	}
}

func peaks(name string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := model(t, name, speculateAlways).values("gain (%)")
		most := slices.Max(v)
		return fmt.Sprintf("%.1f %% and %.1f %% at the ends, %.1f %% at best", v[0], v[len(v)-1], most), v[0] < most/2 && v[len(v)-1] < most*3/4
	}
}

func peaksEarlier(t *Table) (string, bool) {
	_, one := bestOf(t, exchangeModels[0])
	_, two := bestOf(t, exchangeModels[1])
	return fmt.Sprintf("%.0f against %.0f %%", two, one), two < one
}

func modelsUse(t *Table) (string, bool) {
	used := model(t, exchangeModels[0], speculateAlways).values("used (%)")
	needless := model(t, exchangeModels[1], speculateAlways).values("RTRs")
	sent := model(t, exchangeModels[0], speculateAlways).values("RTRs")
	return fmt.Sprintf("model 1 uses %s of %.0f; model 2 sends %.0f at most", spread(used, "%"), slices.Max(sent), slices.Max(needless)),
		slices.Min(used) >= 80 && slices.Max(needless) <= slices.Max(sent)/10
}

func adaptsClose(t *Table) (string, bool) {
	most := 0.0
	for _, name := range exchangeModels {
		adapted := model(t, name, speculateAdapt).values("gain (%)")
		for i, v := range model(t, name, speculateAlways).values("gain (%)") {
			most = max(most, math.Abs(v-adapted[i]))
		}
	}
	return fmt.Sprintf("%.2f points apart at most", most), most <= 2
}

func plotSpec416(t *Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "Exchange models: gain over the rendezvous of before",
		X:     figure.Axis{Label: "communication", Unit: "% of computation"}, Y: figure.Axis{Label: "gain", Unit: "% of an iteration"},
	}
	for _, name := range exchangeModels {
		for _, speculate := range speculates[1:] {
			f.Series = append(f.Series, figure.Series{Name: name + ", " + speculate, Points: model(t, name, speculate).points("communication (%)", "gain (%)")})
		}
	}
	return []*figure.Figure{f}
}
