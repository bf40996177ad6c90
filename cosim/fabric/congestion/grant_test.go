package congestion

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The worked example of Grant.
func TestGrant(t *testing.T) {
	for _, c := range []struct {
		cycles, trip  int64
		senders, want int
	}{{16, 180, 1, Most}, {16, 0, 4, Most}, {32, 180, 1, 12}, {64, 180, 1, 6}, {128, 180, 1, 3}, {128, 180, 4, 1}, {128, 0, 1, Start}, {17, 1 << 30, 1, Most}} {
		var g Grant
		require.Equal(t, Start, g.Bound(c.trip, 16, c.senders), "nothing was measured")
		g.Took(c.cycles, 16)
		require.Equal(t, c.want, g.Bound(c.trip, 16, c.senders), "%+v", c)
	}
}

// The grant follows a memory that becomes slow, and fast again, within some packets.
func TestGrantFollows(t *testing.T) {
	var g Grant
	took := func(cycles int64) int {
		for range 60 {
			g.Took(cycles, 16)
		}
		return g.Bound(180, 16, 1)
	}
	require.Equal(t, Most, took(16))
	require.Equal(t, 3, took(128))
	require.Equal(t, Most, took(16))
}
