package ideal

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	lineDepth  = 4 // lines that the requester holds
	slotCycles = 9 // a slot's eight beats and its answer
)

type mailbox struct {
	base        uint64
	slots       uint32
	ctrl        uint64
	wp, rp, idx uint32
	stall       stall
}

func (m *mailbox) on() bool   { return m.ctrl&regs.MboxCtrlEnable != 0 && m.slots != 0 }
func (m *mailbox) full() bool { return m.wp-m.rp >= m.slots }

type line struct {
	at   drivers.Cycle
	off  uint32
	n    int
	data [regs.VELOPayload]byte
}

func (l line) due() drivers.Cycle { return l.at }

func (l *line) rma() bool { return regs.RMAPio(l.off).RMA() }

// word is a quadword of the line.
func (l *line) word(i int) uint64 { return binary.LittleEndian.Uint64(l.data[8*i:]) }

type regOp struct {
	at   drivers.Cycle
	off  uint32
	v    uint64
	read bool
}

func (o regOp) due() drivers.Cycle { return o.at }

type packet struct {
	header  regs.Header
	ready   drivers.Cycle // it may take its next step
	payload [regs.VELOPayload]byte
}

type node struct {
	s  *System
	id int

	mem  []byte
	mbox [regs.VPIDs]mailbox
	rma  rma
	atu  atu

	regs    queue[regOp]
	regFree drivers.Cycle
	answer  answer // of the read that was performed last
	pio     queue[line]
	pioFree drivers.Cycle
	taken   [regs.VPIDs]uint64

	lines   queue[packet] // in the requester
	txFree  drivers.Cycle
	txStall stall
	rx      queue[packet] // on the way here, and waiting
	rxFree  drivers.Cycle
	ejected drivers.Cycle // the link into this node is free
	rxStall stall
	stalled uint8 // VPID that stalls now or stalled last

	irqStatus, irqMask, errorInfo, scratch uint64
	badAccess, txPackets, rxPackets        uint64
	txDropped, rxDropped                   uint64

	armPIO [regs.VPIDs]uint64 // count to stop at, or unarmed
	armIRQ bool
}

func (n *node) empty() bool {
	return n.regs.n+n.pio.n+n.lines.n+n.rx.n+n.atu.commands.n == 0 && n.rma.empty()
}

// next is the first cycle at which this node does something by itself.
func (n *node) next() drivers.Cycle {
	t := n.nextRMA()
	if n.regs.n > 0 {
		t = min(t, max(n.regs.first().at, n.regFree))
	}
	if n.canTake() {
		t = min(t, max(n.pio.first().at, n.pioFree))
	}
	if n.lines.n > 0 && !(n.txStall.on && n.netFull()) {
		t = min(t, max(n.lines.first().ready, n.txFree))
	}
	if n.rx.n > 0 && !(n.rxStall.on && n.mailboxFull()) {
		t = min(t, max(n.rx.first().ready, n.rxFree))
	}
	return t
}

// step does what is due now, a step of each unit at most.
func (n *node) step(now drivers.Cycle) {
	if n.regs.n > 0 && max(n.regs.first().at, n.regFree) <= now {
		n.access(now)
	}
	if n.rx.n > 0 && max(n.rx.first().ready, n.rxFree) <= now {
		n.complete(now)
	}
	if n.lines.n > 0 && max(n.lines.first().ready, n.txFree) <= now {
		n.inject(now)
	}
	n.stepRMA(now)
	if n.canTake() && max(n.pio.first().at, n.pioFree) <= now {
		n.take(now)
	}
}

// canTake: there is room for the first line of the bus.
func (n *node) canTake() bool {
	if n.pio.n == 0 {
		return false
	}
	if l := n.pio.first(); l.rma() {
		return n.rma.descs[regs.RMAPio(l.off).SrcVPID()].n < regs.RMADepth
	}
	return n.lines.n < lineDepth
}

// take accepts or refuses a line of the send windows.
func (n *node) take(now drivers.Cycle) {
	l := n.pio.first()
	p := regs.Pio(l.off)
	beats := max(1, (l.n+regs.FlitBytes-1)/regs.FlitBytes)
	n.pioFree = now + 1 + drivers.Cycle(beats)
	if l.rma() {
		n.takeDescriptor(now, l)
	} else if reason := n.refuse(p, l, beats); reason != regs.DropReasonNone {
		n.txDropped++
		n.drop(now, n.header(p), reason)
		n.s.fail(&drivers.BusError{Node: n.id, Port: "pio", Off: l.off, Write: true, Resp: slverr})
	} else {
		out := n.lines.grow()
		out.header, out.ready, out.payload = n.header(p), now+1, l.data
		n.s.trace(drivers.TraceEvent{Cycle: now, Node: uint16(n.id), Point: drivers.PointPIO, Data: uint64(l.off)})
	}
	vpid := p.SrcVPID()
	n.pio.drop()
	n.taken[vpid]++
	n.checkPIO(int(vpid))
}

func (n *node) header(p regs.Pio) regs.Header {
	return regs.HeaderFields{
		Type: regs.PacketTypeVELO, Kind: p.Kind(), Piggyback: p.Piggyback(), Length: uint16(p.Length()),
		SrcVPID: p.SrcVPID(), SrcNode: uint16(n.id), DstVPID: p.DstVPID(), DstNode: uint16(p.DstNode()),
	}.Pack()
}

