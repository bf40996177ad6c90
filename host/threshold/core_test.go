package threshold

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilledIsHeldToTheBuffer: what a peer says of a buffer of ours is believed only if it is one of its own, free, and long enough.
func TestFilledIsHeldToTheBuffer(t *testing.T) {
	make2 := func(self int) *Core {
		return New(Config{Self: self, Ranks: 2, Base: 4096, Cap: 1 << 20, Least: 2048, Fixed: 5000, All: true})
	}
	cores := []*Core{make2(0), make2(1)}
	cores[0].Begin()
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
	here := cores[0]
	at, ok := cores[1].Take(0, 5000)
	require.True(t, ok)
	require.ErrorContains(t, here.Filled(1, at+1, 10), "it has not")
	require.ErrorContains(t, here.Filled(1, at, 1<<40), "in a buffer of")
	require.NoError(t, here.Filled(1, at, 5000))
	require.ErrorContains(t, here.Filled(1, at, 5000), "it has not", "it is full")
}
