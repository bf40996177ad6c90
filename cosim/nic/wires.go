package nic

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Links that fail: their registers, those of their wires, and what a NIC notices of them.

// Wires is a Network whose links run over wires that can be given faults. Links are numbered as in
// their registers.
type Wires interface {
	// Exposed tells whether the faults of a link's wires are simulated, Crosses whether it leads to
	// another part. Expose has them simulated from now on, in both directions; the network must
	// have come to the present cycle, and if it crosses those of all parts. It fails if the link
	// leads nowhere.
	Exposed(node, link int) bool
	Crosses(node, link int) bool
	Expose(node, link int) error
	// Order writes a register of an exposed link's wire or end, whose value counts from a cycle on:
	// two cycles ahead. A reset is in that cycle.
	Order(node, link int, to WireRegister, v uint64, from drivers.Cycle)
	// LinkState and WireState are what registers show in the present cycle.
	LinkState(node, link int) LinkState
	WireFaults(node, link int) uint64
	// PortLevel is what the router has at the link's port, by channel: credits of its output, flits
	// in the buffer of its input.
	PortLevel(node, link int) (credits, flits [regs.TorusVCs]uint8)
	// Lookahead is Config.Lookahead, which Expose may shorten.
	Lookahead() drivers.Cycle
}

// A WireRegister is a writable register of a wire or, the last two, of a link.
type WireRegister uint8

// The registers of a wire that leaves a node, LINK_PATIENCE and LINK_CTRL.
const (
	WireErrors WireRegister = iota
	WireLosses
	WireSeed
	WireCtrl
	LinkPatience
	LinkCtrl
	wireRegisters
)

// LinkState is the content of the read-only registers of a link.
type LinkState struct {
	Carrier, Dead, Agreed, Drains                       bool
	CRCErrors, Retransmissions, Timeouts, Failures, Cut uint64
	Drained, Resets, Lost                               uint64
}

// mostLinks is the largest number of links of a router, which is the number of register pages.
const mostLinks = 6

// wireMasks are the bits that each register stores.
var wireMasks = [wireRegisters]uint64{1<<32 - 1, 1<<32 - 1, 1<<64 - 1, 1, regs.LinkPatienceCycles.Mask(), regs.LinkCtrlDrain}

// besides reports whether a register belongs to the simulation instead of the NIC. Such registers
// are answered one cycle earlier.
func (n *node) besides(off uint32) bool {
	return off>>16 == regs.WireErrors(0)>>16 && n.p.wires != nil
}

// wireRegister returns the WireRegister at an address.
func wireRegister(off uint32) (to WireRegister, link int, ok bool) {
	link = int(off >> 12 & 0xf)
	if link >= mostLinks {
		return 0, 0, false
	}
	switch l := uint8(link); off {
	case regs.WireErrors(l):
		return WireErrors, link, true
	case regs.WireLosses(l):
		return WireLosses, link, true
	case regs.WireSeed(l):
		return WireSeed, link, true
	case regs.WireCtrl(l):
		return WireCtrl, link, true
	case regs.LinkPatience(l):
		return LinkPatience, link, true
	case regs.LinkCtrl(l):
		return LinkCtrl, link, true
	}
	return 0, 0, false
}

// mayOrder reports whether a write concerns the network.
func (n *node) mayOrder(op *regOp) bool {
	return n.p.wires != nil && !op.read && op.off >= regs.LinkStatus(0) && op.off < regs.WireErrors(0)+mostLinks<<12
}

// touch makes the network simulate a link word by word, before a fault or a reset is ordered. While
// threads own the parts, a link between two parts belongs to neither.
func (n *node) touch(op *regOp) {
	off := op.off
	to, link, ok := wireRegister(off)
	w := n.p.wires
	if !ok || to == LinkPatience || to == LinkCtrl && op.v&regs.LinkCtrlReset == 0 || w.Exposed(n.id, link) {
		return
	}
	if connected, _ := n.p.net.Link(n.id, link); !connected {
		return
	}
	if n.p.opened != 0 && w.Crosses(n.id, link) {
		n.p.fail(fmt.Errorf("%w: node %d: %s is written while threads have both ends of the wire; "+
			"write a register of it before the run, or use one thread",
			drivers.ErrNotSupported, n.id, regs.Describe(off)))
		return
	}
	if err := n.m.expose(n.p, n.id, link); err != nil {
		n.p.fail(fmt.Errorf("%w: %v", drivers.ErrNotSupported, err))
	}
}

// expose brings the networks to the present cycle and exposes a link.
func (m *Machine) expose(p *Part, node, link int) error {
	if p.opened == 0 {
		for i := range m.parts {
			if x, ok := m.parts[i].net.(Exchanger); ok {
				x.Finish(m.parts[i].now + 1)
			}
		}
	} else {
		p.finish(p.now + 1)
	}
	if err := p.wires.Expose(node, link); err != nil {
		return err
	}
	for i := range m.nodes { // what was announced before, while nobody was told
		if n := &m.nodes[i]; n.ordered && (p.opened == 0 || n.p == p) {
			op := n.regs.first()
			n.announce(op, n.dueAt(op))
		}
	}
	if p.opened == 0 {
		m.cfg.Lookahead = min(m.cfg.Lookahead, p.wires.Lookahead())
	}
	return nil
}

