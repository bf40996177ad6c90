package regress

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// TestInterrupted: who interrupts a regression makes no test fail.
func TestInterrupted(t *testing.T) {
	o := options(t)
	o.Jobs = 1
	ctx, cancel := context.WithCancel(context.Background())
	out, err := Run(ctx, []Test{
		{Name: "x/pass", Run: func(*T) error { return nil }},
		{Name: "x/under-way", Run: func(t *T) error {
			cancel()
			<-t.Ctx.Done()
			return errBroken // whatever it makes of that
		}},
		{Name: "x/never", Run: func(*T) error { return errBroken }},
	}, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, map[Status]int{Passed: 1, Stopped: 1, NotRun: 1}, Count(out))
	require.ErrorContains(t, out[2].Err, "not run: interrupted")
	var text strings.Builder
	NewTable(&text, nil).Close(out)
	require.Contains(t, text.String(), "x/never: not run: interrupted")
	require.Contains(t, text.String(), "1 passed, 0 failed, 0 skipped, 1 not run, 1 interrupted")
	file := filepath.Join(o.Dir, "results.xml")
	j, err := NewJUnit(file)
	require.NoError(t, err)
	require.NoError(t, j.Add(&out[0]))
	require.NoError(t, j.Add(&out[1]))
	require.NoError(t, j.Close(out))
	results, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(results), `tests="1" failures="0" skipped="0"`)
	require.Contains(t, string(results), `<property name="without_verdict" value="2">`)
}

// A signal to the process group ends the simulator before the regression has handled its own: that
// is an interrupt, and no failure of the test. A simulator that dies by itself is one.
func TestSimulatorDiesOfTheSameSignal(t *testing.T) {
	for _, signalled := range []bool{true, false} {
		o := options(t)
		o.Jobs = 1
		ctx, cancel := context.WithCancel(context.Background())
		out, _ := Run(ctx, []Test{{Name: "x/dies", Run: func(*T) error {
			if signalled {
				time.AfterFunc(signalGrace/4, cancel)
			}
			return fmt.Errorf("the simulator has ended: %w", drivers.ErrPeerDied)
		}}}, o)
		cancel()
		require.Len(t, out, 1)
		require.Equal(t, signalled, out[0].Status == Stopped, "%v", out[0].Status)
	}
}

// TestResultsGrow: what has ended stands in results.xml while the rest runs.
func TestResultsGrow(t *testing.T) {
	o := options(t)
	o.Jobs, o.Seeds = 1, 3
	file := filepath.Join(t.TempDir(), "results.xml")
	j, err := NewJUnit(file)
	require.NoError(t, err)
	j.cost = 0
	read := func() (s junitSuite) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal(text, &s))
		return s
	}
	require.Zero(t, read().Tests)
	o.Done = func(o Outcome, done, of int) error {
		err := j.Add(&o)
		j.cost = 0 // else it may wait for the next
		require.LessOrEqual(t, done-1, read().Tests)
		return err
	}
	out, err := Run(context.Background(), sample()[:2], o)
	require.NoError(t, err)
	require.NoError(t, j.Close(out))
	names := map[string]bool{}
	for _, c := range read().Cases {
		names[c.Class+"."+c.Name] = true
	}
	require.Len(t, names, 6, "no two of a name")
}

// TestLogOnAFullDisk: a test whose log is lost has not simply passed.
func TestLogOnAFullDisk(t *testing.T) {
	o := options(t)
	dir := filepath.Join(o.Dir, "x.pass")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, "test.log")))
	_, err := Run(context.Background(), []Test{{Name: "x/pass", Run: func(*T) error { return nil }}}, o)
	require.ErrorIs(t, err, syscall.ENOSPC)
}

