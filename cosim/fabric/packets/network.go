package packets

import (
	"fmt"
	"math/rand/v2"

	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

// A Network is a simulation. It must not be used concurrently.
type Network struct {
	cfg       Config
	vcs       int
	capacity  int
	flitTime  int64 // ticks per flit
	block     int64
	now       int64
	parts     []*part
	locations []location                            // of routers
	nodes     []location                            // of nodes
	patience  uint8                                 // the constant; changed by tests
	era       int                                   // of the mail: blocks alternate between two boxes
	since     int64                                 // creation of the first packet whose latency counts
	observe   func(pk *packet, node int32, t int64) // for tests

	// Port of a queue, and queues of a port
	portOf   [maxQueues]uint8
	queuesOf [maxPorts][2]uint64
}

// A location is an index within a part.
type location struct{ part, index int32 }

// New builds a network at cycle 0.
func New(cfg Config) (*Network, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	n := &Network{cfg: cfg, patience: patience, vcs: cfg.Routing.VCs(),
		capacity: cfg.capacity(), flitTime: cfg.flitTicks()}
	for q := range n.portOf {
		p := q / n.vcs
		n.portOf[q] = uint8(p)
		if p < maxPorts {
			n.queuesOf[p][q/64] |= 1 << (q % 64)
		}
	}
	n.lay()
	longest, shortest := n.wire()
	n.block = min(shortest, int64(max(cfg.Block, 0)))
	if n.block == 0 {
		n.block = shortest
	}
	if cfg.AckCycles > 0 {
		n.block = min(n.block, int64(cfg.AckCycles))
	}
	span := int64(max(cfg.Flits, cfg.AckCycles)) + longest + int64(cfg.RouterCycles) + 8
	size := int64(64)
	for size < span {
		size *= 2
	}
	wheels := slab[due](int(size) * cfg.Topology.Routers())
	for _, p := range n.parts {
		p.mask = size - 1
		if cfg.AckCycles > 0 {
			p.receipts = make([][]receipt, size)
		}
		for i := range p.routers {
			p.routers[i].agenda, wheels = wheels[:size:size], wheels[size:]
		}
		for i := range p.nodes {
			p.start(&p.nodes[i])
		}
	}
	return n, nil
}

// lay assigns every router and node to a location, and allocates memory.
func (n *Network) lay() {
	t := n.cfg.Topology
	for i := range t.Parts() {
		n.parts = append(n.parts, newPart(n, i, t.Parts()))
	}
	n.locations, n.nodes = make([]location, t.Routers()), make([]location, t.Nodes())
	count := make([]int, t.Parts())
	for r := range t.Routers() {
		count[t.Part(r)]++
	}
	all := slab[router](t.Routers())
	for i, p := range n.parts {
		p.routers, all = all[:0:count[i]], all[count[i]:]
	}
	for r := range t.Routers() {
		p := n.parts[t.Part(r)]
		n.locations[r] = location{int32(p.number), int32(len(p.routers))}
		p.routers = append(p.routers, router{id: int32(r), ports: int32(t.Ports(r)), dice: *rand.NewPCG(n.cfg.Seed, uint64(r)<<1)})
	}
	for _, p := range n.parts {
		for i := range p.routers {
			r := &p.routers[i]
			for port := range t.Ports(int(r.id)) {
				if id, ok := t.Node(int(r.id), port); ok {
					n.nodes[id] = location{int32(p.number), int32(len(p.nodes))}
					p.nodes = append(p.nodes, newNode(n, id, int32(i), uint8(port)))
				}
			}
		}
	}
}

// wire connects the routers, creates their queues, and returns the longest wire and the longest
// block in cycles.
func (n *Network) wire() (longest, block int64) {
	t := n.cfg.Topology
	block = 64
	longest = int64(n.cfg.NodeCycles)
	entries := 0
	for _, p := range n.parts {
		for i := range p.routers {
			r := &p.routers[i]
			r.base = entries
			queues := 0
			for o := range r.port[:r.ports] {
				pt := &r.port[o]
				pt.node = -1
				rings := n.vcs
				w, wired := t.Wire(int(r.id), o)
				if id, ok := t.Node(int(r.id), o); ok {
					pt.node, pt.cycles, rings = n.nodes[id].index, int16(n.cfg.NodeCycles), 1
				} else if !wired {
					rings = 0
				} else {
					peer := n.locations[w.Router]
					pt.part, pt.peer, pt.peerPort, pt.cycles = peer.part, peer.index, uint8(w.Port), int16(w.Cycles)
					longest = max(longest, int64(w.Cycles))
					if int(peer.part) != p.number { // the earliest arrival may be a returning credit
						block = min(block, int64(w.Cycles)+2, int64(w.Cycles+n.cfg.RouterCycles))
					}
				}
				for v := range rings {
					q := o*n.vcs + v
					r.queues[q].base = uint16(queues * n.capacity)
					r.room[q] = int16(n.capacity)
					queues++
				}
			}
			entries += queues * n.capacity
		}
	}
	all := slab[packet](entries)
	for _, p := range n.parts {
		for i := range p.routers {
			r := &p.routers[i]
			r.ring = all[r.base:]
		}
	}
	return longest, block
}

// Now is the upcoming cycle.
func (n *Network) Now() int64 { return n.now }

// Stop ends the creation of packets.
func (n *Network) Stop() {
	for _, p := range n.parts {
		for i := range p.nodes {
			nd := &p.nodes[i]
			nd.births = traffic.Bernoulli(0)
			for k := range nd.peers {
				nd.peers[k].birth = traffic.Never
			}
		}
	}
}

// Check returns an error if the state differs from the initial one: packets in flight, or room that
// was not returned.
func (n *Network) Check() error {
	for _, p := range n.parts {
		for i := range p.routers {
			if err := n.checkRouter(&p.routers[i]); err != nil {
				return err
			}
		}
		for i := range p.nodes {
			if nd := &p.nodes[i]; int(nd.room) != n.capacity || nd.count != 0 {
				return fmt.Errorf("node %d: room for %d of %d packets, %d not taken", nd.id, nd.room, n.capacity, nd.count)
			}
		}
	}
	return nil
}

func (n *Network) checkRouter(r *router) error {
	if r.heldOut != 0 || r.heldIn != [2]uint64{} {
		return fmt.Errorf("router %d: outputs %x are held for queues that are empty", r.id, r.heldOut)
	}
	for o := range r.port[:r.ports] {
		if r.used[o] != 0 {
			return fmt.Errorf("router %d, output %d: %d flits taken", r.id, o, r.used[o])
		}
		for v := range n.vcs {
			q := o*n.vcs + v
			if r.queues[q].n != 0 {
				return fmt.Errorf("router %d, input %d, VC %d: %d packets", r.id, o, v, r.queues[q].n)
			}
			_, wired := n.cfg.Topology.Wire(int(r.id), o)
			if (wired || r.port[o].node >= 0 && v == 0) && int(r.room[q]) != n.capacity {
				return fmt.Errorf("router %d, output %d, VC %d: room for %d of %d packets", r.id, o, v, r.room[q], n.capacity)
			}
		}
	}
	return nil
}
