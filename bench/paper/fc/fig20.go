package fc

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/velo"
)

func fig20() *paper.Experiment {
	return &paper.Experiment{
		IDs:   []string{"fc-fig20", "fc-fig21", "fc-fig22", "fc-fig23", "fc-fig27"},
		Title: "Intel MPI Benchmarks, 2 KB, static and dynamic, 8 to 64 slots per process",
		Paper: "FC, sections 7.4 and 7.5, Figures 20 to 23 and 27", PaperSize: "1,024 processes (4x4x4)",
		Thinned: "10 repetitions after 40, Allreduce after 20; Gather and Scatter 4 after 2; Alltoall 1 after 1; Allgather 1, which repeats one pattern for each rank by itself",
		Freedom: paper.StartSkew, Measure: measureFig20, Plot: plotFig20,
		Mutations: []paper.Mutation{{
			What: "no flow control, and mailboxes that are never full", Mutate: roomyMailboxes(), Claims: []string{"static: more than 3 % on average with 16 slots"},
			Measure: measured(func(e *paper.Env) []paper.Run { return []paper.Run{imbRun(e, "Sendrecv", velo.Static, 16)} },
				func(e *paper.Env, ctx context.Context, runs []paper.Run) (*paper.Table, error) {
					return table20(e, ctx, runs, [][2]string{{"localized", "Sendrecv"}})
				}),
		}},
		Claims: []paper.Claim{
			{
				Text:  dynamicAt16,
				Paper: "<= 3 %", Judge: averageAt("dynamic", 16, judge.AtMost),
			},
			{
				Text:  staticAt64,
				Paper: "<= 3 %", Judge: averageAt("static", 64, judge.AtMost),
			},
			{
				Text:  "static: more than 3 % on average with 16 slots",
				Paper: "> 3 %", Judge: averageAt("static", 16, judge.Above),
			},
			{
				Text:  "static: more than 3 % on average with 32 slots, so that it needs 4x the buffers",
				Paper: "> 3 %", Judge: averageAt("static", 32, judge.Above),
			},
			{
				Text:  neverMore,
				Paper: "lower", Judge: lowerAtAnySize,
			},
			{
				Text:  "dynamic needs a quarter of the slots of static for 3 % (interpolated)",
				Paper: "16 and 64 slots", Judge: fewerBuffers,
			},
			{
				Text:  "dynamic costs no more with 16 slots than static with 64",
				Paper: "3 % each", Judge: fewerAtEqualOverhead,
			},
			{
				Text:  "Table 3 with the measured sizes: less than a third of the memory at 256K processes (extrapolated)",
				Paper: "1,024 and 293.5 MB", Judge: memoryAtNeeded,
			},
			groupClaim(20, 64), groupClaim(21, 32), groupClaim(22, 16), groupClaim(23, 8),
		},
		Reasons: []paper.Hypothesis{
			{Claim: dynamicAt16, Changed: bookkeepingIsFree, Measure: imbWith(free, []velo.Flow{velo.Dynamic}, 16)},
			{Claim: dynamicAt16, Changed: tenfoldWarmup, Measure: imbWith(warmTenfold, []velo.Flow{velo.Dynamic}, 16)},
			{Claim: dynamicAt16, Changed: "both", Measure: imbWith(freeAndWarm, []velo.Flow{velo.Dynamic}, 16)},
			{Claim: staticAt64, Changed: bookkeepingIsFree, Measure: imbWith(free, []velo.Flow{velo.Static}, 64)},
			{Claim: neverMore, Changed: bookkeepingIsFree, Measure: imbWith(free, flows(), imbSlots()...)},
		},
	}
}

const (
	dynamicAt16 = "dynamic: at most 3 % on average with 16 slots"
	staticAt64  = "static: at most 3 % on average with 64 slots"
	neverMore   = "dynamic costs no more than static at any size"
)

// A patternGroup is a group of benchmarks with one pattern of communication.
type patternGroup struct {
	name       string
	benchmarks []string
}

// patterns are the groups of Figures 20 to 23.
func patterns() []patternGroup {
	return []patternGroup{
		{"localized", []string{"PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Bcast", "Barrier"}},
		{"balanced", []string{"Alltoall", "Alltoallv"}},
		{"by RMA", []string{"Allgather", "Allgatherv", "Gather", "Scatter"}},
	}
}

// sameAs are benchmarks that with blocks of one size call what others call: they
// are run once.
func sameAs() map[string]string {
	return map[string]string{"Alltoallv": "Alltoall", "Allgatherv": "Allgather"}
}

func imbSlots() []int {
	return []int{8, 16, 32, 64}
}

