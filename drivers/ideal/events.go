package ideal

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

const unarmed = ^uint64(0)

// Watch names a range of node's memory.
func (s *System) Watch(node int, off, n uint64) (drivers.WatchID, error) {
	if node < 0 || node >= len(s.nodes) {
		return 0, fmt.Errorf("%w: watch on node %d; expected 0..%d", drivers.ErrConfig, node, len(s.nodes)-1)
	}
	if size := uint64(len(s.nodes[node].mem)); n == 0 || off > size || n > size-off {
		return 0, fmt.Errorf("%w: watch of %d bytes at 0x%x; expected a range inside the %d bytes of memory", drivers.ErrConfig, n, off, size)
	}
	s.watches = append(s.watches, watch{node: node, off: off, end: off + n})
	return drivers.WatchID(len(s.watches) - 1), nil
}

// Arm makes the next write that touches the range stop Run.
func (s *System) Arm(id drivers.WatchID) { s.watches[id].armed = true }

// ArmPIO makes Run stop when enough lines were taken.
func (s *System) ArmPIO(node, vpid int, count uint64) {
	s.nodes[node].armPIO[vpid] = count
	s.nodes[node].checkPIO(vpid)
}

// ArmIRQ makes Run stop while the interrupt line is up.
func (s *System) ArmIRQ(node int) {
	s.nodes[node].armIRQ = true
	s.nodes[node].checkIRQ()
}

// written tells the watches of a DMA write.
func (s *System) written(node int, off, n uint64) {
	for i := range s.watches {
		w := &s.watches[i]
		if w.armed && w.node == node && off < w.end && w.off < off+n {
			w.armed = false
			s.fired = append(s.fired, drivers.Fired{Kind: drivers.FiredWatch, Node: node, Watch: drivers.WatchID(i)})
		}
	}
}

func (n *node) checkPIO(vpid int) {
	if n.taken[vpid] >= n.armPIO[vpid] {
		n.armPIO[vpid] = unarmed
		n.s.fired = append(n.s.fired, drivers.Fired{Kind: drivers.FiredPIO, Node: n.id, VPID: vpid})
	}
}

func (n *node) checkIRQ() {
	if n.armIRQ && n.irqStatus&n.irqMask != 0 {
		n.armIRQ = false
		n.s.fired = append(n.s.fired, drivers.Fired{Kind: drivers.FiredIRQ, Node: n.id})
	}
}

// A tracer brings events, which are known ahead, into order of time.
type tracer struct {
	sink    drivers.TraceSink
	pending []drivers.TraceEvent
}

func (t *tracer) trace(e drivers.TraceEvent) {
	if t.sink != nil {
		t.pending = append(t.pending, e)
	}
}

// flush hands over what lies before now: more of the present cycle may come.
func (t *tracer) flush(now drivers.Cycle) error {
	if len(t.pending) == 0 {
		return nil
	}
	slices.SortStableFunc(t.pending, func(a, b drivers.TraceEvent) int {
		switch {
		case a.Cycle < b.Cycle:
			return -1
		case a.Cycle > b.Cycle:
			return 1
		}
		return 0
	})
	n := 0
	for n < len(t.pending) && t.pending[n].Cycle < now {
		n++
	}
	err := t.sink.Trace(t.pending[:n])
	t.pending = t.pending[:copy(t.pending, t.pending[n:])]
	return err
}

// traceFlits shows a packet's flits passing a point, one per cycle.
func (n *node) traceFlits(at drivers.Cycle, point uint8, p *packet) {
	n.traceWords(at, point, p.header, p.payload[:flit.Payload(p.header)*regs.FlitBytes])
}

// traceWords shows a packet of a header, whole flits and a tail.
func (n *node) traceWords(at drivers.Cycle, point uint8, h regs.Header, words []byte) {
	if n.s.sink == nil {
		return
	}
	e := drivers.TraceEvent{Cycle: at, Data: uint64(h), Node: uint16(n.id), Point: point, VC: h.VC(), Flags: drivers.TraceHead}
	n.s.trace(e)
	e.Flags = 0
	for i := 0; i < len(words); i += regs.FlitBytes {
		e.Cycle++
		e.Data = binary.LittleEndian.Uint64(words[i:])
		n.s.trace(e)
	}
	e.Cycle++
	e.Data, e.Flags = uint64(regs.TailFields{CRC: flit.CRC(h, words)}.Pack()), drivers.TraceTail
	n.s.trace(e)
}
