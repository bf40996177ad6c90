package packets

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/stretchr/testify/require"
)

// receivedBySource counts the flits of each source that reached memory in [from, to).
func receivedBySource(t *testing.T, cfg Config, from, to int64) []uint64 {
	n := build(t, cfg)
	received := make([]uint64, cfg.Topology.Nodes())
	n.observe = func(pk *packet, _ int32, now int64) {
		if now >= from {
			received[pk.src] += uint64(pk.flits)
		}
	}
	n.Run(to)
	return received
}

// TestEveryNodeIsServedUnderOverload: every node of an overloaded network keeps a share of the
// throughput. With one round-robin pointer per output, a grant to a packet of one VC moved the
// pointer past two inputs that compete for another VC, and the same one of them won every time.
func TestEveryNodeIsServedUnderOverload(t *testing.T) {
	d, err := topology.NewDragonfly(2, 4, 2, 2, 10)
	require.NoError(t, err)
	for seed := uint64(1); seed <= 3; seed++ {
		cfg := with(t, d, routing.Minimal, "permutation", 1)
		cfg.Seed = seed
		cfg.Traffic = pairsOf(t, d, seed)
		const from, to = 20_000, 60_000
		received := receivedBySource(t, cfg, from, to)
		worst := slices.Min(received)
		t.Logf("seed %d: worst node %.4f flits per cycle", seed, float64(worst)/(to-from))
		require.Greater(t, float64(worst)/(to-from), 0.03,
			"seed %d: node %d starves", seed, slices.Index(received, worst))
	}
}

// junction consists of two routers joined by one wire, with a VC per destination, so that a blocked
// destination does not block the wire for others: router 0 has nodes 0 and 1, router 1 has nodes 2
// to 6.
type junction struct{ sent *int }

func (junction) String() string               { return "junction" }
func (junction) Nodes() int                   { return 7 }
func (junction) Routers() int                 { return 2 }
func (junction) Ports(r int) int              { return 3 + 3*r }
func (junction) Node(r, port int) (int, bool) { return 2*r + port - 1, port > 0 }
func (junction) Parts() int                   { return 1 }
func (junction) Part(int) int                 { return 0 }
func (junction) VCs() int                     { return 7 }
func (junction) At(node int) (router, port int) {
	if node < 2 {
		return 0, node + 1
	}
	return 1, node - 1
}

func (junction) Wire(r, port int) (topology.Wire, bool) {
	return topology.Wire{Router: 1 - r, Cycles: 4}, port == 0
}

func (j junction) Route(r, _ int, h *routing.Header, _ *routing.Sight) (port, vc int) {
	if at, port := j.At(int(h.Dst)); at == r {
		return port, 0
	}
	return 0, int(h.Dst)
}

// Next makes node 1 send to nodes 3, 5 and 6 in turn, all others to node 2.
func (j junction) Next(src int, _ rand.Source) int {
	if src == 1 {
		*j.sent++
		return []int{3, 5, 6}[*j.sent%3]
	}
	return 2
}

func (junction) Partners(int) []int32 { return nil }

// TestInputAndOutputThatAreNeverFreeTogether: packets of nodes 0 and 1 arrive at router 1 through
// one input, which those of node 1 keep busy without a gap; node 4 keeps the output to node 2 busy
// without a gap. Each starts while the other is in the middle of a packet, so the input and the
// output that node 0 needs are never free in the same cycle. It must be served nevertheless.
func TestInputAndOutputThatAreNeverFreeTogether(t *testing.T) {
	for offset := range int64(16) {
		cfg := Paper()
		cfg.Topology, cfg.Routing, cfg.Traffic = junction{}, junction{}, junction{new(int)}
		cfg.Speedup, cfg.Rates = 1, []float64{16, 16, 0, 0, 16, 0, 0}
		n := build(t, cfg)
		p := n.parts[0]
		at := func(id int) *node { return &p.nodes[n.nodes[id].index] }
		p.start(at(0))
		at(0).peers[0].birth, at(4).peers[0].birth = 3_000, 2_500+offset
		sinks := []*node{at(3), at(5), at(6)}
		for _, nd := range sinks {
			nd.slow = 8 // until the queues of router 1 are full
		}
		received := make([]uint64, cfg.Topology.Nodes())
		n.observe = func(pk *packet, _ int32, now int64) {
			if now >= 10_000 {
				received[pk.src] += uint64(pk.flits)
			}
		}
		n.Run(2_000)
		for _, nd := range sinks {
			nd.slow = 1
		}
		n.Run(20_000)
		t.Log(offset, received)
		require.Greater(t, received[0], uint64(10_000/8), "node 0 starves, offset %d: %v", offset, received)
	}
}

// pairsOf draws the permutation of a seed.
func pairsOf(t *testing.T, x topology.Topology, seed uint64) traffic.Pattern {
	p, err := traffic.New("permutation", x, seed, traffic.Options{})
	require.NoError(t, err)
	return p
}
