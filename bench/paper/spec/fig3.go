package spec

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig3() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig3.13", "spec-fig3.14", "spec-fig3.15"}, Title: "Overlap and progress of eager messages and of rendezvous that senders begin",
		Paper: "SPEC, section 3.6, Figures 3.13 to 3.15", PaperSize: "2 nodes, 1 byte to 1 MB, eager up to 8 KB and more",
		Measure: measureSpec3, Plot: plotSpec3,
		Mutations: []paper.Mutation{{
			What: "RGET moves its bytes by puts", Mutate: paper.WithFault(bench.PutsGet), Measure: decides3,
			Claims: []string{"sends by RGET overlap, and nearly all of the longest", "sends by RGET make progress by themselves"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "Figure 3.13: latency beside computation is what equations 3.1 to 3.3 say",
				Paper: "the model", Judge: byEquations,
			},
			{
				Text:  "sends of eager messages overlap",
				Paper: "a high level", Judge: eagerSends,
			},
			{
				Text:  "sends by RGET overlap, and nearly all of the longest",
				Paper: "high, approaching 100 % at 1 MB", Judge: rgetSends,
			},
			{
				Text:  "sends of long messages by RPUT hardly overlap",
				Paper: "very low", Judge: lowFrom(measureOverlap, bench.SendSide, host.RPUT),
			},
			{
				Text:  "receives of eager messages overlap",
				Paper: "a high level", Judge: eagerReceives,
			},
			{
				Text:  "receives of long messages hardly overlap, by RGET",
				Paper: "very low", Judge: lowFrom(measureOverlap, bench.ReceiveSide, host.RGET),
			},
			{
				Text:  "receives of long messages hardly overlap, by RPUT",
				Paper: "very low", Judge: lowFrom(measureOverlap, bench.ReceiveSide, host.RPUT),
			},
			{
				Text:  "Figure 3.15: sends of eager messages make progress by themselves",
				Paper: "flat", Judge: flatSends(bench.Eager),
			},
			{
				Text:  "sends by RGET make progress by themselves",
				Paper: "flat", Judge: flatSends(string(host.RGET)),
			},
			{
				Text:  "sends by RPUT do not",
				Paper: "after the delay", Judge: lowFrom(measureProgress, bench.SendSide, host.RPUT),
			},
			{
				Text:  "of an eager message only the end of its receipt is left after the delay",
				Paper: "25 % (iWARP, 8 KB)", Judge: eagerLeft,
			},
			{
				Text:  "of a long message all of its receipt is left, by RGET",
				Paper: "all", Judge: lowFrom(measureProgress, bench.ReceiveSide, host.RGET),
			},
			{
				Text:  "of a long message all of its receipt is left, by RPUT",
				Paper: "all", Judge: lowFrom(measureProgress, bench.ReceiveSide, host.RPUT),
			},
		},
	}
}

func spec3Columns() []string {
	return []string{"measure", "protocol", "bytes", "side", "latency (µs)", "call (µs)", "share (%)", "off the equations (%)"}
}

// The same on a host that takes packets at no cost: what an eager receive loses is that.
const (
	measureFree         = "overlap, packets taken for nothing"
	measureProgressFree = "progress, packets taken for nothing"
)

// longFrom is where messages are long: what an RTS takes does not count any more.
const longFrom = 64 << 10

// byRMA is the shortest message that VELO does not carry.
const byRMA = host.EagerMax + 1

