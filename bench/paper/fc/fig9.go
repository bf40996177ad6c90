package fc

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/velo"
)

func fig9() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig9"}, Title: "Piggybacking in alltoall, 2,044 bytes, static flow control",
		Paper: "FC, section 5.4, Figure 9", PaperSize: "1,024 processes (4x4x4)",
		Thinned: "4 buffer sizes: 10, 30, 44 and 60",
		Freedom: paper.StartSkew, Measure: measureFig9, Plot: plotFig9,
		Mutations: []paper.Mutation{{What: "no credits are piggybacked", Mutate: notPiggybacked(), Claims: []string{"less overhead"}}},
		Claims: []paper.Claim{
			{
				Text:  "fewer explicit credit packets at every buffer size",
				Paper: "clear reduction", Judge: fewerCreditPackets,
			},
			{
				Text:  "less overhead",
				Paper: "clear reduction", Judge: lessOverhead,
			},
			{
				Text:  "the reduction of credit packets is a ramp over the buffer size",
				Paper: "ramp", Judge: ramp,
			},
			{
				Text:  "with 2,048 bytes the last packet is full: no message carries credits",
				Paper: "none", Judge: nonePiggybacked,
			},
		},
	}
}

// coarse are buffer sizes where the shape matters and not a single step.
func coarse() []int {
	return []int{10, 16, 22, 30, 36, 40, 44, 50, 56, 60, 64}
}

func measureFig9(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"bytes", "piggyback", "slots", "time (µs)", "overhead (%)", "credit packets", "piggybacks", "of barriers"}}
	var runs []paper.Run
	for _, slots := range piggybackSizes(e) {
		for _, bytes := range []int{2044, 2048} {
			for _, piggyback := range []bool{false, true} {
				r := e.Alltoall(cluster1024()[e.Scale], velo.Static, slots, 2)
				r.Bytes, r.Piggyback = bytes, piggyback
				if bytes == 2044 || piggyback && (slots == 30 || slots == 60) {
					runs = append(runs, r)
				}
			}
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		// What is no message of the alltoall is one of a barrier, which has room.
		barriers := int(s.Flow.Messages) - r.Ranks()*(r.Ranks()-1)*(r.Iterations+r.Warmup)
		t.Add(r.Bytes, fmt.Sprint(r.Piggyback), r.Slots, s.Time, s.Overhead(refs[i]), int(s.Flow.CreditPackets), int(s.Flow.PiggybackedPackets), barriers)
	}
	return t, err
}

// piggybackSizes are the buffer sizes of the ramp.
func piggybackSizes(e *paper.Env) []int {
	if e.Scale.Thin() {
		return []int{10, 30, 44, 60}
	}
	return coarse()
}

// without and with piggybacking, 2,044 bytes.
func without(t *paper.Table) *paper.Table { return t.Where("bytes", 2044, "piggyback", "false") }
func with(t *paper.Table) *paper.Table    { return t.Where("bytes", 2044, "piggyback", "true") }

// reductions are the credit packets saved at each buffer size, in percent.
func reductions(t *paper.Table) []float64 {
	list := with(t).Values("credit packets")
	for i, before := range without(t).Values("credit packets") {
		list[i] = 100 * (1 - list[i]/before)
	}
	return list
}

func fewerCreditPackets(t *paper.Table) judge.Finding {
	r := reductions(t)
	return judge.Of(fmt.Sprintf("%.1f %% to %.1f %% fewer", slices.Min(r), slices.Max(r)),
		judge.AtLeast(slices.Min(r), 100*judge.Margin))
}

func lessOverhead(t *paper.Table) judge.Finding {
	a, b := paper.Mean(without(t).Values("overhead (%)")), paper.Mean(with(t).Values("overhead (%)"))
	return judge.Of(fmt.Sprintf("mean %.1f %% without, %.1f %% with", a, b), judge.Less(b, a, judge.Points))
}

// ramp: what rises may have teeth, but none deeper than a quarter of all that it rises.
func ramp(t *paper.Table) judge.Finding {
	r := reductions(t)
	rise, tooth := r[len(r)-1]-r[0], 0.0
	for i := range len(r) - 1 {
		tooth = max(tooth, r[i]-r[i+1])
	}
	return judge.Of(fmt.Sprintf("%s; the deepest tooth %.0f points", paper.Join(r, "%.0f %%"), tooth),
		judge.Above(rise, visible), judge.AtMost(tooth/rise, 0.25))
}

func nonePiggybacked(t *paper.Table) judge.Finding {
	full := t.Where("bytes", 2048)
	checks, most := []judge.Check(nil), 0.0
	for i, n := range full.Values("piggybacks") {
		checks = append(checks, judge.AtMost(n-full.Values("of barriers")[i], 0))
		most = max(most, n)
	}
	return judge.Of(fmt.Sprintf("at most %.0f, all on barrier messages (%.0f)", most, full.Values("of barriers")[0]),
		checks...)
}

func plotFig9(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{Title: "Alltoall, 2,044 bytes", X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: "overhead, reduction", Unit: "%"},
		Series: []figure.Series{
			{Name: "overhead", Points: without(t).Points("slots", "overhead (%)")},
			{Name: "overhead, piggybacking", Points: with(t).Points("slots", "overhead (%)")},
			{Name: "credit packets saved"},
		}}
	for i, r := range reductions(t) {
		f.Series[2].Points = append(f.Series[2].Points, figure.Point{X: with(t).Values("slots")[i], Y: r})
	}
	return []*figure.Figure{f}
}
