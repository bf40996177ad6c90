package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

type mailbox struct {
	base  uint64
	slots uint32
	ctrl  uint64
	pointers
	hold
	stall stall
}

func (m *mailbox) on() bool   { return m.ctrl&regs.MboxCtrlEnable != 0 && m.slots != 0 }
func (m *mailbox) full() bool { return m.filled(m.slots) }

// A line was posted to a send window; its bytes are in the packet that it will be.
type line struct {
	at     drivers.Cycle
	off    uint32
	packet uint32
	n      uint16
}

func (l line) due() drivers.Cycle { return l.at }

func (l *line) rma() bool { return regs.RMAPio(l.off).RMA() }

// beats of the burst that carries the line.
func (l *line) beats() drivers.Cycle {
	return drivers.Cycle(max(1, (int(l.n)+regs.FlitBytes-1)/regs.FlitBytes))
}

type regOp struct {
	at   drivers.Cycle
	off  uint32
	v    uint64
	read bool
}

func (o regOp) due() drivers.Cycle { return o.at }

// node is one NIC. Cycles are those of clock edges: what was decided at an edge is
// there from the next one on.
type node struct {
	m  *Machine
	p  *Part // that it belongs to
	id int

	// The bus of the send windows: lines that wait for it, and the one on it.
	pio       queue[line]
	onBus     line
	pioState  pioState
	pioFetch  drivers.Cycle // the next line may be fetched
	pioDone   drivers.Cycle // the line on the bus is answered
	pioFrom   drivers.Cycle // of a blocked line: its address stands on the bus
	pioRMA    bool          // the last line was for RMA
	taken     [regs.VPIDs]uint64
	out       [Sources]queue[uint32] // packets that leave
	outSince  [Sources]drivers.Cycle // the first of them stands there
	txStall   uint64
	txPackets uint64
	txDropped uint64

	rx          queue[uint32] // packets in the VELO completer
	rxFreed     drivers.Cycle // one left
	rxFrom      drivers.Cycle // it writes since
	rxBusy      bool          // it writes
	rxWritten   drivers.Cycle // it counted a slot
	slot        slotWrite
	rxStall     stall
	heldFrom    drivers.Cycle // the mailbox that stalls pays from here on
	stalled     uint8         // VPID that stalls now or stalled last
	rxPackets   uint64
	rxDropped   uint64
	rxCRCErrors uint64
	shared      bool // RMA has been used, and may want the channel of writes
	writes      writeChannel

	mem      []byte
	mbox     [regs.VPIDs]mailbox
	procs    [regs.VPIDs]process
	domains  domains
	rma      rma
	atu      atu
	nvm      [regs.NVMRanges]nvmRange
	nvmInUse bool

	regs    queue[regOp]
	regFree drivers.Cycle // the next access may be fetched
	ordered bool          // the network knows of the first of them
	answer  answer        // of the read that was performed last

	irqStatus, irqMask, errorInfo, scratch, badAccess, rpRefused uint64
	routes                                                       [regs.NodeMax]uint64 // entries of the route table
	wire                                                         [mostLinks][wireRegisters]uint64

	errorCleared drivers.Cycle // in irqStatus, by software

	armed  []armedWatch
	armPIO [regs.VPIDs]uint64 // count to stop at, or unarmed
	armIRQ bool
}

type pioState uint8

const (
	pioIdle    pioState = iota
	pioOpen             // a line's beats, up to its answer at pioDone
	pioBlocked          // a line waits for a place
)

// slotWrite is the DMA write under way.
type slotWrite struct {
	addr   uint64
	header regs.Slot
	vpid   uint8
	failed bool
	lost   bool // its mailbox was switched off
}

func (n *node) reset() {
	for i := range n.nvm {
		n.nvm[i].rate = nvmFullRate
	}
	for v := range n.mbox {
		n.mbox[v].left, n.rma.rings[v].left = forGood, forGood
	}
	for i := range n.wire {
		n.wire[i][LinkPatience] = regs.LinkPatienceAtReset
	}
}

func (n *node) empty() bool {
	return n.regs.n+n.pio.n == 0 && !n.atu.commands.busy() && n.pioState == pioIdle && n.rma.empty()
}

