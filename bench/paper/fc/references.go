package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/velo"
)

// A reference is a time without flow control that the FC paper gives, in µs.
type reference struct {
	name  string
	paper float64
	run   run
	thin  bool // so large that only the thin scales have it
}

// references are always of the paper's size (sections 5.3 and 5.4; 16 processes share a NIC).
var references = []reference{
	{"multi-pingpong, 1 hop", 50.04, pingpongs(1, 0, 1), false},
	{"multi-pingpong, 14 hops", 51.17, pingpongs(14, 0, 63), false},
	{"alltoall, 256 processes", 52908.41, alltoallOf(world{nodes: 16, procs: 16}, 2), false},
	{"alltoall, 1,024 processes", 278515.08, alltoallOf(world{nodes: 64, procs: 16, dims: "4x4x4"}, 1), true},
}

// pingpongs are between 16 processes of one node and 16 of another, of the 8 × 8 mesh.
func pingpongs(hops int, hosts ...int) run {
	return run{
		world:     world{nodes: 64, procs: 16, dims: "8x8", hosts: hosts, hops: hops},
		benchmark: "PingPong", pairs: true, active: 2, flow: velo.None, iterations: 50, warmup: 2,
	}
}

func alltoallOf(w world, iterations int) run {
	return run{world: w, benchmark: "Alltoall", linear: true, flow: velo.None, iterations: iterations, warmup: 1}
}

var fcReferences = &Experiment{
	IDs: []string{"fc-references"}, Title: "What the paper's references without flow control take here, 2 KB",
	Paper: "FC, sections 5.3 and 5.4", PaperSize: "up to 1,024 processes",
	measure: measureReferences,
	claims: []claim{
		{"multi-pingpong over 1 hop", "50.04 µs", within("multi-pingpong, 1 hop")},
		{"multi-pingpong over 14 hops", "51.17 µs", within("multi-pingpong, 14 hops")},
		{"13 hops more cost 1.13 µs", "1.13 µs", hopsCost},
		{"alltoall of 256 processes", "52,908.41 µs", within("alltoall, 256 processes")},
		{"alltoall of 1,024 processes", "278,515.08 µs", within("alltoall, 1,024 processes")},
	},
}

// tolerance is what counts as the paper's time.
const tolerance = 0.05

func measureReferences(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"reference", "paper (µs)", "here (µs)", "here / paper"}}
	var list []reference
	var runs []run
	for _, r := range references {
		if e.Scale.thin() || !r.thin {
			list, runs = append(list, r), append(runs, r.run)
		}
	}
	samples, err := e.sweep(ctx, runs)
	for i, s := range samples {
		t.add(list[i].name, list[i].paper, s.time, s.time/list[i].paper)
	}
	return t, err
}

// within judges one reference, if this scale has it.
func within(name string) func(t *Table) (string, bool) {
	return func(t *Table) (string, bool) {
		rows := t.where("reference", name)
		if len(rows.Rows) == 0 {
			return "", false
		}
		ratio := rows.values("here / paper")[0]
		return fmt.Sprintf("%.2f µs, %.2f of it", rows.values("here (µs)")[0], ratio), math.Abs(ratio-1) <= tolerance
	}
}

func hopsCost(t *Table) (string, bool) {
	of := func(name string) float64 { return t.where("reference", name).values("here (µs)")[0] }
	cost := of("multi-pingpong, 14 hops") - of("multi-pingpong, 1 hop")
	return fmt.Sprintf("%.2f µs", cost), math.Abs(cost-1.13) <= 0.25
}
