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

var specFig419 = &Experiment{
	IDs: []string{"spec-fig4.19"}, Title: "What speculation costs where it gains nothing: latency, and data",
	Paper: "SPEC, section 4.4.3, Figure 4.19", PaperSize: "2 nodes, 1 byte to 1 MB; 4 nodes for the data",
	measure: measureSpec419, plot: plotSpec419,
	claims: []claim{
		{"eager messages take hardly longer", "< 1 %", costs(bench.Eager, speculateAlways, 1)},
		{"long messages whose RTRs cross take little longer without adaptation", "< 3 %", costs(ofLong, speculateAlways, 3)},
		{"with adaptation they do not", "none", costs(ofLong, speculateAdapt, 0.5)},
		{"every RTR of these crosses its message", "by the timing", allCross},
		{"applications send hardly more data", "< 0.04 %", extraData},
	},
}

// What a row of this table is of.
const (
	ofLong    = "rendezvous"
	ofLatency = "latency (µs)"
	ofData    = "extra data (%)"
)

var spec419Columns = []string{"measure", "of", "bytes", "speculation", "value", "more (%)"}

func (e *Env) spec419Sizes() (eager, long []int) {
	if e.Scale == Small {
		return []int{64, host.EagerMax}, []int{4 << 10, 64 << 10}
	}
	return []int{1, 64, 512, host.EagerMax}, []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
}

func measureSpec419(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: spec419Columns}
	eager, long := e.spec419Sizes()
	before := map[int]drivers.Time{}
	for _, speculate := range speculates {
		p := host.Spec
		if speculate == speculateNot {
			p = host.RGET
		}
		c := e.on(e.use(world{nodes: 2, procs: 1}), measureProgress)
		c.Sizes, c.Rendezvous, c.AlwaysSpeculate, c.Step = append(slices.Clone(eager), long...), p, speculate == speculateAlways, e.Step
		if e.Scale == Small {
			c.Iterations = 10
		}
		res, err := bench.MeasureOverlap(ctx, c, []host.Rendezvous{p})
		if err != nil {
			return nil, err
		}
		e.runs += 2
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
			t.add(ofLatency, of, r.Bytes, speculate, micros(r.Latency), -shorter(before[r.Bytes], r.Latency))
		}
	}
	return t, e.addExtraData(ctx, t)
}

// addExtraData adds what applications send besides.
func (e *Env) addExtraData(ctx context.Context, t *Table) error {
	var runs []appRun
	var names []string
	for _, a := range applications {
		for _, speculate := range speculates[1:] {
			names = append(names, a.name)
			r := appRun{a.pattern, speculate, a.bytes, appCompute, appJitter, e.Seed, a.iterations, nil}
			if e.Scale == Small {
				r.iterations = min(r.iterations, 6)
			}
			runs = append(runs, r)
		}
	}
	rows, err := e.apps(ctx, world{nodes: 4, procs: 1}, runs)
	if err != nil {
		return err
	}
	for i, r := range runs {
		s := rows[i].App
		extra := 100 * float64(s.Extra) / float64(max(s.Messages, 1))
		t.add(ofData, names[i], r.bytes, r.speculate, extra, extra)
	}
	return nil
}

func costs(of, speculate string, most float64) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		v := t.where("measure", ofLatency, "of", of, "speculation", speculate).values("more (%)")
		return spread(v, "%"), slices.Max(v) < most
	}
}

// allCross: an RTR that were used would make a message faster by what its RTS takes, half a
// microsecond.
func allCross(t *Table) (string, bool) {
	v := t.where("measure", ofLatency, "of", ofLong, "speculation", speculateAlways).values("value")
	before := t.where("measure", ofLatency, "of", ofLong, "speculation", speculateNot).values("value")
	most := 0.0
	for i := range v {
		most = max(most, before[i]-v[i])
	}
	return fmt.Sprintf("none is faster by more than %.2f µs", most), most < 0.1
}

func extraData(t *Table) (string, bool) {
	v := t.where("measure", ofData).values("value")
	return fmt.Sprintf("%.4f %% at most", slices.Max(v)), slices.Max(v) < 0.04
}

func plotSpec419(t *Table) []*figure.Figure {
	latency := &figure.Figure{
		Title: "What speculation costs: latency",
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2}, Y: figure.Axis{Label: "longer", Unit: "%"},
	}
	data := &figure.Figure{Title: "What speculation costs: data", Y: figure.Axis{Label: "extra data", Unit: "%"}, Groups: distinct[string](t.where("measure", ofData), "of")}
	for _, speculate := range speculates[1:] {
		latency.Series = append(latency.Series, figure.Series{Name: speculate, Points: t.where("measure", ofLatency, "speculation", speculate).points("bytes", "more (%)")})
		data.Series = append(data.Series, figure.Series{Name: speculate, Points: t.where("measure", ofData, "speculation", speculate).points("bytes", "value")})
	}
	return []*figure.Figure{latency, data}
}
