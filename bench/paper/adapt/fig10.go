package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/host"
)

var adaptFig10 = &Experiment{
	IDs: []string{"adapt-fig10", "adapt-fig11", "adapt-fig12"}, Title: "Dynamic eager thresholds in molecular dynamics: how often, how long and at what price processes change them",
	Paper: "ADAPT, section 5.3, Figures 10 to 12", PaperSize: "Amber, 256 to 1,024 processes",
	measure: measureAdapt10, plot: plotAdapt10,
	claims: []claim{
		{"with few processes nearly all change thresholds (Figure 10)", "a lot of changes with 256 and 512", manyChanges},
		{"with the most processes a large part of them change none", "a large percentage with 1,024", zeroChanges(1)},
		{"where messages are short enough for the default, none does", "those whose desired threshold is the default", zeroChanges(smaller)},
		{"who changes none has the default threshold, and nobody else (Figure 11)", "the two numbers agree", zeroIsDefault},
		{"the median of the greatest thresholds falls with the number of processes", "128, 64 and 32 KB", fallingMedian},
		{"one change takes little (Figure 12(a))", "40 ms of 300 s, 0.013 %", oneChange(1)},
		{"it lasts as long as peers compute that do not look: with a quarter of the computation it is shorter", "not in the paper", changeWaits},
		{"all changes take a process at most 0.1 % of the run (Figure 12(b))", "0.1 %", coreShare(0.1)},
		{"so they do with the messages that say that a buffer may be used again", "not in the paper", noticeShare(0.1)},
		{"buffers that are made and freed, too, take at most 0.3 % (Figure 12(c))", "0.3 %", coreShare(0.3)},
	},
}

var adapt10Columns = []string{"processes", "problem", "computation", "process", "changes", "greatest threshold", "longest change (µs)", "core (µs)", "notices (µs)", "run (ms)"}

// smaller is the part of the problem in which messages are short, quick that of the computation
// beside a whole one.
const (
	smaller = 8
	quick   = 4
	// shortProblem is the length that no message reaches.
	shortProblem = host.EagerMax + 1
)

func measureAdapt10(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: adapt10Columns}
	worlds := e.adaptWorlds()
	var runs []adaptRun
	for _, w := range worlds {
		runs = append(runs, adaptRun{world: w, workload: "halo", setting: adaptDynamic, bytes: e.haloBytes(w.ranks()), steps: e.haloSteps()})
	}
	last := runs[len(runs)-1]
	short := last
	short.bytes = shortProblem
	for _, r := range runs {
		r.hurry = quick
		runs = append(runs, r)
	}
	runs = append(runs, short)
	samples, err := e.adaptSweep(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		problem := 1
		if runs[i].bytes == shortProblem {
			problem = smaller
		}
		for _, r := range s.Eager {
			t.add(runs[i].ranks(), problem, max(runs[i].hurry, 1), r.Rank, int(r.Switches), r.Threshold, micro(r.Longest), micro(r.Spent), micro(r.Freeing), s.Elapsed)
		}
	}
	return t, nil
}

// whole are the rows of a number of processes with the whole problem.
func whole(t *Table, processes int) *Table {
	return t.where("processes", processes, "problem", 1, "computation", 1)
}

// none is the share of processes that change nothing, in percent.
func none(t *Table) float64 {
	return 100 * float64(len(t.where("changes", 0).Rows)) / float64(len(t.Rows))
}

func ends(t *Table) (least, most int) {
	sizes := distinct[int](t, "processes")
	return slices.Min(sizes), slices.Max(sizes)
}

func manyChanges(t *Table) (string, bool) {
	least, _ := ends(t)
	v := none(whole(t, least))
	return fmt.Sprintf("%.0f %% of %d change none; the others %.1f in the mean", v, least, mean(whole(t, least).values("changes"))), v < 20
}

func zeroChanges(problem int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		_, most := ends(t)
		v := none(t.where("processes", most, "problem", problem, "computation", 1))
		return fmt.Sprintf("%.0f %% of %d", v, most), v > 30
	}
}

func zeroIsDefault(t *Table) (string, bool) {
	bad := 0
	for i, changes := range t.values("changes") {
		if (changes == 0) != (t.values("greatest threshold")[i] == host.EagerMax) {
			bad++
		}
	}
	return fmt.Sprintf("%d of %d processes are exceptions", bad, len(t.Rows)), bad == 0
}

func fallingMedian(t *Table) (string, bool) {
	var v []float64
	for _, n := range distinct[int](t, "processes") {
		all := whole(t, n).values("greatest threshold")
		slices.Sort(all)
		v = append(v, all[len(all)/2])
	}
	return list(v, "%.0f"), v[len(v)-1] < v[0] && slices.IsSortedFunc(v, func(a, b float64) int { return int(b - a) })
}

func longestChange(t *Table) float64 { return slices.Max(t.values("longest change (µs)")) }

func oneChange(computation int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		worst := 0.0
		for _, n := range distinct[int](t, "processes") {
			rows := whole(t, n)
			worst = max(worst, longestChange(rows)/10/rows.values("run (ms)")[0])
		}
		return fmt.Sprintf("%.0f µs at most, %.3f %% of a run", longestChange(t.where("computation", computation)), worst), worst <= 0.013
	}
}

func changeWaits(t *Table) (string, bool) {
	var at int
	var slow float64
	for _, n := range distinct[int](t, "processes") {
		if v := longestChange(whole(t, n)); v > slow {
			at, slow = n, v
		}
	}
	fast := longestChange(t.where("processes", at, "computation", quick))
	return fmt.Sprintf("%.0f instead of %.0f µs with %d processes, where the longest is", fast, slow, at), fast < 0.7*slow
}

func coreShare(most float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		worst := 0.0
		for i, v := range t.values("core (µs)") {
			worst = max(worst, v/10/t.values("run (ms)")[i])
		}
		return fmt.Sprintf("%.3f %% of the run at most, handshakes and buffers together", worst), worst <= most
	}
}

// noticeShare is that of handshakes and notices.
func noticeShare(most float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		worst := 0.0
		notices, runs := t.values("notices (µs)"), t.values("run (ms)")
		for i, v := range t.values("core (µs)") {
			worst = max(worst, (v+notices[i])/10/runs[i])
		}
		return fmt.Sprintf("%.3f %% of the run at most", worst), worst <= most
	}
}

func plotAdapt10(t *Table) (figures []*figure.Figure) {
	for _, column := range []string{"changes", "greatest threshold", "longest change (µs)", "core (µs)"} {
		f := &figure.Figure{Title: "Molecular dynamics: " + column + ", process by process", X: figure.Axis{Label: "processes, sorted", Unit: "%"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, n := range distinct[int](t, "processes") {
			v := whole(t, n).values(column)
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
