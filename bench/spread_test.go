package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestSpreadOf(t *testing.T) {
	require.Nil(t, spreadOf(nil))
	require.Equal(t, &Spread{1, 7, 7, 7, 7}, spreadOf([]drivers.Time{7}))
	var each []drivers.Time
	for i := range 200 {
		each = append(each, drivers.Time(200-i))
	}
	require.Equal(t, &Spread{200, 1, 100, 198, 200}, spreadOf(each))
}

// TestSpreadOfARun: every timed iteration of every rank counts once, and the mean lies among them.
func TestSpreadOfARun(t *testing.T) {
	c := onIdeal("alltoall")
	c.Iterations, c.Sizes = 7, []int{64, 512}
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	for _, r := range res.Rows {
		require.Equal(t, 7*c.Ranks(), r.Spread.Count)
		require.Less(t, r.Spread.Min, r.Spread.Max)
		require.LessOrEqual(t, r.Spread.Min, r.Iteration)
		require.LessOrEqual(t, r.Spread.P50, r.Spread.P99)
		// The time from the first rank's start to the last one's end is no less than that of any rank.
		require.LessOrEqual(t, 7*r.Spread.Min, r.Elapsed)
	}
}
