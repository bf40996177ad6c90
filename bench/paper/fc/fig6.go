package fc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

func fig6() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig6", "fc-fig7"}, Title: "Static flow control in alltoall, 2 KB, collectives not optimised",
		Paper: "FC, section 5.3, Figures 6 and 7", PaperSize: "256 (4x4) and 1,024 processes (4x4x4)",
		Thinned: "sizes of 36 slots, the two around the one that a message needs, 50 and 80; what happens between them is not seen",
		Freedom: paper.StartSkew,
		Measure: measureFig6, Plot: plotFig6,
		Mutations: []paper.Mutation{{
			What: "five credit slots everywhere", Mutate: fiveCreditSlots(), Claims: []string{"so does the share of delayed messages"},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) { return around6(ctx, e) },
		}},
		Claims: []paper.Claim{
			{
				Text:  "the overhead starts to fall when a message fits the data region",
				Paper: "38, 39, 40, 41, 42 slots for 1 to 5 credit slots", Judge: fallsAt("overhead (%)"),
			},
			{
				Text:  "so does the share of delayed messages",
				Paper: "same points", Judge: fallsAt("delayed (%)"),
			},
			{
				Text:  "the overhead grows with the number of processes",
				Paper: "grows", Judge: manyCostMore,
			},
			{
				Text:  "near 50 slots it does not depend on them",
				Paper: "very similar", Judge: similarAt50,
			},
			{
				Text:  "the share of delayed messages does not depend on them",
				Paper: "very similar", Judge: similarShares,
			},
			{
				Text:  fewerWaits,
				Paper: "the reduction of the waits provides a reduction in the overhead", Judge: twoBelowOne,
			},
			{
				Text:  twoAreBest,
				Paper: "2 credit slots", Judge: twoBest,
			},
			{
				Text:  "2 credit slots of 58 slots: very low overhead",
				Paper: "very low", Judge: lowAt58,
			},
		},
		Reasons: fig6Reasons(),
	}
}

func measureFig6(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return alltoalls6(ctx, e, func(*paper.Run) {})
}

// around6 measures the larger world around the sizes at which a message fits.
func around6(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return sized6(ctx, e, []paper.World{cluster1024()[e.Scale]}, func(*paper.Env, int) []int { return []int{36, 37, 38, 39, 40, 41, 42, 80} }, func(*paper.Run) {})
}

// alltoalls6 measures the alltoalls with what change changes.
func alltoalls6(ctx context.Context, e *paper.Env, change func(*paper.Run)) (*paper.Table, error) {
	return sized6(ctx, e, []paper.World{cluster256()[e.Scale], cluster1024()[e.Scale]}, fallSizes, change)
}

