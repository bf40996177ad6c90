package packets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// smallDragonfly has 72 nodes in 9 groups.
func smallDragonfly(t testing.TB) topology.Dragonfly {
	d, err := topology.NewDragonfly(2, 4, 2, 2, 10)
	require.NoError(t, err)
	return d
}

func torus(t testing.TB, dims ...int) topology.Grid {
	g, err := topology.NewGrid(dims, true, 1)
	require.NoError(t, err)
	return g
}

func tree(t testing.TB, k, levels int) topology.FatTree {
	f, err := topology.NewFatTree(k, levels, 3)
	require.NoError(t, err)
	return f
}

// slowNodes makes every nth node slow.
func slowNodes(c *Config, nth, slow int) {
	c.Slow = make([]int, c.Topology.Nodes())
	for i := range c.Slow {
		c.Slow[i] = 1
		if i%nth == 0 {
			c.Slow[i] = slow
		}
	}
}

// worlds are networks of all kinds, loaded and overloaded.
func worlds(t testing.TB) map[string]Config {
	d := smallDragonfly(t)
	list := map[string]Config{
		"dragonfly minimal":       with(t, d, routing.Minimal, "uniform", 0.4),
		"dragonfly minimal full":  with(t, d, routing.Minimal, "uniform", 1),
		"dragonfly valiant":       with(t, d, routing.Valiant, "adversarial", 0.3),
		"dragonfly ugal":          with(t, d, routing.UGAL, "adversarial", 1),
		"dragonfly par":           with(t, d, routing.PAR, "permutation", 1),
		"dragonfly par hotspot":   with(t, d, routing.PAR, "hotspot", 0.5),
		"mesh":                    with(t, mesh(t, 5, 4), routing.Minimal, "uniform", 1),
		"mesh valiant":            with(t, mesh(t, 4, 4), routing.Valiant, "uniform", 1),
		"torus":                   with(t, torus(t, 4, 5), routing.Minimal, "adversarial", 1),
		"torus ugal":              with(t, torus(t, 5, 5), routing.UGAL, "adversarial", 1),
		"fat tree":                with(t, tree(t, 4, 3), routing.Minimal, "permutation", 1),
		"fat tree ugal":           with(t, tree(t, 3, 3), routing.UGAL, "hotspot", 1),
		"shallow, no speed-up":    with(t, d, routing.PAR, "uniform", 1),
		"slow sinks":              with(t, d, routing.PAR, "permutation", 1),
		"slow sinks, FECN":        with(t, d, routing.PAR, "permutation", 1),
		"slow sinks, window":      with(t, d, routing.PAR, "permutation", 1),
		"slow sinks, window of 1": with(t, d, routing.PAR, "permutation", 0.2),
		"slow sinks, all of it":   with(t, d, routing.PAR, "permutation", 0.6),
		"slow sinks, granted":     with(t, d, routing.PAR, "permutation", 1),
		"acks apart, window":      with(t, d, routing.PAR, "permutation", 1),
		"acks apart, granted":     with(t, d, routing.PAR, "partners", 1),
		"partners, per node":      with(t, d, routing.PAR, "partners", 1),
		"partners, per pair":      with(t, d, routing.PAR, "partners", 0.7),
		"partners, granted, FECN": with(t, d, routing.PAR, "partners", 1),
		"some uniform, granted":   with(t, d, routing.PAR, "permutation", 1),
	}
	change := func(name string, f func(c *Config)) {
		c := list[name]
		f(&c)
		list[name] = c
	}
	change("shallow, no speed-up", func(c *Config) { c.Depth, c.Speedup, c.Flits = 10, 1, 5 })
	change("slow sinks", func(c *Config) { slowNodes(c, 20, 8) })
	change("slow sinks, FECN", func(c *Config) { slowNodes(c, 20, 8); e := congestion.Default; c.ECN = &e })
	change("slow sinks, window", func(c *Config) { slowNodes(c, 20, 8); c.Bound, c.Window = PerNode, 8 })
	change("slow sinks, window of 1", func(c *Config) { slowNodes(c, 7, 2); c.Bound, c.Window = PerNode, 1 })
	change("slow sinks, all of it", func(c *Config) {
		slowNodes(c, 7, 4)
		e := congestion.Aggressive
		c.Bound, c.Window, c.ECN, c.Paced = PerNode, 12, &e, true
	})
	change("acks apart, window", func(c *Config) { slowNodes(c, 20, 8); c.Bound, c.Window, c.AckCycles = PerNode, 8, 30 })
	change("acks apart, granted", func(c *Config) { slowNodes(c, 20, 8); c.Bound, c.AckCycles = Granted, 7 })
	change("slow sinks, granted", func(c *Config) { slowNodes(c, 20, 8); c.Bound = Granted })
	change("partners, per node", func(c *Config) { slowNodes(c, 20, 8); c.Bound, c.Window = PerNode, 8 })
	change("partners, per pair", func(c *Config) { slowNodes(c, 20, 8); c.Bound, c.Window, c.Paced = PerPair, 3, true })
	change("partners, granted, FECN", func(c *Config) {
		slowNodes(c, 20, 4)
		e := congestion.Aggressive
		c.Bound, c.ECN = Granted, &e
	})
	change("some uniform, granted", func(c *Config) {
		slowNodes(c, 20, 8)
		c.Bound, c.Rates = Granted, make([]float64, c.Topology.Nodes())
		c.Traffic, c.Watched = traffic.Beside(c.Topology.Nodes(), 11, 5)
		for i, w := range c.Watched {
			if c.Rates[i] = 1; w {
				c.Rates[i] = 0.2
			}
		}
	})
	return list
}