// TestResultsOnAFullDisk: results that cannot be written end the regression, and are an error
// before it begins.
func TestResultsOnAFullDisk(t *testing.T) {
	_, err := NewJUnit(filepath.Join(t.TempDir(), "nowhere", "results.xml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	o := options(t)
	o.Jobs = 1
	full := errors.New("no space left")
	o.Done = func(Outcome, int, int) error { return full }
	out, err := Run(context.Background(), sample(), o)
	require.ErrorIs(t, err, full)
	require.Equal(t, NotRun, out[1].Status)
}

// TestEmptyWaves: a wave file with nothing in it is not shown as if it were one.
func TestEmptyWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.fst")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	o := Outcome{Err: errBroken}
	o.keepWaves(file, nil)
	require.Empty(t, o.Waves)
	require.ErrorContains(t, o.Err, "no whole waves of it: the file is empty")
	require.NoFileExists(t, file)
}

// TestWindowOfSeveralWorlds: each world of a test begins at cycle 0, so what happened last is
// counted from there.
func TestWindowOfSeveralWorlds(t *testing.T) {
	x := &T{}
	x.AddSimulated(90000 * clockPS)
	x.AddSimulated(30000 * clockPS)
	require.EqualValues(t, 10000, windowStart(x))
	x.AddSimulated(100 * clockPS)
	require.EqualValues(t, 0, windowStart(x))
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"rtl:": "rtl:", "velo/lengths": "velo/lengths", "": "''",
		"rtl:?dims=2x2&torus=1": `'rtl:?dims=2x2&torus=1'`, "it's": `'it'\''s'`,
	} {
		require.Equal(t, want, Quoted(word))
	}
}

// TestShards: the shards of a list are all of it, each once, and the same every time.
func TestShards(t *testing.T) {
	seen := map[string]int{}
	for shard := 1; shard <= 3; shard++ {
		o := options(t)
		o.Seeds, o.Shard, o.Shards = 4, shard, 3
		out, err := Run(context.Background(), sample()[:1:1], o)
		require.NoError(t, err)
		for _, x := range out {
			seen[x.Rerun]++
		}
	}
	require.Len(t, seen, 4)
	for rerun, n := range seen {
		require.Equal(t, 1, n, rerun)
	}
}

// TestRetriesTellFlakyFromBroken: with the same seed, what is broken fails again.
func TestRetriesTellFlakyFromBroken(t *testing.T) {
	o := options(t)
	o.Jobs, o.NoWaves, o.Retries = 1, true, 2
	n := 0
	out, err := Run(context.Background(), []Test{
		{Name: "x/broken", Run: func(*T) error { return errBroken }},
		{Name: "x/flaky", Run: func(*T) error {
			if n++; n < 3 {
				return errBroken
			}
			return nil
		}},
	}, o)
	require.NoError(t, err)
	require.Equal(t, Failed, out[0].Status)
	require.Equal(t, 3, out[0].Runs)
	require.Equal(t, Flaky, out[1].Status)
	require.ErrorContains(t, out[1].Err, "run 3 with the same seed passed")
	require.FileExists(t, filepath.Join(out[1].Dir, "test.retry2.log"))
}

// TestDeadline: until then there are new seeds, then nothing begins and nothing has failed for
// that.
func TestDeadline(t *testing.T) {
	o := options(t)
	o.Jobs, o.Deadline = 1, time.Now().Add(300*time.Millisecond)
	seeds := map[int64]bool{}
	out, err := Run(context.Background(), []Test{{Name: "x/seed", Run: func(t *T) error {
		seeds[t.Seed] = true
		time.Sleep(20 * time.Millisecond)
		return nil
	}}}, o)
	require.NoError(t, err)
	require.Greater(t, len(seeds), 3)
	require.Equal(t, len(seeds), Count(out)[Passed])
	o.Dir, o.Deadline = t.TempDir(), time.Now()
	out, err = Run(context.Background(), sample(), o)
	require.NoError(t, err)
	require.Equal(t, map[Status]int{NotRun: 5}, Count(out))
	require.ErrorContains(t, out[0].Err, "the deadline came before")
}

// TestOnly: what failed last can be run alone.
func TestOnly(t *testing.T) {
	o := options(t)
	o.Only = []Pick{{"x/pass", 2}, {"x/unknown", 1}}
	out, err := Run(context.Background(), sample(), o)
	require.NoError(t, err)
	require.Len(t, out, 1)
	require.EqualValues(t, 2, out[0].Seed)
}
