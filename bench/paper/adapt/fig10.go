package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/host"
)

func fig10() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-fig10", "adapt-fig11", "adapt-fig12"}, Title: "Dynamic eager thresholds in molecular dynamics: how often, how long and at what price processes change them",
		Paper: "ADAPT, section 5.3, Figures 10 to 12", PaperSize: "Amber, 256 to 1,024 processes",
		Freedom: "partners, and lengths of messages",
		Measure: measureAdapt10, Plot: plotAdapt10,
		Mutations: []paper.Mutation{{
			What: "thresholds do not adapt", Mutate: notAdaptive(), Claims: []string{"with few processes nearly all change thresholds (Figure 10)"},
			Measure: decidedBy(adaptRun{World: paper.World{Nodes: 4, Procs: 1}, workload: "halo", bytes: 32 << 10, steps: 40}, adapt10Columns(), add10, adaptDynamic),
		}},
		Claims: []paper.Claim{
			{
				Text:  "with few processes nearly all change thresholds (Figure 10)",
				Paper: "a lot of changes with 256 and 512", Judge: manyChanges,
			},
			{
				Text:  "with the most processes a large part of them change none",
				Paper: "a large percentage with 1,024", Judge: zeroChanges(1),
			},
			{
				Text:  "where messages are short enough for the default, none does",
				Paper: "those whose desired threshold is the default", Judge: zeroChanges(smaller),
			},
			{
				Text:  "exactly the processes that change no threshold have the default one (Figure 11)",
				Paper: "the two numbers agree", Judge: zeroIsDefault,
			},
			{
				Text:  "the median of the greatest thresholds falls with the number of processes",
				Paper: "128, 64 and 32 KB", Judge: fallingMedian,
			},
			{
				Text:  "one change takes little (Figure 12(a))",
				Paper: "40 ms of 300 s, 0.013 %", Judge: oneChange(1),
			},
			{
				Text:  "it lasts as long as peers compute that do not look: with a quarter of the computation it is shorter",
				Paper: "not in the paper", Judge: changeWaits,
			},
			{
				Text:  "all changes take a process at most 0.1 % of the run (Figure 12(b))",
				Paper: "0.1 %", Judge: shareOfRun(0.1, ", handshakes and buffers together", "core (µs)"),
			},
			{
				Text:  "so they do with the messages that say that a buffer may be used again",
				Paper: "not in the paper", Judge: shareOfRun(0.1, "", "core (µs)", "notices (µs)"),
			},
			{
				Text:  "buffers that are made and freed, too, take at most 0.3 % (Figure 12(c))",
				Paper: "0.3 %", Judge: shareOfRun(0.3, ", handshakes and buffers together", "core (µs)"),
			},
		},
	}
}

func adapt10Columns() []string {
	return []string{"processes", "problem", "computation", "process", "changes", "greatest threshold", "longest change (µs)", "core (µs)", "notices (µs)", "run (ms)"}
}

// smaller marks the rows of a problem whose messages are short. quick divides the computation of
// the whole problem.
const (
	smaller = 8
	quick   = 4
	// shortProblem is the base length of the smaller problem: no message is as long.
	shortProblem = host.EagerMax + 1
)

func measureAdapt10(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	var runs []adaptRun
	for _, w := range adaptWorlds(e) {
		runs = append(runs, adaptRun{World: w, workload: "halo", setting: adaptDynamic, bytes: haloBytes(e, w.Ranks()), steps: haloSteps(e)})
	}
	short := runs[len(runs)-1]
	short.bytes = shortProblem
	for _, r := range runs {
		r.hurry = quick
		runs = append(runs, r)
	}
	runs = append(runs, short)
	return tabulate(ctx, e, adapt10Columns(), runs, add10)
}

// add10 adds the rows of a run, one for each rank.
func add10(t *paper.Table, run adaptRun, s adaptSample) {
	problem := 1
	if run.bytes == shortProblem {
		problem = smaller
	}
	for _, r := range s.Eager {
		t.Add(run.Ranks(), problem, max(run.hurry, 1), r.Rank, int(r.Switches), r.Threshold, micro(r.Longest), micro(r.Spent), micro(r.Freeing), s.Elapsed)
	}
}

// whole are the rows of a number of processes with the whole problem.
func whole(t *paper.Table, processes int) *paper.Table {
	return t.Where("processes", processes, "problem", 1, "computation", 1)
}

