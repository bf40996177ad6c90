package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

func fig1() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-fig1", "adapt-fig7"}, Title: "Eager thresholds in a 3D stencil: time alone, overlap, time beside a computation",
		Paper: "ADAPT, sections 1.1 and 5.2, Figures 1 and 7", PaperSize: "8,192 processes on 512 nodes, up to 1 MB",
		Measure: measureAdapt1, Plot: plotAdapt1,
		Mutations: []paper.Mutation{{
			What: "thresholds do not adapt", Mutate: notAdaptive(), Claims: []string{"so does, and is, the dynamic one"},
			Measure: decidedBy(adaptRun{World: paper.World{Nodes: 4, Procs: 1}, workload: "stencil", bytes: 16 << 10, steps: 4, warmup: 12, copies: 1}, adapt1Columns(), add1, adaptDefault, adaptDynamic),
		}},
		Claims: []paper.Claim{
			{
				Text:  "without computation, long messages are fastest by default (Figures 1(a), 7(a))",
				Paper: "the default is the fastest", Judge: alonePlain,
			},
			{
				Text:  "where copies cost more than the wire, they are",
				Paper: "memory copies are what eager messages cost", Judge: aloneSlowCopies,
			},
			{
				Text:  "a default that puts, as eager messages do, instead of getting, is faster",
				Paper: "not in the paper", Judge: alonePuts,
			},
			{
				Text:  "the larger threshold overlaps better (Figures 1(b), 7(b))",
				Paper: "manual above default", Judge: moreOverlap(adaptManual, adaptDefault, "by default"),
			},
			{
				Text:  "and is faster beside a computation (Figures 1(c), 7(c))",
				Paper: "manual below default", Judge: lessOverall(adaptManual),
			},
			{
				Text:  "so does, and is, the dynamic one",
				Paper: "dynamic as manual", Judge: moreOverlap(adaptDynamic, adaptDefault, "by default"),
			},
			{
				Text:  "what it leaves is copies, and messages that the NIC has no room for: with 4 messages and copies that cost nothing it overlaps nearly all",
				Paper: "not in the paper", Judge: freeCopies,
			},
			{
				Text:  "a receiver that is asked until it is ready overlaps better than with buffers (section 4.5)",
				Paper: "nothing is copied; not measured", Judge: moreOverlap(adaptNotReady, adaptDynamic, "dynamic"),
			},
			{
				Text:  "and is at least as fast beside a computation",
				Paper: "not measured", Judge: notReadyOverall,
			},
			{
				Text:  "the dynamic one takes at most 3 % longer than the best manual one beside a computation",
				Paper: "on par", Judge: onPar,
			},
			{
				Text:  "by default calls that begin messages are shorter, and waits longer (section 5.2)",
				Paper: "both", Judge: shorterBegin,
			},
			{
				Text:  "dynamic needs at least 25 % less buffer memory than a manual setting of all processes",
				Paper: "25 % less (Amber, 1,024 processes)", Judge: lessMemory(adaptManual),
			},
			{
				Text:  "and than a manual one whose pairs have buffers from their first message on",
				Paper: "not in the paper", Judge: lessMemory(adaptOnDemand),
			},
		},
	}
}

func adapt1Columns() []string {
	return []string{"setting", "copies cost", "bytes", "alone (µs)", "overlap (%)", "beside (µs)", "begins (µs)", "waits (µs)", "buffers (KB)"}
}

// slowCopies is how much more copies cost where the trade-off of the paper is looked for.
const slowCopies = 8

func adaptWorld(e *paper.Env) paper.World {
	return map[paper.Scale]paper.World{paper.Small: {Nodes: 8, Procs: 1}, paper.Medium: {Nodes: 12, Procs: 1}, paper.Large: {Nodes: 27, Procs: 1}, paper.Full: {Nodes: 64, Procs: 1}}[e.Scale]
}

func adaptSizes(e *paper.Env) []int {
	switch e.Scale {
	case paper.Small:
		return []int{4 << 10, 16 << 10}
	case paper.Medium:
		return []int{4 << 10, 16 << 10, 64 << 10, 128 << 10}
	}
	return []int{4 << 10, 16 << 10, 64 << 10}
}

func adapt1Settings() []string {
	return []string{adaptDefault, adaptManual, adaptOnDemand, adaptDynamic, adaptNotReady}
}

func measureAdapt1(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	sizes := adaptSizes(e)
	longest := slices.Max(sizes)
	run := func(setting string, bytes, copies int) adaptRun {
		return adaptRun{World: adaptWorld(e), workload: "stencil", setting: setting, bytes: bytes, manual: longest + adaptOffset, steps: 8, warmup: 12, copies: copies}
	}
	few := func(copies int) adaptRun {
		r := run(adaptFew, longest, copies)
		r.World = paper.World{Nodes: 4, Procs: 1}
		return r
	}
	var runs []adaptRun
	for _, n := range sizes {
		for _, s := range adapt1Settings() {
			runs = append(runs, run(s, n, 1))
		}
	}
	for _, s := range []string{adaptDefault, adaptManual} {
		runs = append(runs, run(s, longest, slowCopies))
	}
	for _, n := range sizes {
		for _, th := range manualChoices() {
			r := run(manualAt(th), n, 1)
			r.manual = th
			runs = append(runs, r)
		}
	}
	runs = append(runs, run(adaptPuts, longest, 1), few(1), run(adaptManual, longest, noCopies), few(noCopies))
	return tabulate(ctx, e, adapt1Columns(), runs, add1)
}