// announce passes a write to the network one cycle before it is performed. Writes posted later are
// performed later, so the write is certain by then.
func (n *node) announce(op *regOp, done drivers.Cycle) {
	to, link, ok := wireRegister(op.off)
	if n.ordered = true; ok && n.p.wires.Exposed(n.id, link) {
		v := op.v & wireMasks[to]
		if to == LinkCtrl {
			v |= op.v & regs.LinkCtrlReset
		}
		n.p.wires.Order(n.id, link, to, v, done+1)
	}
}

// writeWire stores a register of a wire or link that exists. Networks without wire faults refuse to
// drain or reset links.
func (n *node) writeWire(off uint32, v uint64) bool {
	to, link, ok := wireRegister(off)
	if !ok {
		return false
	}
	connected, built := n.p.net.Link(n.id, link)
	if to == LinkCtrl && connected && n.p.wires == nil {
		if v&(regs.LinkCtrlDrain|regs.LinkCtrlReset) != 0 {
			n.p.fail(fmt.Errorf("%w: node %d: %s: no link of this network drains or is reset; rtl: and model: have such links",
				drivers.ErrNotSupported, n.id, regs.Describe(off)))
		}
		return true
	}
	if built {
		n.wire[link][to] = v & wireMasks[to]
	}
	return true
}

// readLink reads a register of a link or wire. Links that do not exist read 0.
func (n *node) readLink(off uint32, i uint8) (uint64, bool) {
	if off < regs.LinkStatus(0) || off >= regs.WireErrors(0)+mostLinks<<12 {
		return 0, false
	}
	connected, built := n.p.net.Link(n.id, int(i))
	if !built {
		return 0, true
	}
	if to, link, ok := wireRegister(off); ok {
		return n.wire[link][to], true
	}
	if !connected {
		return 0, true
	}
	s := LinkState{Carrier: true, Agreed: true}
	if n.p.wires != nil {
		s = n.p.wires.LinkState(n.id, int(i))
	}
	switch off {
	case regs.WireFaults(i):
		return n.p.wires.WireFaults(n.id, int(i)), true
	case regs.WireCredits(i):
		credits, _ := n.p.wires.PortLevel(n.id, int(i))
		return byChannel(credits), true
	case regs.WireFlits(i):
		_, flits := n.p.wires.PortLevel(n.id, int(i))
		return byChannel(flits), true
	case regs.LinkCRCErrors(i):
		return s.CRCErrors, true
	case regs.LinkRetransmissions(i):
		return s.Retransmissions, true
	case regs.LinkTimeouts(i):
		return s.Timeouts, true
	case regs.LinkFailures(i):
		return s.Failures, true
	case regs.LinkCut(i):
		return s.Cut, true
	case regs.LinkDrained(i):
		return s.Drained, true
	case regs.LinkResets(i):
		return s.Resets, true
	case regs.LinkLost(i):
		return s.Lost, true
	}
	v := uint64(regs.LinkStatusConnected)
	for _, bit := range [...]struct {
		is   bool
		mask uint64
	}{
		{s.Carrier, regs.LinkStatusCarrier}, {s.Dead, regs.LinkStatusDead},
		{s.Drains, regs.LinkStatusDrains}, {s.Agreed, regs.LinkStatusAgreed},
	} {
		if bit.is {
			v |= bit.mask
		}
	}
	return v, true
}

// byChannel packs a level per channel, as in WIRE_CREDITS and WIRE_FLITS.
func byChannel(levels [regs.TorusVCs]uint8) (v uint64) {
	for vc, l := range levels {
		v |= uint64(l) << (8 * vc)
	}
	return v
}

// LinkSettings returns LINK_PATIENCE and LINK_CTRL.drain of a link.
func (p *Part) LinkSettings(node, link int) (patience uint64, drain bool) {
	w := &p.nodes[node].wire[link]
	return w[LinkPatience], w[LinkCtrl] != 0
}

// LinkFailed reports that a link of a node lost its carrier, was found dead, or lost its session in
// cycle at. The report of a link between parts can be late: it is ignored if software has cleared
// the cause since.
func (p *Part) LinkFailed(node int, at drivers.Cycle) {
	if n := &p.nodes[node]; at >= n.errorCleared {
		n.interrupt(regs.IRQStatusError)
	}
}

// Cut marks a packet that a link has cut. The packet then has one more tail; it is freed with the
// last of them.
func (p *Part) Cut(h uint32) {
	packet := p.packets.at(h)
	packet.cut.Store(true)
	packet.tails.Add(1)
}
