package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

func fig8() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-fig8"}, Title: "Dynamic eager thresholds in a 3D stencil, by the number of processes",
		Paper: "ADAPT, section 5.2, Figure 8", PaperSize: "128 KB, up to 8,192 processes",
		Measure: measureAdapt8, Plot: plotAdapt8,
		Mutations: []paper.Mutation{{
			What: "thresholds do not adapt", Mutate: notAdaptive(), Claims: []string{"overlap is much better, at every size", "and so is the time beside a computation"},
			Measure: decidedBy(adaptRun{World: paper.World{Nodes: 4, Procs: 1}, workload: "stencil", bytes: 32 << 10, steps: 3, warmup: 10, copies: 1}, adapt8Columns(), add8, adaptDefault, adaptDynamic),
		}},
		Claims: []paper.Claim{
			{
				Text:  "without computation dynamic takes a little longer than the default, at every size",
				Paper: "a slight hit", Judge: slightHit,
			},
			{
				Text:  "where copies cost eight times as much it takes longer",
				Paper: "memory copies are the hit", Judge: slightHitCopies,
			},
			{
				Text:  "overlap is much better, at every size",
				Paper: "much better", Judge: betterEverywhere,
			},
			{
				Text:  "and so is the time beside a computation",
				Paper: "better", Judge: fasterEverywhere,
			},
		},
	}
}

func adapt8Columns() []string {
	return []string{"processes", "setting", "copies cost", "alone (µs)", "overlap (%)", "beside (µs)"}
}

func adaptWorlds(e *paper.Env) []paper.World {
	switch e.Scale {
	case paper.Small:
		return []paper.World{{Nodes: 4, Procs: 1}, {Nodes: 8, Procs: 1}}
	case paper.Medium:
		return []paper.World{{Nodes: 8, Procs: 1}, {Nodes: 16, Procs: 1}, {Nodes: 27, Procs: 1}}
	}
	return []paper.World{{Nodes: 8, Procs: 1}, {Nodes: 27, Procs: 1}, {Nodes: 64, Procs: 1, Dims: "4x4x4"}}
}

func measureAdapt8(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	bytes := 128 << 10
	if e.Scale == paper.Small {
		bytes = 32 << 10
	}
	var runs []adaptRun
	for _, w := range adaptWorlds(e) {
		for _, s := range []string{adaptDefault, adaptDynamic} {
			for _, copies := range []int{1, slowCopies} {
				runs = append(runs, adaptRun{World: w, workload: "stencil", setting: s, bytes: bytes, steps: 3, warmup: 10, copies: copies})
			}
		}
	}
	return tabulate(ctx, e, adapt8Columns(), runs, add8)
}

// add8 adds the row of a run.
func add8(t *paper.Table, r adaptRun, s adaptSample) {
	t.Add(r.Ranks(), r.setting, r.copies, micro(s.Alone), 100*s.Overlap, micro(s.Overall))
}

func byProcesses(t *paper.Table, column string) (by, dynamic []float64) {
	return plain(t, adaptDefault).Values(column), plain(t, adaptDynamic).Values(column)
}

func slightHit(t *paper.Table) judge.Finding {
	least, most := hit(t, 1)
	return judge.Of(fmt.Sprintf("%.2f to %.2f times as long", least, most),
		judge.Above(least, 1), judge.Below(most, 1.5))
}

func slightHitCopies(t *paper.Table) judge.Finding {
	least, most := hit(t, slowCopies)
	return judge.Of(fmt.Sprintf("%.2f to %.2f times as long", least, most), judge.Less(1, least, 0))
}

// hit is by how much dynamic takes longer alone.
func hit(t *paper.Table, copies int) (least, most float64) {
	of := func(setting string) []float64 {
		return t.Where("setting", setting, "copies cost", copies).Values("alone (µs)")
	}
	v := quotients(of(adaptDynamic), of(adaptDefault))
	return slices.Min(v), slices.Max(v)
}

func betterEverywhere(t *paper.Table) judge.Finding {
	by, dynamic := byProcesses(t, "overlap (%)")
	var checks []judge.Check
	for i := range by {
		checks = append(checks, judge.AtLeast(dynamic[i]-by[i], 25))
	}
	return judge.Of(fmt.Sprintf("%.0f to %.0f %%, by default %.0f to %.0f %%", slices.Min(dynamic), slices.Max(dynamic), slices.Min(by), slices.Max(by)),
		checks...)
}

func fasterEverywhere(t *paper.Table) judge.Finding {
	by, dynamic := byProcesses(t, "beside (µs)")
	var v []float64
	for i := range by {
		v = append(v, saved(dynamic[i], by[i]))
	}
	return judge.Of(fmt.Sprintf("%.0f to %.0f %% less", slices.Min(v), slices.Max(v)),
		judge.AtLeast(slices.Min(v), 100*judge.Margin))
}

func plotAdapt8(t *paper.Table) (list []*figure.Figure) {
	for _, column := range adapt8Columns()[3:] {
		f := &figure.Figure{Title: "3D stencil: " + column, X: figure.Axis{Label: "processes"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			f.Series = append(f.Series, figure.Series{Name: s, Points: plain(t, s).Points("processes", column)})
		}
		list = append(list, f)
	}
	return list
}
