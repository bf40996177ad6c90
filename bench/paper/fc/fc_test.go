package fc

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// TestPaperMachine: the one figure of the paper's machine gives the reference of FC, section 5.3.
func TestPaperMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a second")
	}
	e := paper.Env{Device: "model:", Machine: paper.PaperMachine, Scale: paper.Small, Seed: 1, Jobs: 1, Cores: 1}
	s, err := performOne(&e, references()[0].run)
	require.NoError(t, err)
	require.InDelta(t, references()[0].paper, s.Time, 0.1, "nicloop reproduce fc-references --machine paper --scale small")
}

// TestNothingToJudge: a claim about what a scale leaves out is not judged.
func TestNothingToJudge(t *testing.T) {
	all := goodReferences(nil)
	require.Len(t, referenceTimes().Judge(all), 5)
	all.Rows = all.Rows[:3]
	for _, v := range referenceTimes().Judge(all) {
		require.NotContains(t, v.Claim, "1,024")
	}
	require.Len(t, referenceTimes().Judge(all), 4)
}

// TestMachineIsMeasured: an experiment that makes its run itself makes it on the machine that its
// report names.
func TestMachineIsMeasured(t *testing.T) {
	var tables []*paper.Table
	for _, m := range paper.Machines() {
		e := paper.Env{Device: "ideal:", Machine: m, Scale: paper.Small, Seed: 1, Jobs: 1, Cores: 1}
		rep, err := fig19().Run(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, m, rep.Machine)
		tables = append(tables, rep.Table)
	}
	require.NotEqual(t, tables[0].Rows, tables[1].Rows, "nicloop reproduce fc-fig19 --machine both --scale small --device ideal:")
}

