package spec

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
)

func fig417() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig4.17", "spec-fig4.18"}, Title: "Communication of CG, BT, LU and RADIX: what ranks wait, and what RTRs are used for",
		Paper: "SPEC, section 4.4.2, Figures 4.17 and 4.18", PaperSize: "4 nodes, classes A and B, five runs",
		Freedom: "how long ranks compute between messages",
		Measure: measureSpec417, Plot: plotSpec417,
		Mutations: []paper.Mutation{{
			What: "receivers send no RTR", Mutate: paper.WithFault(bench.NoRTRs),
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				all := settings(e)
				return runApplications(ctx, e, named("bt"), []setting{all[0], all[2]})
			},
			Claims: []string{"BT uses its RTRs"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "BT waits less",
				Paper: "up to 30 %", Judge: btGains,
			},
			{
				Text:  "BT uses its RTRs",
				Paper: "a very high percentage", Judge: btUses,
			},
			{
				Text:  "LU waits hardly less",
				Paper: "5 %", Judge: slightly("lu"),
			},
			{
				Text:  "LU sends no RTR: it receives from any source",
				Paper: "none", Judge: luSilent,
			},
			{
				Text:  "RADIX waits slightly less",
				Paper: "4 %", Judge: slightly("radix"),
			},
			{
				Text:  "CG.A, whose messages are eager, is hardly slower",
				Paper: "< 2 %", Judge: cgEager,
			},
			{
				Text:  "CG.B waits longer without adaptation",
				Paper: "21 %", Judge: cgLoses,
			},
			{
				Text:  "CG.B uses fewer of its RTRs than adaptation asks for",
				Paper: "below 80 %", Judge: cgWastes,
			},
			{
				Text:  "adaptation bounds what CG.B loses",
				Paper: "4 %", Judge: cgAdapts,
			},
			{
				Text:  "Figure 4.18: CG has nothing to compute beside its messages, so nothing is gained",
				Paper: "not much opportunity", Judge: cgHasNothing,
			},
		},
		Reasons: specReasons417(),
	}
}

func spec417Columns() []string {
	return []string{"application", "computes (µs)", "jitter (%)", "speculation", "waits (µs)", "waits less (%)", "iteration less (%)", "RTRs", "used (%)", "extra data (%)"}
}

// An application of the figure: a pattern, and what stands for its class.
type application struct {
	name, pattern string
	bytes         int
	iterations    int
}

// applications: CG.A's messages are eager, in the paper as here.
func applications() []application {
	return []application{
		{"cg.A", "cg", 2048, 40}, {"cg.B", "cg", 128 << 10, 40}, {"bt", "bt", 128 << 10, 40}, {"lu", "lu", 128 << 10, 20}, {"radix", "radix", 128 << 10, 4},
	}
}

