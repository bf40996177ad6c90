package ideal

import (
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A pipe is a network with the same latency for every packet. At most depth packets of a class are
// in flight to a node; others wait at their sources.
type pipe struct {
	m       *nic.Part
	latency drivers.Cycle // from the first flit's injection to its ejection
	depth   int
	nodes   []end
}

// An end is a node's connection to the pipe.
type end struct {
	offered [nic.Sources]bool
	free    drivers.Cycle       // the wire into the pipe
	ejected drivers.Cycle       // the wire out of the pipe
	arrived [regs.VCs][]arrival // by class
	from    [regs.VCs]drivers.Cycle
}

// An arrival is a packet with the cycle in which its last flit arrives.
type arrival struct {
	packet uint32
	at     drivers.Cycle
}

// Announce implements nic.Network.
func (p *pipe) Announce() {}

// Offer implements nic.Network.
func (p *pipe) Offer(node int, s nic.Source) { p.nodes[node].offered[s] = true }

// Resume implements nic.Network.
func (p *pipe) Resume(node, class int, from drivers.Cycle) { p.nodes[node].from[class] = from }

// NextEvent implements nic.Network.
func (p *pipe) NextEvent(now drivers.Cycle) drivers.Cycle {
	t := drivers.Forever
	for i := range p.nodes {
		e := &p.nodes[i]
		for class := range e.arrived {
			if a := e.arrived[class]; len(a) > 0 {
				t = min(t, max(a[0].at, e.from[class], now+1))
			}
		}
		for s := range nic.Sources {
			if e.offered[s] && p.room(i, s) {
				t = min(t, max(e.free, now+1))
			}
		}
	}
	return t
}

// Step implements nic.Network.
func (p *pipe) Step(now drivers.Cycle) {
	for i := range p.nodes {
		e := &p.nodes[i]
		for class := range e.arrived {
			p.deliver(now, i, class)
		}
		for s := range nic.Sources {
			if e.offered[s] && e.free <= now && p.room(i, s) {
				p.send(now, i, s)
			}
		}
	}
}

// room reports whether the first packet of a source may enter.
func (p *pipe) room(node int, s nic.Source) bool {
	packet, _ := p.m.Next(node, s)
	return len(p.nodes[packet.Dst].arrived[s.Class()]) < p.depth
}

func (p *pipe) send(now drivers.Cycle, node int, s nic.Source) {
	e := &p.nodes[node]
	packet, _ := p.m.Next(node, s)
	h, to := packet.Packet, int(packet.Dst)
	dst, flits := &p.nodes[to], drivers.Cycle(packet.Flits)
	e.free = now + flits
	dst.ejected = max(dst.ejected, now+p.latency) + flits
	dst.arrived[s.Class()] = append(dst.arrived[s.Class()], arrival{h, dst.ejected})
	if p.m.Tracing() {
		for k := range flits {
			p.m.TraceFlit(now+k, node, drivers.PointInject, uint8(s), h, int(k))
			p.m.TraceFlit(dst.ejected-flits+k, to, drivers.PointEject, uint8(s), h, int(k))
		}
	}
	p.m.Sent(node, s)
	_, e.offered[s] = p.m.Next(node, s)
}

// deliver delivers arrived packets as long as they are accepted.
func (p *pipe) deliver(now drivers.Cycle, node, class int) {
	e := &p.nodes[node]
	for len(e.arrived[class]) > 0 && max(e.arrived[class][0].at, e.from[class]) <= now {
		first := e.arrived[class][0]
		if !p.m.Accepts(node, class, first.packet) {
			e.from[class] = drivers.Forever // until Resume
			return
		}
		p.m.Collected(node, class, first.packet)
		e.arrived[class] = append(e.arrived[class][:0], e.arrived[class][1:]...)
	}
}

// Waiting implements nic.Network.
func (p *pipe) Waiting(node, class int) int {
	flits := 0
	for _, a := range p.nodes[node].arrived[class] {
		if a.at <= p.m.Now() {
			flits += p.m.Packet(a.packet).Flits()
		}
	}
	return flits
}

// Credits implements nic.Network: there are none.
func (p *pipe) Credits(int, int) int { return 0 }

// Route implements nic.Network. Table entries are ignored, because there is only one path.
func (p *pipe) Route(int, int, int) {}

// RouteErrors implements nic.Network.
func (p *pipe) RouteErrors(int) uint64 { return 0 }

// Link implements nic.Network: there are none.
func (p *pipe) Link(int, int) (connected, ok bool) { return false, false }
