package adapt

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// The tables below are as the paper has it, in round numbers.

func goodAdapt1(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: adapt1Columns()}
	for _, n := range adaptSizes(e) {
		us := float64(n) / 100
		t.Add(adaptDefault, 1, n, us, 5.0, 2*us, 1.0, us, 0.0)
		t.Add(adaptManual, 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 1000.0)
		t.Add(adaptOnDemand, 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 800.0)
		t.Add(adaptDynamic, 1, n, 1.1*us, 80.0, 1.21*us, 2.0, 0.2*us, 500.0)
		t.Add(adaptNotReady, 1, n, 1.1*us, 95.0, 1.1*us, 2.0, 0.1*us, 0.0)
	}
	for _, th := range manualChoices() {
		for _, n := range adaptSizes(e) {
			us := float64(n) / 100
			t.Add(manualAt(th), 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 900.0)
		}
	}
	n := adaptSizes(e)[len(adaptSizes(e))-1]
	t.Add(adaptDefault, slowCopies, n, 100.0, 5.0, 200.0, 1.0, 100.0, 0.0)
	t.Add(adaptManual, slowCopies, n, 200.0, 40.0, 250.0, 2.0, 100.0, 1000.0)
	t.Add(adaptFew, 1, n, 1.0*float64(n)/100, 60.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.Add(adaptFew, 0, n, 1.0*float64(n)/100, 97.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.Add(adaptManual, 0, n, 1.0*float64(n)/100, 70.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.Add(adaptPuts, 1, n, float64(n)/110, 5.0, 180.0, 1.0, 90.0, 0.0)
	return t
}

func goodAdapt2(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: adapt2Columns()}
	for _, th := range adapt2Thresholds() {
		for _, n := range append(append([]int{}, small2()...), between2) {
			rate := 10000.0 / float64(n)
			if th > host.EagerMax {
				rate *= 0.9
			}
			t.Add(th, n, rate, 100.0)
		}
	}
	return t
}

func goodAdapt8(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: adapt8Columns()}
	for _, w := range adaptWorlds(e) {
		for _, copies := range []int{1, slowCopies} {
			t.Add(w.Ranks(), adaptDefault, copies, 100.0, 5.0, 200.0)
			t.Add(w.Ranks(), adaptDynamic, copies, 110.0, 80.0, 120.0)
		}
	}
	return t
}

func goodAdapt9(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: adapt9Columns()}
	for i, w := range adaptWorlds(e) {
		n := haloBytes(e, w.Ranks())
		t.Add(w.Ranks(), adaptDefault, 0, n, 100.0, 0.0)
		t.Add(w.Ranks(), adaptDynamic, 0, n, 81.0, 300.0)
		for _, s := range []string{adaptManual, adaptOnDemand} {
			for k, th := range manualChoices() {
				time := 90.0
				switch k {
				case 4 - i%2:
					time = 80
				}
				t.Add(w.Ranks(), s, th, n, time, 1000.0)
			}
		}
	}
	return t
}

func goodAdapt10(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: adapt10Columns()}
	worlds := adaptWorlds(e)
	rows := func(w paper.World, problem, computation, changes, threshold int, long float64) {
		for i := range w.Ranks() {
			if i%2 == 0 && (problem == smaller || w.Ranks() == worlds[len(worlds)-1].Ranks()) {
				t.Add(w.Ranks(), problem, computation, i, 0, host.EagerMax, long, 5.0, 30.0, 100.0)
				continue
			}
			t.Add(w.Ranks(), problem, computation, i, changes, threshold, long, 5.0, 30.0, 100.0)
		}
	}
	for i, w := range worlds {
		rows(w, 1, 1, 3, 200000>>i, 10)
	}
	rows(worlds[len(worlds)-1], smaller, 1, 1, 4000, 5)
	for i, w := range worlds {
		rows(w, 1, quick, 3, 200000>>i, 4)
	}
	return t
}

func goodVariation(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: variationColumns()}
	for _, v := range []int{1, 2, 4, 8} {
		t.Add(v, adaptDynamic, 0, 100.0, 400.0)
		t.Add(v, adaptPublished, 0, 101.0, 450.0)
		for i, th := range manualChoices()[1:5] {
			t.Add(v, adaptManual, th, 130.0-10*float64(i), 1000.0)
		}
	}
	return t
}

func goodReclaim(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: reclaimColumns()}
	t.Add(0.0, 1, 10.0, 1000.0, 40, 0)
	t.Add(micro(early), 1, 12.0, 300.0, 2443, 2443)
	t.Add(micro(early), someWeight, 10.2, 600.0, 200, 160)
	return t
}

