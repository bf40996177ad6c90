package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/figure"
)

const rdrpPaperSize = "5,256 nodes in 73 groups"
const rdrpThinned = "the points that decide the claims; ten permutations of each, as at scale paper"

var rdrpFig1 = &Experiment{
	IDs: []string{"rdrp-fig1"}, Engine: packetEngine, Title: "What a few slow memories do to a Dragonfly",
	Paper: "RDRP, section 1, Figure 1", PaperSize: rdrpPaperSize, Thinned: rdrpThinned,
	measure: measureRDRP1, plot: plotRDRP1,
	claims: []claim{
		{"without slow nodes the network takes nearly 60 % of the injection rate", "0.59", nearlySixty},
		{"0.1 % of nodes at half the bandwidth: a dramatic drop", "below 0.3", dramatic(2)},
		{"0.1 % of nodes at an eighth: a dramatic drop", "below 0.3", dramatic(8)},
		{"one or two slow nodes: the drop depends on the permutation, with more it does not", "repeatably poor from 0.1 % on", repeatablyPoor},
		{"more slow nodes never make it better", "falls", falling},
	},
}

func measureRDRP1(ctx context.Context, e *Env) (*Table, error) {
	d, err := e.dragonfly()
	if err != nil {
		return nil, err
	}
	return e.transfers(ctx, d, e.rdrp1(d.Nodes()))
}

// rdrp1 are the points among so many nodes.
func (e *Env) rdrp1(nodes int) []transfer {
	shares := []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.04}
	if e.Scale == Large {
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

func unslowed(t *Table) float64 {
	return t.only("throughput", "slow nodes", 0, "FECN/BECN", noECN, "outstanding", 0)
}

func nearlySixty(t *Table) (string, bool) {
	v := unslowed(t)
	return fmt.Sprintf("%.3f", v), math.Abs(v-0.59) <= 0.06
}

// atTenth are the rows of a factor with the share next to 0.1 %, from there on.
func atTenth(t *Table, factor int) *Table {
	return t.where("slow to 1/", factor).keep("slow (%)", from(0.09))
}

func dramatic(factor int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		rows := atTenth(t, factor)
		v, share := rows.values("throughput")[0], rows.values("slow (%)")[0]
		return fmt.Sprintf("%.3f at %.2f %%, %.3f without", v, share, unslowed(t)), v <= unslowed(t)/2
	}
}

func repeatablyPoor(t *Table) (string, bool) {
	spread := func(rows *Table) (worst float64) {
		low, high := rows.values("lowest"), rows.values("highest")
		for i := range low {
			worst = max(worst, high[i]/low[i]-1)
		}
		return worst
	}
	rows := t.where("slow to 1/", 8)
	few, many := spread(rows.keep("slow nodes", below(3))), spread(atTenth(t, 8))
	return fmt.Sprintf("best over worst permutation at 1/8: +%.0f %% with 1 or 2 nodes, at most +%.0f %% with more", 100*few, 100*many), few > many
}

func falling(t *Table) (string, bool) {
	ours, holds := "", true
	for _, factor := range []int{2, 8} {
		v := t.where("slow to 1/", factor).values("throughput")
		for i := 1; i < len(v); i++ {
			holds = holds && v[i] <= v[i-1]*1.05
		}
		ours += fmt.Sprintf("1/%d: %s; ", factor, list(v, "%.2f"))
	}
	return ours[:len(ours)-2], holds
}

func plotRDRP1(t *Table) []*figure.Figure {
	none := t.where("slow nodes", 0)
	rows := none.as("slow to 1/", 2).with(t.where("slow to 1/", 2)).with(none.as("slow to 1/", 8)).with(t.where("slow to 1/", 8))
	f := lines(rows, "Throughput of a permutation with slow nodes, PAR", figure.Axis{Label: "slow nodes", Unit: "%"}, "slow (%)", "slow to 1/",
		func(v any) string { return fmt.Sprintf("memory at 1/%v of the network", v) })
	f.Y.Min, f.Y.Max = figure.At(0), figure.At(0.7)
	f.Marks = []figure.Mark{{At: 0.59, Text: "paper, no slow nodes"}}
	return []*figure.Figure{f}
}
