package reproduce

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/velo"
)

var fcFig4 = &Experiment{
	IDs: []string{"fc-fig4", "fc-fig5"}, Title: "Static flow control in multi-pingpong over 1 and 14 hops, 2 KB",
	Paper: "FC, section 5.3, Figures 4 and 5", PaperSize: "16+16 processes on two nodes of an 8x8 mesh",
	measure: measureFig4, plot: plotFig4,
	claims: []claim{
		{"below 30 slots the overhead is higher over 14 hops than over 1", "higher", farCostsMore},
		{"with large buffers the distance does not matter", "very similar", farCostsTheSame},
		{"the share of delayed messages grows with the distance", "grows", farDelaysMore},
		{"the size from which nothing is delayed is the same at both distances", "identical", sameBreakEven},
		{"more credit slots mean fewer delayed messages", "fewer", fewerDelayed},
		{"1 credit slot has the least overhead although it stalls most", "1 credit slot", oneSlotBest},
	},
}

// bufferSizes are slots per process. They are dense where the FC paper sees
// things happen: a message of 2 KB is 37 packets.
var bufferSizes = []int{10, 14, 18, 22, 26, 30, 34, 36, 37, 38, 39, 40, 41, 42, 43, 44, 46, 48, 49, 50, 52, 54, 57, 60, 64, 70, 75, 80}

const mostCredit = 5

func measureFig4(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"hops", "credit slots", "slots", "time (µs)", "reference (µs)", "overhead (%)", "delayed (%)"}}
	procs := e.repeats(4, 16, 16)
	var runs []run
	for _, w := range []world{
		{nodes: 64, procs: procs, dims: "8x8", hosts: []int{0, 1}, hops: 1},
		{nodes: 64, procs: procs, dims: "8x8", hosts: []int{0, 63}, hops: 14},
	} {
		for credit := 1; credit <= mostCredit; credit++ {
			for _, slots := range bufferSizes {
				runs = append(runs, run{world: w, benchmark: "PingPong", pairs: true, flow: velo.Static, slots: slots, credit: credit,
					active: 2, iterations: e.repeats(10, 20, 50), warmup: 2})
			}
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		t.add(runs[i].hops, runs[i].credit, runs[i].slots, s.time, refs[i].time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

func below(limit float64) func(float64) bool { return func(v float64) bool { return v < limit } }
func from(limit float64) func(float64) bool  { return func(v float64) bool { return v >= limit } }

// nearAndFar are the means of a column over 1 and 14 hops.
func nearAndFar(t *Table, column string) (near, far float64, ours string) {
	near, far = mean(t.where("hops", 1).values(column)), mean(t.where("hops", 14).values(column))
	return near, far, fmt.Sprintf("mean %.1f %% over 1 hop, %.1f %% over 14", near, far)
}

func farCostsMore(t *Table) (string, bool) {
	near, far, ours := nearAndFar(t.keep("slots", below(30)), "overhead (%)")
	return ours, far > near
}

func farCostsTheSame(t *Table) (string, bool) {
	near, far, ours := nearAndFar(t.keep("slots", from(60)), "overhead (%)")
	return ours, math.Abs(far-near) <= 1
}

func farDelaysMore(t *Table) (string, bool) {
	near, far, ours := nearAndFar(t, "delayed (%)")
	return ours, far > near
}

// stableFrom is the smallest x from which on y stays within tolerance of its
// value at the largest x. Rows are in the order of x.
func stableFrom(t *Table, x, y string, tolerance float64) float64 {
	xs, ys := t.values(x), t.values(y)
	i := len(xs) - 1
	for i > 0 && math.Abs(ys[i-1]-ys[len(ys)-1]) <= tolerance {
		i--
	}
	return xs[i]
}

func sameBreakEven(t *Table) (string, bool) {
	ours, holds := "", true
	for credit := 1; credit <= mostCredit; credit++ {
		var at [2]float64
		for i, hops := range []int{1, 14} {
			at[i] = stableFrom(t.where("hops", hops, "credit slots", credit), "slots", "delayed (%)", delayedAtAll)
		}
		ours += fmt.Sprintf("%d: %.0f and %.0f; ", credit, at[0], at[1])
		holds = holds && at[0] == at[1]
	}
	return "credit slots " + ours[:len(ours)-2], holds
}

// byCredit are the means of a column for 1, 2, … credit slots.
func byCredit(t *Table, column string) []float64 {
	var list []float64
	for credit := 1; credit <= mostCredit; credit++ {
		list = append(list, mean(t.where("credit slots", credit).values(column)))
	}
	return list
}

func fewerDelayed(t *Table) (string, bool) {
	means := byCredit(t, "delayed (%)")
	holds := true
	for i := 1; i < len(means); i++ {
		holds = holds && means[i] <= means[i-1]
	}
	return "mean share for 1 to 5: " + list(means, "%.1f %%"), holds
}

func oneSlotBest(t *Table) (string, bool) {
	overhead, delayed := byCredit(t, "overhead (%)"), byCredit(t, "delayed (%)")
	holds := true
	for i := 1; i < mostCredit; i++ {
		holds = holds && overhead[0] <= overhead[i] && delayed[0] >= delayed[i]
	}
	return "mean overhead for 1 to 5: " + list(overhead, "%.1f %%"), holds
}

// curves is a figure of one column over buffer sizes, a line for each value of another.
func curves(t *Table, title, y, unit, by, name string) *figure.Figure {
	f := &figure.Figure{Title: title, X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: y, Unit: unit}}
	for _, v := range distinct[any](t, by) {
		label := fmt.Sprintf(name, v)
		if v == 1 {
			label = strings.TrimSuffix(label, "s")
		}
		f.Series = append(f.Series, figure.Series{Name: label, Points: t.where(by, v).points("slots", fmt.Sprintf("%s (%s)", y, unit))})
	}
	return f
}

func plotFig4(t *Table) (list []*figure.Figure) {
	for _, y := range []string{"overhead", "delayed"} {
		for _, hops := range []int{1, 14} {
			f := curves(t.where("hops", hops), fmt.Sprintf("Static flow control, multi-pingpong, %d hops", hops), y, "%", "credit slots", "%v credit slots")
			list = append(list, f)
		}
	}
	return list
}