// cases are, for each experiment, a table on which every claim holds (nil: run
// it), and one wrong result for each claim.
var cases = map[string]papertest.Case{
	"fc-table1": {Good: nil, Plants: []func(*paper.Table){
		papertest.Set("threshold", 52, "formula", "eq1", "quota", 100, "credit slots", 1),
		papertest.Set("violation", "overflow", "formula", "a", "quota", 100, "explored", "2 processes"),
		papertest.Set("violation", "deadlock", "formula", "b", "quota", 3, "explored", "2 processes"),
		papertest.Set("verdict", "refuted", "formula", "eq1", "quota", 3, "credit slots", 2, "explored", "2 processes"),
	}},
	"fc-table3": {Good: nil, Plants: []func(*paper.Table){
		papertest.Set("structures (bytes)", 5000.0, "flow control", "static", "processes", 1<<10),
		papertest.Set("structures (bytes)", 1e9, "flow control", "dynamic", "processes", 1<<16),
		papertest.Set("total (MB)", 1100.0, "flow control", "static", "processes", 1<<18),
		papertest.Set("total (MB)", 300.0, "flow control", "dynamic", "processes", 1<<18),
		papertest.Set("total (MB)", 2.0, "flow control", "dynamic", "processes", 1<<10),
	}},
	"fc-fig14": {Good: nil, Plants: []func(*paper.Table){
		papertest.Set("explicit credits", 3, "block", 1), papertest.Set("explicit credits", 4, "block", 2),
		papertest.Set("explicit credits", 2, "block", 3), papertest.Set("intended quota", 10, "block", 4),
		papertest.Set("explicit credits", 0, "block", 4), papertest.Set("piggybacks", 1, "block", 5),
		papertest.Set("thresholds", "2 2 2", "block", 6), papertest.Set("piggybacked credits", 0, "block", 7),
		papertest.Set("explicit credits", 0, "block", 8),
	}},
	"fc-references": {Good: goodReferences, Plants: []func(*paper.Table){
		papertest.Set("here / paper", 0.9, "reference", "multi-pingpong, 1 hop"), papertest.Set("here / paper", 1.1, "reference", "multi-pingpong, 14 hops"),
		papertest.Set("here (µs)", 50.2, "reference", "multi-pingpong, 14 hops"), papertest.Set("here / paper", 0.7, "reference", "alltoall, 256 processes"),
		papertest.Set("here / paper", 2.0, "reference", "alltoall, 1,024 processes"),
	}},
	"fc-fig4": {Good: goodFig4, Plants: []func(*paper.Table){
		papertest.Scale("overhead (%)", 0.5, 0, "hops", 14), papertest.Scale("overhead (%)", 1, 5, "hops", 14),
		papertest.Scale("delayed (%)", 0.5, 0, "hops", 14), papertest.Set("delayed (%)", 20.0, "hops", 14, "credit slots", 3, "slots", 52),
		papertest.Scale("delayed (%)", 1, 30, "credit slots", 4), papertest.Scale("overhead (%)", 1, 5, "credit slots", 1),
	}},
	"fc-fig6": {Good: goodFig6, Plants: []func(*paper.Table){
		papertest.Set("overhead (%)", 41.0, "processes", 1024, "credit slots", 1, "slots", 38),
		papertest.Set("delayed (%)", 10.0, "processes", 1024, "credit slots", 5, "slots", 41),
		papertest.Scale("overhead (%)", 0.5, 0, "processes", 1024), papertest.Scale("overhead (%)", 1, 20, "processes", 1024),
		papertest.Scale("delayed (%)", 0.5, 0, "processes", 256),
		papertest.Scale("overhead (%)", 1, 9, "processes", 1024, "credit slots", 2), papertest.Scale("overhead (%)", 1, 9, "processes", 1024, "credit slots", 2),
		papertest.Set("overhead (%)", 6.0, "processes", 1024, "credit slots", 2, "slots", 58),
	}},
	"fc-table2": {Good: goodTable2, Plants: []func(*paper.Table){
		papertest.Set("overhead (%)", 30.0, "credit slots", 2, "slots", 57), papertest.Set("delayed (%)", 0.0, "credit slots", 5, "slots", 48),
		papertest.Set("overhead (%)", 2.0, "credit slots", 1),
	}},
	"fc-fig9": {Good: goodFig9, Plants: []func(*paper.Table){
		papertest.Set("credit packets", 1001, "piggyback", "true", "slots", 10), papertest.Scale("overhead (%)", 1, 9, "piggyback", "true"),
		papertest.Set("credit packets", 800, "piggyback", "true"), papertest.Set("piggybacks", 65, "bytes", 2048, "slots", 60),
	}},
	"fc-fig10": {Good: goodFig10, Plants: []func(*paper.Table){
		papertest.Set("overhead (%)", 1.0, "flow control", "static", "one of", 8, "slots", 30),
		papertest.Set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 2, "slots", 60),
		papertest.Set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 4, "slots", 30),
		papertest.Set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 8, "slots", 10),
		papertest.Scale("overhead (%)", 1, 30, "flow control", "dynamic", "one of", 4),
	}},
	"fc-fig16": {Good: goodFig16, Plants: []func(*paper.Table){
		papertest.Scale("total (%)", 1.5, 0, "pattern", "alltoall", "flow control", "dynamic"),
		papertest.Scale("total (%)", 1.5, 0, "pattern", "alltoall", "flow control", "dynamic"),
		papertest.Scale("total (%)", 9, 0, "pattern", "multi-pingpong", "flow control", "dynamic"),
		papertest.Scale("computation (%)", 9, 0, "pattern", "multi-pingpong", "flow control", "dynamic"),
	}},
	"fc-fig18": {Good: goodFig18, Plants: []func(*paper.Table){
		papertest.Scale("overhead (%)", 3, 0, "nodes", 2, "flow control", "dynamic"), papertest.Scale("overhead (%)", 3, 0, "nodes", 4, "flow control", "dynamic"),
		papertest.Scale("overhead (%)", 3, 0, "nodes", 8, "flow control", "dynamic"), papertest.Scale("overhead (%)", 3, 0, "nodes", 16, "flow control", "dynamic"),
	}},
	"fc-fig19": {Good: goodFig19, Plants: []func(*paper.Table){
		papertest.Set("credits (median)", 20.0, "phase", 6, "ranks", "first quarter"), papertest.Set("credits (median)", 5.0, "phase", 4, "ranks", "upper half"),
		papertest.Set("credits (median)", 90.0, "phase", 2, "ranks", "upper half"), papertest.Set("credits (median)", 8.2, "phase", 3, "ranks", "upper half"),
	}},
	"fc-fig20": {Good: goodFig20, Plants: []func(*paper.Table){
		papertest.Scale("overhead (%)", 2, 0, "flow control", "dynamic", "slots", 16), papertest.Scale("overhead (%)", 2, 0, "flow control", "static", "slots", 64),
		papertest.Scale("overhead (%)", 0.1, 0, "flow control", "static", "slots", 16), papertest.Scale("overhead (%)", 0.1, 0, "flow control", "static", "slots", 32),
		papertest.Scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 8),
		papertest.Scale("overhead (%)", 2, 0, "flow control", "dynamic"), papertest.Scale("overhead (%)", 3, 0, "flow control", "dynamic", "slots", 16),
		papertest.Scale("overhead (%)", 0.25, 0, "flow control", "static"),
		papertest.Scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 64, "pattern", "balanced"),
		papertest.Scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 32, "pattern", "localized"),
		papertest.Scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 16, "pattern", "by RMA"),
		papertest.Scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 8, "pattern", "balanced"),
	}},
	"fc-fig24": {Good: goodFig24, Plants: []func(*paper.Table){
		papertest.Set("overhead (%)", 1.0, "benchmark", "Scatterv", "flow control", "static", "slots", 32),
		papertest.Set("overhead (%)", 40.0, "benchmark", "Scatterv", "flow control", "dynamic", "per root", 50),
		papertest.Set("reference (µs)", 90.0, "benchmark", "Scatterv", "per root", 50),
		papertest.Scale("time (µs)", 2, 0, "benchmark", "Reduce_scatter", "flow control", "static"),
		papertest.Set("overhead (%)", 1.0, "benchmark", "Gatherv", "flow control", "dynamic", "slots", 8),
	}},
}

