package bridge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// holds runs a trial to its end and returns the chosen policy. cost is the time per cycle; every
// losses exchanges the core is lost for some milliseconds.
func holds(x *trial, cost [policies]time.Duration, cycles, losses int) policy {
	for n := 1; x.trying; n++ {
		x.begin()
		spent := cost[x.policy] * time.Duration(cycles)
		if losses > 0 && n%losses == 0 {
			spent += 3 * time.Millisecond
		}
		x.done(spent, drivers.Cycle(cycles))
	}
	x.begin()
	return x.policy
}

func TestTrial(t *testing.T) {
	for _, c := range []struct {
		cost   [policies]time.Duration
		losses int
		want   policy
	}{
		{[policies]time.Duration{100, 90, 80}, 0, bothLook},
		{[policies]time.Duration{100, 80, 90}, 0, simulatorLooks},
		{[policies]time.Duration{100, 110, 300}, 0, bothSleep},
		{[policies]time.Duration{100, 99, 99}, 0, bothSleep}, // it takes a core from others
		{[policies]time.Duration{100, 90, 80}, 48, bothLook},
		{[policies]time.Duration{100, 90, 80}, 16, bothSleep}, // the machine is busy
	} {
		x := newTrial(time.Millisecond)
		x.single = false // also on a machine with one CPU
		require.Equal(t, c.want, holds(&x, c.cost, 20, c.losses))
		for range holdExchanges - 1 {
			require.Equal(t, c.want, x.policy)
			x.done(c.cost[x.policy]*20, 20)
			x.begin()
		}
		x.done(time.Millisecond, 20)
		require.True(t, x.trying, "things change: it tries again")
		require.Equal(t, bothSleep, holds(&x, [policies]time.Duration{1, 2, 2}, 20, 0))
	}
}

// A polling side soon notices that other work needs the core.
func TestTrialStopsLooking(t *testing.T) {
	x := newTrial(time.Millisecond)
	x.single = false
	require.Equal(t, bothLook, holds(&x, [policies]time.Duration{100, 90, 80}, 20, 0))
	for range busy + 1 {
		require.Equal(t, bothLook, x.policy)
		x.done(3*time.Millisecond, 20)
		x.begin()
	}
	require.Equal(t, bothSleep, x.policy)
	require.False(t, x.trying)
}

func TestNoTrial(t *testing.T) {
	never := newTrial(-1)
	never.begin()
	require.Equal(t, bothSleep, never.policy)
}