// add1 adds the row of a run.
func add1(t *paper.Table, r adaptRun, s adaptSample) {
	t.Add(r.setting, max(r.copies, 0), r.bytes, micro(s.Alone), 100*s.Overlap, micro(s.Overall), micro(s.Begin), micro(s.Wait), s.buffers())
}

// manualAt is adaptManual with another threshold than that of the longest message.
func manualAt(threshold int) string { return fmt.Sprintf("%s %d", adaptManual, threshold) }

// plain are the rows with the copies that there are.
func plain(t *paper.Table, setting string) *paper.Table {
	return t.Where("setting", setting, "copies cost", 1)
}

// ratios are those of a column between two settings, by size.
func ratios(t *paper.Table, column, a, b string) []float64 {
	return quotients(plain(t, a).Values(column), plain(t, b).Values(column))
}

func quotients(x, y []float64) (list []float64) {
	for i := range x {
		list = append(list, x[i]/y[i])
	}
	return list
}

func alonePlain(t *paper.Table) judge.Finding {
	v := ratios(t, "alone (µs)", adaptManual, adaptDefault)
	return judge.Of(fmt.Sprintf("manual takes %.2f times as long at the longest, %.2f to %.2f over all sizes", v[len(v)-1], slices.Min(v), slices.Max(v)),
		judge.Less(1, v[len(v)-1], 0))
}

func aloneSlowCopies(t *paper.Table) judge.Finding {
	slow := t.Where("copies cost", slowCopies)
	v := slow.Only("alone (µs)", "setting", adaptManual) / slow.Only("alone (µs)", "setting", adaptDefault)
	return judge.Of(fmt.Sprintf("with copies that cost %d times as much manual takes %.2f times as long", slowCopies, v),
		judge.Less(1, v, 0))
}

func alonePuts(t *paper.Table) judge.Finding {
	puts := t.Where("setting", adaptPuts)
	v := puts.Values("alone (µs)")[0] / plain(t, adaptDefault).Only("alone (µs)", "bytes", puts.Rows[0][t.Column("bytes")])
	return judge.Of(fmt.Sprintf("%.2f times as long as by rget", v), judge.Less(v, 1, 0))
}

// moreOverlap requires clearly more overlap than by another setting, which Ours calls name.
func moreOverlap(setting, than, name string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		a, b := plain(t, setting).Values("overlap (%)"), plain(t, than).Values("overlap (%)")
		var checks []judge.Check
		for i := range a {
			checks = append(checks, judge.Less(b[i], a[i], judge.Points))
		}
		return judge.Of(fmt.Sprintf("%.0f to %.0f %%, %s %.0f to %.0f %%", slices.Min(a), slices.Max(a), name, slices.Min(b), slices.Max(b)),
			checks...)
	}
}

func freeCopies(t *paper.Table) judge.Finding {
	few := t.Where("setting", adaptFew).Values("overlap (%)")
	many := t.Where("setting", adaptManual, "copies cost", 0).Values("overlap (%)")
	return judge.Of(fmt.Sprintf("%.0f instead of %.0f %%; %.0f %% with 6 messages", few[1], few[0], many[0]),
		judge.AtLeast(few[1], 90), judge.Below(few[0], 75), judge.Less(many[0], few[1], judge.Points))
}

func notReadyOverall(t *paper.Table) judge.Finding {
	v := ratios(t, "beside (µs)", adaptNotReady, adaptDynamic)
	return judge.Of(fmt.Sprintf("%.2f to %.2f of dynamic", slices.Min(v), slices.Max(v)),
		judge.AtMost(slices.Max(v), 1.01))
}

func lessOverall(setting string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := ratios(t, "beside (µs)", setting, adaptDefault)
		return judge.Of(fmt.Sprintf("%.2f to %.2f of the default", slices.Min(v), slices.Max(v)),
			judge.Less(slices.Max(v), 1, 0))
	}
}

func onPar(t *paper.Table) judge.Finding {
	var worst float64
	settings := []string{adaptManual, adaptOnDemand}
	for _, th := range manualChoices() {
		settings = append(settings, manualAt(th))
	}
	for _, s := range settings {
		worst = max(worst, slices.Max(ratios(t, "beside (µs)", adaptDynamic, s)))
	}
	return judge.Of(fmt.Sprintf("%.3f times as long at most", worst), judge.AtMost(worst, 1.03))
}

func shorterBegin(t *paper.Table) judge.Finding {
	begin, wait := ratios(t, "begins (µs)", adaptDefault, adaptManual), ratios(t, "waits (µs)", adaptDefault, adaptManual)
	return judge.Of(fmt.Sprintf("begins %.2f to %.2f and waits %.1f to %.1f times as long as manual", slices.Min(begin), slices.Max(begin), slices.Min(wait), slices.Max(wait)),
		judge.Less(slices.Max(begin), 1, 0), judge.Less(1, slices.Min(wait), 0))
}

func lessMemory(setting string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := ratios(t, "buffers (KB)", adaptDynamic, setting)
		return judge.Of(fmt.Sprintf("%.0f to %.0f %% less", 100*(1-slices.Max(v)), 100*(1-slices.Min(v))),
			judge.AtMost(slices.Max(v), 0.75))
	}
}

func plotAdapt1(t *paper.Table) (list []*figure.Figure) {
	for _, column := range []string{"alone (µs)", "overlap (%)", "beside (µs)", "buffers (KB)"} {
		f := &figure.Figure{
			Title: "3D stencil: " + column, X: figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2}, Y: figure.Axis{Label: column, Min: figure.At(0)},
		}
		for _, s := range adapt1Settings() {
			f.Series = append(f.Series, figure.Series{Name: s, Points: plain(t, s).Points("bytes", column)})
		}
		list = append(list, f)
	}
	return list
}
