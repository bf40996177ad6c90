package reproduce

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/velo"
)

var fcFig20 = &Experiment{
	IDs:   []string{"fc-fig20", "fc-fig21", "fc-fig22", "fc-fig23", "fc-fig27"},
	Title: "Intel MPI Benchmarks, 2 KB, static and dynamic, 8 to 64 slots per process",
	Paper: "FC, sections 7.4 and 7.5, Figures 20 to 23 and 27", PaperSize: "1,024 processes (4x4x4)",
	Thinned: "10 repetitions after 40, Allreduce after 20; Gather and Scatter 4 after 2; Alltoall 1 after 1; Allgather 1, which repeats one pattern for each rank by itself", measure: measureFig20, plot: plotFig20,
	claims: []claim{
		{dynamicAt16, "<= 3 %", averageAt("dynamic", 16, true)},
		{staticAt64, "<= 3 %", averageAt("static", 64, true)},
		{"static: more than 3 % on average with 16 slots", "> 3 %", averageAt("static", 16, false)},
		{"static: more than 3 % on average with 32 slots, so that it needs 4x the buffers", "> 3 %", averageAt("static", 32, false)},
		{neverMore, "lower", lowerAtAnySize},
	},
	reasons: []reason{
		{claim: dynamicAt16, changed: bookkeepingIsFree, measure: imbWith(free, []velo.Flow{velo.Dynamic}, 16)},
		{claim: dynamicAt16, changed: haveSettled, measure: imbWith(settled, []velo.Flow{velo.Dynamic}, 16)},
		{claim: dynamicAt16, changed: "both", measure: imbWith(freeAndSettled, []velo.Flow{velo.Dynamic}, 16)},
		{claim: staticAt64, changed: bookkeepingIsFree, measure: imbWith(free, []velo.Flow{velo.Static}, 64)},
		{claim: neverMore, changed: bookkeepingIsFree, measure: imbWith(free, flows, imbSlots...)},
	},
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
var patterns = []patternGroup{
	{"localized", []string{"PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Bcast", "Barrier"}},
	{"balanced", []string{"Alltoall", "Alltoallv"}},
	{"by RMA", []string{"Allgather", "Allgatherv", "Gather", "Scatter"}},
}

// sameAs are benchmarks that with blocks of one size call what others call: they
// are run once.
var sameAs = map[string]string{"Alltoallv": "Alltoall", "Allgatherv": "Allgather"}

var imbSlots = []int{8, 16, 32, 64}

func (e *Env) imbRun(benchmark string, flow velo.Flow, slots int) run {
	if same := sameAs[benchmark]; same != "" {
		benchmark = same
	}
	r := run{world: cluster1024[e.Scale], benchmark: benchmark, flow: flow, slots: slots, piggyback: true,
		spread: benchmark == "PingPong" || benchmark == "PingPing", iterations: e.repeats(20, 10, 10), warmup: e.repeats(10, 4, 40)}
	switch {
	case !e.Scale.thin():
	case benchmark == "Alltoall":
		r.iterations, r.warmup = 1, 1
	case benchmark == "Allgather":
		r.iterations, r.warmup = 1, 0
	case benchmark == "Allreduce":
		r.warmup = 20
	case benchmark == "Gather", benchmark == "Scatter":
		r.iterations, r.warmup = 4, 2
	}
	return r
}

func measureFig20(ctx context.Context, e *Env) (*Table, error) {
	return imbWith(func(*run) {}, flows, imbSlots...)(ctx, e, nil)
}

// imbWith measures every benchmark with a change of its runs.
func imbWith(change func(*run), flows []velo.Flow, slots ...int) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		var runs []run
		var names [][2]string // pattern and benchmark
		for _, p := range patterns {
			for _, b := range p.benchmarks {
				for _, flow := range flows {
					for _, n := range slots {
						r := e.imbRun(b, flow, n)
						change(&r)
						runs, names = append(runs, r), append(names, [2]string{p.name, b})
					}
				}
			}
		}
		return e.table20(ctx, runs, names)
	}
}

func (e *Env) table20(ctx context.Context, runs []run, names [][2]string) (*Table, error) {
	t := &Table{Columns: []string{"pattern", "benchmark", "flow control", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		t.add(names[i][0], names[i][1], string(runs[i].flow), runs[i].slots, s.time, refs[i].time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

// average is over all benchmarks, as in Figure 27.
func average(t *Table, flow string, slots int) float64 {
	return mean(t.where("flow control", flow, "slots", slots).values("overhead (%)"))
}

func averageAt(flow string, slots int, ok bool) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := average(t, flow, slots)
		ours := fmt.Sprintf("%.1f %%", v)
		for _, p := range patterns {
			ours += fmt.Sprintf(", %s %.1f %%", p.name, average(t.where("pattern", p.name), flow, slots))
		}
		return ours, (v <= acceptable) == ok
	}
}

func lowerAtAnySize(t *Table) (string, bool) {
	ours, holds := "", true
	for _, slots := range imbSlots {
		a, b := average(t, "static", slots), average(t, "dynamic", slots)
		ours += fmt.Sprintf("%d slots: %.1f %% and %.1f %%; ", slots, a, b)
		holds = holds && b <= a
	}
	return ours[:len(ours)-2], holds
}

func plotFig20(t *Table) (figures []*figure.Figure) {
	for _, slots := range imbSlots {
		f := &figure.Figure{Title: fmt.Sprintf("Intel MPI Benchmarks with %d slots per process", slots), Width: 12, Y: figure.Axis{Label: "overhead", Unit: "%"}}
		f.Groups = distinct[string](t, "benchmark")
		for _, flow := range []string{"static", "dynamic"} {
			f.Series = append(f.Series, figure.Series{Name: flow, Points: t.where("flow control", flow, "slots", slots).points("slots", "overhead (%)")})
		}
		figures = append(figures, f)
	}
	f := &figure.Figure{Title: "Average overhead of all benchmarks", X: figure.Axis{Label: "buffer size", Unit: "slots per process", Scale: figure.Log2},
		Y: figure.Axis{Label: "overhead", Unit: "%"}, Marks: []figure.Mark{{At: acceptable, Text: "3 %"}}}
	for _, flow := range []string{"static", "dynamic"} {
		s := figure.Series{Name: flow}
		for _, slots := range imbSlots {
			s.Points = append(s.Points, figure.Point{X: float64(slots), Y: average(t, flow, slots)})
		}
		f.Series = append(f.Series, s)
	}
	return append(figures, f)
}