// sized6 measures alltoalls in some worlds, with buffers of some sizes for each number of credit
// slots.
func sized6(ctx context.Context, e *paper.Env, worlds []paper.World, sizes func(e *paper.Env, credit int) []int, change func(*paper.Run)) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"processes", "credit slots", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	var runs []paper.Run
	for _, w := range worlds {
		for credit := 1; credit <= mostCredit; credit++ {
			for _, slots := range sizes(e, credit) {
				r := e.Alltoall(w, velo.Static, slots, credit)
				change(&r)
				runs = append(runs, r)
			}
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		t.Add(runs[i].Ranks(), runs[i].Credit, runs[i].Slots, s.Time, refs[i].Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

// fallSizes are the buffer sizes among which the overhead falls. A fall before the
// expected one would show at its left neighbour.
func fallSizes(e *paper.Env, credit int) []int {
	if fits := host.Packets(2048) + credit; e.Scale.Thin() {
		return []int{36, fits - 1, fits, 50, best58, 80}
	}
	sizes := append(bufferSizes(), best58)
	slices.Sort(sizes)
	return sizes
}

// sizesOf are the numbers of processes of the smaller and the larger world.
func sizesOf(t *paper.Table) (fewer, more *paper.Table) {
	n := paper.Distinct[int](t, "processes")
	return t.Where("processes", n[0]), t.Where("processes", n[len(n)-1])
}

// startsToFall is the first buffer size at which a column is lower than at the
// size before by a tenth of its whole way from small to large buffers.
func startsToFall(t *paper.Table, column string) float64 {
	packets := host.Packets(2048)
	high := paper.Mean(t.Keep("slots", func(v float64) bool { return v >= 30 && v < float64(packets) }).Values(column))
	xs, ys := t.Values("slots"), t.Values(column)
	step := (high - ys[len(ys)-1]) / 10
	for i := 1; i < len(xs); i++ {
		if xs[i-1] >= float64(packets-1) && ys[i-1]-ys[i] > step && step > 0 {
			return xs[i]
		}
	}
	return -1
}

func fallsAt(column string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		_, more := sizesOf(t)
		var at []float64
		var checks []judge.Check
		for credit := 1; credit <= mostCredit; credit++ {
			v := startsToFall(more.Where("credit slots", credit), column)
			at = append(at, v)
			checks = append(checks, judge.Equal(v, float64(host.Packets(2048)+credit)))
		}
		return judge.Of(paper.Join(at, "%.0f")+" slots", checks...)
	}
}

func manyCostMore(t *paper.Table) judge.Finding {
	fewer, more := sizesOf(t.Keep("slots", paper.Below(37)))
	a, b := paper.Mean(fewer.Values("overhead (%)")), paper.Mean(more.Values("overhead (%)"))
	return judge.Of(fmt.Sprintf("mean below 37 slots: %.1f %% and %.1f %%", a, b), judge.Less(a, b, judge.Points))
}

func similarAt50(t *paper.Table) judge.Finding {
	near50 := func(v float64) bool { return v >= 48 && v <= 52 }
	fewer, more := sizesOf(t.Keep("slots", near50).Keep("credit slots", paper.AtLeast(2)))
	a, b := paper.Mean(fewer.Values("overhead (%)")), paper.Mean(more.Values("overhead (%)"))
	return judge.Of(fmt.Sprintf("mean from 48 to 52 slots: %.1f %% and %.1f %%", a, b), judge.Similar(a, b, visible))
}

func similarShares(t *paper.Table) judge.Finding {
	fewer, more := sizesOf(t)
	a, b := fewer.Values("delayed (%)"), more.Values("delayed (%)")
	var gaps []float64
	for i := range a {
		gaps = append(gaps, math.Abs(a[i]-b[i]))
	}
	return judge.Of(fmt.Sprintf("apart by %.1f percentage points on average", paper.Mean(gaps)),
		judge.AtMost(paper.Mean(gaps), 10))
}

func plotFig6(t *paper.Table) (list []*figure.Figure) {
	for _, y := range []string{"overhead", "delayed"} {
		for _, n := range paper.Distinct[int](t, "processes") {
			f := paper.Curves(t.Where("processes", n), fmt.Sprintf("Static flow control, alltoall, %d processes", n), y, "%", "credit slots", "%v credit slots")
			f.Marks = []figure.Mark{{Vertical: true, At: 38, Text: "1 credit slot"}, {Vertical: true, At: 42, Text: "5 credit slots"}}
			list = append(list, f)
		}
	}
	return list
}

func table2() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-table2"}, Title: "Smallest buffers at which the overhead of static flow control is stable",
		Paper: "FC, section 5.3, Table 2 and Equation 5", PaperSize: "1,024 processes (4x4x4)",
		Thinned: "Equation 5, one slot less, and 80; for 1 credit slot 64, 75 and 80. \"Stable from\" is the first of these from which on all are alike; 7 alltoalls after 1",
		Freedom: paper.StartSkew,
		Measure: measureTable2, Plot: plotTable2,
		Mutations: []paper.Mutation{{
			What: "five credit slots everywhere", Mutate: fiveCreditSlots(), Claims: []string{"1 credit slot: stable only far beyond 64 slots"},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return stable2(ctx, e, 1, func(*paper.Env, int) []int { return []int{50, 57, 64, 66, 70, 75, 80} })
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  "2 to 5 credit slots: the overhead is stable from Equation 5 on",
				Paper: "57, 52, 50, 49 slots", Judge: stableAt("overhead (%)", visible),
			},
			{
				Text:  "from there on messages are no longer delayed",
				Paper: "no stalls", Judge: stableAt("delayed (%)", delayedAtAll),
			},
			{
				Text:  "1 credit slot: stable only far beyond 64 slots",
				Paper: ">> 64 slots", Judge: stableLate,
			},
		},
	}
}

