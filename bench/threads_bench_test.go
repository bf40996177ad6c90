package bench

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/stretchr/testify/require"
)

// BenchmarkThreads is one world on one thread and on two, with nothing beside it and with
// other processes that want all cores. The time that counts is the elapsed one here; compare
// one round with the other of the same round only.
func BenchmarkThreads(b *testing.B) {
	on := func(workload string, nodes, bytes, iterations int) Config {
		c := Default(workload)
		c.Device, c.Nodes, c.Procs, c.Iterations = "model:", nodes, 4, iterations
		if bytes > 0 {
			c.Sizes = []int{bytes}
		}
		return c
	}
	for _, v := range []struct {
		name string
		c    Config
	}{
		{"hotspot/nodes=16", on("hotspot", 16, 0, 300)},
		{"alltoall/nodes=16", on("alltoall", 16, 2048, 1)},
		{"alltoall/nodes=64", on("alltoall", 64, 64, 1)},
	} {
		for _, others := range []int{0, 4} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/others=%d/j=%d", v.name, others, threads), func(b *testing.B) {
					busy(b, others)
					c := v.c
					c.Threads = threads
					start := cpuSeconds(b)
					runs := 0
					for b.Loop() {
						_, err := Run(context.Background(), c)
						require.NoError(b, err)
						runs++
					}
					b.ReportMetric((cpuSeconds(b)-start)/float64(runs), "cpu-s/op")
				})
			}
		}
	}
}

// busy has so many processes do nothing but take cores, as long as the benchmark runs.
func busy(b *testing.B, processes int) {
	for range processes {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(b, cmd.Start())
		b.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}