func (n *node) refuse(p regs.Pio, l *line, beats int) regs.DropReason {
	f := p.Fields()
	h := n.header(p)
	switch {
	case n.mbox[f.SrcVPID].ctrl&regs.MboxCtrlWindow == 0:
		return regs.DropReasonWindowOff
	case f.Byte != 0, uint32(p)>>4&3 != 0, flit.Bytes(h) > regs.VELOPayload, beats != max(1, flit.Payload(h)), l.n > regs.VELOPayload:
		return regs.DropReasonBadLength
	case int(f.DstNode) >= len(n.s.nodes):
		return regs.DropReasonNoSuchNode
	}
	return regs.DropReasonNone
}

func (n *node) netFull() bool {
	return n.s.nodes[n.lines.first().header.DstNode()].rx.n >= n.s.depth
}

// inject sends the requester's first packet if the network takes it.
func (n *node) inject(now drivers.Cycle) {
	if n.netFull() {
		n.txStall.begin(now)
		return
	}
	n.txStall.end(now)
	p := n.lines.first()
	dst := &n.s.nodes[p.header.DstNode()]
	flits := drivers.Cycle(flit.Total(p.header))
	n.txFree = now + flits
	dst.ejected = max(dst.ejected, now+n.s.latency) + flits
	p.ready = dst.ejected
	*dst.rx.grow() = *p
	n.traceFlits(now, drivers.PointInject, p)
	dst.traceFlits(dst.ejected-flits, drivers.PointEject, p)
	n.lines.drop()
	n.txPackets++
}

func (n *node) mailboxFull() bool {
	m := &n.mbox[n.rx.first().header.DstVPID()]
	return m.on() && m.full()
}

// complete writes the first packet that arrived to its mailbox, or discards it.
func (n *node) complete(now drivers.Cycle) {
	p := n.rx.first()
	vpid := p.header.DstVPID()
	m := &n.mbox[vpid]
	if n.mailboxFull() {
		if !n.rxStall.on {
			n.stalled = vpid
			n.interrupt(regs.IRQStatusStall)
		}
		n.rxStall.begin(now)
		m.stall.begin(now)
		return
	}
	n.rxStall.end(now)
	n.mbox[n.stalled].stall.end(now)
	n.rxFree = now + slotCycles
	if reason := n.write(now, m, p); reason == regs.DropReasonNone {
		n.rxPackets++
		if m.ctrl&regs.MboxCtrlIRQArrival != 0 {
			n.interrupt(1 << vpid)
		}
	} else {
		n.rxDropped++
		n.drop(now, p.header, reason)
	}
	n.rx.drop()
}

func (n *node) write(now drivers.Cycle, m *mailbox, p *packet) regs.DropReason {
	if !m.on() {
		return regs.DropReasonMailboxOff
	}
	off := m.base + uint64(m.idx)*regs.SlotBytes
	if off > uint64(len(n.mem))-regs.SlotBytes {
		n.s.fail(&drivers.DMAError{Node: n.id, Addr: off, Bytes: regs.SlotBytes, Memory: uint64(len(n.mem))})
		return regs.DropReasonDMAError
	}
	h := p.header
	slot := regs.SlotFields{
		SrcVPID: h.SrcVPID(), SrcNode: h.SrcNode(), Length: h.Length(), Kind: h.Kind(),
		Piggyback: h.Piggyback(), Seq: m.wp + 1,
	}.Pack()
	mem := n.mem[off : off+regs.SlotBytes]
	used := flit.Payload(h) * regs.FlitBytes
	copy(mem, p.payload[:used])
	clear(mem[used:regs.SlotHdrOff])
	binary.LittleEndian.PutUint64(mem[regs.SlotHdrOff:], uint64(slot))
	n.s.trace(drivers.TraceEvent{Cycle: now, Node: uint16(n.id), Point: drivers.PointSlot, Data: uint64(slot)})
	m.wp++
	if m.idx++; m.idx >= m.slots {
		m.idx = 0
	}
	n.s.written(n.id, off, regs.SlotBytes)
	return regs.DropReasonNone
}

// drop records why a packet or a send was discarded; the caller counts it.
func (n *node) drop(now drivers.Cycle, h regs.Header, reason regs.DropReason) {
	if n.errorInfo&regs.ErrorInfoValid == 0 {
		n.errorInfo = regs.ErrorInfoValid | uint64(reason)<<regs.ErrorInfoReason.LSB() |
			uint64(h)>>32&0xffff<<regs.ErrorInfoSrc.LSB() | uint64(h)>>48<<regs.ErrorInfoDst.LSB() |
			uint64(h.Length())<<regs.ErrorInfoLength.LSB()
	}
	n.s.trace(drivers.TraceEvent{Cycle: now, Node: uint16(n.id), Point: drivers.PointDropped,
		Data: uint64(h)>>48 | uint64(h)>>32&0xffff<<16 | uint64(reason)<<32})
	n.interrupt(regs.IRQStatusError)
}

func (n *node) interrupt(cause uint64) {
	n.irqStatus |= cause
	n.checkIRQ()
}
