package regress

import (
	"context"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// An error of a helper is the test's error, even if the test goes on and returns another or none.
func TestFail(t *testing.T) {
	first := errors.New("register SRCX: no such register")
	for _, returned := range []error{nil, errors.New("found 0, expected 4096")} {
		x := Test{Name: "mine/fails", Run: func(t *T) error {
			t.Fail(first)
			t.Fail(errors.New("a consequence"))
			return returned
		}}
		out := &Outcome{Test: x, Device: "model:", Dir: t.TempDir()}
		require.NoError(t, RunObserved(context.Background(), Options{Device: "model:", Timeout: 1 << 40}, out, nil))
		require.Equal(t, Failed, out.Status)
		require.ErrorIs(t, out.Err, first)
	}
}

func TestSame(t *testing.T) {
	var x T
	require.NoError(t, x.Same([]byte{1, 2}, []byte{1, 2}))
	require.EqualError(t, x.Same([]byte{1}, nil), "found 1 bytes, expected 0")
	require.EqualError(t, x.Same([]byte{1, 2, 3}, []byte{1, 0, 4}), "byte 0x1 of 0x3 is 0x02, expected 0x00; 2 bytes differ")
}

// Cycles are those of the design's clock; results of the NIC do not depend on it.
func TestCyclesOfDesign(t *testing.T) {
	require.Equal(t, uint64(10), (&Outcome{Simulated: 40 * drivers.Nanosecond, clock: 4 * drivers.Nanosecond}).Cycles())
	require.Equal(t, uint64(10), (&Outcome{Simulated: 64 * drivers.Nanosecond}).Cycles())
}
