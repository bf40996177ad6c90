package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/figure"
)

var fcFig18 = &Experiment{
	IDs: []string{"fc-fig18"}, Title: "Alltoall with part of the destinations over shared memory",
	Paper: "FC, section 7.2, Figure 18", PaperSize: "32, 64, 128 and 256 processes on 2, 4, 8 and 16 nodes",
	measure: measureFig18, plot: plotFig18,
	claims: []claim{
		{"half of the destinations local: dynamic has clearly less overhead", "lower", localLower(2)},
		{"a quarter local: dynamic has clearly less overhead", "lower", localLower(4)},
		{eighthLocal, "similar", localSimilar(8)},
		{"a sixteenth local: similar", "similar", localSimilar(16)},
	},
	reasons: []reason{
		{claim: eighthLocal, machine: PaperMachine, changed: "16 alltoalls before those that are timed, so that quotas have settled", measure: eighth18(func(r *run) { r.warmup = 16 })},
		{claim: eighthLocal, machine: PaperMachine, changed: "the first two alltoalls, when quotas have hardly moved", measure: eighth18(func(r *run) { r.warmup, r.iterations = 0, 2 })},
		{claim: eighthLocal, machine: PaperMachine, changed: "messages of 400 bytes, 8 packets, for which no buffer is too small", measure: eighth18(func(r *run) { r.bytes = 400 })},
	},
}

// eighthLocal holds on our machine, and not on the paper's.
const eighthLocal = "an eighth local: similar"

func eighth18(change func(*run)) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		return e.localAlltoalls(ctx, []int{8}, change)
	}
}

func measureFig18(ctx context.Context, e *Env) (*Table, error) {
	return e.localAlltoalls(ctx, []int{2, 4, 8, 16}, func(*run) {})
}

// localAlltoalls runs on so many nodes each, with what change changes.
func (e *Env) localAlltoalls(ctx context.Context, nodes []int, change func(*run)) (*Table, error) {
	t := &Table{Columns: []string{"nodes", "processes", "local (%)", "flow control", "slots", "time (µs)", "overhead (%)", "delayed (%)"}}
	var runs []run
	for _, nodes := range nodes {
		for _, flow := range flows {
			for _, slots := range coarse {
				r := e.alltoall(world{nodes: nodes, procs: e.repeats(2, 8, 16)}, flow, slots, 2)
				r.local, r.iterations, r.warmup = true, e.repeats(6, 4, 3), 2
				change(&r)
				runs = append(runs, r)
			}
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.add(r.nodes, r.ranks(), 100/float64(r.nodes), string(r.flow), r.slots, s.time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

func localMeans(t *Table, nodes int) (static, dynamic float64, ours string) {
	rows := t.where("nodes", nodes)
	static, dynamic = mean(rows.where("flow control", "static").values("overhead (%)")), mean(rows.where("flow control", "dynamic").values("overhead (%)"))
	return static, dynamic, fmt.Sprintf("mean %.1f %% static, %.1f %% dynamic", static, dynamic)
}

func localLower(nodes int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		a, b, ours := localMeans(t, nodes)
		return ours, b < a
	}
}

func localSimilar(nodes int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		a, b, ours := localMeans(t, nodes)
		return ours, math.Abs(a-b) <= visible
	}
}

func plotFig18(t *Table) (list []*figure.Figure) {
	for _, nodes := range []int{2, 4, 8, 16} {
		list = append(list, curves(t.where("nodes", nodes), fmt.Sprintf("Alltoall on %d nodes, %d %% of destinations local", nodes, 100/nodes),
			"overhead", "%", "flow control", "%v"))
	}
	return list
}
