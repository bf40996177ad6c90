package packets

import (
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/stretchr/testify/require"
)

// What BookSim2 gives for the same parameters (Dragonfly of 5,256 nodes, minimal routing, uniform traffic, packets of 16
// flits): 37.4 cycles at rate 0.005, 41.8 at 0.1, and 0.87 flits per node and cycle at rate 1.
func TestAgainstBookSim(t *testing.T) {
	if testing.Short() {
		t.Skip("5,256 nodes")
	}
	d := paperDragonfly(t)
	for _, c := range []struct{ rate, latency float64 }{{0.005, 37.4}, {0.1, 41.8}} {
		n := build(t, with(t, d, routing.Minimal, "uniform", c.rate))
		n.Run(500)
		n.Measure()
		n.Run(3000)
		t.Logf("rate %g: %.2f cycles, BookSim2 %g", c.rate, n.Latencies().Mean(), c.latency)
		require.InEpsilon(t, c.latency, n.Latencies().Mean(), 0.03)
	}
	n := build(t, with(t, d, routing.Minimal, "uniform", 1))
	n.Run(4000)
	before := n.Totals().Flits
	n.Run(6000)
	accepted := float64(n.Totals().Flits-before) / 2000 / float64(d.Nodes())
	t.Logf("rate 1: %.3f accepted, BookSim2 0.87", accepted)
	require.InEpsilon(t, 0.87, accepted, 0.05)
}
