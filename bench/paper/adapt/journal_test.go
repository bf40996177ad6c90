package adapt

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/stretchr/testify/require"
)

// Runs with samples of their own are taken from the journal, too, and give the same.
func TestJournalOfValues(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	var runs []adaptRun
	for _, setting := range []string{adaptDefault, adaptDynamic} {
		runs = append(runs, adaptRun{World: paper.World{Nodes: 2, Procs: 1}, workload: "stencil", setting: setting, bytes: 8192, steps: 2, warmup: 4})
	}
	var first []adaptSample
	for _, had := range []int{0, 2} {
		j, err := paper.OpenJournal(name, true)
		require.NoError(t, err)
		e := &paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 1, Journal: j, Plan: func(left, known int, _ float64) {
			require.Equal(t, []int{2 - had, had}, []int{left, known})
		}}
		got, err := adaptSweep(context.Background(), e, runs)
		require.NoError(t, err)
		if had == 0 {
			first = got
		}
		require.Equal(t, first, got)
		require.NoError(t, j.Close())
	}
}
