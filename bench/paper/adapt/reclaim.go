package adapt

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
)

// reclaim measures section 4.4: buffers that are freed too early are made again, without end unless
// buffers have weights.
func reclaim() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-reclaim"}, Title: "Reclaiming of idle eager buffers, with and without weights",
		Paper: "ADAPT, section 4.4", PaperSize: "several supercomputers; the weights are not published",
		Freedom: "partners, and lengths of messages",
		Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
			return measureReclaim(ctx, e, haloSteps(e))
		},
		Mutations: []paper.Mutation{{
			What: "buffers have no weights", Mutate: weightless(), Claims: []string{weightsEndCycles},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureReclaim(ctx, e, fewSteps)
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  "freeing buffers early is a cycle of freeing and allocating them, which costs time",
				Paper: "poor performance", Judge: cyclesCost,
			},
			{Text: weightsEndCycles, Paper: "avoided as much as possible", Judge: cyclesEnd},
			{
				Text:  "reclaiming with weights leaves less memory than none",
				Paper: "significantly less", Judge: reclaimedMemory,
			},
		},
	}
}

const (
	weightsEndCycles = "weights avoid at least three quarters of the cycles"
	// early is an idle time shorter than a step of the workload.
	early      = 50 * drivers.Microsecond
	someWeight = 64
	// fewSteps are enough for cycles.
	fewSteps = 15
)

func reclaimColumns() []string {
	return []string{"idle (µs)", "weights", "time (ms)", "buffers at the end (KB)", "made", "freed"}
}

func measureReclaim(ctx context.Context, e *paper.Env, steps int) (*paper.Table, error) {
	w := adaptWorlds(e)[0]
	r := adaptRun{World: w, workload: "halo", setting: adaptDynamic, bytes: haloBytes(e, w.Ranks()), steps: steps}
	var runs []adaptRun
	for _, c := range []struct {
		idle    drivers.Time
		weights int
	}{{neverIdle, 1}, {early, 1}, {early, someWeight}} {
		r.idle, r.weights = c.idle, c.weights
		runs = append(runs, r)
	}
	samples, err := adaptSweep(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	t := &paper.Table{Columns: reclaimColumns()}
	for i, s := range samples {
		made, freed, left := uint64(0), uint64(0), 0
		for _, rank := range s.Eager {
			made, freed, left = made+rank.Grown, freed+rank.Shrunk, left+rank.Bytes
		}
		t.Add(micro(max(runs[i].idle, 0)), runs[i].weights, s.Elapsed, float64(left)/1024, int(made), int(freed))
	}
	return t, nil
}

// weightless removes the weights of buffers.
func weightless() func(any) {
	return paper.MutateRun(func(c *bench.Config) {
		if c.Eager != nil {
			plain := *c.Eager
			plain.Weights = 1
			c.Eager = &plain
		}
	})
}

func cyclesCost(t *paper.Table) judge.Finding {
	none, cycles := t.Only("time (ms)", "idle (µs)", 0.0), t.Only("time (ms)", "idle (µs)", micro(early), "weights", 1)
	return judge.Of(fmt.Sprintf("%.2f ms with %d buffers freed, %.2f ms without", cycles, int(t.Only("freed", "idle (µs)", micro(early), "weights", 1)), none),
		judge.Less(none, cycles, 0))
}

func cyclesEnd(t *paper.Table) judge.Finding {
	plain, weighted := t.Only("freed", "idle (µs)", micro(early), "weights", 1), t.Only("freed", "idle (µs)", micro(early), "weights", someWeight)
	return judge.Of(fmt.Sprintf("%.0f buffers freed, %.0f without weights", weighted, plain), judge.AtMost(weighted/max(plain, 1), 0.25))
}

func reclaimedMemory(t *paper.Table) judge.Finding {
	none := t.Only("buffers at the end (KB)", "idle (µs)", 0.0)
	weighted := t.Only("buffers at the end (KB)", "idle (µs)", micro(early), "weights", someWeight)
	return judge.Of(fmt.Sprintf("%.0f KB, %.0f without reclaiming", weighted, none), judge.Less(weighted, none, 0))
}
