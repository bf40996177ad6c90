package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A run of any length holds the requests and buffers of one batch: its memory does not grow with
// the number of iterations, and it can be stopped.
func TestRandomInBatches(t *testing.T) {
	c := Default("random")
	c.Device, c.Procs, c.Sizes, c.Warmup = "ideal:", 1, []int{64}, 3
	c.Iterations = 2*randomBatch + 5
	require.Equal(t, randomBatch+1, random.buffers(&c))
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, c.Iterations*c.Ranks(), res.Rows[0].Messages)

	c.Iterations = 1 << 20
	ctx, cancel := context.WithTimeoutCause(context.Background(), 300*time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err = Run(ctx, c)
	require.ErrorContains(t, err, "enough")
}
