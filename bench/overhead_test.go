package bench

import (
	"context"
	"testing"

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
