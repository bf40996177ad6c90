package fc

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/velo"
)

// A reference is a time without flow control that the FC paper gives, in µs.
type reference struct {
	name  string
	paper float64
	run   paper.Run
	thin  bool // so large that only the thin scales have it
}

// references are always of the paper's size (sections 5.3 and 5.4; 16 processes share a NIC).
func references() []reference {
	return []reference{
		{"multi-pingpong, 1 hop", 50.04, pingpongs(1, 0, 1), false},
		{"multi-pingpong, 14 hops", 51.17, pingpongs(14, 0, 63), false},
		{"alltoall, 256 processes", 52908.41, alltoallOf(paper.World{Nodes: 16, Procs: 16}, 2), false},
		{"alltoall, 1,024 processes", 278515.08, alltoallOf(paper.World{Nodes: 64, Procs: 16, Dims: "4x4x4"}, 1), true},
	}
}

// pingpongs are between 16 processes of one node and 16 of another, of the 8 × 8 mesh.
func pingpongs(hops int, hosts ...int) paper.Run {
	return paper.Run{
		World:     paper.World{Nodes: 64, Procs: 16, Dims: "8x8", Hosts: hosts, Hops: hops},
		Benchmark: "PingPong", Pairs: true, Active: 2, Flow: velo.None, Iterations: 50, Warmup: 2,
	}
}

func alltoallOf(w paper.World, iterations int) paper.Run {
	return paper.Run{World: w, Benchmark: "Alltoall", Linear: true, Flow: velo.None, Iterations: iterations, Warmup: 1}
}

func referenceTimes() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-references"}, Title: "What the paper's references without flow control take here, 2 KB",
		Paper: "FC, sections 5.3 and 5.4", PaperSize: "up to 1,024 processes",
		Freedom: paper.StartSkew,
		Measure: measureReferences,
		Mutations: []paper.Mutation{{
			What: "the NIC writes a slot in its own time", Machine: paper.PaperMachine, Mutate: fastSlots(), Claims: []string{overOneHop},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return timesOf(ctx, e, references()[:1])
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  overOneHop,
				Paper: "50.04 µs", Judge: within("multi-pingpong, 1 hop"),
			},
			{
				Text:  "multi-pingpong over 14 hops",
				Paper: "51.17 µs", Judge: within("multi-pingpong, 14 hops"),
			},
			{
				Text:  "13 hops more cost 1.13 µs",
				Paper: "1.13 µs", Judge: hopsCost,
			},
			{
				Text:  "alltoall of 256 processes",
				Paper: "52,908.41 µs", Judge: within("alltoall, 256 processes"),
			},
			{
				Text:  "alltoall of 1,024 processes",
				Paper: "278,515.08 µs", Judge: within("alltoall, 1,024 processes"),
			},
		},
	}
}

const overOneHop = "multi-pingpong over 1 hop"

// fastSlots removes the slot time of the paper's machine.
func fastSlots() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.SlotTime = 0 })
}

// tolerance is what counts as the paper's time.
const tolerance = 0.05

func measureReferences(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return timesOf(ctx, e, slices.DeleteFunc(references(), func(r reference) bool { return r.thin && !e.Scale.Thin() }))
}

// timesOf measures some references.
func timesOf(ctx context.Context, e *paper.Env, list []reference) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"reference", "paper (µs)", "here (µs)", "here / paper"}}
	var runs []paper.Run
	for _, r := range list {
		runs = append(runs, r.run)
	}
	samples, err := e.Sweep(ctx, runs)
	for i, s := range samples {
		t.Add(list[i].name, list[i].paper, s.Time, s.Time/list[i].paper)
	}
	return t, err
}

// within judges one reference, if this scale has it.
func within(name string) func(t *paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		rows := t.Where("reference", name)
		if len(rows.Rows) == 0 {
			return judge.Nothing()
		}
		ratio := rows.Values("here / paper")[0]
		return judge.Of(fmt.Sprintf("%.2f µs, %.2f of it", rows.Values("here (µs)")[0], ratio),
			judge.Near(ratio, 1, tolerance))
	}
}

func hopsCost(t *paper.Table) judge.Finding {
	of := func(name string) float64 { return t.Where("reference", name).Values("here (µs)")[0] }
	cost := of("multi-pingpong, 14 hops") - of("multi-pingpong, 1 hop")
	return judge.Of(fmt.Sprintf("%.2f µs", cost), judge.Near(cost, 1.13, 0.25))
}
