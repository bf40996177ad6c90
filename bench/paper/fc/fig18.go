package fc

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

func fig18() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig18"}, Title: "Alltoall with part of the destinations over shared memory",
		Paper: "FC, section 7.2, Figure 18", PaperSize: "32, 64, 128 and 256 processes on 2, 4, 8 and 16 nodes",
		Freedom: paper.StartSkew,
		Measure: measureFig18, Plot: plotFig18,
		Mutations: []paper.Mutation{{
			What: "static instead of dynamic flow control", Mutate: neverDynamic(), Repaired: []string{eighthLocal},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return localAlltoalls(ctx, e, []int{8}, []int{44, 56}, func(*paper.Run) {})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  "half of the destinations local: dynamic has clearly less overhead",
				Paper: "lower", Judge: localLower(2),
			},
			{
				Text:  "a quarter local: dynamic has clearly less overhead",
				Paper: "lower", Judge: localLower(4),
			},
			{
				Text:  eighthLocal,
				Paper: "similar", Judge: localSimilar(8),
			},
			{
				Text:  "a sixteenth local: similar",
				Paper: "similar", Judge: localSimilar(16),
			},
		},
		Reasons: []paper.Hypothesis{
			{Claim: eighthLocal, Machine: paper.PaperMachine, Changed: "16 alltoalls before those that are timed", Measure: eighth18(func(r *paper.Run) { r.Warmup = 16 })},
			{Claim: eighthLocal, Machine: paper.PaperMachine, Changed: "the first two alltoalls, when quotas have hardly moved", Measure: eighth18(func(r *paper.Run) { r.Warmup, r.Iterations = 0, 2 })},
			{Claim: eighthLocal, Machine: paper.PaperMachine, Changed: "messages of 400 bytes, 8 packets, for which no buffer is too small", Measure: eighth18(func(r *paper.Run) { r.Bytes = 400 })},
		},
	}
}

// eighthLocal holds on our machine from scale medium on, and not on the paper's machine.
const eighthLocal = "an eighth local: similar"

func eighth18(change func(*paper.Run)) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return localAlltoalls(ctx, e, []int{8}, coarse(), change)
	}
}

func measureFig18(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return localAlltoalls(ctx, e, []int{2, 4, 8, 16}, coarse(), func(*paper.Run) {})
}

// localAlltoalls measures alltoalls on so many nodes with so many slots each, and with what change
// changes.
func localAlltoalls(ctx context.Context, e *paper.Env, nodes, sizes []int, change func(*paper.Run)) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"nodes", "processes", "local (%)", "flow control", "slots", "time (µs)", "overhead (%)", "delayed (%)"}}
	var runs []paper.Run
	for _, nodes := range nodes {
		for _, flow := range flows() {
			for _, slots := range sizes {
				r := e.Alltoall(paper.World{Nodes: nodes, Procs: e.Repeats(2, 8, 16)}, flow, slots, 2)
				r.Local, r.Iterations, r.Warmup = true, e.Repeats(6, 4, 3), 2
				change(&r)
				runs = append(runs, r)
			}
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.Add(r.Nodes, r.Ranks(), 100/float64(r.Nodes), string(r.Flow), r.Slots, s.Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

func localLower(nodes int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		a, b, ours := percentsByFlow(t.Where("nodes", nodes), "overhead (%)")
		return judge.Of(ours, judge.Less(b, a, judge.Points))
	}
}

func localSimilar(nodes int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		a, b, ours := percentsByFlow(t.Where("nodes", nodes), "overhead (%)")
		return judge.Of(ours, judge.Similar(a, b, judge.Points))
	}
}

func plotFig18(t *paper.Table) (list []*figure.Figure) {
	for _, nodes := range []int{2, 4, 8, 16} {
		list = append(list, paper.Curves(t.Where("nodes", nodes), fmt.Sprintf("Alltoall on %d nodes, %d %% of destinations local", nodes, 100/nodes),
			"overhead", "%", "flow control", "%v"))
	}
	return list
}
