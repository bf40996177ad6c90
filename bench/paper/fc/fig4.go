package fc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/velo"
)

func fig4() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig4", "fc-fig5"}, Title: "Static flow control in multi-pingpong over 1 and 14 hops, 2 KB",
		Paper: "FC, section 5.3, Figures 4 and 5", PaperSize: "16+16 processes on two nodes of an 8x8 mesh",
		Freedom: paper.StartSkew,
		Measure: measureFig4, Plot: plotFig4,
		Mutations: []paper.Mutation{{
			What: "hosts are neighbours", Mutate: nearHosts(), Claims: []string{"below 30 slots the overhead is higher over 14 hops than over 1"},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return pingpongs4(ctx, e, []int{10, 18, 26})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  "below 30 slots the overhead is higher over 14 hops than over 1",
				Paper: "higher", Judge: farCostsMore,
			},
			{
				Text:  "with large buffers the distance does not matter",
				Paper: "very similar", Judge: farCostsTheSame,
			},
			{
				Text:  "the share of delayed messages grows with the distance",
				Paper: "grows", Judge: farDelaysMore,
			},
			{
				Text:  "the size from which nothing is delayed is the same at both distances",
				Paper: "identical", Judge: sameBreakEven,
			},
			{
				Text:  "more credit slots mean fewer delayed messages",
				Paper: "fewer", Judge: fewerDelayed,
			},
			{
				Text:  "1 credit slot has the least overhead although it stalls most",
				Paper: "1 credit slot", Judge: oneSlotBest,
			},
		},
	}
}

// bufferSizes are slots per process. They are dense where the FC paper sees
// things happen: a message of 2 KB is 37 packets.
func bufferSizes() []int {
	return []int{10, 14, 18, 22, 26, 30, 34, 36, 37, 38, 39, 40, 41, 42, 43, 44, 46, 48, 49, 50, 52, 54, 57, 60, 64, 70, 75, 80}
}

const mostCredit = 5

func measureFig4(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return pingpongs4(ctx, e, bufferSizes())
}

// pingpongs4 measures buffers of some sizes.
func pingpongs4(ctx context.Context, e *paper.Env, sizes []int) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"hops", "credit slots", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	procs := e.Repeats(4, 16, 16)
	var runs []paper.Run
	for _, w := range []paper.World{
		{Nodes: 64, Procs: procs, Dims: "8x8", Hosts: []int{0, 1}, Hops: 1},
		{Nodes: 64, Procs: procs, Dims: "8x8", Hosts: []int{0, 63}, Hops: 14},
	} {
		for credit := 1; credit <= mostCredit; credit++ {
			for _, slots := range sizes {
				runs = append(runs, paper.Run{World: w, Benchmark: "PingPong", Pairs: true, Flow: velo.Static, Slots: slots, Credit: credit,
					Active: 2, Iterations: e.Repeats(10, 20, 50), Warmup: 2})
			}
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		t.Add(runs[i].Hops, runs[i].Credit, runs[i].Slots, s.Time, refs[i].Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

// nearAndFar are the means of a column over 1 and 14 hops.
func nearAndFar(t *paper.Table, column string) (near, far float64, ours string) {
	near, far = paper.Mean(t.Where("hops", 1).Values(column)), paper.Mean(t.Where("hops", 14).Values(column))
	return near, far, fmt.Sprintf("mean %.1f %% over 1 hop, %.1f %% over 14", near, far)
}

func farCostsMore(t *paper.Table) judge.Finding {
	near, far, ours := nearAndFar(t.Keep("slots", paper.Below(30)), "overhead (%)")
	return judge.Of(ours, judge.Less(near, far, judge.Points))
}

func farCostsTheSame(t *paper.Table) judge.Finding {
	near, far, ours := nearAndFar(t.Keep("slots", paper.AtLeast(60)), "overhead (%)")
	return judge.Of(ours, judge.Similar(far, near, judge.Points))
}

func farDelaysMore(t *paper.Table) judge.Finding {
	near, far, ours := nearAndFar(t, "delayed (%)")
	return judge.Of(ours, judge.Less(near, far, judge.Points))
}

// stableFrom is the smallest x from which on y stays within tolerance of its
// value at the largest x. Rows are in the order of x.
func stableFrom(t *paper.Table, x, y string, tolerance float64) float64 {
	xs, ys := t.Values(x), t.Values(y)
	i := len(xs) - 1
	for i > 0 && math.Abs(ys[i-1]-ys[len(ys)-1]) <= tolerance {
		i--
	}
	return xs[i]
}

func sameBreakEven(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for credit := 1; credit <= mostCredit; credit++ {
		var at [2]float64
		for i, hops := range []int{1, 14} {
			at[i] = stableFrom(t.Where("hops", hops, "credit slots", credit), "slots", "delayed (%)", delayedAtAll)
		}
		ours += fmt.Sprintf("%d: %.0f and %.0f; ", credit, at[0], at[1])
		checks = append(checks, judge.Equal(at[0]-at[1], 0))
	}
	return judge.Of("credit slots "+ours[:len(ours)-2], checks...)
}

// byCredit are the means of a column for 1, 2, … credit slots.
func byCredit(t *paper.Table, column string) []float64 {
	var list []float64
	for credit := 1; credit <= mostCredit; credit++ {
		list = append(list, paper.Mean(t.Where("credit slots", credit).Values(column)))
	}
	return list
}

func fewerDelayed(t *paper.Table) judge.Finding {
	means := byCredit(t, "delayed (%)")
	var checks []judge.Check
	for i := 1; i < len(means); i++ {
		checks = append(checks, judge.NotMore(means[i], means[i-1], judge.Points))
	}
	checks = append(checks, judge.Less(means[len(means)-1], means[0], judge.Points))
	return judge.Of("mean share for 1 to 5: "+paper.Join(means, "%.1f %%"), checks...)
}

func oneSlotBest(t *paper.Table) judge.Finding {
	overhead, delayed := byCredit(t, "overhead (%)"), byCredit(t, "delayed (%)")
	var checks []judge.Check
	for i := 1; i < mostCredit; i++ {
		checks = append(checks, judge.NotMore(overhead[0], overhead[i], judge.Points), judge.NotMore(delayed[i], delayed[0], judge.Points))
	}
	checks = append(checks, judge.Less(overhead[0], slices.Max(overhead), judge.Points))
	return judge.Of(meansText(overhead), checks...)
}

func plotFig4(t *paper.Table) (list []*figure.Figure) {
	for _, y := range []string{"overhead", "delayed"} {
		for _, hops := range []int{1, 14} {
			f := paper.Curves(t.Where("hops", hops), fmt.Sprintf("Static flow control, multi-pingpong, %d hops", hops), y, "%", "credit slots", "%v credit slots")
			list = append(list, f)
		}
	}
	return list
}
