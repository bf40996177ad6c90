package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// variation repeats the comparison of Figure 9 for lengths of messages that change from step to
// step by 1/8 of their length up to all of it, under the design of package threshold and under
// sections 3.1 to 3.3 and 4.4 as they are published. The verdicts of Figure 9 must not depend on
// this constant of the workload.
func variation() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-variation"}, Title: "Molecular dynamics with lengths that vary by 1/8 to 8/8: adaptive thresholds, ours and as published",
		Paper: "ADAPT, sections 3.1 to 3.3, 4.4 and 5.3", PaperSize: "Amber, up to 1,024 processes",
		Freedom: "partners, and lengths of messages",
		Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
			return measureVariation(ctx, e, []int{1, 2, 4, 8}, manualChoices()[1:5])
		},
		Plot: plotVariation,
		Mutations: []paper.Mutation{{
			What: "thresholds do not adapt", Mutate: notAdaptive(), Claims: []string{dynamicOnParText, publishedOnParText},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureVariation(ctx, e, []int{1}, manualChoices()[3:4])
			},
		}},
		Claims: []paper.Claim{
			{Text: dynamicOnParText, Paper: "on par", Judge: onParWhenVaried(adaptDynamic)},
			{Text: publishedOnParText, Paper: "on par", Judge: onParWhenVaried(adaptPublished)},
			{
				Text:  "thresholds of this design need less than half of the memory of the best manual setting, at every variation",
				Paper: "< 50 %", Judge: memoryWhenVaried(adaptDynamic),
			},
			{
				Text:  "so do those as published",
				Paper: "< 50 %", Judge: memoryWhenVaried(adaptPublished),
			},
		},
	}
}

const (
	dynamicOnParText   = "thresholds of this design take at most 3 % longer than the best manual setting, at every variation"
	publishedOnParText = "thresholds as published take at most 3 % longer than the best manual setting, at every variation"
)

func variationColumns() []string {
	return []string{"variation (1/8)", "setting", "threshold", "time (ms)", "buffers (KB)"}
}

func measureVariation(ctx context.Context, e *paper.Env, variations, manual []int) (*paper.Table, error) {
	var runs []adaptRun
	w := adaptWorlds(e)[0]
	for _, v := range variations {
		r := adaptRun{World: w, workload: "halo", bytes: haloBytes(e, w.Ranks()), steps: haloSteps(e), variation: v}
		for _, r.setting = range []string{adaptDynamic, adaptPublished} {
			runs = append(runs, r)
		}
		r.setting = adaptManual
		for _, r.manual = range manual {
			runs = append(runs, r)
		}
	}
	samples, err := adaptSweep(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	t := &paper.Table{Columns: variationColumns()}
	for i, s := range samples {
		t.Add(runs[i].variation, runs[i].setting, runs[i].manual, s.Elapsed, s.buffers())
	}
	return t, nil
}

// eachVariation judges a ratio of a setting to the best manual one at every variation.
func eachVariation(t *paper.Table, text string, ratio func(manual, setting *paper.Table) float64, setting string, most float64) judge.Finding {
	var v []float64
	var checks []judge.Check
	for _, eighths := range paper.Distinct[int](t, "variation (1/8)") {
		rows := t.Where("variation (1/8)", eighths)
		x := ratio(rows.Where("setting", adaptManual), rows.Where("setting", setting))
		v, checks = append(v, x), append(checks, judge.AtMost(x, most))
	}
	return judge.Of(text+paper.Join(v, "%.3f"), checks...)
}

func onParWhenVaried(setting string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		return eachVariation(t, "of the best manual time: ", func(manual, ours *paper.Table) float64 {
			return ours.Values("time (ms)")[0] / slices.Min(manual.Values("time (ms)"))
		}, setting, 1.03)
	}
}

func memoryWhenVaried(setting string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		return eachVariation(t, "of the memory of the best one: ", func(manual, ours *paper.Table) float64 {
			best := firstAsFast(manual.Values("time (ms)"))
			return ours.Values("buffers (KB)")[0] / manual.Values("buffers (KB)")[best]
		}, setting, 0.5)
	}
}

func plotVariation(t *paper.Table) (figures []*figure.Figure) {
	for _, column := range []string{"time (ms)", "buffers (KB)"} {
		f := &figure.Figure{
			Title: "Molecular dynamics: " + column, X: figure.Axis{Label: "variation of lengths", Unit: "1/8"},
			Y: figure.Axis{Label: column, Min: figure.At(0)},
		}
		for _, s := range []string{adaptDynamic, adaptPublished} {
			f.Series = append(f.Series, figure.Series{Name: s, Points: t.Where("setting", s).Points("variation (1/8)", column)})
		}
		for _, th := range paper.Distinct[int](t.Where("setting", adaptManual), "threshold") {
			f.Series = append(f.Series, figure.Series{
				Name:   fmt.Sprintf("%s %d", adaptManual, th),
				Points: t.Where("setting", adaptManual, "threshold", th).Points("variation (1/8)", column),
			})
		}
		figures = append(figures, f)
	}
	return figures
}
