package regress

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlow: a test that passes and takes too many cycles fails, and says so.
func TestSlow(t *testing.T) {
	o := options(t)
	o.Jobs, o.Device, o.Flags = 1, "model:", " --fail-slower 2%"
	var expected uint64
	o.Slow = func(out *Outcome) error { return SlowerThan(out, expected, out.Test.Tolerance, "baseline", "accept") }
	open := func(t *T) error { _, err := t.Open(2, 1<<20, nil); return err }
	wait := func(t *T) error {
		sys, err := t.Open(2, 1<<20, nil)
		if err != nil {
			return err
		}
		_, err = sys.Device(0).ReadReg(0)
		return err
	}
	tests := []Test{{Name: "x/wait", Run: wait}, {Name: "x/lax", Run: wait, Tolerance: 1000}, {Name: "x/open", Run: open}}
	out, err := Run(context.Background(), tests, o)
	require.NoError(t, err)
	require.Equal(t, map[Status]int{Failed: 2, Passed: 1}, Count(out), "nothing is expected to take no time")

	expected, o.Dir = out[0].Cycles()/2, t.TempDir()
	require.NotZero(t, expected)
	out, err = Run(context.Background(), tests, o)
	require.NoError(t, err)
	require.Equal(t, Failed, out[0].Status)
	require.ErrorContains(t, out[0].Err, "correct, but slower than its baseline")
	require.ErrorContains(t, out[0].Err, "if this is intended: accept")
	require.Equal(t, "slower than its baseline", out[0].Signature())
	require.Contains(t, out[0].Rerun, "--fail-slower 2%")
	require.Equal(t, Passed, out[1].Status, "within its tolerance")
	require.Equal(t, Passed, out[2].Status)
	require.Equal(t, 1, slowCount(out))
	failing := Test{Name: "x/fails", Run: func(*T) error { return errBroken }}
	o.Dir = t.TempDir()
	out, err = Run(context.Background(), []Test{failing}, o)
	require.NoError(t, err)
	require.ErrorIs(t, out[0].Err, errBroken)
	require.Zero(t, slowCount(out))
}
