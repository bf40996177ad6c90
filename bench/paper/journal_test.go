package paper

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// A sweep that is cut short at any run, or within a line of the journal, and taken up again gives
// what one gives that was not, and measures no run twice.
func TestJournal(t *testing.T) {
	var runs []Run
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	for _, slots := range []int{10, 16, 30} {
		runs = append(runs, e.Alltoall(World{Nodes: 2, Procs: 2}, velo.Static, slots, 2))
	}
	want, refs, err := e.Compare(context.Background(), runs)
	require.NoError(t, err)
	const all = 4 // three and their reference

	name := filepath.Join(t.TempDir(), "runs.jsonl")
	sweep := func(stopAfter int) (done int, err error) {
		j, err := OpenJournal(name, true)
		require.NoError(t, err)
		defer j.Close()
		known, foreign := j.Runs()
		require.Zero(t, foreign)
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		e := &Env{Device: "model:", Scale: Small, Seed: 1, Jobs: 1, Journal: j, Plan: func(left, had int, _ float64) {
			require.Equal(t, known, had)
			require.Equal(t, all-known, left)
		}}
		e.Step = func(int, int) {
			if n, _ := j.Runs(); n-known == stopAfter {
				cancel(errors.New("cut short"))
			}
		}
		got, gotRefs, err := e.Compare(ctx, runs)
		if err == nil {
			require.Equal(t, want, got)
			require.Equal(t, refs, gotRefs)
		}
		n, _ := j.Runs()
		return n - known, err
	}
	for _, step := range []int{1, 2} {
		done, err := sweep(step)
		require.Error(t, err)
		require.Equal(t, step, done)
	}
	torn, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, torn[:len(torn)-5], 0o600))
	done, err := sweep(all)
	require.NoError(t, err)
	require.Equal(t, 2, done, "one more, and the one whose line was torn")
	done, err = sweep(all)
	require.NoError(t, err)
	require.Zero(t, done)
}

// What a result depends on makes a run another one.
func TestJournalKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	params := filepath.Join(t.TempDir(), "params.json")
	j, err := OpenJournal(file, false)
	require.NoError(t, err)
	defer j.Close()
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	r := e.Alltoall(World{Nodes: 2, Procs: 2}, velo.Static, 10, 2)
	other := r
	other.Hosts = []int{0, 1}
	tree := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(tree, "rtl"), 0o700))
	seen := map[string]bool{}
	for i, c := range []struct {
		device, file string
		seed         int64
		r            Run
	}{
		{"model:", "", 1, r}, {"model:", "", 2, r}, {"model:", "", 1, other}, {"model:?torus=1", "", 1, r},
		{"model:?params=" + params, "a", 1, r}, {"model:?params=" + params, "b", 1, r},
		{"rtl:?src=" + tree, "a", 1, r}, {"rtl:?src=" + tree, "b", 1, r},
	} {
		require.NoError(t, os.WriteFile(params, []byte(c.file), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(tree, "rtl", "top.sv"), []byte(c.file), 0o600))
		keys, err := j.keys(&Env{Device: c.device, Scale: Small, Seed: c.seed}, []Run{c.r})
		require.NoError(t, err)
		require.False(t, seen[keys[0]], "%d: %s", i, keys[0])
		seen[keys[0]] = true
	}
}

// Runs of another program are not taken; a file that is no journal is not overwritten.
func TestJournalOfOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(`{"program":"another","run":"r","time_us":1}`+"\n"), 0o600))
	j, err := OpenJournal(name, true)
	require.NoError(t, err)
	known, foreign := j.Runs()
	require.Equal(t, [2]int{0, 1}, [2]int{known, foreign})
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(name, []byte("time,slots\n1,2\n"), 0o600))
	_, err = OpenJournal(name, true)
	require.ErrorContains(t, err, "expected a line of JSON")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "time,slots\n1,2\n", string(text))
}
