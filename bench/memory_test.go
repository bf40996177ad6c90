package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/rtl"
)

// The estimate is not far below the peaks that the kernel reported on rtl: for nicloop and its
// simulator together. The sum counts shared memory that is in use twice.
func TestMemoryOnRTL(t *testing.T) {
	for _, c := range []struct {
		workload                   string
		nodes, procs, size, blocks int
		peak                       float64 // MiB
	}{
		{"pingpong", 2, 1, 8, 0, 45},
		{"pingpong", 2, 1, 64 << 10, 0, 45},
		{"pingpong", 2, 1, 64 << 10, 1, 45},
		{"pingpong", 2, 1, 256 << 10, 1, 46},
		{"alltoall", 16, 1, 8, 0, 46},
		{"alltoall", 4, 4, 8 << 10, 0, 56},
	} {
		config := Default(c.workload)
		config.Device, config.Nodes, config.Procs = "rtl:", c.nodes, c.procs
		config.Sizes, config.Iterations, config.Blocks = []int{c.size}, 1, c.blocks > 0
		wl, err := FindWorkload(c.workload)
		require.NoError(t, err)
		wl.complete(&config)
		w := config.world()
		bytes, err := config.memory(&w)
		require.NoError(t, err)
		t.Logf("%s of %d bytes, %d x %d: estimate %.0f MiB, peak %.0f MiB", c.workload, c.size, c.nodes, c.procs, bytes/(1<<20), c.peak)
		require.InDelta(t, 1.1, bytes/(1<<20)/c.peak, 0.2)
	}
}