// mostSlots is the largest buffer of the paper's search.
const mostSlots = 80

// visible is a difference, in percentage points, that shows in the paper's plots.
const visible = 5

// delayedAtAll is a share of delayed messages, in percent, beside those of barriers.
const delayedAtAll = 0.5

func measureTable2(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return stable2(ctx, e, mostCredit, stableSizes)
}

// stable2 measures 1 to most credit slots with buffers of some sizes.
func stable2(ctx context.Context, e *paper.Env, most int, sizes func(e *paper.Env, credit int) []int) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"credit slots", "slots", "time (µs)", "overhead (%)", "delayed (%)", "Equation 5"}}
	var runs []paper.Run
	for credit := 1; credit <= most; credit++ {
		for _, slots := range sizes(e, credit) {
			r := e.Alltoall(cluster1024()[e.Scale], velo.Static, slots, credit)
			if e.Scale.Thin() {
				r.Iterations = rhythm
			}
			runs = append(runs, r)
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		t.Add(runs[i].Credit, runs[i].Slots, s.Time, s.Overhead(refs[i]), s.Delayed(), equation5(runs[i].Credit))
	}
	return t, err
}

// rhythm is the number of timed alltoalls that find a buffer one slot below Equation 5. Credits
// return in portions of the threshold, so the number of credits that a sender has at the start of
// an alltoall is periodic. With a threshold of n, one alltoall in n starts without the 37 credits
// of a message of 2 KB. With 1 to 5 credit slots, seven alltoalls after the first one include it.
// Fewer would be enough with 2 and with 5 credit slots, but then overheads vary.
const rhythm = 7

// stableSizes are the buffer sizes among which the overhead becomes stable.
func stableSizes(e *paper.Env, credit int) (list []int) {
	switch {
	case e.Scale.Thin() && credit == 1:
		return []int{64, equation5(1), mostSlots}
	case e.Scale.Thin():
		return []int{equation5(credit) - 1, equation5(credit), mostSlots}
	}
	for slots := 44; slots <= mostSlots; slots++ {
		list = append(list, slots)
	}
	return list
}

// equation5 is the smallest buffer with which a sender of 2 KB never stalls.
func equation5(credit int) int { return host.Packets(2048)*(credit+1)/credit + credit }

func stableAt(column string, tolerance float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		var at []float64
		var checks []judge.Check
		for credit := 2; credit <= mostCredit; credit++ {
			v := stableFrom(t.Where("credit slots", credit), "slots", column, tolerance)
			at = append(at, v)
			checks = append(checks, judge.Equal(v, float64(equation5(credit))))
		}
		return judge.Of(paper.Join(at, "%.0f")+" slots", checks...)
	}
}

func stableLate(t *paper.Table) judge.Finding {
	v := stableFrom(t.Where("credit slots", 1), "slots", "overhead (%)", visible)
	return judge.Of(fmt.Sprintf("%.0f slots (Equation 5: %d)", v, equation5(1)), judge.Above(v, 64))
}

func plotTable2(t *paper.Table) []*figure.Figure {
	f := paper.Curves(t, "Where the overhead becomes stable", "overhead", "%", "credit slots", "%v credit slots")
	for credit := 2; credit <= mostCredit; credit++ {
		f.Marks = append(f.Marks, figure.Mark{Vertical: true, At: float64(equation5(credit)), Text: fmt.Sprintf("%d", credit)})
	}
	return []*figure.Figure{f}
}
