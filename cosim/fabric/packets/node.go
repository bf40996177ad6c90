package packets

import (
	"math/rand/v2"

	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

// A node sends its packets as soon as possible, and receives packets at the pace of its memory.
type node struct {
	wireFree int64 // cycle
	id       int32
	router   int32
	room     int16 // for packets in its queue at the router
	port     uint8

	// received packets that memory has not taken
	first    uint8
	count    uint8
	nextOwed uint8 // next peer to receive a standalone acknowledgement, if it waits for one
	ring     []packet
	slow     int64 // cycles of memory per flit
	done     int64 // cycle in which memory finishes its current packet
	taken    uint64
	births   traffic.Births
	peers    []peer
	open     int32 // unacknowledged packets
	throttle congestion.Throttle
	grant    congestion.Grant
}

// marked draws an event with a given probability; a certain event uses no random number.
func marked(chance float64, dice rand.Source) bool {
	return chance >= 1 || chance > 0 && traffic.Unit(dice) < chance
}

func newNode(n *Network, id int, router int32, port uint8) node {
	nd := node{id: int32(id), router: router, port: port, room: int16(n.capacity), slow: n.cfg.slow(id),
		peers: n.newPeers(id), ring: make([]packet, n.capacity)}
	nd.births = traffic.Bernoulli(n.cfg.rate(id) / float64(n.cfg.Flits) / float64(len(nd.peers)))
	return nd
}

func (p *part) start(nd *node) {
	first := int64(traffic.Never)
	for i := range nd.peers {
		pr := &nd.peers[i]
		pr.birth = nd.births.Gap(&pr.dice) - 1
		first = min(first, pr.birth)
	}
	p.remind(nd, first, -1)
}

// remind schedules a node for cycle t, or earlier.
func (p *part) remind(nd *node, t, now int64) {
	t = min(t, now+p.mask)
	p.routers[nd.router].agenda[t&p.mask].nodes |= 1 << nd.port
}

// send sends a packet if possible, and schedules the node's next attempt.
func (p *part) send(r *router, nd *node, t int64) {
	c := &p.net.cfg
	if nd.wireFree > t {
		p.remind(nd, nd.wireFree, t)
		return
	}
	if nd.room == 0 {
		return // returning room wakes it
	}
	switch pr, next := p.oldest(nd, t); {
	case pr != nil:
		if c.ECN != nil {
			if wait := nd.throttle.Wait(c.ECN, t, c.Flits); wait > 0 {
				p.remind(nd, t+wait, t)
				break
			}
			nd.throttle.Sent(c.ECN, c.Flits)
		}
		p.inject(r, nd, pr, c.Flits, t)
		return
	case next < traffic.Never:
		p.remind(nd, next, t)
	}
	if c.Bound != NoBound {
		if pr := nd.owing(); pr != nil {
			p.inject(r, nd, pr, 1, t)
		}
	}
}

// inject sends a packet, or a standalone acknowledgement.
func (p *part) inject(r *router, nd *node, pr *peer, flits int, t int64) {
	c := &p.net.cfg
	pk := packet{born: t, head: t + int64(c.NodeCycles), src: nd.id, flits: uint8(flits)}
	dst := int(pr.id)
	if dst < 0 {
		dst = c.Traffic.Next(int(nd.id), &pr.dice)
	}
	pk.h = routing.To(dst)
	nd.wireFree = t + int64(flits)
	if p.sent++; flits == c.Flits {
		pk.born = pr.birth
		pr.birth += nd.births.Gap(&pr.dice)
		nd.open++
		pr.asks(t)
		pr.ready = t + int64(flits)*pr.pace
		p.born++
	}
	if pr.id >= 0 {
		pk.acks, pk.bound = uint8(min(pr.owed, 255)), uint8(nd.grant.Bound(pr.trip, c.Flits, len(nd.peers)))
		pr.owed -= int32(pk.acks)
	}
	if pr.echo > 0 {
		pr.echo--
		pk.marks |= becn
	}
	nd.room--
	*p.push(r, int(nd.port)*p.net.vcs, pk.head, t) = pk
	p.remind(nd, nd.wireFree, t)
}

// sink returns the slot for a packet on its way to a node's memory, where its head arrives in a
// given cycle.
func (p *part) sink(r *router, nd *node, flits, head, t int64) *packet {
	at := int(nd.first) + int(nd.count)
	if at >= p.net.capacity {
		at -= p.net.capacity
	}
	if nd.count++; nd.count == 1 {
		nd.done = max(nd.done, head) + flits*nd.slow
		p.remind(nd, nd.done, t)
	}
	return &nd.ring[at]
}

// take completes the packets that memory has taken by cycle t.
func (p *part) take(r *router, nd *node, t int64) {
	if nd.count == 0 {
		return
	}
	if nd.done > t {
		p.remind(nd, nd.done, t)
		return
	}
	p.deliver(nd, &nd.ring[nd.first], t)
	if nd.first++; int(nd.first) == p.net.capacity {
		nd.first = 0
	}
	p.giveBack(r, int(nd.port), int(nd.port)*p.net.vcs)
	if nd.count--; nd.count > 0 {
		pk := &nd.ring[nd.first]
		nd.done = max(nd.done, pk.head) + int64(pk.flits)*nd.slow
		p.remind(nd, nd.done, t)
	} else {
		nd.first = 0
	}
}

func (p *part) deliver(nd *node, pk *packet, t int64) {
	c := &p.net.cfg
	pr := nd.known(pk.src)
	if pr != nil && c.AckCycles == 0 {
		nd.answered(pr, int32(pk.acks), t)
		pr.bound = int32(pk.bound)
	}
	if p.came++; int(pk.flits) == c.Flits {
		nd.taken += uint64(pk.flits)
		p.count(pk, t-1-pk.born)
		if c.Bound == Granted {
			nd.grant.Took(int64(pk.flits)*nd.slow, int(pk.flits))
		}
		switch {
		case pr == nil:
		case c.AckCycles > 0:
			p.acknowledge(nd, pr, t)
		default:
			pr.owed++
		}
	}
	if c.ECN != nil {
		nd.throttle.Received(c.ECN, t, pk.marks&becn != 0, c.Flits)
		if pk.marks&fecn != 0 && pr != nil {
			pr.echo++
		}
	}
	if p.net.observe != nil {
		p.net.observe(pk, nd.id, t)
	}
}
