package rdrp

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

func fig5() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"rdrp-fig5"}, Engine: packetEngine, Title: "Receiver-driven rendezvous: outstanding transfers bound congestion",
		Paper: "RDRP, section 4.1, Figure 5", PaperSize: rdrpPaperSize + ", 1 % slow", Thinned: rdrpThinned,
		Freedom: rdrpFreedom,
		Measure: measured(rdrp5), Plot: plotRDRP5,
		Mutations: []paper.Mutation{{
			What: "nothing is bounded", Mutate: unbounded, Claims: []string{"too few outstanding transfers waste bandwidth"},
			Measure: measured(func(e *paper.Env, nodes int) []transfer {
				return slices.DeleteFunc(rdrp5(e, nodes), func(x transfer) bool {
					return x.factor != 8 || x.window != 2 && x.window != 30
				})
			}),
		}},
		Claims: []paper.Claim{
			{
				Text:  "at 1/8, 30 outstanding transfers are best",
				Paper: "30", Judge: bestAtThirty,
			},
			{
				Text:  "30 outstanding, 1/2: over the best of FECN/BECN and none",
				Paper: "1.7 x", Judge: gainAtThirty(2, 1.7),
			},
			{
				Text:  "30 outstanding, 1/4: over the best of FECN/BECN and none",
				Paper: "3.3 x", Judge: gainAtThirty(4, 3.3),
			},
			{
				Text:  "30 outstanding, 1/8: over the best of FECN/BECN and none",
				Paper: "4.3 x", Judge: gainAtThirty(8, 4.3),
			},
			{
				Text:  "too few outstanding transfers waste bandwidth",
				Paper: "lower", Judge: fewWaste,
			},
			{
				Text:  "too many congest the network",
				Paper: "lower at 1/8", Judge: manyCongest,
			},
		},
		Reasons: []paper.Hypothesis{
			{Claim: "at 1/8, 30 outstanding transfers are best", Changed: acksApart5, Measure: measureAcksApart},
			{Asks: noneIsWorse5(), Changed: acksApart5, Measure: measureAcksApart},
		},
	}
}

// windows are the numbers of outstanding packets of the full grid.
func windows() []int {
	return []int{2, 5, 10, 15, 20, 25, 30, 40, 50, 70, 100}
}

// thinWindows are those of the thin scales.
func thinWindows() []int {
	return []int{5, 15, 30, 40, 100}
}

// Acknowledgements that ride on packets wait where these do: behind what is on its way to slow
// memory.
const acksApart5 = "acknowledgements have wires of their own, of 30 cycles"

// noneIsWorse5 is a question of ours.
func noneIsWorse5() *paper.Claim {
	return &paper.Claim{
		Text:  "at 1/8, a bound that is too large is not worse than none",
		Paper: "not said", Judge: func(t *paper.Table) judge.Finding {
			v := bounded(t, 8).Values("throughput")
			none := t.Only("throughput", "slow to 1/", 8, "outstanding", 0, "FECN/BECN", noECN)
			return judge.Of(fmt.Sprintf("%.3f with the largest, %.3f with none", v[len(v)-1], none),
				judge.NotMore(none, v[len(v)-1], 0))
		}}
}

func measureAcksApart(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
	return measured(func(e *paper.Env, nodes int) []transfer {
		points := rdrp5(e, nodes)
		for i := range points {
			if points[i].window > 0 {
				points[i].acks = 30
			}
		}
		return points
	})(ctx, e)
}

func rdrp5(e *paper.Env, nodes int) (points []transfer) {
	sweep := windows()
	if e.Scale == paper.Large {
		sweep = thinWindows()
	}
	slow := onePercent(nodes)
	for _, factor := range []int{2, 4, 8} {
		for _, ecn := range ecns() {
			points = append(points, transfer{factor: factor, count: slow, ecn: ecn})
		}
		for _, w := range sweep {
			points = append(points, transfer{factor: factor, count: slow, ecn: noECN, window: w})
		}
	}
	return points
}

// bounded are the rows of a factor with a bound.
func bounded(t *paper.Table, factor int) *paper.Table {
	return t.Where("slow to 1/", factor).Keep("outstanding", paper.AtLeast(1))
}

// best is the bound with the highest throughput.
func best(rows *paper.Table) (window, throughput float64) {
	v := rows.Values("throughput")
	throughput = slices.Max(v)
	return rows.Values("outstanding")[slices.Index(v, throughput)], throughput
}

func bestAtThirty(t *paper.Table) judge.Finding {
	ours := ""
	for _, factor := range []int{2, 4} {
		w, v := best(bounded(t, factor))
		ours += fmt.Sprintf("1/%d: %.0f (%.3f); ", factor, w, v)
	}
	w, v := best(bounded(t, 8))
	return judge.Of(ours+fmt.Sprintf("1/8: %.0f (%.3f)", w, v), judge.Between(w, 25, 40))
}

func gainAtThirty(factor int, published float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		base := slices.Max(t.Where("slow to 1/", factor, "outstanding", 0).Values("throughput"))
		at := t.Only("throughput", "slow to 1/", factor, "outstanding", 30)
		w, most := best(bounded(t, factor))
		return judge.Of(fmt.Sprintf("%.2f x (%.3f against %.3f); with the best bound, %.0f: %.2f x", at/base, at, base, w, most/base),
			judge.Near(at/base, published, published/4))
	}
}

func fewWaste(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, factor := range paper.Distinct[int](t, "slow to 1/") {
		_, most := best(bounded(t, factor))
		v := bounded(t, factor).Values("throughput")[0]
		checks = append(checks, judge.Below(v/most, 0.9))
		ours += fmt.Sprintf("1/%d: %.3f of %.3f; ", factor, v, most)
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

func manyCongest(t *paper.Table) judge.Finding {
	v := bounded(t, 8).Values("throughput")
	_, most := best(bounded(t, 8))
	return judge.Of(fmt.Sprintf("%.3f with the most, %.3f at best", v[len(v)-1], most),
		judge.Below(v[len(v)-1]/most, 0.9))
}

func plotRDRP5(t *paper.Table) []*figure.Figure {
	rows := t.Keep("outstanding", paper.AtLeast(1))
	f := lines(rows, "Bounded outstanding transfers, 1 % slow nodes, no FECN/BECN", figure.Axis{Label: "outstanding transfers per node", Scale: figure.Log10},
		"outstanding", "slow to 1/", func(v any) string { return fmt.Sprintf("slow to 1/%v", v) })
	f.Y.Min, f.Y.Max = figure.At(0), figure.At(0.7)
	f.Marks = []figure.Mark{{Vertical: true, At: 30, Text: "paper: 30"}}
	return []*figure.Figure{f}
}
