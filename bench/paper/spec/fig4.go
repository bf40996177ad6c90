package spec

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/host"
)

func fig4() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig4.13"}, Title: "Speculative rendezvous: overlap and progress, whoever comes first",
		Paper: "SPEC, section 4.4.1, Figure 4.13", PaperSize: "2 nodes, 128 KB to 1 MB",
		Measure: measureSpec4, Plot: plotSpec4,
		Mutations: []paper.Mutation{{
			What: "receivers send no RTR", Mutate: paper.WithFault(bench.NoRTRs),
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureShares(ctx, e, []int{16 << 10}, measureOverlap)
			},
			Claims: []string{"receive overlap, early sender", "receive overlap, early receiver"},
		}, {
			What: "receivers send no RTR, progress", Mutate: paper.WithFault(bench.NoRTRs),
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureShares(ctx, e, []int{16 << 10}, measureProgress)
			},
			Claims: []string{"a receiver makes complete progress, in both cases"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "receive overlap, early sender: little by the rendezvous of before",
				Paper: "< 10 %", Judge: littleBefore,
			},
			{
				Text:  "receive overlap, early sender",
				Paper: "> 80 %", Judge: overlapFrom(bench.ReceiveSide, bench.EarlySender, 80),
			},
			{
				Text:  "receive overlap, early receiver",
				Paper: "> 92 %", Judge: overlapFrom(bench.ReceiveSide, bench.LateSender, 92),
			},
			{
				Text:  "a receiver makes complete progress, in both cases",
				Paper: "complete", Judge: receiverProgress,
			},
			{
				Text:  "send overlap, early sender: as before",
				Paper: "the same or better", Judge: sendLoses(bench.EarlySender, 1),
			},
			{
				Text:  "send overlap, early receiver: loses little",
				Paper: "2 to 14 points at most", Judge: sendLoses(bench.LateSender, 14),
			},
			{
				Text:  "of a late sender's message, from 64 KB on, little is left after its computation",
				Paper: "4 to 15 %", Judge: leftBehind,
			},
		},
	}
}

// specSizes are those of the long messages.
func specSizes(e *paper.Env) []int {
	if e.Scale == paper.Small {
		return []int{4 << 10, 64 << 10}
	}
	return []int{4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}
}

func specColumns() []string {
	return []string{"measure", "protocol", "bytes", "side", "sender", "share (%)"}
}

// The cases of Section 4.4.1: one of the two comes first.
func specSenders() []string {
	return []string{bench.EarlySender, bench.LateSender}
}

const (
	measureOverlap  = "overlap"
	measureProgress = "progress"
)

func measureSpec4(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureShares(ctx, e, specSizes(e), measureOverlap, measureProgress)
}

// measureShares measures messages of some lengths.
func measureShares(ctx context.Context, e *paper.Env, sizes []int, measures ...string) (*paper.Table, error) {
	t := &paper.Table{Columns: specColumns()}
	w := e.Use(paper.World{Nodes: 2, Procs: 1})
	for _, workload := range measures {
		c := e.BaseConfig(w, workload)
		c.Sizes, c.AlwaysSpeculate = sizes, true
		if e.Scale == paper.Small {
			c.Iterations = 5
		}
		res, err := bench.MeasureOverlap(ctx, paper.Mutated(e, c), []host.Rendezvous{host.RGET, host.Spec})
		if err != nil {
			return nil, err
		}
		e.RunCount += 2
		for _, r := range res.Rows {
			if slices.Contains(specSenders(), r.Sender) {
				t.Add(workload, r.Protocol, r.Bytes, r.Side, r.Sender, 100*r.Share)
			}
		}
	}
	return t, nil
}

// shares are those of a measure, by size.
func shares(t *paper.Table, measure, protocol, side, sender string) []float64 {
	return t.Where("measure", measure, "protocol", protocol, "side", side, "sender", sender).Values("share (%)")
}

func littleBefore(t *paper.Table) judge.Finding {
	v := shares(t, measureOverlap, string(host.RGET), bench.ReceiveSide, bench.EarlySender)
	return judge.Of(fmt.Sprintf("%.1f %% at most", slices.Max(v)), judge.Below(slices.Max(v), 10))
}

func overlapFrom(side, sender string, least float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := shares(t, measureOverlap, string(host.Spec), side, sender)
		return judge.Of(spread(v, "%"), judge.Above(slices.Min(v), least))
	}
}

func receiverProgress(t *paper.Table) judge.Finding {
	v := append(shares(t, measureProgress, string(host.Spec), bench.ReceiveSide, bench.EarlySender), shares(t, measureProgress, string(host.Spec), bench.ReceiveSide, bench.LateSender)...)
	return judge.Of(spread(v, "%"), judge.Above(slices.Min(v), 90))
}

func sendLoses(sender string, most float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		before, after := shares(t, measureOverlap, string(host.RGET), bench.SendSide, sender), shares(t, measureOverlap, string(host.Spec), bench.SendSide, sender)
		var lost []float64
		for i := range before {
			lost = append(lost, before[i]-after[i])
		}
		return judge.Of(spread(lost, "points"), judge.AtMost(slices.Max(lost), most))
	}
}

func leftBehind(t *paper.Table) judge.Finding {
	v := shares(t.Keep("bytes", paper.AtLeast(64<<10)), measureProgress, string(host.Spec), bench.SendSide, bench.LateSender)
	return judge.Of(fmt.Sprintf("%.1f to %.1f %%", 100-slices.Max(v), 100-slices.Min(v)),
		judge.AtLeast(slices.Min(v), 85))
}

func plotSpec4(t *paper.Table) (list []*figure.Figure) {
	for _, measure := range []string{measureOverlap, measureProgress} {
		for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
			list = append(list, plotSpec4Side(t, measure, side))
		}
	}
	return list
}

func plotSpec4Side(t *paper.Table, measure, side string) *figure.Figure {
	f := &figure.Figure{
		Title: fmt.Sprintf("Rendezvous that receivers begin: %s of the %s side", measure, side),
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y:     figure.Axis{Label: measure, Unit: "% of latency", Min: figure.At(0), Max: figure.At(105)},
	}
	for _, protocol := range []host.Rendezvous{host.RGET, host.Spec} {
		for _, sender := range specSenders() {
			rows := t.Where("measure", measure, "protocol", string(protocol), "side", side, "sender", sender)
			f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("%s, sender %s", protocol, sender), Points: rows.Points("bytes", "share (%)")})
		}
	}
	return f
}
