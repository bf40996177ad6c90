package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
)

var rdrpFig5 = &Experiment{
	IDs: []string{"rdrp-fig5"}, Engine: packetEngine, Title: "Receiver-driven rendezvous: outstanding transfers bound congestion",
	Paper: "RDRP, section 4.1, Figure 5", PaperSize: rdrpPaperSize + ", 1 % slow", Thinned: rdrpThinned,
	measure: measureRDRP5, plot: plotRDRP5,
	claims: []claim{
		{"at 1/8, 30 outstanding transfers are best", "30", bestAtThirty},
		{"30 outstanding, 1/2: over the best of FECN/BECN and none", "1.7 x", gainAtThirty(2, 1.7)},
		{"30 outstanding, 1/4: over the best of FECN/BECN and none", "3.3 x", gainAtThirty(4, 3.3)},
		{"30 outstanding, 1/8: over the best of FECN/BECN and none", "4.3 x", gainAtThirty(8, 4.3)},
		{"too few outstanding transfers waste bandwidth", "lower", fewWaste},
		{"too many congest the network", "lower at 1/8", manyCongest},
	},
	reasons: []reason{
		{claim: "at 1/8, 30 outstanding transfers are best", changed: acksApart5, measure: measureAcksApart},
		{asks: noneIsWorse5, changed: acksApart5, measure: measureAcksApart},
	},
}

// windows are the numbers of outstanding packets of the full grid.
var windows = []int{2, 5, 10, 15, 20, 25, 30, 40, 50, 70, 100}

// thinWindows are those of the thin scales.
var thinWindows = []int{5, 15, 30, 40, 100}

func measureRDRP5(ctx context.Context, e *Env) (*Table, error) {
	d, err := e.dragonfly()
	if err != nil {
		return nil, err
	}
	return e.transfers(ctx, d, e.rdrp5(d.Nodes()))
}

// Acknowledgements that ride on packets wait where these do: behind what is on its way to slow
// memory.
const acksApart5 = "acknowledgements have wires of their own, of 30 cycles"

// noneIsWorse5 is a question of ours.
var noneIsWorse5 = &claim{"at 1/8, a bound that is too large is not worse than none", "not said", func(t *Table) (string, bool) {
	v := bounded(t, 8).values("throughput")
	none := t.only("throughput", "slow to 1/", 8, "outstanding", 0, "FECN/BECN", noECN)
	return fmt.Sprintf("%.3f with the largest, %.3f with none", v[len(v)-1], none), v[len(v)-1] >= 0.95*none
}}

func measureAcksApart(ctx context.Context, e *Env, _ *Table) (*Table, error) {
	d, err := e.dragonfly()
	if err != nil {
		return nil, err
	}
	points := e.rdrp5(d.Nodes())
	for i := range points {
		if points[i].window > 0 {
			points[i].acks = 30
		}
	}
	return e.transfers(ctx, d, points)
}

func (e *Env) rdrp5(nodes int) (points []transfer) {
	sweep := windows
	if e.Scale == Large {
		sweep = thinWindows
	}
	slow := onePercent(nodes)
	for _, factor := range []int{2, 4, 8} {
		for _, ecn := range ecns {
			points = append(points, transfer{factor: factor, count: slow, ecn: ecn})
		}
		for _, w := range sweep {
			points = append(points, transfer{factor: factor, count: slow, ecn: noECN, window: w})
		}
	}
	return points
}

// bounded are the rows of a factor with a bound.
func bounded(t *Table, factor int) *Table {
	return t.where("slow to 1/", factor).keep("outstanding", from(1))
}

// best is the bound with the highest throughput.
func best(rows *Table) (window, throughput float64) {
	v := rows.values("throughput")
	throughput = slices.Max(v)
	return rows.values("outstanding")[slices.Index(v, throughput)], throughput
}

func bestAtThirty(t *Table) (string, bool) {
	ours := ""
	for _, factor := range []int{2, 4} {
		w, v := best(bounded(t, factor))
		ours += fmt.Sprintf("1/%d: %.0f (%.3f); ", factor, w, v)
	}
	w, v := best(bounded(t, 8))
	return ours + fmt.Sprintf("1/8: %.0f (%.3f)", w, v), w >= 25 && w <= 40
}

func gainAtThirty(factor int, paper float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		base := slices.Max(t.where("slow to 1/", factor, "outstanding", 0).values("throughput"))
		at := t.only("throughput", "slow to 1/", factor, "outstanding", 30)
		w, most := best(bounded(t, factor))
		return fmt.Sprintf("%.2f x (%.3f against %.3f); with the best bound, %.0f: %.2f x", at/base, at, base, w, most/base), at/base >= 0.75*paper
	}
}

func fewWaste(t *Table) (string, bool) {
	ours, holds := "", true
	for _, factor := range []int{2, 4, 8} {
		_, most := best(bounded(t, factor))
		v := bounded(t, factor).values("throughput")[0]
		holds = holds && v < 0.9*most
		ours += fmt.Sprintf("1/%d: %.3f of %.3f; ", factor, v, most)
	}
	return ours[:len(ours)-2], holds
}

func manyCongest(t *Table) (string, bool) {
	v := bounded(t, 8).values("throughput")
	_, most := best(bounded(t, 8))
	return fmt.Sprintf("%.3f with the most, %.3f at best", v[len(v)-1], most), v[len(v)-1] < 0.9*most
}

func plotRDRP5(t *Table) []*figure.Figure {
	rows := t.keep("outstanding", from(1))
	f := lines(rows, "Bounded outstanding transfers, 1 % slow nodes, no FECN/BECN", figure.Axis{Label: "outstanding transfers per node", Scale: figure.Log10},
		"outstanding", "slow to 1/", func(v any) string { return fmt.Sprintf("slow to 1/%v", v) })
	f.Y.Min, f.Y.Max = figure.At(0), figure.At(0.7)
	f.Marks = []figure.Mark{{Vertical: true, At: 30, Text: "paper: 30"}}
	return []*figure.Figure{f}
}
