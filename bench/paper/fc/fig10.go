package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/velo"
)

var fcFig10 = &Experiment{
	IDs: []string{"fc-fig10", "fc-fig15"}, Title: "Alltoall among a part of the processes, static and dynamic",
	Paper: "FC, sections 5.5 and 6.8, Figures 10 and 15", PaperSize: "1,024, 512, 256 and 128 of 1,024 processes",
	Thinned: "all active: static only, 30 and 50 slots, 8 alltoalls after 1; half: 16, 30, 50 and 60 slots, others 10, 16, 22, 30, 40, 50 and 60, each 8 alltoalls after 4",
	measure: measureFig10, plot: plotFig10,
	claims: []claim{
		{"static: not acceptable below 55 slots, however few are active", "> 3 % in all four", staticNeeds55},
		{halfActive, "very low", nearZero(2, 30)},
		{quarterActive, "very low", nearZero(4, 16)},
		{eighthActive, "very low", nearZero(8, 10)},
		{"dynamic costs less than static when not all are active", "lower", dynamicLower},
	},
	reasons: []reason{
		{claim: halfActive, changed: bookkeepingIsFree, measure: partWith(free, 2)},
		{claim: halfActive, changed: haveSettled, measure: partWith(settled, 2)},
		{claim: halfActive, changed: "both", measure: partWith(freeAndSettled, 2)},
		{claim: quarterActive, changed: bookkeepingIsFree, measure: partWith(free, 4)},
		{claim: quarterActive, changed: haveSettled, measure: partWith(settled, 4)},
		{claim: quarterActive, changed: "both", measure: partWith(freeAndSettled, 4)},
		{claim: eighthActive, changed: bookkeepingIsFree, measure: partWith(free, 8)},
		{claim: eighthActive, changed: haveSettled, measure: partWith(settled, 8)},
		{claim: eighthActive, changed: "both", measure: partWith(freeAndSettled, 8)},
	},
}

const (
	halfActive    = "dynamic: near zero with 30 slots when half are active"
	quarterActive = "dynamic: near zero with 16 slots when a quarter is active"
	eighthActive  = "dynamic: near zero with 10 slots when an eighth is active"
)

func measureFig10(ctx context.Context, e *Env) (*Table, error) {
	var runs []run
	for _, flow := range flows {
		for _, part := range []int{1, 2, 4, 8} {
			runs = append(runs, e.partRuns(flow, part)...)
		}
	}
	return e.table10(ctx, runs)
}

// partWith measures dynamic flow control among a part with a change of its runs.
func partWith(change func(*run), part int) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		runs := e.partRuns(velo.Dynamic, part)
		for i := range runs {
			change(&runs[i])
		}
		return e.table10(ctx, runs)
	}
}

func (e *Env) partRuns(flow velo.Flow, part int) (runs []run) {
	w := cluster1024[e.Scale]
	for _, slots := range e.partSizes(flow, part) {
		r := e.alltoall(w, flow, slots, 2)
		// The pattern is repeated until times are stable (footnote 11).
		r.active, r.warmup, r.iterations = w.ranks()/part, e.repeats(6, 4, 4), e.repeats(10, 4, 8)
		if part == 1 && e.Scale.thin() {
			r.warmup = 1
		}
		runs = append(runs, r)
	}
	return runs
}

func (e *Env) table10(ctx context.Context, runs []run) (*Table, error) {
	t := &Table{Columns: []string{"flow control", "active", "one of", "slots", "time (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.add(string(r.flow), r.active, r.ranks()/r.active, r.slots, s.time, s.overhead(refs[i]), s.delayed())
	}
	return t, err
}

// partSizes are the buffer sizes for a share of active processes. The claims say
// nothing about dynamic flow control when all are.
func (e *Env) partSizes(flow velo.Flow, part int) []int {
	switch {
	case !e.Scale.thin():
		return coarse
	case part == 1 && flow == velo.Dynamic:
		return nil
	case part == 1:
		return []int{30, 50}
	case part == 2:
		return []int{16, 30, 50, 60}
	}
	return []int{10, 16, 22, 30, 40, 50, 60}
}

// acceptable is the paper's: an overhead of 3 % (section 7.5).
const acceptable = 3

func staticNeeds55(t *Table) (string, bool) {
	least := map[int]float64{}
	holds := true
	ours := ""
	for _, part := range []int{1, 2, 4, 8} {
		least[part] = slices.Min(t.where("flow control", "static", "one of", part).keep("slots", below(55)).values("overhead (%)"))
		holds = holds && least[part] > acceptable
		ours += fmt.Sprintf("1/%d: %.1f %%; ", part, least[part])
	}
	return "least overhead below 55 slots: " + ours[:len(ours)-2], holds
}

// nearZero: dynamic flow control has an acceptable overhead from that size on.
func nearZero(part, slots int) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := t.where("flow control", "dynamic", "one of", part).keep("slots", from(float64(slots))).values("overhead (%)")
		return fmt.Sprintf("at most %.1f %%, mean %.1f %%", slices.Max(v), mean(v)), slices.Max(v) <= acceptable
	}
}

func dynamicLower(t *Table) (string, bool) {
	ours, holds := "", true
	for _, part := range []int{2, 4, 8} {
		rows := t.where("one of", part).keep("slots", below(55))
		a, b := mean(rows.where("flow control", "static").values("overhead (%)")), mean(rows.where("flow control", "dynamic").values("overhead (%)"))
		ours += fmt.Sprintf("1/%d: %.1f %% and %.1f %%; ", part, a, b)
		holds = holds && b < a
	}
	return "mean below 55 slots, static and dynamic: " + ours[:len(ours)-2], holds
}

func plotFig10(t *Table) (list []*figure.Figure) {
	for _, flow := range []string{"static", "dynamic"} {
		f := curves(t.where("flow control", flow), "Alltoall among some, "+flow, "overhead", "%", "active", "%v processes")
		f.Marks = []figure.Mark{{At: acceptable, Text: "3 %"}}
		list = append(list, f)
	}
	return list
}
