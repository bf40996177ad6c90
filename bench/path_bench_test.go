package bench

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/stretchr/testify/require"
)

// BenchmarkPath is the whole path of a packet on model:, an alltoall: send, bus, fabric,
// mailbox, retrieval, dynamic credits, matching. Costs are the processor's time over
// all packets, credit packets and the opening of the world included: what it says holds,
// more or less, on a machine that others use too.
func BenchmarkPath(b *testing.B) {
	for _, v := range []struct{ nodes, procs, bytes, slots int }{
		{2, 4, 64, 64}, {4, 4, 64, 64}, {16, 4, 64, 64}, {64, 4, 64, 64}, {64, 16, 64, 16}, {64, 4, 2048, 16}, {64, 8, 2048, 16},
	} {
		b.Run(fmt.Sprintf("nodes=%d/procs=%d/bytes=%d", v.nodes, v.nodes*v.procs, v.bytes), func(b *testing.B) {
			c := Default("alltoall")
			c.Device, c.Nodes, c.Procs, c.Sizes = "model:", v.nodes, v.procs, []int{v.bytes}
			c.Velo.Slots = v.slots
			c.Iterations = max(1, 1<<16/(c.Ranks()*c.Ranks()))
			var packets, cycles, allocs uint64
			var before, after runtime.MemStats
			start := cpuSeconds(b)
			for b.Loop() {
				runtime.ReadMemStats(&before)
				res, err := Run(context.Background(), c)
				require.NoError(b, err)
				runtime.ReadMemStats(&after)
				for _, n := range res.NICs {
					packets += n.Received
				}
				cycles += res.Cycles
				allocs += after.Mallocs - before.Mallocs
			}
			used := cpuSeconds(b) - start
			b.ReportMetric(used*1e9/float64(packets), "cpu-ns/packet")
			b.ReportMetric(float64(packets)/used, "packets/cpu-s")
			b.ReportMetric(float64(cycles)/used, "cycles/cpu-s")
			b.ReportMetric(float64(allocs)/float64(packets), "allocs/packet")
		})
	}
}

// cpuSeconds is what this process has used.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
