package adapt

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// The paper runs Amber. What stands for it is bench's halo: neighbours in space and far partners
// that change, messages of many lengths that become shorter the more processes share the problem.

func fig9() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-fig9"}, Title: "Molecular dynamics by manual and dynamic eager thresholds: time and buffer memory",
		Paper: "ADAPT, section 5.3, Figure 9", PaperSize: "Amber, up to 1,024 processes",
		Freedom: "partners, and lengths of messages",
		Measure: measureAdapt9, Plot: plotAdapt9,
		Mutations: []paper.Mutation{{
			What: "thresholds do not adapt", Mutate: notAdaptive(), Claims: []string{"dynamic is faster than the default, everywhere"},
			Measure: decidedBy(adaptRun{World: paper.World{Nodes: 4, Procs: 1}, workload: "halo", bytes: 32 << 10, steps: 40}, adapt9Columns(), add9, adaptDefault, adaptDynamic),
		}},
		Claims: []paper.Claim{
			{
				Text:  "which manual setting is best depends on the number of processes",
				Paper: "different ones", Judge: differentBest,
			},
			{
				Text:  "with three settings, 4, 16 and 64 KB, one is the best everywhere: how many there are decides",
				Paper: "not in the paper", Judge: coarseBest,
			},
			{
				Text:  "dynamic is faster than the default, everywhere",
				Paper: "yes", Judge: dynamicFaster,
			},
			{
				Text:  "dynamic takes at most 3 % longer than the best manual setting, everywhere",
				Paper: "on par", Judge: dynamicOnPar,
			},
			{
				Text:  "the default needs the least memory for buffers",
				Paper: "yes", Judge: defaultLeast,
			},
			{
				Text:  "dynamic needs less than half of the memory of the best manual setting (section 4.4)",
				Paper: "< 50 %", Judge: dynamicMemory(adaptManual, 0.5),
			},
			{
				Text:  "at the largest size at least 25 % less",
				Paper: "25 % at 1,024 processes", Judge: dynamicMemoryLargest,
			},
			{
				Text:  "and than the best manual setting whose pairs have buffers from their first message on",
				Paper: "not in the paper", Judge: dynamicMemory(adaptOnDemand, 0.75),
			},
		},
	}
}

func adapt9Columns() []string {
	return []string{"processes", "setting", "threshold", "bytes", "time (ms)", "buffers (KB)"}
}

// haloBytes is the longest message of so many processes: the surface of a part of a problem that 8
// of them have with 64 KB.
func haloBytes(e *paper.Env, processes int) int {
	base := 64 << 10
	if e.Scale == paper.Small {
		base = 32 << 10
	}
	return int(float64(base) * math.Pow(8/float64(processes), 2.0/3))
}

func haloSteps(e *paper.Env) int { return e.Repeats(40, 60, 60) }

// manualChoices are the powers of two of the paper's Figure 11, and those below: VELO's default is
// shorter than the paper's.
func manualChoices() []int {
	return []int{4<<10 + adaptOffset, 8<<10 + adaptOffset, 16<<10 + adaptOffset, 32<<10 + adaptOffset, 64<<10 + adaptOffset, 128<<10 + adaptOffset}
}

func measureAdapt9(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	var runs []adaptRun
	for _, w := range adaptWorlds(e) {
		r := adaptRun{World: w, workload: "halo", bytes: haloBytes(e, w.Ranks()), steps: haloSteps(e)}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			r.setting = s
			runs = append(runs, r)
		}
		for _, s := range []string{adaptManual, adaptOnDemand} {
			for _, r.manual = range manualChoices() {
				r.setting = s
				runs = append(runs, r)
			}
		}
	}
	return tabulate(ctx, e, adapt9Columns(), runs, add9)
}

// add9 adds the row of a run.
func add9(t *paper.Table, r adaptRun, s adaptSample) {
	t.Add(r.Ranks(), r.setting, r.manual, r.bytes, s.Elapsed, s.buffers())
}

// firstAsFast is the first of some times that is not clearly longer than the shortest.
func firstAsFast(times []float64) int {
	return slices.IndexFunc(times, func(v float64) bool { return v <= slices.Min(times)*(1+judge.Margin) })
}

// bestManual is the row of the best manual setting for a number of processes. Several settings can
// be as fast as the fastest; the lowest threshold among them needs the least memory.
func bestManual(t *paper.Table, processes int, setting string) *paper.Table {
	sub := t.Where("processes", processes, "setting", setting)
	at := firstAsFast(sub.Values("time (ms)"))
	return &paper.Table{Columns: t.Columns, Rows: sub.Rows[at : at+1]}
}

