package spec

import (
	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/host"
)

// Tables as SPEC has them, and for each claim the result that contradicts it.

func goodSpec3(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: spec3Columns()}
	overlap, progress := spec3Sizes(e)
	row := func(measure, protocol string, n int, side string, share float64) {
		t.Add(measure, protocol, n, side, 10., 1., share, 1.)
	}
	for _, n := range overlap {
		if n <= host.EagerMax {
			row(measureOverlap, bench.Eager, n, bench.SendSide, 85)
			row(measureOverlap, bench.Eager, n, bench.ReceiveSide, 80)
			row(measureFree, bench.Eager, n, bench.ReceiveSide, 90)
			continue
		}
		for _, p := range []host.Rendezvous{host.RGET, host.RPUT} {
			row(measureOverlap, string(p), n, bench.SendSide, map[host.Rendezvous]float64{host.RGET: 97, host.RPUT: 5}[p])
			row(measureOverlap, string(p), n, bench.ReceiveSide, 5)
		}
	}
	for _, n := range progress {
		if n <= host.EagerMax {
			row(measureProgress, bench.Eager, n, bench.SendSide, 100)
			row(measureProgress, bench.Eager, n, bench.ReceiveSide, 75)
			row(measureProgressFree, bench.Eager, n, bench.ReceiveSide, 95)
			continue
		}
		for _, p := range []host.Rendezvous{host.RGET, host.RPUT} {
			row(measureProgress, string(p), n, bench.SendSide, map[host.Rendezvous]float64{host.RGET: 100, host.RPUT: 3}[p])
			row(measureProgress, string(p), n, bench.ReceiveSide, 2)
		}
	}
	return t
}

func goodSpec414(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: spec414Columns()}
	for _, p := range []host.Rendezvous{host.RGET, host.Spec} {
		for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
			for _, sender := range specSenders() {
				for _, delay := range []float64{0, 2, bench.LongestDelay} {
					latency, left := 1., 0.
					switch {
					case p == host.RGET && side == bench.ReceiveSide:
						latency, left = 1+delay, 100
					case p == host.Spec && side == bench.SendSide && sender == bench.LateSender:
						latency, left = max(1, delay+0.08), 8
					}
					t.Add(string(p), side, sender, delay, latency, left)
				}
			}
		}
	}
	return t
}

func goodSpec416(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: spec416Columns()}
	for i, name := range exchangeModels() {
		for _, ratio := range ratios(e) {
			gain := 8 - 4*float64(i)
			switch {
			case i == 0 && ratio == 100:
				gain = 32
			case i == 1 && ratio == 50:
				gain = 20
			}
			t.Add(name, ratio, speculateNot, 100., 0., 0, 0.)
			for _, speculate := range speculates()[1:] {
				t.Add(name, ratio, speculate, 100-gain, gain, 24-22*i, 95.)
			}
		}
	}
	return t
}

func goodSpec417(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: spec417Columns()}
	type values struct{ always, adapt, used float64 }
	paper := map[string]values{
		"cg.A": {-1, -1, 0}, "cg.B": {-21, -4, 30}, "bt": {30, 28, 95}, "lu": {5, 5, 0}, "radix": {4, 4, 85},
	}
	for _, a := range applications() {
		for _, s := range settings(e) {
			v := paper[a.name]
			rtrs := 100
			if v.used == 0 {
				rtrs = 0
			}
			t.Add(a.name, micros(s.compute), s.jitter, speculateNot, 100., 0., 0., 0, 0., 0.)
			t.Add(a.name, micros(s.compute), s.jitter, speculateAlways, 100-v.always, v.always, v.always/2, rtrs, v.used, 0.01)
			t.Add(a.name, micros(s.compute), s.jitter, speculateAdapt, 100-v.adapt, v.adapt, v.adapt/2, rtrs, v.used, 0.01)
		}
	}
	return t
}

func goodSpec419(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: spec419Columns()}
	eager, long := spec419Sizes(e)
	for _, speculate := range speculates() {
		more := map[string]float64{speculateAlways: 2}[speculate]
		for _, n := range eager {
			t.Add(ofLatency, bench.Eager, n, speculate, 1., more/4, 0)
		}
		for _, n := range long {
			t.Add(ofLatency, ofLong, n, speculate, 100+more, more, 20)
		}
	}
	for _, a := range applications() {
		t.Add(ofData, a.name, a.bytes, speculateAlways, 0.03, 0.03, 20)
	}
	return t
}