// ---- send windows ----

func (n *node) postLine(l line) {
	post(&n.pio, l)
	if n.pioState == pioIdle {
		n.wake(unitPIO, max(n.pio.first().at+1, n.pioFetch))
	}
}

// stepPIO answers the line on the bus and fetches the next.
func (n *node) stepPIO() {
	now := n.p.now
	if n.pioState == pioOpen && n.pioDone <= now {
		n.answerLine()
	}
	if n.pioState != pioIdle || n.pio.n == 0 {
		return
	}
	l := n.pio.first()
	fetch := max(l.at+1, n.pioFetch)
	if fetch > now {
		n.wake(unitPIO, fetch)
		return
	}
	n.onBus = *l
	n.pio.drop()
	from := fetch + 1
	if l := &n.onBus; l.rma() != n.pioRMA { // the other slave's answers must be back
		n.pioRMA = l.rma()
		from = max(from, n.pioDone+1)
	}
	n.pioFrom, n.pioState = from, pioBlocked
	if n.pioRMA || n.out[SourceVELO].n < n.m.cfg.Timing.Lines {
		n.openLine(from)
	}
}

// openLine: the line's address is taken at a cycle.
func (n *node) openLine(at drivers.Cycle) {
	end := at + n.onBus.beats()
	n.pioState, n.pioFetch, n.pioDone = pioOpen, end, end+1
	n.wake(unitPIO, n.pioDone)
}

// answerLine: the line has been taken or refused; it is answered now.
func (n *node) answerLine() {
	l := &n.onBus
	vpid := regs.Pio(l.off).SrcVPID()
	if l.rma() {
		if !n.takeDescriptor(l) {
			return
		}
	} else {
		n.takeLine(l)
	}
	n.pioState = pioIdle
	n.taken[vpid]++
	n.checkPIO(int(vpid))
}

func (n *node) takeLine(l *line) {
	p := regs.Pio(l.off)
	h := n.header(p)
	if reason := n.refuse(p, h, l); reason != regs.DropReasonNone {
		n.p.pool.put(l.packet)
		n.txDropped++
		n.drop(n.p.now-1, h, reason)
		n.p.fail(&drivers.BusError{Node: n.id, Port: "pio", Off: l.off, Write: true, Resp: slverr})
		return
	}
	pk := n.p.pool.at(l.packet)
	pk.Header, pk.stamp = h, n.standing(p.SrcVPID()).stamp
	n.m.trace(n.p.now-1, n.id, drivers.PointPIO, uint64(l.off))
	n.push(SourceVELO, l.packet)
}

// push hands a packet to the network.
func (n *node) push(s Source, h uint32) {
	q := &n.out[s]
	*q.grow() = h
	if q.n == 1 {
		n.outSince[s] = n.p.now
		n.p.net.Offer(n.id, s)
	}
}

func (n *node) header(p regs.Pio) regs.Header {
	return regs.HeaderFields{
		Type: regs.PacketTypeVELO, Kind: p.Kind(), Piggyback: p.Piggyback(), Length: uint16(p.Length()),
		SrcVPID: p.SrcVPID(), SrcNode: uint16(n.id), DstVPID: p.DstVPID(), DstNode: uint16(p.DstNode()),
	}.Pack()
}

func (n *node) refuse(p regs.Pio, h regs.Header, l *line) regs.DropReason {
	f := p.Fields()
	s := n.standing(f.SrcVPID)
	switch {
	case !s.window:
		return regs.DropReasonWindowOff
	case s.stamp.pdid() == 0:
		return regs.DropReasonDomain
	case f.Byte != 0, uint32(p)>>4&3 != 0, flit.Bytes(h) > regs.VELOPayload, int(l.beats()) != max(1, flit.Payload(h)), l.n > regs.VELOPayload:
		return regs.DropReasonBadLength
	case int(f.DstNode) >= len(n.m.nodes):
		return regs.DropReasonNoSuchNode
	}
	return regs.DropReasonNone
}

// Next is the packet that a source wants to send.
func (p *Part) Next(node int, s Source) (packet uint32, ok bool) {
	q := &p.nodes[node].out[s]
	if q.n == 0 {
		return 0, false
	}
	return *q.first(), true
}

