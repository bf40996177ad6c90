package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIterations: who leaves their number open waits for no more than there is to learn.
func TestIterations(t *testing.T) {
	for _, v := range []struct {
		workload           *Workload
		nodes, procs, n    int
		asked              int
		iterations, warmup int
	}{
		{&alltoall, 2, 4, 2048, 0, 2, 1},
		{&alltoall, 64, 16, 2048, 0, 1, 0}, // 2 GB
		{&alltoall, 64, 16, 512, 0, 2, 1},
		{&alltoall, 64, 16, 2048, 3, 3, 0}, // who asks for three gets three
		{&pingpong, 2, 1, 8, 0, 100, 10},
		{&pingpong, 2, 1, 1 << 20, 0, 4, 1},
	} {
		c := Default("")
		c.Nodes, c.Procs, c.Iterations = v.nodes, v.procs, v.asked
		v.workload.complete(&c)
		got := c.at(v.workload, v.n)
		require.Equal(t, [2]int{v.iterations, v.warmup}, [2]int{got.Iterations, got.Warmup}, "%+v", v)
	}
}
