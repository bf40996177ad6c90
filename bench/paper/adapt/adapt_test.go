package reproduce

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// The tables below are as the paper has it, in round numbers.

func goodAdapt1(e *Env) *Table {
	t := &Table{Columns: adapt1Columns}
	for _, n := range e.adaptSizes() {
		us := float64(n) / 100
		t.add(adaptDefault, 1, n, us, 5.0, 2*us, 1.0, us, 0.0)
		t.add(adaptManual, 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 1000.0)
		t.add(adaptOnDemand, 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 800.0)
		t.add(adaptDynamic, 1, n, 1.1*us, 80.0, 1.21*us, 2.0, 0.2*us, 500.0)
		t.add(adaptNotReady, 1, n, 1.1*us, 95.0, 1.1*us, 2.0, 0.1*us, 0.0)
	}
	for _, th := range manualChoices {
		for _, n := range e.adaptSizes() {
			us := float64(n) / 100
			t.add(manualAt(th), 1, n, 1.1*us, 80.0, 1.2*us, 2.0, 0.2*us, 900.0)
		}
	}
	n := e.adaptSizes()[len(e.adaptSizes())-1]
	t.add(adaptDefault, slowCopies, n, 100.0, 5.0, 200.0, 1.0, 100.0, 0.0)
	t.add(adaptManual, slowCopies, n, 200.0, 40.0, 250.0, 2.0, 100.0, 1000.0)
	t.add(adaptFew, 1, n, 1.0*float64(n)/100, 60.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.add(adaptFew, 0, n, 1.0*float64(n)/100, 97.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.add(adaptManual, 0, n, 1.0*float64(n)/100, 70.0, 1.0*float64(n)/100, 2.0, 0.1, 1000.0)
	t.add(adaptPuts, 1, n, float64(n)/110, 5.0, 180.0, 1.0, 90.0, 0.0)
	return t
}

func goodAdapt2(*Env) *Table {
	t := &Table{Columns: adapt2Columns}
	for _, th := range adapt2Thresholds {
		for _, n := range append(append([]int{}, small2...), between2) {
			rate := 10000.0 / float64(n)
			if th > host.EagerMax {
				rate *= 0.9
			}
			t.add(th, n, rate, 100.0)
		}
	}
	return t
}

func goodAdapt8(e *Env) *Table {
	t := &Table{Columns: adapt8Columns}
	for _, w := range e.adaptWorlds() {
		for _, copies := range []int{1, slowCopies} {
			t.add(w.ranks(), adaptDefault, copies, 100.0, 5.0, 200.0)
			t.add(w.ranks(), adaptDynamic, copies, 110.0, 80.0, 120.0)
		}
	}
	return t
}

func goodAdapt9(e *Env) *Table {
	t := &Table{Columns: adapt9Columns}
	for i, w := range e.adaptWorlds() {
		n := e.haloBytes(w.ranks())
		t.add(w.ranks(), adaptDefault, 0, n, 100.0, 0.0)
		t.add(w.ranks(), adaptDynamic, 0, n, 81.0, 300.0)
		for _, s := range []string{adaptManual, adaptOnDemand} {
			for k, th := range manualChoices {
				time := 90.0
				switch k {
				case 4 - i%2:
					time = 80
				case 4:
					time = 82
				}
				t.add(w.ranks(), s, th, n, time, 1000.0)
			}
		}
	}
	return t
}

func goodAdapt10(e *Env) *Table {
	t := &Table{Columns: adapt10Columns}
	worlds := e.adaptWorlds()
	rows := func(w world, problem, computation, changes, threshold int, long float64) {
		for i := range w.ranks() {
			if i%2 == 0 && (problem == smaller || w.ranks() == worlds[len(worlds)-1].ranks()) {
				t.add(w.ranks(), problem, computation, i, 0, host.EagerMax, long, 5.0, 30.0, 100.0)
				continue
			}
			t.add(w.ranks(), problem, computation, i, changes, threshold, long, 5.0, 30.0, 100.0)
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

func init() {
	cases["adapt-fig1"] = planted{goodAdapt1, []func(*Table){
		scale("alone (µs)", 0.5, 0, "setting", adaptManual, "copies cost", 1),
		scale("alone (µs)", 0.4, 0, "setting", adaptManual, "copies cost", slowCopies),
		scale("alone (µs)", 2, 0, "setting", adaptPuts),
		set("overlap (%)", 4.0, "setting", adaptManual, "bytes", 4<<10),
		scale("beside (µs)", 2, 0, "setting", adaptManual, "bytes", 4<<10),
		set("overlap (%)", 4.0, "setting", adaptDynamic, "bytes", 4<<10),
		set("overlap (%)", 85.0, "setting", adaptFew, "copies cost", 0),
		set("overlap (%)", 79.0, "setting", adaptNotReady, "bytes", 4<<10),
		scale("beside (µs)", 1.2, 0, "setting", adaptNotReady, "bytes", 4<<10),
		scale("beside (µs)", 0.9, 0, "setting", manualAt(manualChoices[3]), "bytes", 4<<10),
		scale("waits (µs)", 0.1, 0, "setting", adaptDefault, "bytes", 4<<10),
		scale("buffers (KB)", 1.6, 0, "setting", adaptDynamic, "bytes", 4<<10),
		set("buffers (KB)", 510.0, "setting", adaptOnDemand, "bytes", 4<<10),
	}}
	cases["adapt-fig2"] = planted{goodAdapt2, []func(*Table){
		set("messages per ms", 10000.0/512, "threshold", adapt2Thresholds[1], "bytes", 512),
		set("in buffers (%)", 0.0, "threshold", adapt2Thresholds[1], "bytes", 512),
	}}
	cases["adapt-fig8"] = planted{goodAdapt8, []func(*Table){
		set("alone (µs)", 90.0, "setting", adaptDynamic, "copies cost", 1), set("alone (µs)", 90.0, "setting", adaptDynamic, "copies cost", slowCopies), set("overlap (%)", 20.0, "setting", adaptDynamic), set("beside (µs)", 210.0, "setting", adaptDynamic),
	}}
	cases["adapt-fig9"] = planted{goodAdapt9, []func(*Table){
		set("time (ms)", 79.0, "setting", adaptManual, "threshold", manualChoices[3]),
		set("time (ms)", 79.0, "setting", adaptManual, "threshold", manualChoices[2], "processes", 8),
		set("time (ms)", 110.0, "setting", adaptDynamic, "processes", 8),
		set("time (ms)", 85.0, "setting", adaptDynamic, "processes", 8),
		set("buffers (KB)", 1100.0, "setting", adaptDefault),
		set("buffers (KB)", 510.0, "setting", adaptDynamic, "processes", 8),
		set("buffers (KB)", 800.0, "setting", adaptDynamic),
		set("buffers (KB)", 390.0, "setting", adaptOnDemand),
	}}
	cases["adapt-fig10"] = planted{goodAdapt10, []func(*Table){
		set("changes", 0, "problem", 1),
		set("changes", 2, "problem", 1),
		set("changes", 2, "problem", smaller),
		set("changes", 1, "process", 0),
		set("greatest threshold", 5000, "problem", 1),
		set("longest change (µs)", 20.0, "process", 1),
		set("longest change (µs)", 9.0, "computation", quick),
		set("core (µs)", 200.0, "process", 1),
		set("notices (µs)", 99.0, "process", 1),
		set("core (µs)", 400.0, "process", 1),
	}}
}

func TestAdapt(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, x := range []*Experiment{adaptFig8} {
		rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Seed: 1, Jobs: 2})
		require.NoError(t, err)
		require.True(t, rep.Claims[1].Holds, rep.Claims[1].Ours)
		require.True(t, rep.Claims[2].Holds, rep.Claims[2].Ours)
	}
}