// TestBounds: every node respects its bound at all times.
func TestBounds(t *testing.T) {
	for name, cfg := range worlds(t) {
		if cfg.Bound == NoBound {
			continue
		}
		t.Run(name, func(t *testing.T) {
			n, most, heard := build(t, cfg), 0, map[[2]int32]int32{}
			for n.Run(1); n.Now() < 2000; n.Run(n.Now() + 1) {
				for _, p := range n.parts {
					for i := range p.nodes {
						most = max(most, n.overBound(t, &p.nodes[i], heard))
					}
				}
			}
			require.Positive(t, most)
		})
	}
}

// overBound fails if a node has more packets in flight than allowed, and returns the maximum with
// one peer. heard are the highest grants.
func (n *Network) overBound(t *testing.T, nd *node, heard map[[2]int32]int32) (most int) {
	all := 0
	for i := range nd.peers {
		pr := &nd.peers[i]
		if pr.id < 0 {
			continue
		}
		all += pr.open()
		most = max(most, pr.open())
		switch n.cfg.Bound {
		case PerPair:
			require.LessOrEqual(t, pr.open(), n.cfg.Window)
		case Granted:
			pair := [2]int32{nd.id, pr.id}
			heard[pair] = max(heard[pair], pr.bound)
			require.LessOrEqual(t, pr.open(), int(max(congestion.Start, heard[pair])), "seed %d, %v", n.cfg.Seed, pair)
			if slow := n.cfg.slow(int(pr.id)); n.Now() > 1500 && slow > 1 {
				require.Less(t, pr.bound, int32(80), "seed %d, %v, 1/%d", n.cfg.Seed, pair, slow)
			}
		}
	}
	if n.cfg.Bound == PerNode {
		require.LessOrEqual(t, all, n.cfg.Window)
		require.Equal(t, all, int(nd.open))
	}
	return most
}

// drain runs until all packets have left and all credits have returned.
func drain(t *testing.T, n *Network) {
	t.Helper()
	n.Stop()
	for end := n.Now() + 200000; n.Totals().UnderWay() > 0; n.Run(n.Now() + 100) {
		require.Less(t, n.Now(), end, "packets are stuck: %+v", n.Totals())
	}
	n.Run(n.Now() + 100)
	require.NoError(t, n.Check())
}

// TestDrain: under any load, all packets leave, and all room and credits return. A lost event shows
// only here, not in throughput.
func TestDrain(t *testing.T) {
	for name, cfg := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			n := build(t, cfg)
			n.Run(5000)
			require.Positive(t, n.Totals().UnderWay())
			drain(t, n)
			require.Equal(t, n.Totals().Born*uint64(cfg.Flits), n.Totals().Flits)
		})
	}
}

