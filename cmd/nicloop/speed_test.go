package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/cycles"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
)

// TestWallClockHasNoBaseline: what ends at a wall-clock time is compared with no baseline.
func TestWallClockHasNoBaseline(t *testing.T) {
	base, err := cycles.Parse("rtl:\tx/killed\t10\tfirst measurement\n")
	require.NoError(t, err)
	f := speedFlags{base: base, kind: "rtl:"}
	o := regress.Outcome{Test: regress.Test{Name: "x/killed"}, Seed: cycles.Seed, Simulated: drivers.Millisecond, Device: "rtl:"}
	require.ErrorContains(t, f.judge(&o), "slower than its baseline")
	o.Test.WallClock = true
	require.NoError(t, f.judge(&o))
}