// bestEverywhere is the manual threshold that loses least to the best one where it loses most, and
// how much that is. If it is within judge.Margin, one setting is the best everywhere.
func bestEverywhere(t *paper.Table) (threshold int, loses float64) {
	loses = math.Inf(1)
	sizes := paper.Distinct[int](t, "processes")
	for _, th := range paper.Distinct[int](t.Where("setting", adaptManual), "threshold") {
		worst := 0.0
		for _, n := range sizes {
			worst = max(worst, t.Only("time (ms)", "processes", n, "setting", adaptManual, "threshold", th)/fastest(t, n, adaptManual))
		}
		if worst < loses {
			threshold, loses = th, worst
		}
	}
	return threshold, loses
}

func differentBest(t *paper.Table) judge.Finding {
	th, loses := bestEverywhere(t)
	return judge.Of(fmt.Sprintf("%d loses least, up to %.1f %%", th, 100*(loses-1)), judge.Above(loses, 1+judge.Margin))
}

func coarseBest(t *paper.Table) judge.Finding {
	th, loses := bestEverywhere(t.Keep("threshold", func(th float64) bool {
		return slices.Contains([]int{4<<10 + adaptOffset, 16<<10 + adaptOffset, 64<<10 + adaptOffset}, int(th))
	}))
	return judge.Of(fmt.Sprintf("%d loses least, up to %.1f %%", th, 100*(loses-1)), judge.AtMost(loses, 1+judge.Margin))
}

// eachSize judges a ratio at every number of processes.
func eachSize(t *paper.Table, text string, ratio func(n int) float64, region func(float64) judge.Check) judge.Finding {
	var v []float64
	var checks []judge.Check
	for _, n := range paper.Distinct[int](t, "processes") {
		x := ratio(n)
		v, checks = append(v, x), append(checks, region(x))
	}
	return judge.Of(text+paper.Join(v, "%.3f"), checks...)
}

func dynamicTime(t *paper.Table, n int) float64 {
	return t.Only("time (ms)", "processes", n, "setting", adaptDynamic)
}

func dynamicFaster(t *paper.Table) judge.Finding {
	return eachSize(t, "of the default's time: ", func(n int) float64 {
		return dynamicTime(t, n) / t.Only("time (ms)", "processes", n, "setting", adaptDefault)
	}, func(v float64) judge.Check { return judge.Less(v, 1, 0) })
}

func fastest(t *paper.Table, processes int, setting string) float64 {
	return slices.Min(t.Where("processes", processes, "setting", setting).Values("time (ms)"))
}

func dynamicOnPar(t *paper.Table) judge.Finding {
	return eachSize(t, "of the best manual time: ", func(n int) float64 {
		manual := min(fastest(t, n, adaptManual), fastest(t, n, adaptOnDemand))
		return dynamicTime(t, n) / manual
	}, func(v float64) judge.Check { return judge.AtMost(v, 1.03) })
}

func defaultLeast(t *paper.Table) judge.Finding {
	v := t.Where("setting", adaptDefault).Values("buffers (KB)")
	others := append(t.Where("setting", adaptDynamic).Values("buffers (KB)"), t.Where("setting", adaptManual).Values("buffers (KB)")...)
	return judge.Of(fmt.Sprintf("%.0f KB, the others %.0f at least", slices.Max(v), slices.Min(others)),
		judge.Less(slices.Max(v), slices.Min(others), 0))
}

func memoryRatio(t *paper.Table, n int, setting string) float64 {
	return t.Only("buffers (KB)", "processes", n, "setting", adaptDynamic) / bestManual(t, n, setting).Values("buffers (KB)")[0]
}

func dynamicMemory(setting string, most float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		return eachSize(t, "of the memory of the best one: ", func(n int) float64 { return memoryRatio(t, n, setting) },
			func(v float64) judge.Check { return judge.Below(v, most) })
	}
}

func dynamicMemoryLargest(t *paper.Table) judge.Finding {
	n := slices.Max(paper.Distinct[int](t, "processes"))
	v := memoryRatio(t, n, adaptManual)
	return judge.Of(fmt.Sprintf("%.0f %% less with %d processes", 100*(1-v), n), judge.AtMost(v, 0.75))
}

func plotAdapt9(t *paper.Table) (figures []*figure.Figure) {
	for _, column := range []string{"time (ms)", "buffers (KB)"} {
		f := &figure.Figure{Title: "Molecular dynamics: " + column, X: figure.Axis{Label: "processes"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			f.Series = append(f.Series, figure.Series{Name: s, Points: t.Where("setting", s).Points("processes", column)})
		}
		for _, th := range manualChoices() {
			for _, s := range []string{adaptManual, adaptOnDemand} {
				f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s %d", s, th), Points: t.Where("setting", s, "threshold", th).Points("processes", column)})
			}
		}
		figures = append(figures, f)
	}
	return figures
}
