package congestion

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive counts every cycle.
type naive struct{ count, credit int }

func (n *naive) cycle(e *ECN, end int64, flits int) {
	n.credit = min(flits*e.Most, n.credit+e.Most-n.count)
	if end%int64(e.Every) == 0 {
		n.count = max(0, n.count-1)
	}
}

// TestThrottleCountsCycles: a throttle that is queried occasionally behaves like one that counts
// every cycle, and is never late: a packet that waits as told is sent in the first possible cycle.
func TestThrottleCountsCycles(t *testing.T) {
	const flits = 16
	for _, e := range []ECN{Default, Aggressive} {
		rng := rand.New(rand.NewSource(1))
		var fast Throttle
		var slow naive
		next := int64(0) // when fast must be queried again
		for now := int64(0); now < 20000; now++ {
			may := slow.credit >= flits*e.Most
			if now >= next {
				wait := fast.Wait(&e, now, flits)
				require.Equal(t, may, wait == 0, "cycle %d", now)
				if next = now + max(wait, 1); wait == 0 {
					fast.Sent(&e, flits)
					slow.credit -= flits * e.Most
				}
			} else {
				require.False(t, may, "cycle %d: it was told to wait until %d", now, next)
			}
			if rng.Intn(40) == 0 {
				marked := rng.Intn(3) == 0
				fast.Received(&e, now, marked, flits)
				if marked {
					slow.count = min(e.Most, slow.count+e.Up)
				} else {
					slow.count = max(0, slow.count-e.Down)
				}
			}
			slow.cycle(&e, now+1, flits)
		}
	}
}

// TestParameters: as in the paper, no marks below half occupancy, always when full; nothing is sent
// at the maximum counter.
func TestParameters(t *testing.T) {
	require.Equal(t, []float64{0, 0.5, 1}, []float64{Default.Chance(0.5), Default.Chance(0.75), Default.Chance(1)})
	require.Equal(t, []float64{0, 1, 1}, []float64{Aggressive.Chance(0.5), Aggressive.Chance(0.75), Aggressive.Chance(1)})
	var h Throttle
	for range 3 {
		h.Received(&Default, 0, true, 16)
	}
	sent := 0
	for now := int64(0); now < 4; now++ {
		if h.Wait(&Default, now, 1) == 0 {
			sent++
		}
	}
	require.Zero(t, sent)
	require.Positive(t, h.Wait(&Default, 4, 16))
	require.Zero(t, h.Wait(&Default, 200, 16), "left alone, it sends again")
}
