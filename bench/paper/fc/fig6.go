package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

var fcFig6 = &Experiment{
	IDs: []string{"fc-fig6", "fc-fig7"}, Title: "Static flow control in alltoall, 2 KB, collectives not optimised",
	Paper: "FC, section 5.3, Figures 6 and 7", PaperSize: "256 (4x4) and 1,024 processes (4x4x4)",
	Thinned: "sizes of 36 slots, the two around the one that a message needs, 50 and 80; what happens between them is not seen",
	measure: measureFig6, plot: plotFig6,
	claims: []claim{
		{"the overhead starts to fall when a message fits the data region", "38, 39, 40, 41, 42 slots for 1 to 5 credit slots", fallsAt("overhead (%)")},
		{"so does the share of delayed messages", "same points", fallsAt("delayed (%)")},
		{"the overhead grows with the number of processes", "grows", manyCostMore},
		{"near 50 slots it does not depend on them", "very similar", similarAt50},
		{"the share of delayed messages does not depend on them", "very similar", similarShares},
	},
}

func measureFig6(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"processes", "credit slots", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	var runs []run
	for _, w := range []world{cluster256[e.Scale], cluster1024[e.Scale]} {
		for credit := 1; credit <= mostCredit; credit++ {
			for _, slots := range e.fallSizes(credit) {
				runs = append(runs, e.alltoall(w, velo.Static, slots, credit))
			}
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		t.add(runs[i].ranks(), runs[i].credit, runs[i].slots, s.time, refs[i].time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

// fallSizes are the buffer sizes among which the overhead falls. A fall before the
// expected one would show at its left neighbour.
func (e *Env) fallSizes(credit int) []int {
	if fits := host.Packets(2048) + credit; e.Scale.thin() {
		return []int{36, fits - 1, fits, 50, 80}
	}
	return bufferSizes
}

// alltoall is the paper's: everybody sends to everybody, then receives.
func (e *Env) alltoall(w world, flow velo.Flow, slots, credit int) run {
	return run{world: w, benchmark: "Alltoall", linear: true, flow: flow, slots: slots, credit: credit,
		iterations: e.repeats(4, 2, 1), warmup: 1}
}

// sizesOf are the numbers of processes of the smaller and the larger world.
func sizesOf(t *Table) (fewer, more *Table) {
	n := distinct[int](t, "processes")
	return t.where("processes", n[0]), t.where("processes", n[len(n)-1])
}

// startsToFall is the first buffer size at which a column is lower than at the
// size before by a tenth of its whole way from small to large buffers.
func startsToFall(t *Table, column string) float64 {
	packets := host.Packets(2048)
	high := mean(t.keep("slots", func(v float64) bool { return v >= 30 && v < float64(packets) }).values(column))
	xs, ys := t.values("slots"), t.values(column)
	step := (high - ys[len(ys)-1]) / 10
	for i := 1; i < len(xs); i++ {
		if xs[i-1] >= float64(packets-1) && ys[i-1]-ys[i] > step && step > 0 {
			return xs[i]
		}
	}
	return -1
}

func fallsAt(column string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		_, more := sizesOf(t)
		var at []float64
		holds := true
		for credit := 1; credit <= mostCredit; credit++ {
			v := startsToFall(more.where("credit slots", credit), column)
			at = append(at, v)
			holds = holds && v == float64(host.Packets(2048)+credit)
		}
		return list(at, "%.0f") + " slots", holds
	}
}

func manyCostMore(t *Table) (string, bool) {
	fewer, more := sizesOf(t.keep("slots", below(37)))
	a, b := mean(fewer.values("overhead (%)")), mean(more.values("overhead (%)"))
	return fmt.Sprintf("mean below 37 slots: %.1f %% and %.1f %%", a, b), b > a
}

func similarAt50(t *Table) (string, bool) {
	near50 := func(v float64) bool { return v >= 48 && v <= 52 }
	fewer, more := sizesOf(t.keep("slots", near50).keep("credit slots", from(2)))
	a, b := mean(fewer.values("overhead (%)")), mean(more.values("overhead (%)"))
	return fmt.Sprintf("mean from 48 to 52 slots: %.1f %% and %.1f %%", a, b), math.Abs(a-b) <= visible
}

func similarShares(t *Table) (string, bool) {
	fewer, more := sizesOf(t)
	a, b := fewer.values("delayed (%)"), more.values("delayed (%)")
	var gaps []float64
	for i := range a {
		gaps = append(gaps, math.Abs(a[i]-b[i]))
	}
	return fmt.Sprintf("apart by %.1f percentage points on average", mean(gaps)), mean(gaps) <= 10
}

func plotFig6(t *Table) (list []*figure.Figure) {
	for _, y := range []string{"overhead", "delayed"} {
		for _, n := range distinct[int](t, "processes") {
			f := curves(t.where("processes", n), fmt.Sprintf("Static flow control, alltoall, %d processes", n), y, "%", "credit slots", "%v credit slots")
			f.Marks = []figure.Mark{{Vertical: true, At: 38, Text: "1 credit slot"}, {Vertical: true, At: 42, Text: "5 credit slots"}}
			list = append(list, f)
		}
	}
	return list
}

var fcTable2 = &Experiment{
	IDs: []string{"fc-table2"}, Title: "Smallest buffers at which the overhead of static flow control is stable",
	Paper: "FC, section 5.3, Table 2 and Equation 5", PaperSize: "1,024 processes (4x4x4)",
	Thinned: "Equation 5, one slot less, and 80; for 1 credit slot 64, 75 and 80. \"Stable from\" is the first of these from which on all are alike; 7 alltoalls after 1",
	measure: measureTable2, plot: plotTable2,
	claims: []claim{
		{"2 to 5 credit slots: the overhead is stable from Equation 5 on", "57, 52, 50, 49 slots", stableAt("overhead (%)", visible)},
		{"from there on messages are no longer delayed", "no stalls", stableAt("delayed (%)", delayedAtAll)},
		{"1 credit slot: stable only far beyond 64 slots", ">> 64 slots", stableLate},
	},
}

// mostSlots is the largest buffer of the paper's search.
const mostSlots = 80

// visible is a difference, in percentage points, that shows in the paper's plots.
const visible = 5

// delayedAtAll is a share of delayed messages, in percent, beside those of barriers.
const delayedAtAll = 0.5

func measureTable2(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"credit slots", "slots", "time (µs)", "overhead (%)", "delayed (%)", "Equation 5"}}
	var runs []run
	for credit := 1; credit <= mostCredit; credit++ {
		for _, slots := range e.stableSizes(credit) {
			r := e.alltoall(cluster1024[e.Scale], velo.Static, slots, credit)
			if e.Scale.thin() {
				r.iterations = rhythm
			}
			runs = append(runs, r)
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		t.add(runs[i].credit, runs[i].slots, s.time, s.overhead(refs[i]), s.delayed(), equation5(runs[i].credit))
	}
	return t, err
}

// Credits come back in portions of the threshold, so that what a sender has when an alltoall begins
// goes round. One slot below Equation 5, one alltoall in so many as the threshold is finds it
// without the 37 credits of a message of 2 KB. These are as many after the first as it takes to
// have that one among them, with 1 to 5 credit slots. Fewer would do with 2 and 5, but then
// overheads wander.
const rhythm = 7

// stableSizes are the buffer sizes among which the overhead becomes stable.
func (e *Env) stableSizes(credit int) (list []int) {
	switch {
	case e.Scale.thin() && credit == 1:
		return []int{64, equation5(1), mostSlots}
	case e.Scale.thin():
		return []int{equation5(credit) - 1, equation5(credit), mostSlots}
	}
	for slots := 44; slots <= mostSlots; slots++ {
		list = append(list, slots)
	}
	return list
}

// equation5 is the smallest buffer with which a sender of 2 KB never stalls.
func equation5(credit int) int { return host.Packets(2048)*(credit+1)/credit + credit }

func stableAt(column string, tolerance float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		var at []float64
		holds := true
		for credit := 2; credit <= mostCredit; credit++ {
			v := stableFrom(t.where("credit slots", credit), "slots", column, tolerance)
			at = append(at, v)
			holds = holds && v == float64(equation5(credit))
		}
		return list(at, "%.0f") + " slots", holds
	}
}

func stableLate(t *Table) (string, bool) {
	v := stableFrom(t.where("credit slots", 1), "slots", "overhead (%)", visible)
	return fmt.Sprintf("%.0f slots (Equation 5: %d)", v, equation5(1)), v > 64
}

func plotTable2(t *Table) []*figure.Figure {
	f := curves(t, "Where the overhead becomes stable", "overhead", "%", "credit slots", "%v credit slots")
	for credit := 2; credit <= mostCredit; credit++ {
		f.Marks = append(f.Marks, figure.Mark{Vertical: true, At: float64(equation5(credit)), Text: fmt.Sprintf("%d", credit)})
	}
	return []*figure.Figure{f}
}