// Packet is a packet by its number.
func (p *Part) Packet(h uint32) *Packet { return p.pool.at(h) }

// Sent: the last flit of the source's packet leaves in this cycle.
func (p *Part) Sent(node int, s Source) {
	n := &p.nodes[node]
	packet := p.pool.at(*n.out[s].first())
	stood := uint64(p.now-n.outSince[s]) + 1
	n.out[s].drop()
	n.outSince[s] = p.now + 1
	if s != SourceVELO {
		n.sentRMA(s.Class())
		return
	}
	n.txPackets++
	n.txStall += stood - min(stood, uint64(packet.Flits()))
	if n.pioState == pioBlocked && !n.pioRMA {
		n.openLine(max(n.pioFrom, p.now+1))
	}
}

// txStalled counts the cycles in which a flit of the VELO requester waited. The
// network knows how much of the first packet has left; here it counts when it is gone.
func (n *node) txStalled() uint64 {
	if n.out[SourceVELO].n == 0 {
		return n.txStall
	}
	stood := uint64(max(n.p.now, n.outSince[SourceVELO]) - n.outSince[SourceVELO])
	flits := uint64(n.p.pool.at(*n.out[SourceVELO].first()).Flits())
	return n.txStall + stood - min(stood, flits)
}

// ---- completer ----

const completerBuffers = 2

// Accepts tells whether the unit that a packet is for takes its head in this cycle.
func (p *Part) Accepts(node, class int, h uint32) bool {
	n := &p.nodes[node]
	if class == vcRequest && p.pool.at(h).velo() {
		held := n.rx.n
		if n.rxFreed == p.now { // the buffer is free from the next cycle on
			held++
		}
		return held < completerBuffers
	}
	return n.acceptsRMA(class, h)
}

// RouteError: node's router has no way for a packet and discards it from its head on.
func (p *Part) RouteError(node int) { p.nodes[node].interrupt(regs.IRQStatusError) }

// Discarded: the last flit of such a packet is gone.
func (p *Part) Discarded(h uint32) { p.pool.put(h) }

// Collected: the unit takes the last flit of a packet in this cycle.
func (p *Part) Collected(node, class int, h uint32) {
	n := &p.nodes[node]
	if class != vcRequest || !p.pool.at(h).velo() {
		n.collectedRMA(class, h)
		return
	}
	*n.rx.grow() = h
	if n.rx.n == 1 {
		n.check(p.now + 1)
	}
}

// check looks at the oldest packet at a cycle that is the next one. What would
// wait or fail is left to recheck, in that cycle itself.
func (n *node) check(at drivers.Cycle) {
	p := n.p.pool.at(*n.rx.first())
	m := &n.mbox[p.Header.DstVPID()]
	if !m.on() || m.full() || !n.serves(p) || n.writesNow() || p.cut {
		n.wake(unitCheck, at)
		return
	}
	n.begin(at, m)
}

// recheck looks at the oldest packet now.
func (n *node) recheck() {
	now := n.p.now
	if n.rx.n == 0 || n.rxBusy {
		return
	}
	p := n.p.pool.at(*n.rx.first())
	h := p.Header
	if p.cut {
		n.rxCRCErrors++
		n.drop(now, h, regs.DropReasonCRC)
		n.releaseBuffer()
		return
	}
	vpid, serves := h.DstVPID(), n.serves(p)
	m := &n.mbox[vpid]
	if n.rxStall.on {
		n.payMailbox(now)
	}
	overflows := serves && m.on() && m.full() && m.left == 0
	if serves && m.on() && m.full() && !overflows {
		if !n.rxStall.on {
			n.stalled, n.heldFrom = vpid, now
			n.interrupt(regs.IRQStatusStall)
		}
		n.rxStall.begin(now)
		m.stall.begin(now)
		n.wakeSpent()
		return
	}
	n.endStall(now)
	if serves && m.on() && !overflows {
		n.begin(now, m)
		return
	}
	n.rxDropped++
	reason := regs.DropReasonMailboxOff
	switch {
	case !serves:
		n.stranger(p)
		reason = regs.DropReasonDomain
	case overflows:
		m.hold.drop()
		reason = regs.DropReasonOverflow
	}
	n.drop(now, h, reason)
	n.releaseBuffer()
}

