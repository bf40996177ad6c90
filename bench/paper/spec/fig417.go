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

var specFig417 = &Experiment{
	IDs: []string{"spec-fig4.17", "spec-fig4.18"}, Title: "Communication of CG, BT, LU and RADIX: what ranks wait, and what RTRs are used for",
	Paper: "SPEC, section 4.4.2, Figures 4.17 and 4.18", PaperSize: "4 nodes, classes A and B, five runs",
	measure: measureSpec417, plot: plotSpec417,
	claims: []claim{
		{"BT waits less", "up to 30 %", btGains},
		{"BT uses its RTRs", "a very high percentage", btUses},
		{"LU waits hardly less", "5 %", slightly("lu")},
		{"LU sends no RTR: it receives from any source", "none", luSilent},
		{"RADIX waits slightly less", "4 %", slightly("radix")},
		{"CG.A, whose messages are eager, is hardly slower", "< 2 %", cgEager},
		{"CG.B waits longer without adaptation", "21 %", cgLoses},
		{"CG.B uses fewer of its RTRs than adaptation asks for", "below 80 %", cgWastes},
		{"adaptation bounds what CG.B loses", "4 %", cgAdapts},
		{"Figure 4.18: CG has nothing to compute beside its messages, so nothing is gained", "not much opportunity", cgHasNothing},
	},
	reasons: specReasons417,
}

var spec417Columns = []string{"application", "computes (µs)", "jitter (%)", "speculation", "waits (µs)", "waits less (%)", "iteration less (%)", "RTRs", "used (%)", "extra data (%)"}

// An application of the figure: a pattern, and what stands for its class.
type application struct {
	name, pattern string
	bytes         int
	iterations    int
}

// applications: CG.A's messages are eager, in the paper as here.
var applications = []application{
	{"cg.A", "cg", 2048, 40}, {"cg.B", "cg", 128 << 10, 40}, {"bt", "bt", 128 << 10, 40}, {"lu", "lu", 128 << 10, 20}, {"radix", "radix", 128 << 10, 4},
}

// A setting is what ranks compute at a time, how much longer that takes now and then, and how many
// seeds there are of it. Without jitter ranks do the same at the same time, always.
type setting struct {
	compute drivers.Time
	jitter  int
	seeds   int
}

// The first setting is what claims are judged by, unless they say that a gain is up to something.
const (
	appCompute  = 100 * drivers.Microsecond
	longCompute = 400 * drivers.Microsecond
	appJitter   = 20
)

func (e *Env) settings() []setting {
	seeds := e.repeats(1, 5, 5)
	return []setting{{appCompute, appJitter, seeds}, {longCompute, appJitter, seeds}, {appCompute, 0, 1}}
}

func measureSpec417(ctx context.Context, e *Env) (*Table, error) {
	return e.applications(ctx, applications, e.settings())
}

// applications runs some of them in some settings.
func (e *Env) applications(ctx context.Context, list []application, settings []setting) (*Table, error) {
	t := &Table{Columns: spec417Columns}
	var runs []appRun
	each := func(f func(a application, s setting, speculate string)) {
		for _, a := range list {
			for _, s := range settings {
				for _, speculate := range speculates {
					f(a, s, speculate)
				}
			}
		}
	}
	each(func(a application, s setting, speculate string) {
		for seed := range s.seeds {
			r := appRun{a.pattern, speculate, a.bytes, s.compute, s.jitter, e.Seed + int64(seed), a.iterations, nil}
			if e.Scale == Small {
				r.bytes, r.iterations = min(r.bytes, 32<<10), min(r.iterations, 10)
			}
			runs = append(runs, r)
		}
	})
	rows, err := e.apps(ctx, world{nodes: 4, procs: 1}, runs)
	if err != nil {
		return nil, err
	}
	var before []bench.Row
	each(func(a application, s setting, speculate string) {
		if speculate == speculateNot {
			before = rows[:s.seeds]
		}
		addApplication(t, a.name, s, speculate, before, rows[:s.seeds])
		rows = rows[s.seeds:]
	})
	return t, nil
}

// addApplication adds a row: means over the seeds.
func addApplication(t *Table, name string, x setting, speculate string, before, after []bench.Row) {
	var wait, waited, iteration, iterated drivers.Time
	var s bench.AppStats
	for i, x := range after {
		wait, waited = wait+waiting(x), waited+waiting(before[i])
		iteration, iterated = iteration+x.Iteration, iterated+before[i].Iteration
		s.RTRs, s.Used, s.Extra, s.Messages = s.RTRs+x.App.RTRs, s.Used+x.App.Used, s.Extra+x.App.Extra, s.Messages+x.App.Messages
	}
	t.add(name, micros(x.compute), x.jitter, speculate, micros(wait/drivers.Time(len(after))), shorter(waited, wait), shorter(iterated, iteration),
		int(s.RTRs), 100*s.RTRUsage(), 100*float64(s.Extra)/float64(max(s.Messages, 1)))
}

