package vtime

import (
	"testing"

	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/stretchr/testify/require"
)

// TestNear: a process names at most four areas, and new ones replace the old. Prefetching for a
// queue of any length does not change it.
func TestNear(t *testing.T) {
	var x [nears + 1]uint64
	var areas []cache.Area
	for i := range x {
		areas = append(areas, cache.Of(&x[i]))
	}
	p := &Proc{}
	p.Near(areas[:nears]...)
	require.Equal(t, areas[:nears], p.near[:])
	p.Near(areas[nears])
	require.Equal(t, [nears]cache.Area{areas[nears]}, p.near)
	require.Panics(t, func() { p.Near(areas...) })
	var q queue
	for n := range 2 * soon {
		q.want()
		require.Equal(t, n, q.len())
		q.push(0, p)
	}
}
