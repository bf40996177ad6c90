package model

import (
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A network implements nic.Wires: link l of a node is port l+1 of its router.

// Lookahead implements nic.Wires; 0 if wires cannot fail.
func (n *network) Lookahead() drivers.Cycle {
	if n.shared || n.f.CanFail() != nil {
		return 0
	}
	return drivers.Cycle(n.f.Lookahead())
}

// Exposed implements nic.Wires.
func (n *network) Exposed(node, link int) bool {
	_, _, connected := n.topology.Link(node, link+1)
	return connected && n.f.Exposed(node, link+1)
}

// Crosses implements nic.Wires.
func (n *network) Crosses(node, link int) bool { return n.f.Crosses(node, link+1) }

// Expose implements nic.Wires.
func (n *network) Expose(node, link int) error {
	peer, back, _ := n.topology.Link(node, link+1)
	if n.m.Tracing() { // the link reports heads when they arrive
		n.m.Withdraw(drivers.Cycle(n.f.Now()), node, drivers.PointArrive1+uint8(link))
		n.m.Withdraw(drivers.Cycle(n.f.Now()), peer, drivers.PointArrive1+uint8(back-1))
	}
	return n.f.Expose(node, link+1, [2]fabric.LinkSettings{n.settings(node, link), n.settings(peer, back-1)})
}

func (n *network) settings(node, link int) fabric.LinkSettings {
	patience, drain := n.m.LinkSettings(node, link)
	return fabric.LinkSettings{Patience: patience, Drain: drain}
}

// wireRegisters maps the registers of nic to those of fabric.
var wireRegisters = [...]fabric.WireRegister{
	nic.WireErrors: fabric.WireErrors, nic.WireLosses: fabric.WireLosses, nic.WireSeed: fabric.WireSeed, nic.WireCtrl: fabric.WireCtrl,
	nic.LinkPatience: fabric.LinkPatience, nic.LinkCtrl: fabric.LinkCtrl,
}

// Order implements nic.Wires.
func (n *network) Order(node, link int, to nic.WireRegister, v uint64, from drivers.Cycle) {
	if to == nic.LinkCtrl {
		v = linkCtrl(v)
	}
	n.f.Order(node, link+1, wireRegisters[to], v, uint64(from))
}

// linkCtrl converts LINK_CTRL to the format of fabric.
func linkCtrl(v uint64) (set uint64) {
	if v&regs.LinkCtrlDrain != 0 {
		set |= fabric.LinkDrain
	}
	if v&regs.LinkCtrlReset != 0 {
		set |= fabric.LinkReset
	}
	return set
}

// LinkState implements nic.Wires.
func (n *network) LinkState(node, link int) nic.LinkState {
	n.catchUp(n.m.Now())
	s := n.f.LinkState(node, link+1)
	return nic.LinkState(s)
}

// WireFaults implements nic.Wires.
func (n *network) WireFaults(node, link int) uint64 {
	n.catchUp(n.m.Now())
	return n.f.WireState(node, link+1).Faults
}

// PortLevel implements nic.Wires.
func (n *network) PortLevel(node, link int) (credits, flits [regs.TorusVCs]uint8) {
	n.catchUp(n.m.Now())
	for vc := range n.topology.VCs() {
		c, f := n.f.PortLevel(node, link+1, vc)
		credits[vc], flits[vc] = uint8(c), uint8(f)
	}
	return credits, flits
}

// heed reports to the NICs what links have done since the last call.
func (n *network) heed() {
	for _, l := range n.f.LinkFailures() {
		n.m.LinkFailed(int(l.Router), drivers.Cycle(l.At))
	}
	for _, e := range n.f.Ended() {
		if e.Cut {
			n.m.Cut(e.Packet)
		} else {
			n.m.Discarded(e.Packet)
		}
	}
}
