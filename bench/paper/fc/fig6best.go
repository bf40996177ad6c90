package fc

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
)

// The conclusion of section 5.3 about the number of credit slots in alltoall.
const (
	fewerWaits = "fewer waits mean less overhead: 2 credit slots cost less than 1"
	twoAreBest = "2 credit slots have the least overhead"
	best58     = 58 // the paper's choice
)

// larger are the rows of the larger world.
func larger(t *paper.Table) *paper.Table {
	_, more := sizesOf(t)
	return more
}

func meansText(means []float64) string {
	return "mean overhead for 1 to 5: " + paper.Join(means, "%.1f %%")
}

func twoBelowOne(t *paper.Table) judge.Finding {
	v := byCredit(larger(t), "overhead (%)")
	return judge.Of(meansText(v), judge.Less(v[1], v[0], judge.Points))
}

func twoBest(t *paper.Table) judge.Finding {
	v := byCredit(larger(t), "overhead (%)")
	var checks []judge.Check
	for i := range v {
		if i != 1 {
			checks = append(checks, judge.NotMore(v[1], v[i], judge.Points))
		}
	}
	return judge.Of(meansText(v), checks...)
}

func lowAt58(t *paper.Table) judge.Finding {
	v := larger(t).Where("credit slots", 2, "slots", best58).Values("overhead (%)")[0]
	return judge.Of(fmt.Sprintf("%.1f %%", v), judge.AtMost(v, acceptable))
}

// neverFaster is a question of ours: whether the reference without flow control is a lower bound.
func neverFaster() *paper.Claim {
	return &paper.Claim{
		Text:  "no run with flow control is faster than the reference",
		Paper: "(assumed: a lower bound)", Judge: func(t *paper.Table) judge.Finding {
			least := 0.0
			for _, v := range larger(t).Values("overhead (%)") {
				least = min(least, v)
			}
			return judge.Of(fmt.Sprintf("at least %.1f %%", least), judge.AtLeast(least, -judge.Points))
		}}
}

func fig6Reasons() []paper.Hypothesis {
	search := func(t drivers.Time) func(*paper.Run) { return func(r *paper.Run) { r.Search = t } }
	return []paper.Hypothesis{
		{Claim: fewerWaits, Changed: "a sender without credits takes another 50 ns for each packet that it receives (the paper's reason)", Measure: with6(search(50 * drivers.Nanosecond))},
		{Claim: fewerWaits, Changed: "another 400 ns", Measure: with6(search(400 * drivers.Nanosecond))},
		{Claim: fewerWaits, Changed: "credit packets take cores no time, apart from the line into the NIC", Measure: with6(func(r *paper.Run) { r.FreeReturn = true })},
		{Claim: fewerWaits, Changed: "neither do they, nor does the bookkeeping of packets", Measure: with6(func(r *paper.Run) { r.FreeReturn, r.Free = true, true })},
		{Asks: neverFaster(), Changed: "ranks exchange in pairs, so that no receiver has several senders at a time", Measure: with6(func(r *paper.Run) { r.Linear, r.Meet = false, true })},
	}
}

func with6(change func(*paper.Run)) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return alltoalls6(ctx, e, change)
	}
}
