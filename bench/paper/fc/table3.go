package fc

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

func table3() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-table3"}, Pure: true, Title: "Memory for flow control at a receiver",
		Paper: "FC, section 7.5, Equations 7 and 8, Table 3", Measure: measureTable3, Plot: plotTable3,
		Mutations: []paper.Mutation{
			{What: "structures take ten times as many bytes", Mutate: tenfoldStructures, Claims: []string{staticState, dynamicState}},
			{What: "dynamic flow control needs the slots of the static one", Mutate: slotsOfStatic, Claims: []string{dynamicTotal, lessThanAThird}},
			{What: "static flow control needs twice its slots", Mutate: doubleStaticSlots, Claims: []string{staticTotal}},
		},
		Claims: []paper.Claim{
			{
				Text:  staticState,
				Paper: "4n+2", Judge: structures("static", 4, 2),
			},
			{
				Text:  dynamicState,
				Paper: "150n", Judge: structures("dynamic", 150, 0),
			},
			{
				Text:  staticTotal,
				Paper: "1024 MB", Judge: total("static", 1024),
			},
			{
				Text:  dynamicTotal,
				Paper: "293.5 MB", Judge: total("dynamic", 293.5),
			},
			{
				Text:  lessThanAThird,
				Paper: "0.29", Judge: judgeShare,
			},
		},
	}
}

const (
	staticState    = "static structures take at most 4n+2 bytes for n processes"
	dynamicState   = "dynamic structures take at most 150n bytes for n processes"
	staticTotal    = "structures and buffers of the static flow control at 256K processes (extrapolated), with the published 64 slots"
	dynamicTotal   = "structures and buffers of the dynamic flow control at 256K processes (extrapolated), with the published 16 slots"
	lessThanAThird = "with the published slots dynamic flow control needs less than a third of the memory at every number of processes"
)

// The published sizes at which both have about 3 % overhead (section 7.5): slots per peer, credit
// slots included. fc-fig27 judges Table 3 with the sizes that are measured here.
const (
	staticSlots  = 64
	dynamicSlots = 16
	largest      = 256 << 10
	mebibyte     = 1 << 20
)

// A footprint is the memory of one flow control at a receiver: slots of its mailbox per peer, and
// what the bytes of its structures are multiplied by, which is 1 except in mutations.
type footprint struct {
	flow   string
	slots  int
	factor float64
}

func tenfoldStructures(config any) {
	if f, ok := config.(*footprint); ok {
		f.factor = 10
	}
}

func slotsOfStatic(config any) {
	if f, ok := config.(*footprint); ok {
		f.slots = staticSlots
	}
}

func doubleStaticSlots(config any) {
	if f, ok := config.(*footprint); ok && f.flow == "static" {
		f.slots *= 2
	}
}

// measureTable3 counts the bytes of real flow controls.
func measureTable3(_ context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{
		"flow control", "processes", "slots (published)", "structures (bytes)", "bytes per process", "mailbox (MB)", "total (MB)", "paper (MB)", "how",
	}}
	published := map[string][]float64{"static": {4, 16, 64, 256, 1024}, "dynamic": {1.14, 4.6, 18.3, 73.3, 293.5}}
	for _, flow := range []string{"static", "dynamic"} {
		slots := staticSlots
		if flow == "dynamic" {
			slots = dynamicSlots
		}
		of := paper.Mutated(e, footprint{flow, slots, 1})
		for i, n := 0, 1<<10; n <= largest; i, n = i+1, 4*n {
			all, structures, err := of.memory(n)
			if err != nil {
				return nil, err
			}
			how := "measured"
			if n > mailbox.MaxProcs {
				how = "extrapolated from 16K and 64K"
			}
			t.Add(flow, n, of.slots, structures, structures/float64(n), (all-structures)/mebibyte, all/mebibyte, published[flow][i], how)
		}
	}
	return t, nil
}

// memory returns the bytes of structures and mailbox among so many processes, and of the structures
// alone. Structures of more than mailbox.MaxProcs processes are extrapolated from two measured
// sizes.
func (f footprint) memory(procs int) (all, structures float64, err error) {
	const last, before = mailbox.MaxProcs, mailbox.MaxProcs / 4
	measure := func(n int) (float64, error) {
		bytes, err := stateBytes(f.flow, n, f.slots)
		return f.factor * float64(bytes), err
	}
	if procs <= last {
		structures, err = measure(procs)
	} else {
		var low, high float64
		if low, err = measure(before); err == nil {
			high, err = measure(last)
		}
		structures = high + (high-low)/(last-before)*float64(procs-last)
	}
	return structures + float64(f.slots)*float64(procs-1)*regs.SlotBytes, structures, err
}

func stateBytes(flow string, procs, slots int) (int, error) {
	const credit = 2
	c := mailbox.Config{Procs: procs, DataSlots: (slots - credit) * (procs - 1), CreditSlots: credit, Piggyback: true}
	start := mailbox.NewStatic
	if flow == "dynamic" {
		start = mailbox.NewDynamic
	}
	f, err := start(c)
	if err != nil {
		return 0, err
	}
	return mailbox.StateBytes(f), nil
}

// structures: at most perProcess bytes for each process and fixed besides.
func structures(flow string, perProcess, fixed float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		rows := t.Where("flow control", flow)
		sizes, checks := rows.Values("structures (bytes)"), []judge.Check(nil)
		for i, n := range rows.Values("processes") {
			checks = append(checks, judge.AtMost(sizes[i], perProcess*n+fixed))
		}
		return judge.Of(fmt.Sprintf("%.1f bytes per process at 1K, %.1f at 64K", rows.Only("bytes per process", "processes", 1<<10), rows.Only("bytes per process", "processes", 64<<10)),
			checks...)
	}
}

// total: no more than the paper's, within its rounding.
func total(flow string, published float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		mb := t.Only("total (MB)", "flow control", flow, "processes", largest)
		return judge.Of(fmt.Sprintf("%.1f MB", mb), judge.AtMost(mb, published*1.002))
	}
}

func plotTable3(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "Memory for flow control at a receiver", X: figure.Axis{Label: "processes", Scale: figure.Log2},
		Y: figure.Axis{Label: "structures and mailbox", Unit: "MB", Scale: figure.Log10},
	}
	for _, flow := range []string{"static", "dynamic"} {
		rows := t.Where("flow control", flow)
		f.Series = append(f.Series,
			figure.Series{Name: flow, Points: rows.Points("processes", "total (MB)")},
			figure.Series{Name: flow + ", paper", Points: rows.Points("processes", "paper (MB)")})
	}
	return []*figure.Figure{f}
}

func judgeShare(t *paper.Table) judge.Finding {
	worst := 0.0
	for n := 1 << 10; n <= largest; n *= 4 {
		worst = max(worst, t.Only("total (MB)", "flow control", "dynamic", "processes", n)/t.Only("total (MB)", "flow control", "static", "processes", n))
	}
	return judge.Of(fmt.Sprintf("at most %.2f", worst), judge.Below(worst, 1.0/3))
}
