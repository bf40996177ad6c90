// Package flits simulates synthetic traffic on meshes and tori of package fabric: the RTL's
// routers, flit by flit, with shallow buffers.
//
// It is the second engine of nicloop fabric. Its guarantees are those of packages fabric and
// traffic: the same Config gives the same results.
package flits

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/nicloop/nicloop/drivers"
)

// A Network is a simulation.
type Network struct {
	cfg    packets.Config
	births traffic.Births
	fabric *fabric.Fabric
	part   *fabric.Part
	nodes  []node
	under  []flight // by the fabric's packet number
	spare  []uint32
	hops   [][]int // wires, by router: distances are used often
	since  int64
	totals packets.Totals
	data   packets.Latencies
}

// A node sends its packets flit by flit; packets are drawn only when they can be sent.
type node struct {
	birth  int64
	dice   *rand.PCG
	packet uint32
	dst    int
	left   int // remaining flits
	taken  uint64
}

type flight struct {
	born int64
	src  int32
}

// New builds a network at cycle 0 from the part of packets.Config that the RTL's router supports:
// minimal routing on a mesh or torus of up to three dimensions, without speed-up, slow memories,
// FECN/BECN or windows.
func New(cfg packets.Config) (*Network, error) {
	g, ok := cfg.Topology.(topology.Grid)
	switch {
	case !ok || len(g.Dims) > 3:
		return nil, refuse("flit by flit there are only meshes and tori of up to three dimensions")
	case cfg.Routing.VCs() != vcs(g):
		return nil, refuse("flit by flit there is only minimal routing")
	case cfg.Slow != nil || cfg.ECN != nil || cfg.Bound != packets.NoBound || cfg.Paced || cfg.Rates != nil || cfg.Watched != nil:
		return nil, refuse("flit by flit there are no slow memories, no FECN/BECN, no bounds on outstanding packets and no rates by node")
	case cfg.Flits < 1 || cfg.Flits > math.MaxUint16 || !(cfg.Rate >= 0 && cfg.Rate <= float64(cfg.Flits)):
		return nil, refuse("rate %g of packets of %d flits: expected 0 to 1 flit per node and cycle", cfg.Rate, cfg.Flits)
	}
	shape := fabric.Mesh
	if g.Wrap {
		shape = fabric.Torus
	}
	f, err := fabric.New(fabric.Config{Topology: shape(g.Dims...), VCDepth: cfg.Depth, RouterCycles: cfg.RouterCycles, LinkCycles: g.Cycles})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	n := &Network{cfg: cfg, fabric: f, part: f.Part(0), births: traffic.Bernoulli(cfg.Rate / float64(cfg.Flits)), nodes: make([]node, g.Nodes())}
	for i := range n.nodes {
		nd := &n.nodes[i]
		nd.dice = rand.NewPCG(cfg.Seed, uint64(i)<<1|1)
		nd.birth = n.births.Gap(nd.dice) - 1
		n.hops = append(n.hops, topology.Distances(g, i))
	}
	return n, nil
}

// vcs is the number of VCs of one packet class under minimal routing.
func vcs(g topology.Grid) int {
	if g.Wrap {
		return 2
	}
	return 1
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{drivers.ErrConfig}, args...)...)
}

// Now is the upcoming cycle.
func (n *Network) Now() int64 { return int64(n.part.Now()) }

// Run simulates the cycles before `until`.
func (n *Network) Run(until int64) {
	for now := n.Now(); now < until; now++ {
		for _, e := range n.part.Ejected() {
			n.part.ReleaseRun(int(e.Node), e.VC, uint64(now), int(e.Run))
			if e.Flit.Tail() {
				n.deliver(e.Flit, now)
			}
		}
		for i := range n.nodes {
			n.send(i, now)
		}
		n.part.Step()
	}
}

func (n *Network) send(i int, now int64) {
	nd := &n.nodes[i]
	if nd.left == 0 {
		if nd.birth > now {
			return
		}
		nd.packet, nd.left = n.number(flight{nd.birth, int32(i)}), n.cfg.Flits
		nd.dst = n.cfg.Traffic.Next(i, nd.dice)
		nd.birth += n.births.Gap(nd.dice)
		n.totals.Sent++
		n.totals.Born++
	}
	if !n.part.CanInject(i, 0) {
		return
	}
	var marks fabric.Flit
	if nd.left == n.cfg.Flits {
		marks = fabric.Head
	}
	if nd.left--; nd.left == 0 {
		marks |= fabric.Tail
	}
	n.part.Inject(i, 0, fabric.NewFlit(nd.packet, nd.dst, marks))
}

// number returns an unused packet number.
func (n *Network) number(f flight) uint32 {
	if len(n.spare) == 0 {
		n.spare = append(n.spare, uint32(len(n.under)))
		n.under = append(n.under, flight{})
	}
	id := n.spare[len(n.spare)-1]
	n.spare = n.spare[:len(n.spare)-1]
	n.under[id] = f
	return id
}

// deliver: flits ejected in a cycle have arrived in the previous one.
func (n *Network) deliver(f fabric.Flit, now int64) {
	p := n.under[f.Packet()]
	n.spare = append(n.spare, f.Packet())
	n.nodes[f.Dst()].taken += uint64(n.cfg.Flits)
	n.totals.Flits += uint64(n.cfg.Flits)
	n.totals.Came++
	if p.born >= n.since {
		n.data.Add(now-1-p.born, n.hops[p.src][f.Dst()]+1)
	}
}

// Totals, Measure, Latencies, Taken and Carried are those of packets.Network.

// Totals returns the sums of all counters.
func (n *Network) Totals() packets.Totals {
	t := n.totals
	t.FlitHops = n.fabric.Hops()
	return t
}

// Measure resets the latency statistics; packets created from now on count.
func (n *Network) Measure() { n.since, n.data = n.Now(), packets.Latencies{} }

// Latencies returns the statistics since Measure.
func (n *Network) Latencies() *packets.Latencies { l := n.data; return &l }

// Taken returns the flits received, by node.
func (n *Network) Taken() []uint64 {
	list := make([]uint64, len(n.nodes))
	for i := range n.nodes {
		list[i] = n.nodes[i].taken
	}
	return list
}

// Carried is the number of flits sent by an output.
func (n *Network) Carried(router, port int) uint64 { return n.fabric.PortStats(router, port).Flits }
