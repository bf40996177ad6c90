package nic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

const unarmed = ^uint64(0)

// A watch is a watched range of a node's memory. While armed it is also in the node's list.
type watch struct {
	node     int32
	armed    bool
	off, end uint64
}

type armedWatch struct {
	off, end uint64
	id       drivers.WatchID
}

// Watch implements drivers.Timed.
func (m *Machine) Watch(node int, off, n uint64) (drivers.WatchID, error) {
	if node < 0 || node >= len(m.nodes) {
		return 0, fmt.Errorf("%w: watch on node %d; expected 0..%d", drivers.ErrConfig, node, len(m.nodes)-1)
	}
	if size := uint64(len(m.nodes[node].mem)); n == 0 || off > size || n > size-off {
		return 0, fmt.Errorf("%w: watch of %d bytes at 0x%x; expected a range inside the %d bytes of memory",
			drivers.ErrConfig, n, off, size)
	}
	m.watches = append(m.watches, watch{node: int32(node), off: off, end: off + n})
	return drivers.WatchID(len(m.watches) - 1), nil
}

// Arm implements drivers.Timed.
func (m *Machine) Arm(id drivers.WatchID) {
	w := &m.watches[id]
	if w.armed {
		return
	}
	w.armed = true
	n := &m.nodes[w.node]
	n.armed = append(n.armed, armedWatch{w.off, w.end, id})
}

// ArmPIO implements drivers.Timed.
func (m *Machine) ArmPIO(node, vpid int, count uint64) {
	m.nodes[node].armPIO[vpid] = count
	m.nodes[node].checkPIO(vpid)
}

// ArmIRQ implements drivers.Timed.
func (m *Machine) ArmIRQ(node int) {
	m.nodes[node].armIRQ = true
	m.nodes[node].checkIRQ()
}

// written fires the watches that a DMA write touches. The order of the list does not matter,
// because report sorts what has fired.
func (n *node) written(s span) {
	if len(n.armed) == 0 {
		return
	}
	off, size := n.offset(s.addr), s.n
	for i := 0; i < len(n.armed); {
		w := &n.armed[i]
		if off >= w.end || w.off >= off+size {
			i++
			continue
		}
		n.m.watches[w.id].armed = false
		n.p.fired = append(n.p.fired, drivers.Fired{Kind: drivers.FiredWatch, Node: n.id, Watch: w.id})
		*w = n.armed[len(n.armed)-1]
		n.armed = n.armed[:len(n.armed)-1]
	}
}

func (n *node) checkPIO(vpid int) {
	if n.taken[vpid] >= n.armPIO[vpid] {
		n.armPIO[vpid] = unarmed
		n.p.fired = append(n.p.fired, drivers.Fired{Kind: drivers.FiredPIO, Node: n.id, VPID: vpid})
	}
}

func (n *node) checkIRQ() {
	if n.armIRQ && n.irqStatus&n.irqMask != 0 {
		n.armIRQ = false
		n.p.fired = append(n.p.fired, drivers.Fired{Kind: drivers.FiredIRQ, Node: n.id})
	}
}

// A tracer sorts events by cycle before it passes them on: some are reported a few cycles late.
type tracer struct {
	sink    drivers.TraceSink
	pending []drivers.TraceEvent
}

// Tracing reports whether there is a trace sink.
func (p *Part) Tracing() bool { return p.m.sink != nil }

// TraceFlit records that the flit at an index of a packet passes a trace point of a node.
func (p *Part) TraceFlit(at drivers.Cycle, node int, point, vc uint8, h uint32, index int) {
	packet := p.packets.at(h)
	e := drivers.TraceEvent{Cycle: at, Data: packet.Flit(index), Node: uint16(node), Point: point, VC: vc}
	if index == 0 {
		e.Flags |= drivers.TraceHead
	}
	if index == packet.Flits()-1 {
		e.Flags |= drivers.TraceTail
	}
	p.m.pending = append(p.m.pending, e)
}

// Withdraw removes the events of a trace point that were recorded ahead of time for cycles after
// behind.
func (p *Part) Withdraw(behind drivers.Cycle, node int, point uint8) {
	p.m.pending = slices.DeleteFunc(p.m.pending, func(e drivers.TraceEvent) bool {
		return e.Cycle > behind && int(e.Node) == node && e.Point == point
	})
}

func (m *Machine) trace(at drivers.Cycle, node int, point uint8, data uint64) {
	if m.sink != nil {
		m.pending = append(m.pending, drivers.TraceEvent{Cycle: at, Node: uint16(node), Point: point, Data: data})
	}
}

// traceBus records an access to memory. The flags hold the number of the client, from 1 on.
func (m *Machine) traceBus(at drivers.Cycle, node int, point uint8, who int, addr uint64) {
	if m.sink != nil {
		m.pending = append(m.pending, drivers.TraceEvent{
			Cycle: at, Node: uint16(node), Point: point, Flags: uint8(who + 1), Data: addr,
		})
	}
}

// flush passes on all events of cycles before now. Cycle now may not be complete yet.
func (t *tracer) flush(now drivers.Cycle) error {
	if len(t.pending) == 0 {
		return nil
	}
	slices.SortStableFunc(t.pending, func(a, b drivers.TraceEvent) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Node, b.Node))
	})
	n := 0
	for n < len(t.pending) && t.pending[n].Cycle < now {
		n++
	}
	err := t.sink.Trace(t.pending[:n])
	t.pending = t.pending[:copy(t.pending, t.pending[n:])]
	return err
}