func init() {
	cases["adapt-variation"] = papertest.Case{Good: goodVariation, Plants: []func(*paper.Table){
		papertest.Set("time (ms)", 107.0, "setting", adaptDynamic, "variation (1/8)", 8),
		papertest.Set("time (ms)", 104.0, "setting", adaptPublished, "variation (1/8)", 4),
		papertest.Set("buffers (KB)", 501.0, "setting", adaptDynamic, "variation (1/8)", 2),
		papertest.Set("buffers (KB)", 501.0, "setting", adaptPublished, "variation (1/8)", 2),
	}}
	cases["adapt-reclaim"] = papertest.Case{Good: goodReclaim, Plants: []func(*paper.Table){
		papertest.Set("time (ms)", 10.1, "weights", 1),
		papertest.Set("freed", 2000, "weights", someWeight),
		papertest.Set("buffers at the end (KB)", 990.0, "weights", someWeight),
	}}
	cases["adapt-fig1"] = papertest.Case{Good: goodAdapt1, Plants: []func(*paper.Table){
		papertest.Scale("alone (µs)", 0.5, 0, "setting", adaptManual, "copies cost", 1),
		papertest.Scale("alone (µs)", 0.4, 0, "setting", adaptManual, "copies cost", slowCopies),
		papertest.Scale("alone (µs)", 2, 0, "setting", adaptPuts),
		papertest.Set("overlap (%)", 4.0, "setting", adaptManual, "bytes", 4<<10),
		papertest.Scale("beside (µs)", 2, 0, "setting", adaptManual, "bytes", 4<<10),
		papertest.Set("overlap (%)", 4.0, "setting", adaptDynamic, "bytes", 4<<10),
		papertest.Set("overlap (%)", 85.0, "setting", adaptFew, "copies cost", 0),
		papertest.Set("overlap (%)", 79.0, "setting", adaptNotReady, "bytes", 4<<10),
		papertest.Scale("beside (µs)", 1.2, 0, "setting", adaptNotReady, "bytes", 4<<10),
		papertest.Scale("beside (µs)", 0.9, 0, "setting", manualAt(manualChoices()[3]), "bytes", 4<<10),
		papertest.Scale("waits (µs)", 0.1, 0, "setting", adaptDefault, "bytes", 4<<10),
		papertest.Scale("buffers (KB)", 1.6, 0, "setting", adaptDynamic, "bytes", 4<<10),
		papertest.Set("buffers (KB)", 510.0, "setting", adaptOnDemand, "bytes", 4<<10),
	}}
	cases["adapt-fig2"] = papertest.Case{Good: goodAdapt2, Plants: []func(*paper.Table){
		papertest.Set("messages per ms", 10000.0/512, "threshold", adapt2Thresholds()[1], "bytes", 512),
		papertest.Set("in buffers (%)", 0.0, "threshold", adapt2Thresholds()[1], "bytes", 512),
	}}
	cases["adapt-fig8"] = papertest.Case{Good: goodAdapt8, Plants: []func(*paper.Table){
		papertest.Set("alone (µs)", 90.0, "setting", adaptDynamic, "copies cost", 1), papertest.Set("alone (µs)", 90.0, "setting", adaptDynamic, "copies cost", slowCopies), papertest.Set("overlap (%)", 20.0, "setting", adaptDynamic), papertest.Set("beside (µs)", 210.0, "setting", adaptDynamic),
	}}
	cases["adapt-fig9"] = papertest.Case{Good: goodAdapt9, Plants: []func(*paper.Table){
		papertest.Set("time (ms)", 79.0, "setting", adaptManual, "threshold", manualChoices()[3]),
		papertest.Set("time (ms)", 70.0, "setting", adaptManual, "threshold", manualChoices()[2], "processes", 8),
		papertest.Set("time (ms)", 110.0, "setting", adaptDynamic, "processes", 8),
		papertest.Set("time (ms)", 85.0, "setting", adaptDynamic, "processes", 8),
		papertest.Set("buffers (KB)", 1100.0, "setting", adaptDefault),
		papertest.Set("buffers (KB)", 510.0, "setting", adaptDynamic, "processes", 8),
		papertest.Set("buffers (KB)", 800.0, "setting", adaptDynamic),
		papertest.Set("buffers (KB)", 390.0, "setting", adaptOnDemand),
	}}
	cases["adapt-fig10"] = papertest.Case{Good: goodAdapt10, Plants: []func(*paper.Table){
		papertest.Set("changes", 0, "problem", 1),
		papertest.Set("changes", 2, "problem", 1),
		papertest.Set("changes", 2, "problem", smaller),
		papertest.Set("changes", 1, "process", 0),
		papertest.Set("greatest threshold", 5000, "problem", 1),
		papertest.Set("longest change (µs)", 20.0, "process", 1),
		papertest.Set("longest change (µs)", 9.0, "computation", quick),
		papertest.Set("core (µs)", 200.0, "process", 1),
		papertest.Set("notices (µs)", 99.0, "process", 1),
		papertest.Set("core (µs)", 400.0, "process", 1),
	}}
}

func TestAdapt(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, x := range []*paper.Experiment{fig8()} {
		rep, err := x.Run(context.Background(), paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2})
		require.NoError(t, err)
		require.True(t, rep.Claims[1].Holds(), rep.Claims[1].Ours)
		require.True(t, rep.Claims[2].Holds(), rep.Claims[2].Ours)
	}
}
