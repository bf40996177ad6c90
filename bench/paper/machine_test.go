package reproduce

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPaperMachine: the one figure of the paper's machine gives the reference of FC, section 5.3.
func TestPaperMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a second")
	}
	e := Env{Device: "model:", Machine: PaperMachine, Scale: Small, Seed: 1, Jobs: 1, Cores: 1}
	s, err := performOne(&e, references[0].run)
	require.NoError(t, err)
	require.InDelta(t, references[0].paper, s.time, 0.1, "nicloop reproduce fc-references --machine paper --scale small")
}

// TestNothingToJudge: a claim about what a scale leaves out is not judged.
func TestNothingToJudge(t *testing.T) {
	all := goodReferences(nil)
	require.Len(t, fcReferences.judge(all), 5)
	all.Rows = all.Rows[:3]
	for _, v := range fcReferences.judge(all) {
		require.NotContains(t, v.Claim, "1,024")
	}
	require.Len(t, fcReferences.judge(all), 4)
}

// TestMachinesHaveRunsOfTheirOwn: what one machine has measured is not taken for the other's.
func TestMachinesHaveRunsOfTheirOwn(t *testing.T) {
	j, err := OpenJournal(filepath.Join(t.TempDir(), "runs.jsonl"), false)
	require.NoError(t, err)
	defer j.Close()
	runs := []run{{world: world{nodes: 2, procs: 2}, benchmark: "PingPong", iterations: 1}}
	ours, err := j.keys(&Env{Device: "model:", Machine: OurMachine}, runs)
	require.NoError(t, err)
	papers, err := j.keys(&Env{Device: "model:", Machine: PaperMachine}, runs)
	require.NoError(t, err)
	require.NotEqual(t, ours, papers)
	for _, m := range Machines() {
		e := Env{Device: "ideal:", Machine: m}
		require.Equal(t, m.slotTime(), e.on(world{nodes: 2, procs: 1}, "pingpong").SlotTime)
	}
	x := &Experiment{IDs: []string{"x"}}
	require.NotEqual(t, x.Name(Env{Device: "model:", Machine: OurMachine}), x.Name(Env{Device: "model:", Machine: PaperMachine}))
}

// TestMachineIsMeasured: an experiment that makes its run itself makes it on the machine that its
// report names.
func TestMachineIsMeasured(t *testing.T) {
	var tables []*Table
	for _, m := range Machines() {
		e := Env{Device: "ideal:", Machine: m, Scale: Small, Seed: 1, Jobs: 1, Cores: 1}
		rep, err := fcFig19.Run(t.Context(), e)
		require.NoError(t, err)
		require.Equal(t, m, rep.Machine)
		tables = append(tables, rep.Table)
	}
	require.NotEqual(t, tables[0].Rows, tables[1].Rows, "nicloop reproduce fc-fig19 --machine both --scale small --device ideal:")
}