func spec3Sizes(e *paper.Env) (overlap, progress []int) {
	if e.Scale == paper.Small {
		return []int{64, 512, host.EagerMax, byRMA, 64 << 10}, []int{host.EagerMax, 64 << 10}
	}
	return []int{1, 64, 512, host.EagerMax, byRMA, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, []int{host.EagerMax, 256 << 10}
}

// A measured3 is one measure, of messages of some lengths.
type measured3 struct {
	measure, workload string
	sizes             []int
}

func measureSpec3(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	overlap, progress := spec3Sizes(e)
	return measureAll3(ctx, e, []measured3{{measureOverlap, measureOverlap, overlap}, {measureProgress, measureProgress, progress}, {measureFree, measureOverlap, overlap}, {measureProgressFree, measureProgress, progress}})
}

// decides3 is what decides the claims about sends by RGET.
func decides3(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	long := []int{longFrom}
	return measureAll3(ctx, e, []measured3{{measureOverlap, measureOverlap, long}, {measureProgress, measureProgress, long}})
}

func measureAll3(ctx context.Context, e *paper.Env, list []measured3) (*paper.Table, error) {
	t := &paper.Table{Columns: spec3Columns()}
	w := e.Use(paper.World{Nodes: 2, Procs: 1})
	for _, x := range list {
		c := e.BaseConfig(w, x.workload)
		c.Sizes = x.sizes
		if x.measure != x.workload {
			c.Sizes = slices.DeleteFunc(slices.Clone(x.sizes), func(n int) bool { return n > host.EagerMax })
			c.Cost.Take, c.Cost.CopyByte, c.Cost.Static, c.Cost.Dynamic = 0, 0, 0, 0
		}
		if e.Scale == paper.Small {
			c.Iterations = 5
		}
		c.Step = e.Step
		res, err := bench.MeasureOverlap(ctx, paper.Mutated(e, c), []host.Rendezvous{host.RGET, host.RPUT})
		if err != nil {
			return nil, err
		}
		e.RunCount += 3
		for _, r := range res.Rows {
			if r.Sender == bench.SameTime {
				t.Add(x.measure, r.Protocol, r.Bytes, r.Side, micros(r.Latency), micros(r.Call), 100*r.Share, 100*offEquations(&r.OverlapCase))
			}
		}
	}
	return t, nil
}

// offEquations is how far a sample is at most from what the equations say, in latencies: what of
// the longest computation is not hidden is t1 + t3, and before that the latency is that without
// computation.
func offEquations(c *bench.OverlapCase) (most float64) {
	last := c.Samples[len(c.Samples)-1]
	rest := last.Latency - last.Computation
	for _, s := range c.Samples {
		most = max(most, math.Abs(float64(s.Latency-max(c.Latency, s.Computation+rest)))/float64(max(c.Latency, drivers.Time(1))))
	}
	return most
}

// spec3 are the shares of a measure, by size.
func spec3(t *paper.Table, measure, protocol, side string) *paper.Table {
	return t.Where("measure", measure, "protocol", protocol, "side", side)
}

func spread(v []float64, unit string) string {
	return fmt.Sprintf("%.1f to %.1f %s", slices.Min(v), slices.Max(v), unit)
}

func byEquations(t *paper.Table) judge.Finding {
	v := t.Where("measure", measureOverlap).Values("off the equations (%)")
	return judge.Of(fmt.Sprintf("%.1f %% of the latency off at most, over %d cases", slices.Max(v), len(v)),
		judge.AtMost(slices.Max(v), 10))
}

// high is what counts as a high level.
const high = 60

func eagerSends(t *paper.Table) judge.Finding {
	rows := spec3(t, measureOverlap, bench.Eager, bench.SendSide)
	v := rows.Values("share (%)")
	var called []float64
	for i, l := range rows.Values("latency (µs)") {
		called = append(called, 100*rows.Values("call (µs)")[i]/l)
	}
	dma := spec3(t, measureOverlap, string(host.RGET), bench.SendSide).Only("share (%)", "bytes", byRMA)
	return judge.Of(fmt.Sprintf("%s; the call is %s of the latency; %d bytes, by RMA: %.1f %%", spread(v, "%"), spread(called, "%"), byRMA, dma),
		judge.AtLeast(slices.Min(v), high))
}

func eagerReceives(t *paper.Table) judge.Finding {
	v := spec3(t, measureOverlap, bench.Eager, bench.ReceiveSide).Values("share (%)")
	free := spec3(t, measureFree, bench.Eager, bench.ReceiveSide).Values("share (%)")
	return judge.Of(fmt.Sprintf("%s; where packets are taken for nothing %s", spread(v, "%"), spread(free, "%")),
		judge.AtLeast(slices.Min(v), high))
}

func rgetSends(t *paper.Table) judge.Finding {
	v := spec3(t, measureOverlap, string(host.RGET), bench.SendSide).Values("share (%)")
	return judge.Of(fmt.Sprintf("%s, %.1f %% of the longest", spread(v, "%"), v[len(v)-1]),
		judge.AtLeast(slices.Min(v), high), judge.AtLeast(v[len(v)-1], 95))
}

// low is what counts as hardly any.
const low = 15

func lowFrom(measure, side string, p host.Rendezvous) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := spec3(t, measure, string(p), side).Keep("bytes", paper.AtLeast(longFrom)).Values("share (%)")
		return judge.Of(spread(v, "%")+" from 64 KB on", judge.AtMost(slices.Max(v), low))
	}
}

func flatSends(protocol string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := spec3(t, measureProgress, protocol, bench.SendSide).Values("share (%)")
		return judge.Of(fmt.Sprintf("%.1f %% over when the delay ends", slices.Min(v)),
			judge.AtLeast(slices.Min(v), 95))
	}
}

func eagerLeft(t *paper.Table) judge.Finding {
	left := 100 - spec3(t, measureProgress, bench.Eager, bench.ReceiveSide).Values("share (%)")[0]
	free := 100 - spec3(t, measureProgressFree, bench.Eager, bench.ReceiveSide).Values("share (%)")[0]
	return judge.Of(fmt.Sprintf("%.1f %% at 2 KB; where packets are taken for nothing %.1f %%", left, free),
		judge.AtMost(left, 50))
}

func plotSpec3(t *paper.Table) (list []*figure.Figure) {
	for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
		f := &figure.Figure{
			Title: "Overlap of the " + side + " side, both post at one time",
			X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
			Y:     figure.Axis{Label: "overlap", Unit: "% of latency", Min: figure.At(0), Max: figure.At(105)},
		}
		for _, p := range []string{bench.Eager, string(host.RGET), string(host.RPUT)} {
			f.Series = append(f.Series, figure.Series{Name: p, Points: spec3(t, measureOverlap, p, side).Points("bytes", "share (%)")})
		}
		list = append(list, f)
	}
	return list
}
