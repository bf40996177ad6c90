package flits

import (
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

func config(t *testing.T, text string, k routing.Kind, rate float64) packets.Config {
	c := packets.Paper()
	c.Flits, c.Depth, c.Rate = 9, 16, rate
	var err error
	c.Topology, err = topology.Parse(text, 2, 2)
	require.NoError(t, err)
	c.Routing, err = routing.New(k, c.Topology, routing.DefaultBias)
	require.NoError(t, err)
	c.Traffic, err = traffic.New("uniform", c.Topology, 1, traffic.Options{Hot: 1, Share: 0.1})
	require.NoError(t, err)
	return c
}

// TestTraffic: below saturation the offered load is accepted, all counters agree, and results are
// reproducible; shallow buffers saturate earlier than deep ones.
func TestTraffic(t *testing.T) {
	for _, text := range []string{"mesh:4x4", "torus:4x4", "mesh:2x2x2"} {
		var all []packets.Totals
		for range 2 {
			n, err := New(config(t, text, routing.Minimal, 0.2))
			require.NoError(t, err)
			n.Run(1000)
			n.Measure()
			n.Run(6000)
			got := n.Totals()
			require.EqualValues(t, 6000, n.Now())
			require.InEpsilon(t, 0.2*6000*float64(len(n.nodes)), float64(got.Flits), 0.06)
			var taken, carried uint64
			for i, v := range n.Taken() {
				taken += v
				for p := range 7 {
					if p < n.cfg.Topology.Ports(i) {
						carried += n.Carried(i, p)
					}
				}
			}
			require.Equal(t, got.Flits, taken)
			require.Equal(t, got.FlitHops, carried)
			l := n.Latencies()
			require.Greater(t, l.Mean(), 9+4*float64(l.Hops)/float64(l.Packets)-4)
			require.InEpsilon(t, float64(got.FlitHops)/float64(got.Flits), float64(l.Hops)/float64(l.Packets), 0.03)
			all = append(all, got)
		}
		require.Equal(t, all[0], all[1])
	}
	full := config(t, "mesh:4x4", routing.Minimal, 1)
	shallow, err := New(full)
	require.NoError(t, err)
	shallow.Run(4000)
	full.Depth = 256
	deep, err := packets.New(full)
	require.NoError(t, err)
	deep.Run(4000)
	require.Less(t, shallow.Totals().Flits, deep.Totals().Flits)
}

func TestRefusals(t *testing.T) {
	good := config(t, "mesh:4x4", routing.Minimal, 0.1)
	for name, c := range map[string]packets.Config{
		"tree":    config(t, "fattree:2,2", routing.Minimal, 0.1),
		"valiant": config(t, "mesh:4x4", routing.Valiant, 0.1),
		"4 dims":  config(t, "mesh:2x2x2x2", routing.Minimal, 0.1),
		"rate":    func() packets.Config { c := good; c.Rate = -1; return c }(),
		"depth":   func() packets.Config { c := good; c.Depth = -1; return c }(),
		"slow":    func() packets.Config { c := good; c.Slow = make([]int, 16); return c }(),
	} {
		_, err := New(c)
		require.ErrorIs(t, err, drivers.ErrConfig, name)
	}
}
