package packets

import (
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/stretchr/testify/require"
)

// Results of BookSim2 for the same parameters (Dragonfly of 5,256 nodes, minimal routing, uniform
// traffic, packets of 16 flits): 37.4 cycles at rate 0.005, 41.8 at 0.1, and 0.87 flits per node
// and cycle at rate 1.
//
// Queues of 256 flits take long to fill: 0.906 are accepted from cycle 4,000 to 6,000, 0.858 after
// that, 0.874 to 0.886 from 8,000 to 40,000.
func TestAgainstBookSim(t *testing.T) {
	if testing.Short() {
		t.Skip("5,256 nodes")
	}
	const full = 8000 // cycles until queues have reached their final level
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
	n.Run(full)
	before := n.Totals().Flits
	n.Run(2 * full)
	accepted := float64(n.Totals().Flits-before) / full / float64(d.Nodes())
	t.Logf("rate 1: %.3f accepted, BookSim2 0.87", accepted)
	require.InEpsilon(t, 0.87, accepted, 0.03)
}
