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

// The error of a panic shows the lines of the test, and none of the runner or the runtime.
func TestPanic(t *testing.T) {
	err := safely(func(*T) error { return indexed(nil) }, nil)
	var p *PanicError
	require.ErrorAs(t, err, &p)
	require.ErrorContains(t, err, "panic: runtime error: index out of range [3] with length 0\n")
	require.Len(t, p.Calls, 2)
	require.Regexp(t, `^.*regress\.indexed \(.*fail_test\.go:\d+\)$`, p.Calls[0])
	require.Regexp(t, `^.*regress\.TestPanic\.func1 \(.*fail_test\.go:\d+\)$`, p.Calls[1])
}

//go:noinline
func indexed(list []error) error { return list[3] }

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
	for _, e := range []Ending{{Cycles: 10, Simulated: 40 * drivers.Nanosecond}, {Cycles: 3, Simulated: 24_200}, {Cycles: 0}} {
		var out Outcome
		out.end(e) // of another machine
		require.Equal(t, e.Cycles, out.Cycles())
		require.Equal(t, e.Simulated, out.Simulated)
	}
}
