package spec

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig414() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig4.14"}, Title: "Speculative rendezvous: how far one long message comes while a side computes",
		Paper: "SPEC, section 4.4.1, Figure 4.14", PaperSize: "2 nodes, 1 MB",
		Measure: measureSpec414, Plot: plotSpec414,
		Mutations: []paper.Mutation{{
			What: "receivers send no RTR", Mutate: paper.WithFault(bench.NoRTRs),
			Claims: []string{"receiver: the message comes during the delay, whoever comes first", "sender that comes last: the receiver knows after the delay"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "receiver, rendezvous of before: the message is moved after the delay, whoever comes first",
				Paper: "all is left", Judge: beforeIsShifted,
			},
			{
				Text:  "receiver: the message comes during the delay, whoever comes first",
				Paper: "complete and independent", Judge: newIsDone,
			},
			{
				Text:  "sender that comes first: as before",
				Paper: "similar", Judge: senderFlat(bench.EarlySender),
			},
			{
				Text:  "sender that comes last, rendezvous of before: independent of the delay",
				Paper: "flat", Judge: senderFlatBefore,
			},
			{
				Text:  "sender that comes last: the receiver knows after the delay",
				Paper: "shifted", Judge: senderShifted,
			},
			{
				Text:  "of that sender's message little is left after the delay",
				Paper: "4 to 15 %", Judge: senderLeft,
			},
		},
	}
}

func spec414Columns() []string {
	return []string{"protocol", "side", "sender", "delay (latencies)", "latency (latencies)", "left after the delay (%)"}
}

func measureSpec414(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: spec414Columns()}
	w := e.Use(paper.World{Nodes: 2, Procs: 1})
	c := e.BaseConfig(w, measureProgress)
	c.Sizes, c.AlwaysSpeculate, c.Step = []int{1 << 20}, true, e.Step
	if e.Scale == paper.Small {
		c.Sizes, c.Iterations = []int{longFrom}, 5
	}
	res, err := bench.MeasureOverlap(ctx, paper.Mutated(e, c), []host.Rendezvous{host.RGET, host.Spec})
	if err != nil {
		return nil, err
	}
	e.RunCount += 2
	for _, r := range res.Rows {
		if !slices.Contains(specSenders(), r.Sender) {
			continue
		}
		l0 := float64(r.Latency)
		for _, s := range r.Samples {
			left := max(s.Latency-s.Computation, drivers.Time(0))
			t.Add(r.Protocol, r.Side, r.Sender, float64(s.Computation)/l0, float64(s.Latency)/l0, 100*float64(left)/l0)
		}
	}
	return t, nil
}

// longest gives a column at the longest delay, for both cases of who comes first or one of them.
func longest(t *paper.Table, column string, p host.Rendezvous, side string, senders ...string) (v []float64) {
	for _, sender := range senders {
		list := t.Where("protocol", string(p), "side", side, "sender", sender).Values(column)
		v = append(v, list[len(list)-1])
	}
	return v
}

const (
	latencies = "latency (latencies)"
	leftAfter = "left after the delay (%)"
)

func beforeIsShifted(t *paper.Table) judge.Finding {
	v := longest(t, leftAfter, host.RGET, bench.ReceiveSide, specSenders()...)
	return judge.Of(spread(v, "% left"), judge.AtLeast(slices.Min(v), 85))
}

func newIsDone(t *paper.Table) judge.Finding {
	v := longest(t, leftAfter, host.Spec, bench.ReceiveSide, specSenders()...)
	return judge.Of(spread(v, "% left"), judge.AtMost(slices.Max(v), 10))
}

func senderFlat(sender string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		before, after := longest(t, latencies, host.RGET, bench.SendSide, sender)[0], longest(t, latencies, host.Spec, bench.SendSide, sender)[0]
		return judge.Of(fmt.Sprintf("%.2f latencies, %.2f before", after, before), judge.NotMore(after, before, 0))
	}
}

func senderFlatBefore(t *paper.Table) judge.Finding {
	v := longest(t, latencies, host.RGET, bench.SendSide, bench.LateSender)[0]
	return judge.Of(fmt.Sprintf("%.2f latencies", v), judge.AtMost(v, 1.05))
}

func senderShifted(t *paper.Table) judge.Finding {
	v := longest(t, latencies, host.Spec, bench.SendSide, bench.LateSender)[0]
	return judge.Of(fmt.Sprintf("%.2f latencies after a delay of %d", v, bench.LongestDelay),
		judge.AtLeast(v, bench.LongestDelay))
}

func senderLeft(t *paper.Table) judge.Finding {
	v := longest(t, leftAfter, host.Spec, bench.SendSide, bench.LateSender)[0]
	return judge.Of(fmt.Sprintf("%.1f %%", v), judge.AtMost(v, 15))
}

func plotSpec414(t *paper.Table) (list []*figure.Figure) {
	for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
		f := &figure.Figure{
			Title: "Progress of the " + side + " side",
			X:     figure.Axis{Label: "delay", Unit: "latencies"}, Y: figure.Axis{Label: "latency", Unit: "latencies", Min: figure.At(0)},
		}
		for _, p := range []host.Rendezvous{host.RGET, host.Spec} {
			for _, sender := range specSenders() {
				rows := t.Where("protocol", string(p), "side", side, "sender", sender)
				f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, sender %s", p, sender), Points: rows.Points("delay (latencies)", latencies)})
			}
		}
		list = append(list, f)
	}
	return list
}
