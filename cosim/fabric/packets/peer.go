package packets

import (
	"math/rand/v2"

	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

// A peer is a partner of a node or, with id -1, stands for all destinations without fixed partners.
type peer struct {
	birth int64 // of the next packet to it
	ready int64 // no packet is sent before this cycle
	pace  int64 // cycles of its memory per flit, if known
	asked int64 // cycle in which the packet was sent whose acknowledgement is timed
	timed uint32
	sent  uint32 // data packets
	acked uint32 // of these, acknowledged
	owed  int32  // packets from it that were not acknowledged
	echo  int32  // marks to be returned
	bound int32  // its grant
	trip  int64  // minimum round trip; 0: unknown
	id    int32
	dice  rand.PCG
}

func (pr *peer) open() int { return int(pr.sent - pr.acked) }

func (n *Network) newPeers(id int) []peer {
	partners := n.cfg.Traffic.Partners(id)
	if len(partners) == 0 {
		return []peer{{id: -1, pace: 1, dice: dice(&n.cfg, id, 0)}}
	}
	list := make([]peer, len(partners))
	for i, p := range partners {
		list[i] = peer{id: p, pace: 1, bound: congestion.Start, dice: dice(&n.cfg, id, i)}
		if n.cfg.Paced {
			list[i].pace = n.cfg.pace(int(p))
		}
	}
	return list
}

// dice is the random source for a node's packets to a peer.
func dice(c *Config, node, peer int) rand.PCG {
	return *rand.NewPCG(c.Seed, uint64(peer)<<40|uint64(node)<<1|1)
}

// known returns the peer with an id, or nil.
func (nd *node) known(id int32) *peer {
	for i := range nd.peers {
		if nd.peers[i].id == id {
			return &nd.peers[i]
		}
	}
	return nil
}

// allows reports whether the bound lets a node send to a peer.
func (p *part) allows(nd *node, pr *peer) bool {
	c := &p.net.cfg
	switch {
	case pr.id < 0 || c.Bound == NoBound:
		return true
	case c.Bound == PerNode:
		return int(nd.open) < c.Window
	case c.Bound == PerPair:
		return pr.open() < c.Window
	}
	return pr.open() < int(pr.bound)
}

// oldest is the peer of the packet that has waited longest among those that may be sent; nil: none.
// next is the first cycle in which another one may be sent.
func (p *part) oldest(nd *node, t int64) (pr *peer, next int64) {
	next = traffic.Never
	for i := range nd.peers {
		x := &nd.peers[i]
		if !p.allows(nd, x) {
			continue
		}
		if at := max(x.birth, x.ready); at > t {
			next = min(next, at)
		} else if pr == nil || x.birth < pr.birth {
			pr = x
		}
	}
	return pr, next
}

// owing is a peer that waits for acknowledgements, or nil: the next one after the last peer that
// received a standalone acknowledgement.
func (nd *node) owing() *peer {
	for k := range nd.peers {
		i := (int(nd.nextOwed) + k) % len(nd.peers)
		if nd.peers[i].owed > 0 {
			nd.nextOwed = uint8(i + 1)
			return &nd.peers[i]
		}
	}
	return nil
}

// asks counts a data packet to a peer, and times it unless another one is being timed.
func (pr *peer) asks(t int64) {
	if pr.sent++; pr.asked == 0 {
		pr.asked, pr.timed = t+1, pr.sent
	}
}

// answered counts acknowledgements, and updates the minimum round trip.
func (nd *node) answered(pr *peer, acks int32, t int64) {
	nd.open -= acks
	if pr.acked += uint32(acks); acks > 0 && pr.asked > 0 && int32(pr.acked-pr.timed) >= 0 {
		if trip := t + 1 - pr.asked; pr.trip == 0 || trip < pr.trip {
			pr.trip = trip
		}
		pr.asked = 0
	}
}