// The report of a simulated experiment does not depend on the number of concurrent runs, and it
// states that the experiment was scaled down.
func TestSimulatedExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates an experiment twice")
	}
	var first string
	for _, jobs := range []int{1, 3} {
		rep, err := fig9().Run(context.Background(), paper.Env{Device: "model:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: jobs})
		require.NoError(t, err)
		b, err := json.Marshal(rep)
		require.NoError(t, err)
		if first != "" {
			require.Equal(t, first, string(b))
		}
		first = string(b)
		var out bytes.Buffer
		rep.Print(&out)
		require.Contains(t, out.String(), "SCALED DOWN (--scale small): the paper has 1,024 processes")
		require.Contains(t, out.String(), "runs on: model:, 4 nodes x 4 processes, seed 1")
		_, err = rep.Save(t.TempDir(), "f")
		require.NoError(t, err)
	}
}

// performOne performs one run.
func performOne(e *paper.Env, r paper.Run) (paper.Sample, error) {
	list, err := e.Sweep(context.Background(), []paper.Run{r})
	if err != nil {
		return paper.Sample{}, err
	}
	return list[0], nil
}

// Benchmarks that count as the same give the same numbers.
func TestSameBenchmarks(t *testing.T) {
	e := &paper.Env{Device: "model:", Scale: paper.Small, Seed: 1, Samples: 1}
	for a, b := range sameAs() {
		r := paper.Run{World: paper.World{Nodes: 2, Procs: 2}, Flow: velo.Dynamic, Slots: 16, Piggyback: true, Iterations: 3, Warmup: 1}
		for _, r.Linear = range []bool{false, true} {
			r.Benchmark = a
			one, err := performOne(e, r)
			require.NoError(t, err)
			r.Benchmark = b
			other, err := performOne(e, r)
			require.NoError(t, err)
			require.Equal(t, one, other, "%s and %s", a, b)
		}
	}
}

// shortAt are the alltoalls of 2 KB, of the first hundred, in which a sender finds fewer credits
// than its message has packets. Between alltoalls a receiver keeps the credits of fewer packets
// than its threshold.
func shortAt(slots, credit int) (list []int) {
	packets, quota := host.Packets(2048), slots-credit
	threshold, kept := mailbox.Eq1.Threshold(quota, credit), 0
	for k := 1; k <= 100; k++ {
		if quota-kept < packets {
			list = append(list, k)
		}
		kept = (kept + packets) % threshold
	}
	return list
}

// FC, Equation 5: one slot below it most senders are short of credits in one of the alltoalls that
// the thin scales time, from Equation 5 on they never are.
func TestRhythm(t *testing.T) {
	e := &paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1}
	delayed := func(slots, credit, alltoalls int) int {
		r := e.Alltoall(paper.World{Nodes: 4, Procs: 4}, velo.Static, slots, credit)
		r.Warmup, r.Iterations = 0, alltoalls
		s, err := performOne(e, r)
		require.NoError(t, err)
		return int(s.Flow.DelayedMessages)
	}
	const pairs = 16 * 15
	for credit := 1; credit <= mostCredit; credit++ {
		slots := equation5(credit) - 1
		if credit == 1 {
			slots = 64
		}
		at := shortAt(slots, credit)
		require.Greater(t, at[0], 1, "%d credit slots: the first alltoall is not timed", credit)
		require.LessOrEqual(t, at[0], 1+rhythm)
		require.Greater(t, at[1], 1+rhythm)
		require.Greater(t, delayed(slots, credit, at[0])-delayed(slots, credit, at[0]-1), pairs/2, "%d credit slots, alltoall %d", credit, at[0])
		require.Empty(t, shortAt(equation5(credit), credit))
		require.Less(t, delayed(equation5(credit), credit, 1+rhythm), pairs/5, "%d credit slots: barriers", credit)
	}
}

