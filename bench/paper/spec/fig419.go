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

func fig419() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"spec-fig4.19"}, Title: "What speculation costs where it gains nothing: latency, and data",
		Paper: "SPEC, section 4.4.3, Figure 4.19", PaperSize: "2 nodes, 1 byte to 1 MB; 4 nodes for the data",
		Freedom: "how long ranks compute between messages",
		Measure: measureSpec419, Plot: plotSpec419,
		Mutations: []paper.Mutation{{
			What: "receivers send no RTR", Mutate: paper.WithFault(bench.NoRTRs), Measure: decides419,
			Claims: []string{"long messages whose RTRs cross take little longer without adaptation", "every RTR of these crosses its message", "applications send hardly more data"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "eager messages take hardly longer",
				Paper: "< 1 %", Judge: costs(bench.Eager, speculateAlways, 1),
			},
			{
				Text:  "long messages whose RTRs cross take little longer without adaptation",
				Paper: "< 3 %", Judge: costsWithRTRs(3),
			},
			{
				Text:  "with adaptation they do not",
				Paper: "none", Judge: costs(ofLong, speculateAdapt, 0.5),
			},
			{
				Text:  "every RTR of these crosses its message",
				Paper: "by the timing", Judge: allCross,
			},
			{
				Text:  "applications send hardly more data",
				Paper: "< 0.04 %", Judge: extraData,
			},
		},
	}
}

// What a row of this table is of.
const (
	ofLong    = "rendezvous"
	ofLatency = "latency (µs)"
	ofData    = "extra data (%)"
)

func spec419Columns() []string {
	return []string{"measure", "of", "bytes", "speculation", "value", "more (%)", "RTRs"}
}

func spec419Sizes(e *paper.Env) (eager, long []int) {
	if e.Scale == paper.Small {
		return []int{64, host.EagerMax}, []int{4 << 10, 64 << 10}
	}
	return []int{1, 64, 512, host.EagerMax}, []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
}

func measureSpec419(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	eager, long := spec419Sizes(e)
	t, err := measureLatency419(ctx, e, eager, long)
	if err != nil {
		return nil, err
	}
	return t, addExtraData(ctx, e, t, applications())
}

// decides419 is what decides the claims about RTRs.
func decides419(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t, err := measureLatency419(ctx, e, nil, []int{16 << 10})
	if err != nil {
		return nil, err
	}
	return t, addExtraData(ctx, e, t, named("cg.B"))
}

func measureLatency419(ctx context.Context, e *paper.Env, eager, long []int) (*paper.Table, error) {
	t := &paper.Table{Columns: spec419Columns()}
	before := map[int]drivers.Time{}
	for _, speculate := range speculates() {
		p := host.Spec
		if speculate == speculateNot {
			p = host.RGET
		}
		c := e.BaseConfig(e.Use(paper.World{Nodes: 2, Procs: 1}), measureProgress)
		c.Sizes, c.Rendezvous, c.AlwaysSpeculate, c.Step = append(slices.Clone(eager), long...), p, speculate == speculateAlways, e.Step
		if e.Scale == paper.Small {
			c.Iterations = 10
		}
		res, err := bench.MeasureOverlap(ctx, paper.Mutated(e, c), []host.Rendezvous{p})
		if err != nil {
			return nil, err
		}
		e.RunCount += 2
		for _, r := range res.Rows {
			if r.Side != bench.ReceiveSide || r.Sender != bench.SameTime { // both post at one time: an RTR meets an RTS
				continue
			}
			if speculate == speculateNot {
				before[r.Bytes] = r.Latency
			}
			of := ofLong
			if r.Bytes <= host.EagerMax {
				of = bench.Eager
			}
			t.Add(ofLatency, of, r.Bytes, speculate, micros(r.Latency), -shorter(before[r.Bytes], r.Latency), int(r.RTRs))
		}
	}
	return t, nil
}

// addExtraData adds what applications send besides.
func addExtraData(ctx context.Context, e *paper.Env, t *paper.Table, list []application) error {
	var runs []appRun
	var names []string
	for _, a := range list {
		for _, speculate := range speculates()[1:] {
			names = append(names, a.name)
			r := appRun{a.pattern, speculate, a.bytes, appCompute, appJitter, e.Seed, a.iterations, nil}
			if e.Scale == paper.Small {
				r.iterations = min(r.iterations, 6)
			}
			runs = append(runs, r)
		}
	}
	rows, err := apps(ctx, e, paper.World{Nodes: 4, Procs: 1}, runs)
	if err != nil {
		return err
	}
	for i, r := range runs {
		s := rows[i].App
		extra := extraShare(s)
		t.Add(ofData, names[i], r.bytes, r.speculate, extra, extra, int(s.RTRs))
	}
	return nil
}

func costs(of, speculate string, most float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := t.Where("measure", ofLatency, "of", of, "speculation", speculate).Values("more (%)")
		return judge.Of(spread(v, "%"), judge.Below(slices.Max(v), most))
	}
}

// costsWithRTRs is the same of messages that do cross RTRs.
func costsWithRTRs(most float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		f := costs(ofLong, speculateAlways, most)(t)
		return judge.Of(f.Ours, append(f.Checks, sendsRTRs(t))...)
	}
}

// sendsRTRs requires RTRs for messages of every length: what is not sent costs nothing.
func sendsRTRs(t *paper.Table) judge.Check {
	return judge.AtLeast(slices.Min(t.Where("measure", ofLatency, "of", ofLong, "speculation", speculateAlways).Values("RTRs")), 1)
}

// allCross: an RTR that were used would make a message faster by what its RTS takes, half a
// microsecond.
func allCross(t *paper.Table) judge.Finding {
	v := t.Where("measure", ofLatency, "of", ofLong, "speculation", speculateAlways).Values("value")
	before := t.Where("measure", ofLatency, "of", ofLong, "speculation", speculateNot).Values("value")
	most := 0.0
	for i := range v {
		most = max(most, before[i]-v[i])
	}
	return judge.Of(fmt.Sprintf("none is faster by more than %.2f µs", most), judge.Below(most, 0.1), sendsRTRs(t))
}

func extraData(t *paper.Table) judge.Finding {
	v := t.Where("measure", ofData).Values("value")
	return judge.Of(fmt.Sprintf("%.4f %% at most", slices.Max(v)), judge.Above(slices.Max(v), 0), judge.Below(slices.Max(v), 0.04))
}

func plotSpec419(t *paper.Table) []*figure.Figure {
	latency := &figure.Figure{
		Title: "What speculation costs: latency",
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2}, Y: figure.Axis{Label: "longer", Unit: "%"},
	}
	data := &figure.Figure{Title: "What speculation costs: data", Y: figure.Axis{Label: "extra data", Unit: "%"}, Groups: paper.Distinct[string](t.Where("measure", ofData), "of")}
	for _, speculate := range speculates()[1:] {
		latency.Series = append(latency.Series, figure.Series{Name: speculate, Points: t.Where("measure", ofLatency, "speculation", speculate).Points("bytes", "more (%)")})
		data.Series = append(data.Series, figure.Series{Name: speculate, Points: t.Where("measure", ofData, "speculation", speculate).Points("bytes", "value")})
	}
	return []*figure.Figure{latency, data}
}