// named returns the applications with these names.
func named(names ...string) []application {
	return slices.DeleteFunc(applications(), func(a application) bool { return !slices.Contains(names, a.name) })
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

func settings(e *paper.Env) []setting {
	seeds := e.Repeats(1, 5, 5)
	if e.Sampled() {
		seeds = 1
	}
	return []setting{{appCompute, appJitter, seeds}, {longCompute, appJitter, seeds}, {appCompute, 0, 1}}
}

func measureSpec417(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return runApplications(ctx, e, applications(), settings(e))
}

// runApplications runs some of them in some settings.
func runApplications(ctx context.Context, e *paper.Env, list []application, settings []setting) (*paper.Table, error) {
	t := &paper.Table{Columns: spec417Columns()}
	var runs []appRun
	each := func(f func(a application, s setting, speculate string)) {
		for _, a := range list {
			for _, s := range settings {
				for _, speculate := range speculates() {
					f(a, s, speculate)
				}
			}
		}
	}
	each(func(a application, s setting, speculate string) {
		for seed := range s.seeds {
			r := appRun{a.pattern, speculate, a.bytes, s.compute, s.jitter, e.Seed + int64(seed), a.iterations, nil}
			if e.Scale == paper.Small {
				r.bytes, r.iterations = min(r.bytes, 32<<10), min(r.iterations, 10)
			}
			runs = append(runs, r)
		}
	})
	rows, err := apps(ctx, e, paper.World{Nodes: 4, Procs: 1}, runs)
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
func addApplication(t *paper.Table, name string, x setting, speculate string, before, after []bench.Row) {
	var wait, waited, iteration, iterated drivers.Time
	var s bench.AppStats
	for i, x := range after {
		wait, waited = wait+waiting(x), waited+waiting(before[i])
		iteration, iterated = iteration+x.Iteration, iterated+before[i].Iteration
		s.RTRs, s.Used, s.Extra, s.Messages = s.RTRs+x.App.RTRs, s.Used+x.App.Used, s.Extra+x.App.Extra, s.Messages+x.App.Messages
	}
	t.Add(name, micros(x.compute), x.jitter, speculate, micros(wait/drivers.Time(len(after))), shorter(waited, wait), shorter(iterated, iteration),
		int(s.RTRs), 100*s.RTRUsage(), extraShare(&s))
}

// of gives a value of an application in the first setting.
func of(t *paper.Table, column, name, speculate string) float64 {
	return t.Only(column, "application", name, "computes (µs)", micros(appCompute), "jitter (%)", appJitter, "speculation", speculate)
}

const (
	waitsLess = "waits less (%)"
	usedRTRs  = "used (%)"
)

// inStep is the same of ranks that all do the same at the same time.
func inStep(t *paper.Table, column, name, speculate string) float64 {
	return t.Only(column, "application", name, "jitter (%)", 0, "speculation", speculate)
}

func btGains(t *paper.Table) judge.Finding {
	list := t.Where("application", "bt", "jitter (%)", appJitter, "speculation", speculateAlways)
	return judge.Of(fmt.Sprintf("%s %% where it computes %s µs at a time; with all ranks in step %.1f %%", listOf(list, waitsLess), listOf(list, "computes (µs)"), inStep(t, waitsLess, "bt", speculateAlways)),
		judge.AtLeast(slices.Max(list.Values(waitsLess)), 20))
}

func listOf(t *paper.Table, column string) string { return paper.Join(t.Values(column), "%.1f") }

func btUses(t *paper.Table) judge.Finding {
	v := of(t, usedRTRs, "bt", speculateAlways)
	return judge.Of(fmt.Sprintf("%.0f %%; with all ranks in step %.0f %%", v, inStep(t, usedRTRs, "bt", speculateAlways)),
		judge.AtLeast(v, 80))
}

// slightly: something is gained, and no more than a tenth.
func slightly(name string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := of(t, waitsLess, name, speculateAlways)
		return judge.Of(fmt.Sprintf("%.1f %%, adaptive %.1f %%", v, of(t, waitsLess, name, speculateAdapt)),
			judge.Above(v, 0.5), judge.AtMost(v, 10))
	}
}

func luSilent(t *paper.Table) judge.Finding {
	n := of(t, "RTRs", "lu", speculateAlways)
	return judge.Of(fmt.Sprintf("%.0f", n), judge.Equal(n, 0))
}

func cgEager(t *paper.Table) judge.Finding {
	v := max(-of(t, waitsLess, "cg.A", speculateAlways), -of(t, waitsLess, "cg.A", speculateAdapt))
	return judge.Of(fmt.Sprintf("%.2f %%", v), judge.Below(v, 2))
}

func cgLoses(t *paper.Table) judge.Finding {
	v := -of(t, waitsLess, "cg.B", speculateAlways)
	return judge.Of(fmt.Sprintf("%.1f %% longer", v), judge.Near(v, 21, 10))
}

func cgWastes(t *paper.Table) judge.Finding {
	v := of(t, usedRTRs, "cg.B", speculateAlways)
	return judge.Of(fmt.Sprintf("%.0f %%", v), judge.Below(v, 80))
}

func cgAdapts(t *paper.Table) judge.Finding {
	v := -of(t, waitsLess, "cg.B", speculateAdapt)
	return judge.Of(fmt.Sprintf("%.1f %% longer, %.1f %% without; with all ranks in step %.2f and %.2f %%", v, -of(t, waitsLess, "cg.B", speculateAlways), -inStep(t, waitsLess, "cg.B", speculateAdapt), -inStep(t, waitsLess, "cg.B", speculateAlways)),
		judge.AtMost(v, 4))
}

func cgHasNothing(t *paper.Table) judge.Finding {
	v := slices.Max(t.Where("application", "cg.B").Values(waitsLess))
	return judge.Of(fmt.Sprintf("gains %.1f %% at best", v), judge.Below(v, 2))
}

func plotSpec417(t *paper.Table) (list []*figure.Figure) {
	t = t.Where("jitter (%)", appJitter)
	for _, x := range []struct {
		computes    drivers.Time
		what, shown string
	}{{appCompute, waitsLess, "waits less"}, {longCompute, waitsLess, "waits less"}, {appCompute, usedRTRs, "used RTRs"}} {
		rows := t.Where("computes (µs)", micros(x.computes))
		f := &figure.Figure{
			Title: fmt.Sprintf("Applications that compute %.0f µs at a time", micros(x.computes)),
			Y:     figure.Axis{Label: x.shown, Unit: "%"}, Groups: paper.Distinct[string](rows, "application"), Width: 8,
		}
		for _, speculate := range speculates()[1:] {
			f.Series = append(f.Series, figure.Series{Name: speculate, Points: rows.Where("speculation", speculate).Points("jitter (%)", x.what)})
		}
		list = append(list, f)
	}
	return list
}