// none is the share of processes that change no threshold, in percent.
func none(t *paper.Table) float64 {
	return 100 * float64(len(t.Where("changes", 0).Rows)) / float64(len(t.Rows))
}

func ends(t *paper.Table) (least, most int) {
	sizes := paper.Distinct[int](t, "processes")
	return slices.Min(sizes), slices.Max(sizes)
}

func manyChanges(t *paper.Table) judge.Finding {
	least, _ := ends(t)
	v := none(whole(t, least))
	return judge.Of(fmt.Sprintf("%.0f %% of %d change none; the others %.1f in the mean", v, least, paper.Mean(whole(t, least).Values("changes"))),
		judge.Below(v, 20))
}

func zeroChanges(problem int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		_, most := ends(t)
		v := none(t.Where("processes", most, "problem", problem, "computation", 1))
		return judge.Of(fmt.Sprintf("%.0f %% of %d", v, most), judge.Above(v, 30))
	}
}

func zeroIsDefault(t *paper.Table) judge.Finding {
	bad, greatest := 0, t.Values("greatest threshold")
	for i, changes := range t.Values("changes") {
		if (changes == 0) != (greatest[i] == host.EagerMax) {
			bad++
		}
	}
	return judge.Of(fmt.Sprintf("%d of %d processes are exceptions", bad, len(t.Rows)), judge.Equal(float64(bad), 0))
}

func fallingMedian(t *paper.Table) judge.Finding {
	var v []float64
	for _, n := range paper.Distinct[int](t, "processes") {
		all := whole(t, n).Values("greatest threshold")
		slices.Sort(all)
		v = append(v, all[len(all)/2])
	}
	return judge.Of(paper.Join(v, "%.0f"),
		judge.Less(v[len(v)-1], v[0], 0), judge.True(slices.IsSortedFunc(v, func(a, b float64) int { return int(b - a) })))
}

func longestChange(t *paper.Table) float64 { return slices.Max(t.Values("longest change (µs)")) }

func oneChange(computation int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		worst := 0.0
		for _, n := range paper.Distinct[int](t, "processes") {
			rows := whole(t, n)
			worst = max(worst, longestChange(rows)/10/rows.Values("run (ms)")[0])
		}
		return judge.Of(fmt.Sprintf("%.0f µs at most, %.3f %% of a run", longestChange(t.Where("computation", computation)), worst),
			judge.AtMost(worst, 0.013))
	}
}

func changeWaits(t *paper.Table) judge.Finding {
	var at int
	var slow float64
	for _, n := range paper.Distinct[int](t, "processes") {
		if v := longestChange(whole(t, n)); v > slow {
			at, slow = n, v
		}
	}
	fast := longestChange(t.Where("processes", at, "computation", quick))
	return judge.Of(fmt.Sprintf("%.0f instead of %.0f µs with %d processes, where the longest is", fast, slow, at),
		judge.Below(fast/slow, 0.7))
}

// shareOfRun limits the part of a run, in percent, that a process spends on what some columns
// count.
func shareOfRun(most float64, what string, columns ...string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		spent, runs := make([]float64, len(t.Rows)), t.Values("run (ms)")
		for _, column := range columns {
			for i, v := range t.Values(column) {
				spent[i] += v
			}
		}
		worst := 0.0
		for i, v := range spent {
			worst = max(worst, v/10/runs[i])
		}
		return judge.Of(fmt.Sprintf("%.3f %% of the run at most%s", worst, what), judge.AtMost(worst, most))
	}
}

func plotAdapt10(t *paper.Table) (figures []*figure.Figure) {
	for _, column := range []string{"changes", "greatest threshold", "longest change (µs)", "core (µs)"} {
		f := &figure.Figure{Title: "Molecular dynamics: " + column + ", process by process", X: figure.Axis{Label: "processes, sorted", Unit: "%"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, n := range paper.Distinct[int](t, "processes") {
			v := whole(t, n).Values(column)
			slices.Sort(v)
			s := figure.Series{Name: fmt.Sprintf("%d processes", n)}
			for i, y := range v {
				s.Points = append(s.Points, figure.Point{X: 100 * float64(i) / float64(max(len(v)-1, 1)), Y: y})
			}
			f.Series = append(f.Series, s)
		}
		figures = append(figures, f)
	}
	return figures
}
