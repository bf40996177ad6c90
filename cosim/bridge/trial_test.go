package bridge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// holds runs a trial to its end and tells what it holds to; cost is the time per cycle, and every
// so many exchanges the core is lost for some milliseconds.
func holds(x *trial, cost [ways]time.Duration, cycles, losses int) way {
	for n := 1; x.trying; n++ {
		x.begin()
		spent := cost[x.way] * time.Duration(cycles)
		if losses > 0 && n%losses == 0 {
			spent += 3 * time.Millisecond
		}
		x.done(spent, drivers.Cycle(cycles))
	}
	x.begin()
	return x.way
}

func TestTrial(t *testing.T) {
	for _, c := range []struct {
		cost   [ways]time.Duration
		losses int
		want   way
	}{
		{[ways]time.Duration{100, 90, 80}, 0, bothLook},
		{[ways]time.Duration{100, 80, 90}, 0, simulatorLooks},
		{[ways]time.Duration{100, 110, 300}, 0, bothSleep},
		{[ways]time.Duration{100, 99, 99}, 0, bothSleep}, // it takes a core from others
		{[ways]time.Duration{100, 90, 80}, 48, bothLook},
		{[ways]time.Duration{100, 90, 80}, 16, bothSleep}, // the machine is busy
	} {
		x := newTrial(time.Millisecond)
		x.single = false // also on a machine of one CPU
		require.Equal(t, c.want, holds(&x, c.cost, 20, c.losses))
		for range holdExchanges - 1 {
			require.Equal(t, c.want, x.way)
			x.done(c.cost[x.way]*20, 20)
			x.begin()
		}
		x.done(time.Millisecond, 20)
		require.True(t, x.trying, "things change: it tries again")
		require.Equal(t, bothSleep, holds(&x, [ways]time.Duration{1, 2, 2}, 20, 0))
	}
}

// Who looks sees soon that others want the core.
func TestTrialStopsLooking(t *testing.T) {
	x := newTrial(time.Millisecond)
	x.single = false
	require.Equal(t, bothLook, holds(&x, [ways]time.Duration{100, 90, 80}, 20, 0))
	for range busy + 1 {
		require.Equal(t, bothLook, x.way)
		x.done(3*time.Millisecond, 20)
		x.begin()
	}
	require.Equal(t, bothSleep, x.way)
	require.False(t, x.trying)
}

func TestNoTrial(t *testing.T) {
	never := newTrial(-1)
	never.begin()
	require.Equal(t, bothSleep, never.way)
}