// digest summarises a run.
func digest(n *Network) string {
	l := *n.Latencies()
	s := fmt.Sprintf("%+v %+v %v", n.Totals(), l, n.Taken())
	for r := range n.cfg.Topology.Routers() {
		for p := range n.cfg.Topology.Ports(r) {
			s += fmt.Sprint(" ", n.Carried(r, p))
		}
	}
	return s
}

// Threads, block length and run length do not change results.
func TestThreadsAndBlocksChangeNothing(t *testing.T) {
	for name, cfg := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			ticks := int64(3000)
			if testing.Short() {
				ticks = 1500
			}
			n := build(t, cfg)
			n.Run(ticks)
			want := digest(n)
			for _, c := range []struct{ threads, block, step int }{{2, 0, 3000}, {1, 1, 3000}, {3, 5, 777}, {1, 3, 1}} {
				cfg.Threads, cfg.Block = c.threads, c.block
				n := build(t, cfg)
				for n.Now() < ticks {
					n.Run(min(ticks, n.Now()+int64(c.step)))
				}
				require.True(t, want == digest(n), "%+v gives another result", c)
			}
			cfg.Seed++
			n = build(t, cfg)
			n.Run(ticks)
			require.False(t, want == digest(n), "another seed gives the same result")
		})
	}
}

// A single packet takes the latency of its wires and routers.
func TestLatencyOfAnIdleNetwork(t *testing.T) {
	cfg := with(t, smallDragonfly(t), routing.Minimal, "uniform", 0.0005)
	n := build(t, cfg)
	var seen int
	n.observe = func(pk *packet, node int32, at int64) {
		wires := int64(0) // local wires, without the global one
		from, _ := cfg.Topology.At(int(pk.src))
		to, _ := cfg.Topology.At(int(node))
		if wires = 2 * (int64(pk.h.Hops) - 1); from/4 != to/4 {
			wires += 10 - 2
		}
		if at-1-pk.born == int64(cfg.NodeCycles)+int64(pk.h.Hops)*int64(cfg.RouterCycles)+wires+int64(cfg.Flits)-1 {
			seen++
		}
	}
	n.Run(400000)
	require.Greater(t, float64(seen), 0.97*float64(n.Totals().Born), "but for the few that met another one")
}

func TestRefusals(t *testing.T) {
	good := with(t, mesh(t, 3, 3), routing.Minimal, "uniform", 0.1)
	for name, change := range map[string]func(c *Config){
		"flits": func(c *Config) { c.Flits = 0 }, "depth": func(c *Config) { c.Depth = 15 }, "speed-up": func(c *Config) { c.Speedup = 0.5 },
		"router": func(c *Config) { c.RouterCycles = 0 }, "rate": func(c *Config) { c.Rate = -1 }, "slow": func(c *Config) { c.Slow = []int{1} },
		"pace":       func(c *Config) { c.Slow = make([]int, 9) },
		"acks":       func(c *Config) { c.Bound, c.Window, c.AckCycles = PerNode, 8, 1<<20 },
		"acks alone": func(c *Config) { c.AckCycles = 30 },
		"window":     func(c *Config) { c.Bound, c.Window = PerNode, 3 },
		"too long":   func(c *Config) { c.Bound, c.Window = PerNode, 1<<20 },
		"many ports": func(c *Config) { c.Topology = tree(t, 40, 2) },
	} {
		cfg := good
		change(&cfg)
		_, err := New(cfg)
		require.ErrorIs(t, err, drivers.ErrConfig, name)
	}
}

// Quantiles agree with those of a sorted list, up to a class.
func TestLatencies(t *testing.T) {
	var l Latencies
	dice := rand.NewPCG(1, 1)
	values := make([]int64, 0, 1000)
	for i := range int64(1000) {
		v := int64(dice.Uint64() % uint64(2+i*i))
		values = append(values, v)
		l.Add(v, 3)
		c := class(v)
		require.LessOrEqual(t, lowest(c), v)
		require.Greater(t, lowest(c+1), v)
	}
	below := 0
	for _, v := range values {
		if v < l.Quantile(0.5) {
			below++
		}
	}
	require.InDelta(t, 500, below, 40)
	require.Equal(t, l.Max, l.Quantile(1))
	var sum uint32
	l.Classes(func(from, to int64, n uint32) {
		require.Less(t, from, to)
		sum += n
	})
	require.EqualValues(t, 1000, sum)
}
