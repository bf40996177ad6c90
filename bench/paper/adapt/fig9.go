package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
)

// The paper runs Amber. What stands for it is bench's halo: neighbours in space and far partners
// that change, messages of many lengths that become shorter the more processes share the problem.

var adaptFig9 = &Experiment{
	IDs: []string{"adapt-fig9"}, Title: "Molecular dynamics by manual and dynamic eager thresholds: time and buffer memory",
	Paper: "ADAPT, section 5.3, Figure 9", PaperSize: "Amber, up to 1,024 processes",
	measure: measureAdapt9, plot: plotAdapt9,
	claims: []claim{
		{"which manual setting is best depends on the number of processes", "different ones", differentBest},
		{"with three settings, 4, 16 and 64 KB, one is the best everywhere: how many there are decides", "not in the paper", coarseBest},
		{"dynamic is faster than the default, everywhere", "yes", dynamicFaster},
		{"dynamic takes at most 3 % longer than the best manual setting, everywhere", "on par", dynamicOnPar},
		{"the default needs the least memory for buffers", "yes", defaultLeast},
		{"dynamic needs less than half of the memory of the best manual setting (section 4.4)", "< 50 %", dynamicMemory(adaptManual, 0.5)},
		{"at the largest size at least 25 % less", "25 % at 1,024 processes", dynamicMemoryLargest},
		{"and than the best manual setting whose pairs have buffers from their first message on", "not in the paper", dynamicMemory(adaptOnDemand, 0.75)},
	},
}

var adapt9Columns = []string{"processes", "setting", "threshold", "bytes", "time (ms)", "buffers (KB)"}

// haloBytes is the longest message of so many processes: the surface of a part of a problem that 8
// of them have with 64 KB.
func (e *Env) haloBytes(processes int) int {
	base := 64 << 10
	if e.Scale == Small {
		base = 32 << 10
	}
	return int(float64(base) * math.Pow(8/float64(processes), 2.0/3))
}

func (e *Env) haloSteps() int { return e.repeats(40, 60, 60) }

// manualChoices are the powers of two of the paper's Figure 11, and those below: VELO's default is
// shorter than the paper's.
var manualChoices = []int{4<<10 + adaptOffset, 8<<10 + adaptOffset, 16<<10 + adaptOffset, 32<<10 + adaptOffset, 64<<10 + adaptOffset, 128<<10 + adaptOffset}

func measureAdapt9(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: adapt9Columns}
	var runs []adaptRun
	for _, w := range e.adaptWorlds() {
		r := adaptRun{world: w, workload: "halo", bytes: e.haloBytes(w.ranks()), steps: e.haloSteps()}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			r.setting = s
			runs = append(runs, r)
		}
		for _, s := range []string{adaptManual, adaptOnDemand} {
			for _, r.manual = range manualChoices {
				r.setting = s
				runs = append(runs, r)
			}
		}
	}
	samples, err := e.adaptSweep(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		t.add(runs[i].ranks(), runs[i].setting, runs[i].manual, runs[i].bytes, s.Elapsed, s.buffers())
	}
	return t, nil
}

// asFast is by how much a manual setting may be slower than the fastest and be as fast.
const asFast = 1.005

// bestManual is the row of the best manual setting for a number of processes: of those that are as
// fast as the fastest the shortest, which needs the least memory.
func bestManual(t *Table, processes int, setting string) *Table {
	sub := t.where("processes", processes, "setting", setting)
	times := sub.values("time (ms)")
	at := slices.IndexFunc(times, func(v float64) bool { return v <= asFast*slices.Min(times) })
	return &Table{Columns: t.Columns, Rows: sub.Rows[at : at+1]}
}

func differentBest(t *Table) (string, bool) {
	v := bestThresholds(t)
	return "the best thresholds are " + list(v, "%.0f"), slices.Min(v) != slices.Max(v)
}

func bestThresholds(t *Table) (v []float64) {
	for _, n := range distinct[int](t, "processes") {
		v = append(v, bestManual(t, n, adaptManual).values("threshold")[0])
	}
	return v
}

func coarseBest(t *Table) (string, bool) {
	v := bestThresholds(t.keep("threshold", func(th float64) bool {
		return slices.Contains([]int{4<<10 + adaptOffset, 16<<10 + adaptOffset, 64<<10 + adaptOffset}, int(th))
	}))
	return "the best of those are " + list(v, "%.0f"), slices.Min(v) == slices.Max(v)
}

// eachSize judges a ratio at every number of processes.
func eachSize(t *Table, ratio func(n int) float64, holds func(float64) bool) (string, bool) {
	var v []float64
	ok := true
	for _, n := range distinct[int](t, "processes") {
		x := ratio(n)
		v, ok = append(v, x), ok && holds(x)
	}
	return list(v, "%.3f"), ok
}

func dynamicTime(t *Table, n int) float64 {
	return t.only("time (ms)", "processes", n, "setting", adaptDynamic)
}

func dynamicFaster(t *Table) (string, bool) {
	s, ok := eachSize(t, func(n int) float64 {
		return dynamicTime(t, n) / t.only("time (ms)", "processes", n, "setting", adaptDefault)
	}, func(v float64) bool { return v < 1 })
	return "of the default's time: " + s, ok
}

func fastest(t *Table, processes int, setting string) float64 {
	return slices.Min(t.where("processes", processes, "setting", setting).values("time (ms)"))
}

func dynamicOnPar(t *Table) (string, bool) {
	s, ok := eachSize(t, func(n int) float64 {
		manual := min(fastest(t, n, adaptManual), fastest(t, n, adaptOnDemand))
		return dynamicTime(t, n) / manual
	}, func(v float64) bool { return v <= 1.03 })
	return "of the best manual time: " + s, ok
}

func defaultLeast(t *Table) (string, bool) {
	v := t.where("setting", adaptDefault).values("buffers (KB)")
	others := append(t.where("setting", adaptDynamic).values("buffers (KB)"), t.where("setting", adaptManual).values("buffers (KB)")...)
	return fmt.Sprintf("%.0f KB, the others %.0f at least", slices.Max(v), slices.Min(others)), slices.Max(v) < slices.Min(others)
}

func memoryRatio(t *Table, n int, setting string) float64 {
	return t.only("buffers (KB)", "processes", n, "setting", adaptDynamic) / bestManual(t, n, setting).values("buffers (KB)")[0]
}

func dynamicMemory(setting string, most float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		s, ok := eachSize(t, func(n int) float64 { return memoryRatio(t, n, setting) }, func(v float64) bool { return v < most })
		return "of the memory of the best one: " + s, ok
	}
}

func dynamicMemoryLargest(t *Table) (string, bool) {
	n := slices.Max(distinct[int](t, "processes"))
	v := memoryRatio(t, n, adaptManual)
	return fmt.Sprintf("%.0f %% less with %d processes", 100*(1-v), n), v <= 0.75
}

func plotAdapt9(t *Table) (figures []*figure.Figure) {
	for _, column := range []string{"time (ms)", "buffers (KB)"} {
		f := &figure.Figure{Title: "Molecular dynamics: " + column, X: figure.Axis{Label: "processes"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			f.Series = append(f.Series, figure.Series{Name: s, Points: t.where("setting", s).points("processes", column)})
		}
		for _, th := range manualChoices {
			for _, s := range []string{adaptManual, adaptOnDemand} {
				f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s %d", s, th), Points: t.where("setting", s, "threshold", th).points("processes", column)})
			}
		}
		figures = append(figures, f)
	}
	return figures
}
