package rdrp

import (
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

const rdrpPaperSize = "5,256 nodes in 73 groups"
const fallsWithSlow = "more slow nodes never make it better, and worse at an eighth"
const rdrpFreedom = "permutations, and which nodes are slow"
const rdrpThinned = "the points that decide the claims; ten permutations of each, as at scale paper"

func fig1() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"rdrp-fig1"}, Engine: packetEngine, Title: "What a few slow memories do to a Dragonfly",
		Paper: "RDRP, section 1, Figure 1", PaperSize: rdrpPaperSize, Thinned: rdrpThinned,
		Freedom: rdrpFreedom,
		Measure: measured(rdrp1), Plot: plotRDRP1,
		Mutations: []paper.Mutation{{
			What: "no memory is slow", Mutate: evenMemories, Claims: []string{fallsWithSlow},
			Measure: measured(func(_ *paper.Env, nodes int) (points []transfer) {
				for _, n := range slowCounts(nodes, 1, 0.01, 0.04) {
					points = append(points, transfer{factor: 8, count: n, ecn: noECN})
				}
				return points
			}),
		}},
		Claims: []paper.Claim{
			{
				Text:  "without slow nodes the network takes nearly 60 % of the injection rate",
				Paper: "0.59", Judge: nearlySixty,
			},
			{
				Text:  "0.1 % of nodes at half the bandwidth: a dramatic drop",
				Paper: "below 0.3", Judge: dramatic(2),
			},
			{
				Text:  "0.1 % of nodes at an eighth: a dramatic drop",
				Paper: "below 0.3", Judge: dramatic(8),
			},
			{
				Text:  "one or two slow nodes: the drop depends on the permutation, with more it does not",
				Paper: "repeatably poor from 0.1 % on", Judge: repeatablyPoor,
			},
			{
				Text:  fallsWithSlow,
				Paper: "falls", Judge: falling,
			},
		},
	}
}

// rdrp1 are the points among so many nodes.
func rdrp1(e *paper.Env, nodes int) []transfer {
	shares := []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.04}
	if e.Scale == paper.Large {
		shares = []float64{0.001, 0.005, 0.01, 0.04}
	}
	points := []transfer{{factor: 1, ecn: noECN}}
	for _, factor := range []int{2, 8} {
		for _, n := range append([]int{1, 2}, slowCounts(nodes, 3, shares...)...) {
			points = append(points, transfer{factor: factor, count: n, ecn: noECN})
		}
	}
	return points
}

func unslowed(t *paper.Table) float64 {
	return t.Only("throughput", "slow nodes", 0, "FECN/BECN", noECN, "outstanding", 0)
}

func nearlySixty(t *paper.Table) judge.Finding {
	v := unslowed(t)
	return judge.Of(fmt.Sprintf("%.3f", v), judge.Near(v, 0.59, 0.06))
}

// atTenth are the rows of a factor with the share next to 0.1 %, from there on.
func atTenth(t *paper.Table, factor int) *paper.Table {
	return t.Where("slow to 1/", factor).Keep("slow (%)", paper.AtLeast(0.09))
}

func dramatic(factor int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		rows := atTenth(t, factor)
		v, share := rows.Values("throughput")[0], rows.Values("slow (%)")[0]
		return judge.Of(fmt.Sprintf("%.3f at %.2f %%, %.3f without", v, share, unslowed(t)),
			judge.AtMost(v/unslowed(t), 0.5))
	}
}

func repeatablyPoor(t *paper.Table) judge.Finding {
	spread := func(rows *paper.Table) (worst float64) {
		low, high := rows.Values("lowest"), rows.Values("highest")
		for i := range low {
			worst = max(worst, high[i]/low[i]-1)
		}
		return worst
	}
	rows := t.Where("slow to 1/", 8)
	few, many := spread(rows.Keep("slow nodes", paper.Below(3))), spread(atTenth(t, 8))
	return judge.Of(fmt.Sprintf("best over worst permutation at 1/8: +%.0f %% with 1 or 2 nodes, at most +%.0f %% with more", 100*few, 100*many),
		judge.Less(many, few, 0))
}

func falling(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, factor := range []int{2, 8} {
		v := t.Where("slow to 1/", factor).Values("throughput")
		for i := 1; i < len(v); i++ {
			checks = append(checks, judge.NotMore(v[i], v[i-1], 0))
		}
		if factor == 8 {
			checks = append(checks, judge.Less(v[len(v)-1], v[0], 0))
		}
		ours += fmt.Sprintf("1/%d: %s; ", factor, paper.Join(v, "%.2f"))
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

func plotRDRP1(t *paper.Table) []*figure.Figure {
	none := t.Where("slow nodes", 0)
	rows := with(with(with(as(none, "slow to 1/", 2), t.Where("slow to 1/", 2)), as(none, "slow to 1/", 8)), t.Where("slow to 1/", 8))
	f := lines(rows, "Throughput of a permutation with slow nodes, PAR", figure.Axis{Label: "slow nodes", Unit: "%"}, "slow (%)", "slow to 1/",
		func(v any) string { return fmt.Sprintf("memory at 1/%v of the network", v) })
	f.Y.Min, f.Y.Max = figure.At(0), figure.At(0.7)
	f.Marks = []figure.Mark{{At: 0.59, Text: "paper, no slow nodes"}}
	return []*figure.Figure{f}
}
