package imb

import (
	"context"
	"encoding/json"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/stretchr/testify/require"
)

// TestThreads: every benchmark reports the same on one thread and on two.
func TestThreads(t *testing.T) {
	c := Default()
	c.Run.Device, c.Run.Nodes, c.Run.Procs = "model:", 4, 2
	c.MinProcs, c.Sizes, c.Iterations, c.Warmup = 8, []int{64, 4096}, 3, 1
	if testing.Short() {
		c.Run.Procs, c.MinProcs, c.Sizes, c.Iterations = 1, 4, []int{4096}, 1
	}
	run := func(threads int) string {
		c.Run.Threads = threads
		rep, err := Run(context.Background(), c)
		require.NoError(t, err)
		js, err := json.Marshal(rep)
		require.NoError(t, err)
		return string(js)
	}
	require.Equal(t, run(1), run(2))
}
