package rdrp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name string
		plan plan
		want []chunkGet
	}{
		{"the first chunk is all", plan{total: 4, first: 4, buffer: 4, chunk: 4, inFlight: 2}, nil},
		{"one byte more", plan{total: 5, first: 4, buffer: 5, chunk: 4, inFlight: 2}, []chunkGet{{4, 1, 0}}},
		{"two in flight", plan{total: 20, first: 4, buffer: 20, chunk: 4, inFlight: 2},
			[]chunkGet{{4, 4, 0}, {8, 4, 0}, {12, 4, 1}, {16, 4, 2}}},
		{"short buffer", plan{total: 16, first: 4, buffer: 10, chunk: 4, inFlight: 1},
			[]chunkGet{{4, 4, 0}, {8, 2, 1}, {12, 0, 2}}},
		{"buffer below the first chunk", plan{total: 12, first: 4, buffer: 2, chunk: 4, inFlight: 2},
			[]chunkGet{{4, 0, 0}, {8, 0, 0}}},
		{"long buffer", plan{total: 6, first: 4, buffer: 100, chunk: 4, inFlight: 1}, []chunkGet{{4, 2, 0}}},
	} {
		var got []chunkGet
		for i := range c.plan.count() {
			got = append(got, c.plan.get(i))
		}
		require.Equal(t, c.want, got, c.name)
	}
	huge := plan{total: math.MaxUint64, first: 1, chunk: math.MaxUint64}
	require.EqualValues(t, 1, huge.count(), "the count must not overflow")
}