func TestReportSaysWhatItIs(t *testing.T) {
	var b bytes.Buffer
	papertest.Small(t, table1()).Print(&b)
	require.Contains(t, b.String(), "runs on: the protocol code itself")
	require.NotContains(t, b.String(), "SCALED DOWN")
	require.Contains(t, b.String(), "HOLDS      the thresholds of the ten pairs\n           paper: Table 1\n           ours:  30 of 30 equal\n           1 sample: 30 (30 exactly)\n")
}

// FC, section 7.4.1: roots that do not scatter beside each other wait for credits; and with a root
// that stays quotas do settle, what is left is the bookkeeping of its packets.
func TestScattervReasons(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty runs")
	}
	rep, err := fig24().Run(context.Background(), paper.Env{Device: "model:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2, Why: true})
	require.NoError(t, err)
	require.Equal(t, "SS", papertest.ReasonWords(rep), "%+v", rep.Reasons)
}

// FC, section 7.4: two processes pay for each packet's bookkeeping, whatever the buffers; without
// it they pay for credits alone, nothing with 64 slots.
func TestPingPongPaysForBookkeeping(t *testing.T) {
	e := &paper.Env{Device: "model:", Scale: paper.Small, Seed: 1, Samples: 1}
	var runs []paper.Run
	for _, flow := range flows() {
		r := imbRun(e, "PingPong", flow, 64)
		runs = append(runs, r)
		free(&r)
		runs = append(runs, r)
	}
	samples, refs, err := e.Compare(context.Background(), runs)
	require.NoError(t, err)
	for i, flow := range flows() {
		paid, without := samples[2*i].Overhead(refs[2*i]), samples[2*i+1].Overhead(refs[2*i+1])
		require.Greater(t, paid, 10.0, "%s", flow)
		require.Less(t, without, 2.0, "%s", flow)
	}
}

// TestNeeded: the size for 3 % is interpolated; a flow control that is not acceptable at the
// largest size has none, and the claims about it differ.
func TestNeeded(t *testing.T) {
	table := goodFig20(&paper.Env{})
	for flow, want := range map[string]float64{"static": 55.7, "dynamic": 13.9} {
		slots, reached := needed(table, flow)
		require.True(t, reached)
		require.InDelta(t, want, slots, 0.05)
	}
	papertest.Scale("overhead (%)", 2.1, 0, "flow control", "static")(table) // 5.2 % with 64 slots
	_, reached := needed(table, "static")
	require.False(t, reached)
	for _, f := range []judge.Finding{fewerBuffers(table), memoryAtNeeded(table)} {
		outcome, _ := judge.Decide([]judge.Finding{f})
		require.Equal(t, judge.Differs, outcome, f.Ours)
	}
	papertest.Scale("overhead (%)", 0.01, 0, "flow control", "static")(table)
	slots, reached := needed(table, "static")
	require.True(t, reached)
	require.EqualValues(t, 8, slots, "the smallest that is measured")
}
