package batch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// failing makes squeue fail a number of times before it succeeds.
func failing(t *testing.T, times string) {
	t.Helper()
	t.Setenv("FAILURES", times)
	bin := filepath.SplitList(os.Getenv("PATH"))[0]
	require.NoError(t, os.WriteFile(filepath.Join(bin, "squeue"), []byte(`#!/bin/sh
n=$(cat "$STATE/asked" 2>/dev/null || echo 0); echo $((n + 1)) >"$STATE/asked"
[ "$n" -ge "$FAILURES" ] || { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
`), 0o755))
}

// TestSqueueFailsForAWhile: an unreachable controller does not end a nightly run. Tasks that finish
// meanwhile are reported immediately, and none is cancelled.
func TestSqueueFailsForAWhile(t *testing.T) {
	dir := stand(t)
	failing(t, "5")
	t.Setenv("LOSE", "1") // decided only after squeue has recovered
	got := map[int]bool{}
	require.NoError(t, slurm(dir).Run(t.Context(), make([]Task, 3), func(i int, _ Record) error {
		got[i] = true
		return nil
	}))
	require.Len(t, got, 3)
	require.NoFileExists(t, filepath.Join(os.Getenv("STATE"), "cancelled"))
}

// TestSqueueFailsForGood: a permanent failure ends the run; results so far have been reported.
func TestSqueueFailsForGood(t *testing.T) {
	dir := stand(t)
	failing(t, "1000000")
	defer func(was time.Duration) { squeuePatience = was }(squeuePatience)
	squeuePatience = 300 * time.Millisecond
	t.Setenv("LOSE", "1")
	got := map[int]bool{}
	err := slurm(dir).Run(t.Context(), make([]Task, 3), func(i int, _ Record) error {
		got[i] = true
		return nil
	})
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "squeue has failed for 300ms")
	require.ErrorContains(t, err, "Unable to contact slurm controller")
	require.Equal(t, map[int]bool{0: true, 2: true}, got)
}
