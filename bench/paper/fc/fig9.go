package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/velo"
)

var fcFig9 = &Experiment{
	IDs: []string{"fc-fig9"}, Title: "Piggybacking in alltoall, 2,044 bytes, static flow control",
	Paper: "FC, section 5.4, Figure 9", PaperSize: "1,024 processes (4x4x4)",
	Thinned: "4 buffer sizes: 10, 30, 44 and 60", measure: measureFig9, plot: plotFig9,
	claims: []claim{
		{"fewer explicit credit packets at every buffer size", "clear reduction", fewerCreditPackets},
		{"less overhead", "clear reduction", lessOverhead},
		{"the reduction of credit packets is a ramp over the buffer size", "ramp", ramp},
		{"with 2,048 bytes the last packet is full: no message carries credits", "none", nonePiggybacked},
	},
}

// coarse are buffer sizes where the shape matters and not a single step.
var coarse = []int{10, 16, 22, 30, 36, 40, 44, 50, 56, 60, 64}

func measureFig9(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"bytes", "piggyback", "slots", "time (µs)", "overhead (%)", "credit packets", "piggybacks", "of barriers"}}
	var runs []run
	for _, slots := range e.piggybackSizes() {
		for _, bytes := range []int{2044, 2048} {
			for _, piggyback := range []bool{false, true} {
				r := e.alltoall(cluster1024[e.Scale], velo.Static, slots, 2)
				r.bytes, r.piggyback = bytes, piggyback
				if bytes == 2044 || piggyback && (slots == 30 || slots == 60) {
					runs = append(runs, r)
				}
			}
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		// What is no message of the alltoall is one of a barrier, which has room.
		barriers := int(s.flow.Messages) - r.ranks()*(r.ranks()-1)*(r.iterations+r.warmup)
		t.add(r.bytes, fmt.Sprint(r.piggyback), r.slots, s.time, s.overhead(refs[i]), int(s.flow.CreditPackets), int(s.flow.PiggybackedPackets), barriers)
	}
	return t, err
}

// piggybackSizes are the buffer sizes of the ramp.
func (e *Env) piggybackSizes() []int {
	if e.Scale.thin() {
		return []int{10, 30, 44, 60}
	}
	return coarse
}

// without and with piggybacking, 2,044 bytes.
func without(t *Table) *Table { return t.where("bytes", 2044, "piggyback", "false") }
func with(t *Table) *Table    { return t.where("bytes", 2044, "piggyback", "true") }

// reductions are the credit packets saved at each buffer size, in percent.
func reductions(t *Table) []float64 {
	list := with(t).values("credit packets")
	for i, before := range without(t).values("credit packets") {
		list[i] = 100 * (1 - list[i]/before)
	}
	return list
}

func fewerCreditPackets(t *Table) (string, bool) {
	r := reductions(t)
	return fmt.Sprintf("%.1f %% to %.1f %% fewer", slices.Min(r), slices.Max(r)), slices.Min(r) > 0
}

func lessOverhead(t *Table) (string, bool) {
	a, b := mean(without(t).values("overhead (%)")), mean(with(t).values("overhead (%)"))
	return fmt.Sprintf("mean %.1f %% without, %.1f %% with", a, b), b < a
}

// ramp: what rises may have teeth, but none deeper than a quarter of all that it rises.
func ramp(t *Table) (string, bool) {
	r := reductions(t)
	rise, tooth := r[len(r)-1]-r[0], 0.0
	for i := range len(r) - 1 {
		tooth = max(tooth, r[i]-r[i+1])
	}
	return fmt.Sprintf("%s; the deepest tooth %.0f points", list(r, "%.0f %%"), tooth), rise > visible && tooth <= rise/4
}

func nonePiggybacked(t *Table) (string, bool) {
	full := t.where("bytes", 2048)
	holds, most := true, 0.0
	for i, n := range full.values("piggybacks") {
		holds = holds && n <= full.values("of barriers")[i]
		most = max(most, n)
	}
	return fmt.Sprintf("at most %.0f, all on barrier messages (%.0f)", most, full.values("of barriers")[0]), holds
}

func plotFig9(t *Table) []*figure.Figure {
	f := &figure.Figure{Title: "Alltoall, 2,044 bytes", X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: "overhead, reduction", Unit: "%"},
		Series: []figure.Series{
			{Name: "overhead", Points: without(t).points("slots", "overhead (%)")},
			{Name: "overhead, piggybacking", Points: with(t).points("slots", "overhead (%)")},
			{Name: "credit packets saved"},
		}}
	for i, r := range reductions(t) {
		f.Series[2].Points = append(f.Series[2].Points, figure.Point{X: with(t).values("slots")[i], Y: r})
	}
	return []*figure.Figure{f}
}
