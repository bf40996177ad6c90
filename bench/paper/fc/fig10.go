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

func fig10() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig10", "fc-fig15"}, Title: "Alltoall among a part of the processes, static and dynamic",
		Paper: "FC, sections 5.5 and 6.8, Figures 10 and 15", PaperSize: "1,024, 512, 256 and 128 of 1,024 processes",
		Thinned: "all active: static only, 30 and 50 slots, 8 alltoalls after 1; half: 16, 30, 50 and 60 slots, others 10, 16, 22, 30, 40, 50 and 60, each 8 alltoalls after 4",
		Freedom: paper.StartSkew,
		Measure: measureFig10, Plot: plotFig10,
		Mutations: []paper.Mutation{{
			What: "static instead of dynamic flow control", Mutate: neverDynamic(), Claims: []string{"dynamic costs less than static when not all are active"},
			Measure: measured(func(e *paper.Env) (runs []paper.Run) {
				for _, r := range slices.Concat(partRuns(e, velo.Static, 2), partRuns(e, velo.Static, 4), partRuns(e, velo.Static, 8)) {
					if slices.Contains([]int{16, 30, 50}, r.Slots) {
						d := r
						d.Flow = velo.Dynamic
						runs = append(runs, r, d)
					}
				}
				return runs
			}, table10),
		}},
		Claims: []paper.Claim{
			{
				Text:  "static: not acceptable below 55 slots, however few are active",
				Paper: "> 3 % in all four", Judge: staticNeeds55,
			},
			{
				Text:  halfActive,
				Paper: "very low", Judge: nearZero(2, 30),
			},
			{
				Text:  quarterActive,
				Paper: "very low", Judge: nearZero(4, 16),
			},
			{
				Text:  eighthActive,
				Paper: "very low", Judge: nearZero(8, 10),
			},
			{
				Text:  "dynamic costs less than static when not all are active",
				Paper: "lower", Judge: dynamicLower,
			},
		},
		Reasons: slices.Concat(partReasons(halfActive, 2), partReasons(quarterActive, 4), partReasons(eighthActive, 8)),
	}
}

const (
	halfActive    = "dynamic: near zero with 30 slots when half are active"
	quarterActive = "dynamic: near zero with 16 slots when a quarter is active"
	eighthActive  = "dynamic: near zero with 10 slots when an eighth is active"
)

func measureFig10(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	var runs []paper.Run
	for _, flow := range flows() {
		for _, part := range []int{1, 2, 4, 8} {
			runs = append(runs, partRuns(e, flow, part)...)
		}
	}
	return table10(e, ctx, runs)
}

// partReasons are about a claim on a part of the processes: each change, then both.
func partReasons(claim string, part int) []paper.Hypothesis {
	return []paper.Hypothesis{
		{Claim: claim, Changed: bookkeepingIsFree, Measure: partWith(free, part)},
		{Claim: claim, Changed: tenfoldWarmup, Measure: partWith(warmTenfold, part)},
		{Claim: claim, Changed: "both", Measure: partWith(freeAndWarm, part)},
	}
}

// partWith measures dynamic flow control among a part with a change of its runs.
func partWith(change func(*paper.Run), part int) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		runs := partRuns(e, velo.Dynamic, part)
		for i := range runs {
			change(&runs[i])
		}
		return table10(e, ctx, runs)
	}
}

func partRuns(e *paper.Env, flow velo.Flow, part int) (runs []paper.Run) {
	w := cluster1024()[e.Scale]
	for _, slots := range partSizes(e, flow, part) {
		r := e.Alltoall(w, flow, slots, 2)
		// The pattern is repeated until times are stable (footnote 11).
		r.Active, r.Warmup, r.Iterations = w.Ranks()/part, e.Repeats(6, 4, 4), e.Repeats(10, 4, 8)
		if part == 1 && e.Scale.Thin() {
			r.Warmup = 1
		}
		runs = append(runs, r)
	}
	return runs
}

func table10(e *paper.Env, ctx context.Context, runs []paper.Run) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"flow control", "active", "one of", "slots", "time (µs)", "overhead (%)", "delayed (%)"}}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		r := runs[i]
		t.Add(string(r.Flow), r.Active, r.Ranks()/r.Active, r.Slots, s.Time, s.Overhead(refs[i]), s.Delayed())
	}
	return t, err
}

// partSizes are the buffer sizes for a share of active processes. The claims say
// nothing about dynamic flow control when all are.
func partSizes(e *paper.Env, flow velo.Flow, part int) []int {
	switch {
	case !e.Scale.Thin():
		return coarse()
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

func staticNeeds55(t *paper.Table) judge.Finding {
	least := map[int]float64{}
	var checks []judge.Check
	ours := ""
	for _, part := range []int{1, 2, 4, 8} {
		least[part] = slices.Min(t.Where("flow control", "static", "one of", part).Keep("slots", paper.Below(55)).Values("overhead (%)"))
		checks = append(checks, judge.Above(least[part], acceptable))
		ours += fmt.Sprintf("1/%d: %.1f %%; ", part, least[part])
	}
	return judge.Of("least overhead below 55 slots: "+ours[:len(ours)-2], checks...)
}

// nearZero: dynamic flow control has an acceptable overhead from that size on.
func nearZero(part, slots int) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := t.Where("flow control", "dynamic", "one of", part).Keep("slots", paper.AtLeast(float64(slots))).Values("overhead (%)")
		return judge.Of(fmt.Sprintf("at most %.1f %%, mean %.1f %%", slices.Max(v), paper.Mean(v)),
			judge.AtMost(slices.Max(v), acceptable))
	}
}

func dynamicLower(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, part := range []int{2, 4, 8} {
		a, b := meansByFlow(t.Where("one of", part).Keep("slots", paper.Below(55)), "overhead (%)")
		ours += fmt.Sprintf("1/%d: %.1f %% and %.1f %%; ", part, a, b)
		checks = append(checks, judge.Less(b, a, judge.Points))
	}
	return judge.Of("mean below 55 slots, static and dynamic: "+ours[:len(ours)-2], checks...)
}

func plotFig10(t *paper.Table) (list []*figure.Figure) {
	for _, flow := range []string{"static", "dynamic"} {
		f := paper.Curves(t.Where("flow control", flow), "Alltoall among some, "+flow, "overhead", "%", "active", "%v processes")
		f.Marks = []figure.Mark{{At: acceptable, Text: "3 %"}}
		list = append(list, f)
	}
	return list
}
