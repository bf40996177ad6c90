package threshold

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBufferLengths: the length of a buffer follows the peer's messages rather than the threshold;
// with a fixed threshold it is the threshold.
func TestBufferLengths(t *testing.T) {
	for fixed, want := range map[int][]int{0: {45056, 14336}, 66560: {66560, 66560}} {
		cores := make([]*Core, 2)
		for i := range cores {
			cores[i] = New(Config{Self: i, Ranks: 2, Base: 4096, Cap: 1 << 20, Least: 2048, Fixed: fixed, All: true})
		}
		for i, n := range []int{40000, 39000, 38000, 37000} {
			cores[0].Ended(1, Sample{Bytes: n, Sent: true, Beside: 1, Left: 1})
			if i < 3 { // the peer has not judged them yet
				cores[1].Ended(0, Sample{Bytes: n})
			}
		}
		cores[0].Begin()
		settle(cores)
		require.Equal(t, 66560, cores[0].Threshold(1))
		cores[1].Came(0, 12000)
		settle(cores)
		var got []int
		for _, b := range cores[1].Here(0) {
			got = append(got, b.Bytes)
		}
		require.Equal(t, want, got)
		at, ok := cores[0].Take(1, 11000)
		require.True(t, ok)
		require.Equal(t, cores[1].Here(0)[1].At, at, "the shortest that fits, of equals the one used last")
	}
}

// settle delivers messages between cores until none are left.
func settle(cores []*Core) {
	for talks := true; talks; {
		talks = false
		for from, c := range cores {
			for a, more := c.Next(); more; a, more = c.Next() {
				if talks = true; !a.Resume {
					cores[1-from].Hear(from, a.Message)
				}
			}
		}
	}
}

// TestFilledIsHeldToTheBuffer: a message may only name a free buffer of its sender that is long
// enough.
func TestFilledIsHeldToTheBuffer(t *testing.T) {
	make2 := func(self int) *Core {
		return New(Config{Self: self, Ranks: 2, Base: 4096, Cap: 1 << 20, Least: 2048, Fixed: 5000, All: true})
	}
	cores := []*Core{make2(0), make2(1)}
	cores[0].Begin()
	settle(cores)
	here := cores[0]
	at, ok := cores[1].Take(0, 5000)
	require.True(t, ok)
	require.ErrorContains(t, here.Filled(1, at+1, 10), "expected an empty buffer")
	require.ErrorContains(t, here.Filled(1, at, 1<<40), "length of a message in a buffer")
	require.NoError(t, here.Filled(1, at, 5000))
	require.ErrorContains(t, here.Filled(1, at, 5000), "expected an empty buffer", "it is full")
}
