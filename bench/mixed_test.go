package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/mixed"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
)

// resultOf is what a run prints as JSON, but for what names the device, and for the time at which
// the hardware was seen to be at rest behind the ranks: a simulator takes some cycles longer to be
// sure of that than a model.
func resultOf(t *testing.T, c Config) string {
	t.Helper()
	res, err := Run(context.Background(), c)
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	res.Config.Device, res.Info = "", drivers.Info{}
	res.End, res.Cycles = 0, 0
	text, err := json.MarshalIndent(res, "", " ")
	require.NoError(t, err)
	return string(text)
}

// TestMixed: whichever nodes are RTL, a run measures what it measures on rtl:, to the picosecond:
// eager messages over VELO, large ones over RMA, traced and not, on meshes and a ring.
func TestMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for i, v := range []struct {
		workload    string
		keys        string
		nodes, size int
		rtl         []string
	}{
		{"pingpong", "", 2, 64, []string{"0", "1"}},
		{"alltoall", "", 4, 64, []string{"2", "1,2", "0,1,3"}},
		{"alltoall", "", 4, 5000, []string{"0", "0,1"}},
		{"random", "", 4, 0, []string{"3", "0,2,3"}},
		{"hotspot", "", 4, 64, []string{"0", "1,2,3"}},
		{"alltoall", "dims=4x1x1&torus=1&vc_depth=2", 4, 3000, []string{"0,3", "1"}},
		{"alltoall", "dims=4x3", 12, 64, []string{"5,6", "0"}},
	} {
		c := Default(v.workload)
		c.Nodes, c.Procs, c.Iterations, c.Warmup, c.Seed = v.nodes, 2, 2, 0, int64(7+i)
		if v.size > 0 {
			c.Sizes = []int{v.size}
		}
		c.Device = "rtl:?" + v.keys
		want := resultOf(t, c)
		for _, nodes := range v.rtl {
			c.Device = fmt.Sprintf("mixed:?%s&rtl=%s", v.keys, nodes)
			if v.keys == "" {
				c.Device = "mixed:?rtl=" + nodes
			}
			require.Equal(t, want, resultOf(t, c), "nicloop run %s --nodes %d --procs 2 --size %d --iterations 2 --warmup 0 --seed %d --json --device '%s'",
				v.workload, v.nodes, v.size, c.Seed, c.Device)
		}
	}
}

// BenchmarkMixed is two nodes of the RTL in the traffic of 64, beside all of them RTL, or none: an
// alltoall. Costs are processor time of this process and of the simulator.
func BenchmarkMixed(b *testing.B) {
	for _, device := range []string{"rtl:", "mixed:?rtl=5,9", "mixed:?rtl=21", "model:"} {
		b.Run(device, func(b *testing.B) {
			c := Default("alltoall")
			c.Device, c.Nodes, c.Procs, c.Sizes, c.Iterations, c.Warmup = device, 64, 4, []int{64}, 1, 0
			var cycles uint64
			start := cpuSeconds(b) + childSeconds(b)
			for b.Loop() {
				res, err := Run(context.Background(), c)
				require.NoError(b, err)
				cycles += res.Cycles
			}
			used := cpuSeconds(b) + childSeconds(b) - start
			b.ReportMetric(float64(cycles)/used, "cycles/cpu-s")
			b.ReportMetric(used*1e6/float64(cycles), "cpu-µs/cycle")
		})
	}
}

// childSeconds is what processes that were waited for have used.
func childSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
