package capture

import (
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// mark is a packet in flight: the cycle in which its line was taken (unknown for packets in flight
// when the trace began), and the cycle in which it entered its current block.
type mark struct{ start, since drivers.Cycle }

const unknown = drivers.Forever

type fifo struct {
	marks []mark
	head  int
}

func (f *fifo) push(m mark) { f.marks = append(f.marks, m) }

func (f *fifo) pop() (m mark, ok bool) {
	if f.head == len(f.marks) {
		return m, false
	}
	m = f.marks[f.head]
	f.head++
	if f.head >= 32 && 2*f.head >= len(f.marks) {
		f.marks = f.marks[:copy(f.marks, f.marks[f.head:])]
		f.head = 0
	}
	return m, true
}

// route follows the packets of one source and destination.
type route struct {
	nodes   []uint16 // that forwarded the first packet, in order
	stages  []fifo   // packets inside routers, by number of hops passed
	leaving fifo     // header has left the last router, tail has not: at most one
	arrived fifo     // in the completer
}

// hop returns the position of a forwarding node on the route.
func (r *route) hop(node uint16) int {
	i := slices.Index(r.nodes, node)
	if i < 0 {
		r.nodes = append(r.nodes, node)
		i = len(r.nodes) - 1
	}
	return i
}

func (r *route) stage(i int) *fifo {
	for len(r.stages) <= i {
		r.stages = append(r.stages, fifo{})
	}
	return &r.stages[i]
}

func (l *Latency) route(src, dst uint16) *route {
	key := uint32(src)<<16 | uint32(dst)
	r := l.pairs[key]
	if r == nil {
		r = &route{}
		l.pairs[key] = r
	}
	return r
}

func (l *Latency) node(id uint16) *nodeState {
	for len(l.nodes) <= int(id) {
		l.nodes = append(l.nodes, nodeState{})
	}
	return &l.nodes[id]
}

// nodeState is the state of a node's NIC.
type nodeState struct {
	lines   fifo                  // taken, not injected
	leaving [regs.TorusVCs]*route // route of the packet that the router is ejecting
}

// header advances a packet when its first flit passes a point.
func (l *Latency) header(e *drivers.TraceEvent, h regs.Header) {
	r := l.route(h.SrcNode(), h.DstNode())
	switch e.Point {
	case drivers.PointInject:
		m, ok := l.node(e.Node).lines.pop()
		if ok {
			l.waiting.add(e.Cycle - m.since)
		} else {
			m.start = unknown
		}
		r.stage(0).push(mark{m.start, e.Cycle})
	case drivers.PointEject:
		m, ok := r.stage(len(r.nodes)).pop()
		if !ok {
			m.start = unknown
		} else {
			l.eject.add(e.Cycle - m.since)
		}
		r.leaving.push(mark{m.start, e.Cycle})
		l.node(e.Node).leaving[e.VC%regs.TorusVCs] = r
	default:
		i := r.hop(e.Node)
		m, ok := r.stage(i).pop()
		if !ok {
			m.start = unknown
		} else {
			l.hopStat(i).add(e.Cycle - m.since)
		}
		r.stage(i + 1).push(mark{m.start, e.Cycle})
	}
}

// tail: the whole packet is in the completer.
func (l *Latency) tail(e *drivers.TraceEvent) {
	leaving := &l.node(e.Node).leaving[e.VC%regs.TorusVCs]
	if *leaving == nil {
		return
	}
	if m, ok := (*leaving).leaving.pop(); ok {
		l.stream.add(e.Cycle - m.since)
		(*leaving).arrived.push(mark{m.start, e.Cycle})
	}
	*leaving = nil
}

func (l *Latency) slot(e *drivers.TraceEvent) {
	m, ok := l.route(regs.Slot(e.Data).SrcNode(), e.Node).arrived.pop()
	if !ok {
		return
	}
	l.complete.add(e.Cycle - m.since)
	if m.start != unknown {
		l.total.add(e.Cycle - m.start)
	}
}

// dropped removes a packet that its completer discarded. A packet refused by the requester was
// never recorded.
func (l *Latency) dropped(e *drivers.TraceEvent) {
	switch regs.DropReason(e.Data >> 32) {
	case regs.DropReasonBadLength, regs.DropReasonWindowOff, regs.DropReasonNoSuchNode:
		return
	}
	dst, src := uint16(e.Data)>>regs.VPIDW, uint16(e.Data>>16)>>regs.VPIDW
	l.route(src, dst).arrived.pop()
}

func (l *Latency) hopStat(i int) *stat {
	for len(l.hops) <= i {
		l.hops = append(l.hops, stat{})
	}
	return &l.hops[i]
}
