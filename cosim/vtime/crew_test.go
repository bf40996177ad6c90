package vtime

import (
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// always is a script of one slice.
func always(together bool) script {
	return func() (bool, uint64) { return together, math.MaxUint64 }
}

// scripts are those of several parts; each says with what it is run again.
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

// TestSwitchesChangeNothing: one goes on alone, or all together, from any window on.
func TestSwitchesChangeNothing(t *testing.T) {
	run := func(parts int, s script) (seen []string) {
		c := newCrowd(t, 5, parts, 0)
		c.follow(s)
		for range 2 { // the second begins with whoever ended the first
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

// a machine on which one thread, and threads together, take so long for the same; of so many slices
// one takes stall longer.
type machine struct {
	alone, together time.Duration
	every           int
	stall           time.Duration
}

// drive gives a crew slices on a machine, and tells how much longer it takes than the better way
// would.
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
		if m.every > 0 && i%m.every == 0 { // either way would have had it
			late = m.stall
		}
		c.change(n*each+late, uint64(n))
	}
	return float64(took) / float64(best)
}

// TestTheBetterWayIsKept: what is tried costs little, and a machine that changes is noticed.
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

// TestStallsDecideNothing: now and then the machine does something else for as long as many slices,
// whoever works. That costs the better way nothing beyond it, wherever it falls: into the first
// slice of a trial, or any other.
func TestStallsDecideNothing(t *testing.T) {
	for every := 3; every < 40; every++ {
		m := machine{alone: 100 * time.Microsecond, together: 60 * time.Microsecond, every: every, stall: 50 * time.Millisecond}
		c := newCrew()
		require.Less(t, m.drive(&c, 4000), 1.05, "every %d slices", every)
	}
}
