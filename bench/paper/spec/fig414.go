package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var specFig414 = &Experiment{
	IDs: []string{"spec-fig4.14"}, Title: "Speculative rendezvous: how far one long message comes while a side computes",
	Paper: "SPEC, section 4.4.1, Figure 4.14", PaperSize: "2 nodes, 1 MB",
	measure: measureSpec414, plot: plotSpec414,
	claims: []claim{
		{"receiver, rendezvous of before: the message is moved after the delay, whoever comes first", "all is left", beforeIsShifted},
		{"receiver: the message comes during the delay, whoever comes first", "complete and independent", newIsDone},
		{"sender that comes first: as before", "similar", senderFlat(bench.EarlySender)},
		{"sender that comes last, rendezvous of before: independent of the delay", "flat", senderFlatBefore},
		{"sender that comes last: the receiver knows after the delay", "shifted", senderShifted},
		{"of that sender's message little is left after the delay", "4 to 15 %", senderLeft},
	},
}

var spec414Columns = []string{"protocol", "side", "sender", "delay (latencies)", "latency (latencies)", "left after the delay (%)"}

func measureSpec414(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: spec414Columns}
	w := e.use(world{nodes: 2, procs: 1})
	c := e.on(w, measureProgress)
	c.Sizes, c.AlwaysSpeculate, c.Step = []int{1 << 20}, true, e.Step
	if e.Scale == Small {
		c.Sizes, c.Iterations = []int{longFrom}, 5
	}
	res, err := bench.MeasureOverlap(ctx, c, []host.Rendezvous{host.RGET, host.Spec})
	if err != nil {
		return nil, err
	}
	e.runs += 2
	for _, r := range res.Rows {
		if !slices.Contains(specSenders, r.Sender) {
			continue
		}
		l0 := float64(r.Latency)
		for _, s := range r.Samples {
			left := max(s.Latency-s.Computation, drivers.Time(0))
			t.add(r.Protocol, r.Side, r.Sender, float64(s.Computation)/l0, float64(s.Latency)/l0, 100*float64(left)/l0)
		}
	}
	return t, nil
}

// longest gives a column at the longest delay, for both cases of who comes first or one of them.
func longest(t *Table, column string, p host.Rendezvous, side string, senders ...string) (v []float64) {
	for _, sender := range senders {
		list := t.where("protocol", string(p), "side", side, "sender", sender).values(column)
		v = append(v, list[len(list)-1])
	}
	return v
}

const (
	latencies = "latency (latencies)"
	leftAfter = "left after the delay (%)"
)

func beforeIsShifted(t *Table) (string, bool) {
	v := longest(t, leftAfter, host.RGET, bench.ReceiveSide, specSenders...)
	return spread(v, "% left"), slices.Min(v) >= 85
}

func newIsDone(t *Table) (string, bool) {
	v := longest(t, leftAfter, host.Spec, bench.ReceiveSide, specSenders...)
	return spread(v, "% left"), slices.Max(v) <= 10
}

func senderFlat(sender string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		before, after := longest(t, latencies, host.RGET, bench.SendSide, sender)[0], longest(t, latencies, host.Spec, bench.SendSide, sender)[0]
		return fmt.Sprintf("%.2f latencies, %.2f before", after, before), after <= 1.05*before
	}
}

func senderFlatBefore(t *Table) (string, bool) {
	v := longest(t, latencies, host.RGET, bench.SendSide, bench.LateSender)[0]
	return fmt.Sprintf("%.2f latencies", v), v <= 1.05
}

func senderShifted(t *Table) (string, bool) {
	v := longest(t, latencies, host.Spec, bench.SendSide, bench.LateSender)[0]
	return fmt.Sprintf("%.2f latencies after a delay of %d", v, bench.LongestDelay), v >= bench.LongestDelay
}

func senderLeft(t *Table) (string, bool) {
	v := longest(t, leftAfter, host.Spec, bench.SendSide, bench.LateSender)[0]
	return fmt.Sprintf("%.1f %%", v), v <= 15
}

func plotSpec414(t *Table) (list []*figure.Figure) {
	for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
		f := &figure.Figure{
			Title: "Progress of the " + side + " side",
			X:     figure.Axis{Label: "delay", Unit: "latencies"}, Y: figure.Axis{Label: "latency", Unit: "latencies", Min: figure.At(0)},
		}
		for _, p := range []host.Rendezvous{host.RGET, host.Spec} {
			for _, sender := range specSenders {
				rows := t.where("protocol", string(p), "side", side, "sender", sender)
				f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, sender %s", p, sender), Points: rows.points("delay (latencies)", latencies)})
			}
		}
		list = append(list, f)
	}
	return list
}
