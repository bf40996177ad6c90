package vtime

import (
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// always is a script of a single slice.
func always(together bool) script {
	return func() (bool, uint64) { return together, math.MaxUint64 }
}

// scripts runs f with several scripts of random seeds, and reports how to repeat a failure.
func scripts(t *testing.T, seeds int, f func(script)) {
	const variable = "VTIME_SEED"
	first := uint64(time.Now().UnixNano()) % 1e6
	if s := os.Getenv(variable); s != "" {
		var err error
		first, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		seeds = 1
	} else {
		f(always(true))
		f(always(false))
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		passed := false
		defer func() {
			if !passed {
				t.Logf("again: %s=%d go test ./cosim/vtime -run '^%s$'", variable, seed, t.Name())
			}
		}()
		f(shuffled(seed))
		passed = true
	}
}

// TestSwitchesChangeNothing: the mode may change after any window.
func TestSwitchesChangeNothing(t *testing.T) {
	run := func(parts int, s script) (seen []string) {
		c := newCrowd(t, 5, parts, 0)
		c.follow(s)
		for range 2 { // the second run starts in the mode in which the first ended
			require.NoError(t, c.k.Run(c.chat))
			seen = append(seen, c.state()...)
		}
		for _, log := range c.logs {
			seen = append(seen, log...)
		}
		return seen
	}
	want := run(1, nil)
	scripts(t, 8, func(s script) {
		require.Equal(t, want, run(2, s))
		require.Equal(t, want, run(3, s))
	})
}

// machine models the time of a slice for one thread and for threads together. One of every slices
// takes stall longer.
type machine struct {
	alone, together time.Duration
	every           int
	stall           time.Duration
}

// drive runs a crew on a machine and returns its time relative to the better mode.
func (m machine) drive(c *crew, slices int) float64 {
	var took, best time.Duration
	for i := range slices {
		each := m.alone
		if c.together {
			each = m.together
		}
		n := max(1, slice/each)
		took += n * each
		best += n * min(m.alone, m.together)
		late := time.Duration(0)
		if m.every > 0 && i%m.every == 0 { // in either mode
			late = m.stall
		}
		c.change(n*each+late, uint64(n))
	}
	return float64(took) / float64(best)
}

// TestTheBetterWayIsKept: trials cost little, and a change of the machine is detected.
func TestTheBetterWayIsKept(t *testing.T) {
	quiet := machine{alone: 100 * time.Microsecond, together: 60 * time.Microsecond}
	equal := machine{alone: 100 * time.Microsecond, together: 99 * time.Microsecond}
	busy := machine{alone: 300 * time.Microsecond, together: 50 * time.Millisecond}
	c := newCrew()
	require.False(t, c.together, "a short run needs no threads")
	require.Less(t, quiet.drive(&c, 1000), 1.02)
	require.True(t, c.together)
	c.starved = true
	require.Less(t, busy.drive(&c, 1000), 1.05, "nothing is tried that cannot pay")
	c.starved = false
	require.Less(t, busy.drive(&c, 1000), 1.15)
	require.False(t, c.together)
	require.Less(t, equal.drive(&c, 1000), 1.02)
	require.False(t, c.together, "threads take more of the machine")
	require.Less(t, quiet.drive(&c, 10000), 1.1)
	require.True(t, c.together)
}

// TestStallsDecideNothing: periodic stalls that last as long as many slices, in either mode. They
// cost the better mode no more than their own time, regardless of the slice in which they occur.
func TestStallsDecideNothing(t *testing.T) {
	for every := 3; every < 40; every++ {
		m := machine{alone: 100 * time.Microsecond, together: 60 * time.Microsecond, every: every, stall: 50 * time.Millisecond}
		c := newCrew()
		require.Less(t, m.drive(&c, 4000), 1.05, "every %d slices", every)
	}
}