func imbRun(e *paper.Env, benchmark string, flow velo.Flow, slots int) paper.Run {
	if same := sameAs()[benchmark]; same != "" {
		benchmark = same
	}
	r := paper.Run{World: cluster1024()[e.Scale], Benchmark: benchmark, Flow: flow, Slots: slots, Piggyback: true,
		Spread: benchmark == "PingPong" || benchmark == "PingPing", Iterations: e.Repeats(20, 10, 10), Warmup: e.Repeats(10, 4, 40)}
	switch {
	case !e.Scale.Thin():
	case benchmark == "Alltoall":
		r.Iterations, r.Warmup = 1, 1
	case benchmark == "Allgather":
		r.Iterations, r.Warmup = 1, 0
	case benchmark == "Allreduce":
		r.Warmup = 20
	case benchmark == "Gather", benchmark == "Scatter":
		r.Iterations, r.Warmup = 4, 2
	}
	return r
}

func measureFig20(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return imbWith(func(*paper.Run) {}, flows(), imbSlots()...)(ctx, e, nil)
}

// imbWith measures every benchmark with a change of its runs.
func imbWith(change func(*paper.Run), flows []velo.Flow, slots ...int) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		var runs []paper.Run
		var names [][2]string // pattern and benchmark
		for _, p := range patterns() {
			for _, b := range p.benchmarks {
				for _, flow := range flows {
					for _, n := range slots {
						r := imbRun(e, b, flow, n)
						change(&r)
						runs, names = append(runs, r), append(names, [2]string{p.name, b})
					}
				}
			}
		}
		return table20(e, ctx, runs, names)
	}
}

func table20(e *paper.Env, ctx context.Context, runs []paper.Run, names [][2]string) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"pattern", "benchmark", "flow control", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		t.Add(names[i][0], names[i][1], string(runs[i].Flow), runs[i].Slots, s.Time, refs[i].Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

// average is over all benchmarks, as in Figure 27.
func average(t *paper.Table, flow string, slots int) float64 {
	return paper.Mean(t.Where("flow control", flow, "slots", slots).Values("overhead (%)"))
}

func averageAt(flow string, slots int, region func(v, bound float64) judge.Check) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := average(t, flow, slots)
		ours := fmt.Sprintf("%.1f %%", v)
		for _, p := range patterns() {
			ours += fmt.Sprintf(", %s %.1f %%", p.name, average(t.Where("pattern", p.name), flow, slots))
		}
		return judge.Of(ours, region(v, acceptable))
	}
}

func lowerAtAnySize(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, slots := range imbSlots() {
		a, b := average(t, "static", slots), average(t, "dynamic", slots)
		ours += fmt.Sprintf("%d slots: %.1f %% and %.1f %%; ", slots, a, b)
		checks = append(checks, judge.NotMore(b, a, judge.Points))
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

// groupClaim is the claim of one figure, which has an average for each pattern of communication.
// The text of the paper gives no numbers for them.
func groupClaim(figure, slots int) paper.Claim {
	return paper.Claim{
		Text:  fmt.Sprintf("Figure %d, %d slots: dynamic costs no more than static in each group of benchmarks", figure, slots),
		Paper: "better use of buffers (section 7.5)",
		Judge: func(t *paper.Table) judge.Finding {
			ours, checks := "", []judge.Check(nil)
			for _, p := range patterns() {
				group := t.Where("pattern", p.name)
				a, b := average(group, "static", slots), average(group, "dynamic", slots)
				ours += fmt.Sprintf("%s: %.1f %% and %.1f %%; ", p.name, a, b)
				checks = append(checks, judge.NotMore(b, a, judge.Points))
			}
			return judge.Of("static and dynamic, "+ours[:len(ours)-2], checks...)
		},
	}
}

func plotFig20(t *paper.Table) (figures []*figure.Figure) {
	for _, slots := range imbSlots() {
		f := &figure.Figure{Title: fmt.Sprintf("Intel MPI Benchmarks with %d slots per process", slots), Width: 12, Y: figure.Axis{Label: "overhead", Unit: "%"}}
		f.Groups = paper.Distinct[string](t, "benchmark")
		for _, flow := range []string{"static", "dynamic"} {
			f.Series = append(f.Series, figure.Series{Name: flow, Points: t.Where("flow control", flow, "slots", slots).Points("slots", "overhead (%)")})
		}
		figures = append(figures, f)
	}
	f := &figure.Figure{Title: "Average overhead of all benchmarks", X: figure.Axis{Label: "buffer size", Unit: "slots per process", Scale: figure.Log2},
		Y: figure.Axis{Label: "overhead", Unit: "%"}, Marks: []figure.Mark{{At: acceptable, Text: "3 %"}}}
	for _, flow := range []string{"static", "dynamic"} {
		s := figure.Series{Name: flow}
		for _, slots := range imbSlots() {
			s.Points = append(s.Points, figure.Point{X: float64(slots), Y: average(t, flow, slots)})
		}
		f.Series = append(f.Series, s)
	}
	return append(figures, f)
}
