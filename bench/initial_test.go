package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitialValuesDoNotMatter: a run does not depend on what registers and memories held before
// reset. In hardware they hold anything, in a simulation zeros unless told otherwise.
func TestInitialValuesDoNotMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, v := range []struct {
		workload, keys string
		size           int
	}{
		{"alltoall", "", 64},
		{"alltoall", "", 5000},
		{"random", "dims=4x1x1&torus=1&vc_depth=2", 0},
	} {
		c := Default(v.workload)
		c.Nodes, c.Procs, c.Iterations, c.Warmup = 4, 2, 3, 0
		if v.size > 0 {
			c.Sizes = []int{v.size}
		}
		c.Device = "rtl:?" + v.keys
		want := resultOf(t, c)
		for seed := 1; seed <= 3; seed++ {
			c.Device = fmt.Sprintf("rtl:?random_init=%d&%s", seed, v.keys)
			require.Equal(t, want, resultOf(t, c), "nicloop run %s --nodes 4 --procs 2 --size %d --iterations 3 --warmup 0 --json --device '%s'",
				v.workload, v.size, c.Device)
		}
	}
}
