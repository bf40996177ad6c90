package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// Few slots cost more than many, against one and the same reference.
func TestOverhead(t *testing.T) {
	c := onIdeal("alltoall")
	c.Velo.Slots = 8
	few, err := RunWithReference(context.Background(), c)
	require.NoError(t, err)
	c.Velo.Slots = 200
	many, err := RunWithReference(context.Background(), c)
	require.NoError(t, err)
	a, b := few.Rows[0].Reference, many.Rows[0].Reference
	require.Equal(t, a.Iteration, b.Iteration)
	require.Greater(t, a.Overhead, b.Overhead)
	require.GreaterOrEqual(t, b.Overhead, 0.)
	require.InDelta(t, float64(few.Rows[0].Iteration), (1+a.Overhead)*float64(a.Iteration), 1)

	c.Velo.Flow = velo.None
	_, err = RunWithReference(context.Background(), c)
	require.ErrorContains(t, err, "expected static or dynamic")
}

// Mailboxes double until none was full, an error ends it, and there is a limit.
func TestMailboxesGrowUntilNothingStalls(t *testing.T) {
	tried := func(enough int, fails error) (list []int, err error) {
		err = WithoutStall(func(slots int) (bool, error) {
			list = append(list, slots)
			return slots < enough, fails
		})
		return list, err
	}
	list, err := tried(300, nil)
	require.NoError(t, err)
	require.Equal(t, []int{80, 160, 320}, list)
	list, err = tried(1281, nil)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.Equal(t, []int{80, 160, 320, 640, 1280}, list)
	broken := errors.New("broken")
	list, err = tried(300, broken)
	require.ErrorIs(t, err, broken)
	require.Len(t, list, 1)
}