func init() {
	share := func(v float64, measure, protocol, side string, n int) func(*paper.Table) {
		return papertest.Set("share (%)", v, "measure", measure, "protocol", protocol, "side", side, "bytes", n)
	}
	rget, rput := string(host.RGET), string(host.RPUT)
	everyProgress := func(v float64, protocol, side string) func(*paper.Table) {
		return papertest.Set("share (%)", v, "measure", measureProgress, "protocol", protocol, "side", side)
	}
	everyOverlap := func(v float64, protocol, side string) func(*paper.Table) {
		return papertest.Set("share (%)", v, "measure", measureOverlap, "protocol", protocol, "side", side)
	}
	cases["spec-fig3.13"] = papertest.Case{Good: goodSpec3, Plants: []func(*paper.Table){
		papertest.Set("off the equations (%)", 30., "measure", measureOverlap, "protocol", rget, "bytes", 64<<10),
		share(10, measureOverlap, bench.Eager, bench.SendSide, 512),
		share(30, measureOverlap, rget, bench.SendSide, byRMA),
		share(40, measureOverlap, rput, bench.SendSide, 64<<10),
		share(20, measureOverlap, bench.Eager, bench.ReceiveSide, 512),
		everyOverlap(50, rget, bench.ReceiveSide), everyOverlap(50, rput, bench.ReceiveSide),
		everyProgress(60, bench.Eager, bench.SendSide), everyProgress(60, rget, bench.SendSide), everyProgress(60, rput, bench.SendSide),
		everyProgress(20, bench.Eager, bench.ReceiveSide), everyProgress(60, rget, bench.ReceiveSide), everyProgress(60, rput, bench.ReceiveSide),
	}}
	at414 := func(column string, v float64, p host.Rendezvous, side, sender string) func(*paper.Table) {
		return papertest.Set(column, v, "protocol", string(p), "side", side, "sender", sender)
	}
	cases["spec-fig4.14"] = papertest.Case{Good: goodSpec414, Plants: []func(*paper.Table){
		at414(leftAfter, 30, host.RGET, bench.ReceiveSide, bench.LateSender),
		at414(leftAfter, 30, host.Spec, bench.ReceiveSide, bench.EarlySender),
		at414(latencies, 1.5, host.Spec, bench.SendSide, bench.EarlySender),
		at414(latencies, 3, host.RGET, bench.SendSide, bench.LateSender),
		at414(latencies, 1, host.Spec, bench.SendSide, bench.LateSender),
		at414(leftAfter, 40, host.Spec, bench.SendSide, bench.LateSender),
	}}
	gain416 := func(v float64, model string, conditions ...any) func(*paper.Table) {
		return papertest.Set("gain (%)", v, append([]any{"model", model, "speculation", speculateAlways}, conditions...)...)
	}
	cases["spec-fig4.16"] = papertest.Case{Good: goodSpec416, Plants: []func(*paper.Table){
		gain416(10, "exchange1"), gain416(30, "exchange1", "communication (%)", 10),
		gain416(10, "exchange2"), gain416(19, "exchange2", "communication (%)", 400),
		gain416(33, "exchange2", "communication (%)", 100),
		papertest.Set("used (%)", 20., "model", "exchange1", "communication (%)", 50),
		papertest.Set("gain (%)", 3., "model", "exchange1", "communication (%)", 100, "speculation", speculateAdapt),
	}}
	less := func(v float64, name, speculate string) func(*paper.Table) {
		return papertest.Set(waitsLess, v, "application", name, "speculation", speculate)
	}
	cases["spec-fig4.17"] = papertest.Case{Good: goodSpec417, Plants: []func(*paper.Table){
		less(2, "bt", speculateAlways), papertest.Set(usedRTRs, 40., "application", "bt", "speculation", speculateAlways),
		less(-3, "lu", speculateAlways), papertest.Set("RTRs", 7, "application", "lu", "speculation", speculateAlways),
		less(0, "radix", speculateAlways), less(-5, "cg.A", speculateAdapt), less(-2, "cg.B", speculateAlways),
		papertest.Set(usedRTRs, 90., "application", "cg.B", "speculation", speculateAlways), less(-12, "cg.B", speculateAdapt), less(12, "cg.B", speculateAlways),
	}}
	cases["spec-fig4.19"] = papertest.Case{Good: goodSpec419, Plants: []func(*paper.Table){
		papertest.Set("more (%)", 1.5, "of", bench.Eager, "speculation", speculateAlways), papertest.Set("more (%)", 4., "of", ofLong, "speculation", speculateAlways),
		papertest.Set("more (%)", 2., "of", ofLong, "speculation", speculateAdapt), papertest.Set("value", 90., "of", ofLong, "speculation", speculateAlways),
		papertest.Set("value", 0.2, "of", "bt"),
	}}
}
