package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/host"
)

var specFig4 = &Experiment{
	IDs: []string{"spec-fig4.13"}, Title: "Speculative rendezvous: overlap and progress, whoever comes first",
	Paper: "SPEC, section 4.4.1, Figure 4.13", PaperSize: "2 nodes, 128 KB to 1 MB",
	measure: measureSpec4, plot: plotSpec4,
	claims: []claim{
		{"receive overlap, early sender: little by the rendezvous of before", "< 10 %", littleBefore},
		{"receive overlap, early sender", "> 80 %", overlapFrom(bench.ReceiveSide, bench.EarlySender, 80)},
		{"receive overlap, early receiver", "> 92 %", overlapFrom(bench.ReceiveSide, bench.LateSender, 92)},
		{"a receiver makes complete progress, in both cases", "complete", receiverProgress},
		{"send overlap, early sender: as before", "the same or better", sendLoses(bench.EarlySender, 1)},
		{"send overlap, early receiver: loses little", "2 to 14 points at most", sendLoses(bench.LateSender, 14)},
		{"of a late sender's message, from 64 KB on, little is left after its computation", "4 to 15 %", leftBehind},
	},
}

// specSizes are those of the long messages.
func (e *Env) specSizes() []int {
	if e.Scale == Small {
		return []int{4 << 10, 64 << 10}
	}
	return []int{4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}
}

var specColumns = []string{"measure", "protocol", "bytes", "side", "sender", "share (%)"}

// The cases of Section 4.4.1: one of the two comes first.
var specSenders = []string{bench.EarlySender, bench.LateSender}

const (
	measureOverlap  = "overlap"
	measureProgress = "progress"
)

func measureSpec4(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: specColumns}
	w := e.use(world{nodes: 2, procs: 1})
	for _, workload := range []string{measureOverlap, measureProgress} {
		c := e.on(w, workload)
		c.Sizes, c.AlwaysSpeculate = e.specSizes(), true
		if e.Scale == Small {
			c.Iterations = 5
		}
		res, err := bench.MeasureOverlap(ctx, c, []host.Rendezvous{host.RGET, host.Spec})
		if err != nil {
			return nil, err
		}
		e.runs += 2
		for _, r := range res.Rows {
			if slices.Contains(specSenders, r.Sender) {
				t.add(workload, r.Protocol, r.Bytes, r.Side, r.Sender, 100*r.Share)
			}
		}
	}
	return t, nil
}

// shares are those of a measure, by size.
func shares(t *Table, measure, protocol, side, sender string) []float64 {
	return t.where("measure", measure, "protocol", protocol, "side", side, "sender", sender).values("share (%)")
}

func littleBefore(t *Table) (string, bool) {
	v := shares(t, measureOverlap, string(host.RGET), bench.ReceiveSide, bench.EarlySender)
	return fmt.Sprintf("%.1f %% at most", slices.Max(v)), slices.Max(v) < 10
}

func overlapFrom(side, sender string, least float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := shares(t, measureOverlap, string(host.Spec), side, sender)
		return fmt.Sprintf("%.1f to %.1f %%", slices.Min(v), slices.Max(v)), slices.Min(v) > least
	}
}

func receiverProgress(t *Table) (string, bool) {
	v := append(shares(t, measureProgress, string(host.Spec), bench.ReceiveSide, bench.EarlySender), shares(t, measureProgress, string(host.Spec), bench.ReceiveSide, bench.LateSender)...)
	return fmt.Sprintf("%.1f to %.1f %%", slices.Min(v), slices.Max(v)), slices.Min(v) > 90
}

func sendLoses(sender string, most float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		before, after := shares(t, measureOverlap, string(host.RGET), bench.SendSide, sender), shares(t, measureOverlap, string(host.Spec), bench.SendSide, sender)
		var lost []float64
		for i := range before {
			lost = append(lost, before[i]-after[i])
		}
		return fmt.Sprintf("%.1f to %.1f points", slices.Min(lost), slices.Max(lost)), slices.Max(lost) <= most
	}
}

func leftBehind(t *Table) (string, bool) {
	v := shares(t.keep("bytes", from(64<<10)), measureProgress, string(host.Spec), bench.SendSide, bench.LateSender)
	return fmt.Sprintf("%.1f to %.1f %%", 100-slices.Max(v), 100-slices.Min(v)), slices.Min(v) >= 85
}

func plotSpec4(t *Table) (list []*figure.Figure) {
	for _, measure := range []string{measureOverlap, measureProgress} {
		for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
			list = append(list, plotSpec4Side(t, measure, side))
		}
	}
	return list
}

func plotSpec4Side(t *Table, measure, side string) *figure.Figure {
	f := &figure.Figure{
		Title: fmt.Sprintf("Rendezvous that receivers begin: %s of the %s side", measure, side),
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y:     figure.Axis{Label: measure, Unit: "% of latency", Min: figure.At(0), Max: figure.At(105)},
	}
	for _, protocol := range []host.Rendezvous{host.RGET, host.Spec} {
		for _, sender := range specSenders {
			rows := t.where("measure", measure, "protocol", string(protocol), "side", side, "sender", sender)
			f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, sender %s", protocol, sender), Points: rows.points("bytes", "share (%)")})
		}
	}
	return f
}
