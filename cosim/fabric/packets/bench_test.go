package packets

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/stretchr/testify/require"
)

// paperDragonfly is the topology of the RDRP paper: 5,256 nodes.
func paperDragonfly(t testing.TB) topology.Dragonfly {
	d, err := topology.NewDragonfly(6, 12, 6, 2, 10)
	require.NoError(t, err)
	return d
}

func mesh(t testing.TB, dims ...int) topology.Grid {
	g, err := topology.NewGrid(dims, false, 1)
	require.NoError(t, err)
	return g
}

// with returns the paper's router in a given network.
func with(t testing.TB, x topology.Topology, k routing.Kind, pattern string, rate float64) Config {
	cfg := Paper()
	cfg.Topology, cfg.Rate = x, rate
	var err error
	cfg.Routing, err = routing.New(k, x, routing.DefaultBias)
	require.NoError(t, err)
	cfg.Traffic, err = traffic.New(pattern, x, 1, traffic.Options{Hot: 1, Share: 0.1, Partners: 3})
	require.NoError(t, err)
	return cfg
}

func build(t testing.TB, cfg Config) *Network {
	n, err := New(cfg)
	require.NoError(t, err)
	return n
}

// cpuSeconds is the CPU time of this process, which does not depend on the load of the machine.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)*1e-6
}

// BenchmarkRun measures flit-hops per second of CPU time: flits that crossed a router.
func BenchmarkRun(b *testing.B) {
	big := paperDragonfly(b)
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"dragonfly-uniform-0.1", with(b, big, routing.Minimal, "uniform", 0.1)},
		{"dragonfly-uniform-0.5", with(b, big, routing.Minimal, "uniform", 0.5)},
		{"dragonfly-uniform-1.0", with(b, big, routing.Minimal, "uniform", 1)},
		{"dragonfly-PAR-permutation-1.0", with(b, big, routing.PAR, "permutation", 1)},
		{"mesh8x8-uniform-1.0", with(b, mesh(b, 8, 8), routing.Minimal, "uniform", 1)},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				c.cfg.Threads = threads
				n := build(b, c.cfg)
				n.Run(2000)
				const cycles = 200
				before, cpu := n.Totals(), cpuSeconds()
				b.ResetTimer()
				for range b.N {
					n.Run(n.Now() + cycles)
				}
				b.StopTimer()
				after := n.Totals()
				hops := float64(after.FlitHops - before.FlitHops)
				b.ReportMetric(hops/(cpuSeconds()-cpu)/1e6, "Mflit-hops/cpu-s")
				b.ReportMetric(hops/b.Elapsed().Seconds()/1e6, "Mflit-hops/s")
				b.ReportMetric(float64(after.Flits-before.Flits)/float64(b.N*cycles)/float64(c.cfg.Topology.Nodes()), "accepted")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
