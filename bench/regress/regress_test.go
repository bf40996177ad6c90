package regress

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

func options(t *testing.T) Options {
	return Options{Device: "ideal:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

var errBroken = errors.New("expected a, found b")

// sample has a test of every ending.
func sample() []Test {
	touch := func(t *T) error { _, err := t.Open(2, 1<<20, nil); return err }
	return []Test{
		{Name: "x/pass", Run: touch},
		{Name: "x/fail", Run: func(t *T) error { return errors.Join(touch(t), errBroken) }},
		{Name: "x/hang", Run: func(*T) error { return &bench.Verdict{Class: bench.HostBlocked} }},
		{Name: "x/panic", Run: func(*T) error { panic("oh") }},
		{Name: "x/cannot", Run: func(*T) error { return drivers.ErrNotSupported }},
	}
}

func TestEndings(t *testing.T) {
	o := options(t)
	out, err := Run(context.Background(), sample(), o)
	require.NoError(t, err)
	want := []Status{Passed, Failed, Hung, Failed, Skipped}
	for i, x := range out {
		require.Equal(t, want[i], x.Status, x.Test.Name)
	}
	require.ErrorIs(t, out[1].Err, errBroken)
	require.Contains(t, out[3].Err.Error(), "panic: oh")

	var text bytes.Buffer
	table := NewTable(&text, sample())
	table.Close(out)
	require.Contains(t, text.String(), "expected a, found b")
	require.Contains(t, text.String(), "rerun: nicloop regress x/fail --device ideal: --seed 1")
	require.Contains(t, text.String(), "1 passed, 3 failed, 1 skipped, of the failed 1 hung")

	log, err := os.ReadFile(filepath.Join(o.Dir, "x.fail", "test.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "seed 1; reproduce with: nicloop regress x/fail")

	file := filepath.Join(o.Dir, "results.xml")
	j, err := NewJUnit(file)
	require.NoError(t, err)
	for i := range out {
		require.NoError(t, j.Add(&out[i]))
	}
	require.NoError(t, j.Close(out))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var suite junitSuite
	require.NoError(t, xml.Unmarshal(b, &suite))
	require.Equal(t, 5, suite.Tests)
	require.Equal(t, 3, suite.Failures)
	require.Equal(t, "expected a, found b", suite.Cases[1].Failure.Message)
	require.Equal(t, drivers.ErrNotSupported.Error(), suite.Cases[4].Skipped.Message)
	require.Equal(t, "fail [seed 1]", suite.Cases[1].Name)
	require.Equal(t, "bench/regress/regress_test.go", suite.Cases[1].File)
	require.NotZero(t, suite.Cases[1].Line)
	props := map[string]string{}
	for _, p := range suite.Cases[1].Props {
		props[p.Name] = p.Value
	}
	require.Equal(t, "ideal:", props["device"])
	require.Equal(t, filepath.Join(o.Dir, "x.fail", "test.log"), props["log"])
	require.Equal(t, out[1].Rerun, props["rerun"])
}

func TestFailFastStops(t *testing.T) {
	o := options(t)
	o.Jobs, o.FailFast = 1, true
	out, err := Run(context.Background(), sample(), o)
	require.NoError(t, err)
	require.Equal(t, map[Status]int{Passed: 1, Failed: 1, NotRun: 3}, Count(out))
}

func TestRepeatTakesNewSeeds(t *testing.T) {
	o := options(t)
	o.Seed, o.Seeds = 40, 3
	seen := map[int64]uint64{}
	out, err := Run(context.Background(), []Test{{Name: "x/seed", Run: func(t *T) error {
		seen[t.Seed] = t.Rand.Uint64()
		return nil
	}}}, Options{Device: o.Device, Seed: 40, Seeds: 3, Jobs: 1, Timeout: time.Minute, Dir: o.Dir})
	require.NoError(t, err)
	require.Len(t, out, 3)
	require.Len(t, seen, 3)
	require.NotEqual(t, seen[40], seen[41])
}

func TestMissingToolEndsTheRegression(t *testing.T) {
	o := options(t)
	_, err := Run(context.Background(), []Test{{Name: "x/tool", Run: func(*T) error { return drivers.ErrEnvironment }}}, o)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
}

func TestBuildingAModelIsNotTheTestsTime(t *testing.T) {
	o := options(t)
	o.Timeout, o.NoWaves = 50*time.Millisecond, true
	out, err := Run(context.Background(), []Test{{Name: "x/first", Run: func(t *T) error {
		t.building("building …")
		select {
		case <-t.Ctx.Done():
			return t.Ctx.Err()
		case <-time.After(200 * time.Millisecond):
			return nil
		}
	}}}, o)
	require.NoError(t, err)
	require.Equal(t, Passed, out[0].Status)
}

func TestTimeoutSaysSo(t *testing.T) {
	o := options(t)
	o.Timeout, o.NoWaves = 50*time.Millisecond, true
	out, err := Run(context.Background(), []Test{{Name: "x/slow", Run: func(t *T) error {
		<-t.Ctx.Done()
		return t.Ctx.Err()
	}}}, o)
	require.NoError(t, err)
	require.ErrorContains(t, out[0].Err, "no verdict within 50ms")

	// One that has the time when it is repeated is not called indeterministic.
	o.NoWaves, o.Device = false, "model:"
	runs := 0
	out, err = Run(context.Background(), []Test{{Name: "x/sometimes", Run: func(t *T) error {
		if runs++; runs > 1 {
			return nil
		}
		<-t.Ctx.Done()
		return t.Ctx.Err()
	}}}, o)
	require.NoError(t, err)
	require.Equal(t, Flaky, out[0].Status)
	require.ErrorContains(t, out[0].Err, "the time was too short")
	require.NotContains(t, out[0].Err.Error(), "deterministic")
}
