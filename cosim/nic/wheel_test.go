package nic

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// due lists the units and nodes that a wheel has for a cycle.
func dueOf(w *wheel, now drivers.Cycle) (list []farWake) {
	due := w.take(now)
	for i := range due {
		for bit := range 64 {
			if due[i]>>bit&1 != 0 {
				list = append(list, farWake{now, unitID(i / w.words), i%w.words*64 + bit})
			}
		}
		due[i] = 0
	}
	return list
}

func TestWheel(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   drivers.Cycle
	}{
		{"next cycle", 1001},
		{"last slot of the wheel", 1000 + wheelSlots - 1},
		{"first cycle beyond the wheel", 1000 + wheelSlots},
		{"far ahead", 1000 + 10*wheelSlots + 77},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWheel(70) // two words per unit
			w.wake(1000, tc.at, unitCommit, 69)
			w.wake(1000, tc.at, unitCommit, 69) // costs nothing
			require.Equal(t, tc.at, w.next(1000))
			require.Equal(t, []farWake{{tc.at, unitCommit, 69}}, dueOf(&w, tc.at))
			require.Equal(t, drivers.Forever, w.next(tc.at))
		})
	}
}

// Within a cycle units work in the order of their numbers: what is read was there before.
func TestWheelOrdersUnits(t *testing.T) {
	w := newWheel(2)
	for _, u := range []unitID{unitWrite, unitRMA, unitRead, unitCheck} {
		w.wake(0, 5, u, 1)
	}
	w.wake(0, 5, unitRMA, 0)
	require.Equal(t, []farWake{
		{5, unitRead, 1}, {5, unitCheck, 1}, {5, unitRMA, 0}, {5, unitRMA, 1}, {5, unitWrite, 1},
	}, dueOf(&w, 5))
}

// A wheel against a plain list of wake-ups.
func TestWheelAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWheel(3)
	expected := map[drivers.Cycle]map[farWake]bool{}
	now := drivers.Cycle(0)
	for range 2000 {
		for range rng.IntN(3) {
			f := farWake{now + 1 + drivers.Cycle(rng.IntN(1500)), unitID(rng.IntN(int(units))), rng.IntN(3)}
			w.wake(now, f.at, f.unit, f.node)
			if expected[f.at] == nil {
				expected[f.at] = map[farWake]bool{}
			}
			expected[f.at][f] = true
		}
		first := drivers.Forever
		for at := range expected {
			first = min(first, at)
		}
		require.Equal(t, first, w.next(now))
		if first == drivers.Forever {
			continue
		}
		now = first
		got := map[farWake]bool{}
		for _, f := range dueOf(&w, now) {
			got[f] = true
		}
		require.Equal(t, expected[now], got)
		delete(expected, now)
	}
}
