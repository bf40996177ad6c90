package rdrp

import (
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

func fig4() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"rdrp-fig4"}, Engine: packetEngine, Title: "FECN/BECN against slow memories",
		Paper: "RDRP, section 4.1, Figure 4", PaperSize: rdrpPaperSize, Thinned: rdrpThinned,
		Freedom: rdrpFreedom,
		Measure: measured(rdrp4), Plot: plotRDRP4,
		Mutations: []paper.Mutation{{
			What: "notified sources send as fast as their partner's memory", Mutate: idealNotification, Claims: []string{helpsOnlyAtHalf},
			Measure: measured(func(_ *paper.Env, nodes int) (points []transfer) {
				for _, ecn := range ecns()[:2] {
					points = append(points, transfer{factor: 8, count: slowCounts(nodes, 1, 0.04)[0], ecn: ecn})
				}
				return points
			}),
		}},
		Claims: []paper.Claim{
			{
				Text:  "FECN/BECN helps where few nodes are slow to 1/2",
				Paper: "improves the baseline", Judge: helpsAtHalf,
			},
			{
				Text:  helpsOnlyAtHalf,
				Paper: "ineffective", Judge: helpsNowhereElse,
			},
			{
				Text:  "the aggressive parameters cost 40 % without slow nodes",
				Paper: "-40 %", Judge: aggressiveCosts,
			},
			{
				Text:  "at 1/8 it costs up to half",
				Paper: "up to -50 %", Judge: costsAtEighth,
			},
		},
	}
}

const helpsOnlyAtHalf = "it does not help at 1/4 and 1/8"

func ecns() []string {
	return []string{noECN, defaultECN, aggressive}
}

func rdrp4(e *paper.Env, nodes int) (points []transfer) {
	shares := []float64{0.0004, 0.001, 0.002, 0.005, 0.01, 0.02}
	if e.Scale == paper.Large {
		shares = []float64{0.001, 0.01}
	}
	for _, ecn := range ecns() {
		points = append(points, transfer{factor: 1, ecn: ecn})
		for _, factor := range []int{2, 4, 8} {
			for _, n := range slowCounts(nodes, 1, shares...) {
				points = append(points, transfer{factor: factor, count: n, ecn: ecn})
			}
		}
	}
	return points
}

// gains are the ratios of a parameter set to the baseline, by the number of slow nodes.
func gains(t *paper.Table, factor int, ecn string) (ratios, shares []float64) {
	rows := t.Where("slow to 1/", factor, "outstanding", 0)
	base := rows.Where("FECN/BECN", noECN).Values("throughput")
	for i, v := range rows.Where("FECN/BECN", ecn).Values("throughput") {
		ratios = append(ratios, v/base[i])
	}
	return ratios, rows.Where("FECN/BECN", noECN).Values("slow (%)")
}

func percents(ratios []float64) string {
	list := ""
	for _, r := range ratios {
		list += fmt.Sprintf("%+.0f ", 100*(r-1))
	}
	return list + "%"
}

// fewNodes is the largest share of slow nodes, in percent, that counts as few.
const fewNodes = 0.6

func helpsAtHalf(t *paper.Table) judge.Finding {
	most, ours := 0.0, ""
	for _, ecn := range ecns()[1:] {
		g, shares := gains(t, 2, ecn)
		for i := range g {
			if shares[i] <= fewNodes {
				most = max(most, g[i])
			}
		}
		ours += fmt.Sprintf("%s: %s; ", ecn, percents(g))
	}
	return judge.Of(ours[:len(ours)-2], judge.Less(1, most, 0))
}

func helpsNowhereElse(t *paper.Table) judge.Finding {
	checks, ours := []judge.Check(nil), ""
	for _, factor := range []int{4, 8} {
		for _, ecn := range ecns()[1:] {
			g, _ := gains(t, factor, ecn)
			for _, v := range g {
				checks = append(checks, judge.Below(v, 1.1))
			}
			ours += fmt.Sprintf("1/%d %s: %s; ", factor, ecn, percents(g))
		}
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

func aggressiveCosts(t *paper.Table) judge.Finding {
	v := t.Only("throughput", "slow nodes", 0, "FECN/BECN", aggressive) / unslowed(t)
	return judge.Of(fmt.Sprintf("%+.0f %%", 100*(v-1)), judge.AtMost(v, 0.75))
}

func costsAtEighth(t *paper.Table) judge.Finding {
	worst := 1.0
	for _, ecn := range ecns()[1:] {
		g, _ := gains(t, 8, ecn)
		for _, v := range g {
			worst = min(worst, v)
		}
	}
	return judge.Of(fmt.Sprintf("at worst %+.0f %%", 100*(worst-1)), judge.AtMost(worst, 0.7))
}

func plotRDRP4(t *paper.Table) (figures []*figure.Figure) {
	for _, factor := range []int{2, 4, 8} {
		rows := with(t.Where("slow nodes", 0), t.Where("slow to 1/", factor))
		f := lines(rows, fmt.Sprintf("FECN/BECN, slow nodes at 1/%d", factor), figure.Axis{Label: "slow nodes", Unit: "%"}, "slow (%)", "FECN/BECN",
			func(v any) string {
				return map[any]string{noECN: "no FECN/BECN"}[v] + map[any]string{defaultECN: "default", aggressive: "aggressive"}[v]
			})
		f.Y.Min, f.Y.Max = figure.At(0), figure.At(0.7)
		figures = append(figures, f)
	}
	return figures
}