// of gives a value of an application in the first setting.
func of(t *Table, column, name, speculate string) float64 {
	return t.only(column, "application", name, "computes (µs)", micros(appCompute), "jitter (%)", appJitter, "speculation", speculate)
}

const (
	waitsLess = "waits less (%)"
	usedRTRs  = "used (%)"
)

// inStep is the same of ranks that all do the same at the same time.
func inStep(t *Table, column, name, speculate string) float64 {
	return t.only(column, "application", name, "jitter (%)", 0, "speculation", speculate)
}

func btGains(t *Table) (string, bool) {
	list := t.where("application", "bt", "jitter (%)", appJitter, "speculation", speculateAlways)
	return fmt.Sprintf("%s %% where it computes %s µs at a time; with all ranks in step %.1f %%",
		listOf(list, waitsLess), listOf(list, "computes (µs)"), inStep(t, waitsLess, "bt", speculateAlways)), slices.Max(list.values(waitsLess)) >= 20
}

func listOf(t *Table, column string) string { return list(t.values(column), "%.1f") }

func btUses(t *Table) (string, bool) {
	v := of(t, usedRTRs, "bt", speculateAlways)
	return fmt.Sprintf("%.0f %%; with all ranks in step %.0f %%", v, inStep(t, usedRTRs, "bt", speculateAlways)), v >= 80
}

// slightly: something is gained, and no more than a tenth.
func slightly(name string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := of(t, waitsLess, name, speculateAlways)
		return fmt.Sprintf("%.1f %%, adaptive %.1f %%", v, of(t, waitsLess, name, speculateAdapt)), v > 0.5 && v <= 10
	}
}

func luSilent(t *Table) (string, bool) {
	n := of(t, "RTRs", "lu", speculateAlways)
	return fmt.Sprintf("%.0f", n), n == 0
}

func cgEager(t *Table) (string, bool) {
	v := max(-of(t, waitsLess, "cg.A", speculateAlways), -of(t, waitsLess, "cg.A", speculateAdapt))
	return fmt.Sprintf("%.2f %%", v), v < 2
}

func cgLoses(t *Table) (string, bool) {
	v := -of(t, waitsLess, "cg.B", speculateAlways)
	return fmt.Sprintf("%.1f %% longer", v), math.Abs(v-21) <= 10
}

func cgWastes(t *Table) (string, bool) {
	v := of(t, usedRTRs, "cg.B", speculateAlways)
	return fmt.Sprintf("%.0f %%", v), v < 80
}

func cgAdapts(t *Table) (string, bool) {
	v := -of(t, waitsLess, "cg.B", speculateAdapt)
	return fmt.Sprintf("%.1f %% longer, %.1f %% without; with all ranks in step %.2f and %.2f %%", v, -of(t, waitsLess, "cg.B", speculateAlways),
		-inStep(t, waitsLess, "cg.B", speculateAdapt), -inStep(t, waitsLess, "cg.B", speculateAlways)), v <= 4
}

func cgHasNothing(t *Table) (string, bool) {
	v := slices.Max(t.where("application", "cg.B").values(waitsLess))
	return fmt.Sprintf("gains %.1f %% at best", v), v < 2
}

func plotSpec417(t *Table) (list []*figure.Figure) {
	t = t.where("jitter (%)", appJitter)
	for _, x := range []struct {
		computes    drivers.Time
		what, shown string
	}{{appCompute, waitsLess, "waits less"}, {longCompute, waitsLess, "waits less"}, {appCompute, usedRTRs, "used RTRs"}} {
		rows := t.where("computes (µs)", micros(x.computes))
		f := &figure.Figure{
			Title: fmt.Sprintf("Applications that compute %.0f µs at a time", micros(x.computes)),
			Y:     figure.Axis{Label: x.shown, Unit: "%"}, Groups: distinct[string](rows, "application"), Width: 8,
		}
		for _, speculate := range speculates[1:] {
			f.Series = append(f.Series, figure.Series{Name: speculate, Points: rows.where("speculation", speculate).points("jitter (%)", x.what)})
		}
		list = append(list, f)
	}
	return list
}
