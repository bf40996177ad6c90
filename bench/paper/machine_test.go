package paper

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMachinesHaveRunsOfTheirOwn: what one machine has measured is not taken for the other's.
func TestMachinesHaveRunsOfTheirOwn(t *testing.T) {
	j, err := OpenJournal(filepath.Join(t.TempDir(), "runs.jsonl"), false)
	require.NoError(t, err)
	defer j.Close()
	runs := []Run{{World: World{Nodes: 2, Procs: 2}, Benchmark: "PingPong", Iterations: 1}}
	ours, err := j.keys(&Env{Device: "model:", Machine: OurMachine}, runs)
	require.NoError(t, err)
	papers, err := j.keys(&Env{Device: "model:", Machine: PaperMachine}, runs)
	require.NoError(t, err)
	require.NotEqual(t, ours, papers)
	for _, m := range Machines() {
		e := Env{Device: "ideal:", Machine: m}
		require.Equal(t, m.slotTime(), e.BaseConfig(World{Nodes: 2, Procs: 1}, "pingpong").SlotTime)
	}
	x := &Experiment{IDs: []string{"x"}}
	require.NotEqual(t, x.Name(Env{Device: "model:", Machine: OurMachine}), x.Name(Env{Device: "model:", Machine: PaperMachine}))
}