func (n *node) endStall(at drivers.Cycle) {
	n.rxStall.end(at)
	n.mbox[n.stalled].stall.end(at)
}

// mailboxChanged lets a packet that waits look again.
func (n *node) mailboxChanged() {
	if n.rxStall.on {
		n.wake(unitCheck, n.p.now+1)
	}
}

// begin has the slot of the oldest packet written, which was checked at a cycle; its last beat lands a
// burst after the first.
func (n *node) begin(checked drivers.Cycle, m *mailbox) {
	h := n.p.pool.at(*n.rx.first()).Header
	n.rxBusy, n.rxFrom = true, checked
	n.slot.addr, n.slot.vpid, n.slot.lost = m.base+uint64(m.idx)*regs.SlotBytes, h.DstVPID(), false
	n.slot.header = regs.SlotFields{
		SrcVPID: h.SrcVPID(), SrcNode: h.SrcNode(), Length: h.Length(), Kind: h.Kind(),
		Piggyback: h.Piggyback(), Overflow: m.overflowed, Seq: m.wp + 1,
	}.Pack()
	const quads = regs.SlotBytes / 8
	if !n.shared && !n.nvmInUse && !n.atu.commands.busy() {
		n.wake(unitSlot, n.writeAlone(writeVELO, checked+1, quads))
	} else {
		n.askWrite(writeVELO, checked+1, n.slot.addr, quads)
	}
}

// slotWritten: the last beat reaches memory.
func (n *node) slotWritten() {
	n.wake(unitCommit, n.p.now+n.m.cfg.Timing.HostWrite)
	at := span{n.slot.addr, regs.SlotBytes}
	if n.slot.failed = !n.inMemory(at); n.slot.failed {
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: at.addr, Bytes: regs.SlotBytes, Memory: uint64(len(n.mem))})
		return
	}
	p := n.p.pool.at(*n.rx.first())
	mem := n.dma(at)
	used := copy(mem, p.body[:flit.Bytes(p.Header)])
	clear(mem[used:regs.SlotHdrOff])
	putWord(mem[regs.SlotHdrOff:], uint64(n.slot.header))
	n.written(at)
}

// commit: the write is acknowledged.
func (n *node) commit() {
	h := n.p.pool.at(*n.rx.first()).Header
	switch {
	case n.slot.failed:
		n.rxDropped++
		n.drop(n.p.now, h, regs.DropReasonDMAError)
	case n.slot.lost:
		n.rxDropped++
		n.drop(n.p.now, h, regs.DropReasonMailboxOff)
	default:
		n.rxWritten = n.p.now
		vpid := h.DstVPID()
		m := &n.mbox[vpid]
		m.overflowed = false // the slot has told it
		m.wp++
		if m.idx++; m.idx >= m.slots {
			m.idx = 0
		}
		n.rxPackets++
		n.m.trace(n.p.now, n.id, drivers.PointSlot, uint64(n.slot.header))
		if m.ctrl&regs.MboxCtrlIRQArrival != 0 {
			n.interrupt(1 << vpid)
		}
	}
	n.rxBusy = false
	n.releaseBuffer()
}

// releaseBuffer forgets the oldest packet; the next is looked at in the next cycle.
func (n *node) releaseBuffer() {
	n.p.pool.put(*n.rx.first())
	n.rx.drop()
	n.rxFreed = n.p.now
	n.p.net.Resume(n.id, vcRequest, n.p.now+1)
	if n.rx.n > 0 {
		n.check(n.p.now + 1)
	}
}

// drop records why a packet or a send was discarded; the caller counts it.
func (n *node) drop(at drivers.Cycle, h regs.Header, reason regs.DropReason) {
	n.m.trace(at, n.id, drivers.PointDropped, uint64(h)>>48|uint64(h)>>32&0xffff<<16|uint64(reason)<<32)
	n.note(h, reason)
}

func (n *node) interrupt(cause uint64) {
	n.irqStatus |= cause
	n.checkIRQ()
}
