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

type regOp struct {
	at    drivers.Cycle
	asked drivers.Cycle // as of a line
	off   uint32
	v     uint64
	read  bool
}

func (o regOp) due() drivers.Cycle { return o.asked }

// A node is one NIC. Cycles are those of clock edges: a decision at an edge takes effect after it.
type node struct {
	m  *Machine
	p  *Part // that it belongs to
	id int
	// Where the NIC finds mem; nil: at address 0.
	segments []drivers.Segment

	// The bus of the send windows: pieces of lines that wait for it, and the one on it.
	pio       queue[line]
	onBus     line
	pioState  pioState
	pioFetch  drivers.Cycle   // the next piece may be fetched
	pioDone   drivers.Cycle   // the one on the bus is answered; it is judged a cycle before
	pioReason regs.DropReason // why it is discarded
	pioKept   bool            // it made a line whole, which was taken
	pioEarly  bool            // see seeDescriptor
	pioAck    bool            // see acknowledge
	lines     int             // of VELO, that have not left
	taken     [regs.VPIDs]uint64
	out       [Sources]queue[Leaving] // packets that leave
	outSince  [Sources]drivers.Cycle  // the first of them stands there
	txStall   uint64
	txPackets uint64
	txDropped uint64

	rx          queue[uint32] // packets in the VELO completer
	rxFreed     drivers.Cycle // one left
	rxBusy      bool          // the oldest is sent to memory
	rxSent      drivers.Cycle // its last beat leaves the completer
	rxBegan     drivers.Cycle // the last that was written was checked
	rxEnded     drivers.Cycle // the last answer counted
	slots       queue[slotWrite]
	slotsIn     int // of them, in memory
	spoiling    int // of them, what the memory refuses
	rxStall     stall
	heldFrom    drivers.Cycle // the mailbox that stalls pays from here on
	stalled     uint8         // VPID that stalls now or stalled last
	rxPackets   uint64
	rxDropped   uint64
	rxCRCErrors uint64
	shared      bool // RMA has been used, and may want the channel of writes
	writes      writeChannel
	landings    landings

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
	pioIdle   pioState = iota
	pioOpen            // a piece's beats
	pioJudged          // and its answer at pioDone
)

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

// ---- packets that leave ----

// A Leaving is a packet that a source wants to send, with the parts of its header that the network
// needs: the packet itself has left the cache by then.
type Leaving struct {
	Packet uint32
	Dst    uint16 // node
	Flits  uint16
	vpid   uint8 // of who sends it
}

// push offers a packet to the network.
func (n *node) push(s Source, h uint32) {
	q, header := &n.out[s], n.p.packets.at(h).Header
	*q.grow() = Leaving{Packet: h, Dst: header.DstNode(), Flits: uint16(flit.Total(header)), vpid: header.SrcVPID()}
	if q.n == 1 {
		n.outSince[s] = n.p.now
		n.p.net.Offer(n.id, s)
	}
}

func (n *node) header(p regs.Pio, dst uint16) regs.Header {
	return regs.HeaderFields{
		Type: regs.PacketTypeVELO, Kind: p.Kind(), Piggyback: p.Piggyback(), Length: uint16(p.Length()),
		SrcVPID: p.SrcVPID(), SrcNode: uint16(n.id), DstVPID: p.DstVPID(), DstNode: dst,
	}.Pack()
}

// Next returns the packet that a source wants to send.
func (p *Part) Next(node int, s Source) (packet Leaving, ok bool) {
	q := &p.nodes[node].out[s]
	if q.n == 0 {
		return packet, false
	}
	return *q.first(), true
}

// Packet returns the packet with a number.
func (p *Part) Packet(h uint32) *Packet { return p.packets.at(h) }

// Sent must be called in the cycle in which the last flit of the source's packet is injected.
func (p *Part) Sent(node int, s Source) {
	n := &p.nodes[node]
	packet := *n.out[s].first()
	stood := uint64(p.now-n.outSince[s]) + 1
	n.out[s].drop()
	n.outSince[s] = p.now + 1
	if s != SourceVELO {
		n.sentRMA(int(s - SourceRequest))
		return
	}
	n.txPackets++
	n.txStall += stood - min(stood, uint64(packet.Flits))
	n.procs[packet.vpid].windows[windowVELO].waiting--
	n.lines--
	n.entryFree(packet.vpid)
}

// txStalled counts the cycles in which a flit of the VELO requester waited. Only the network knows
// how many flits of the first packet have left, so its stall cycles are counted when it has left.
func (n *node) txStalled() uint64 {
	if n.out[SourceVELO].n == 0 {
		return n.txStall
	}
	stood := uint64(max(n.p.now, n.outSince[SourceVELO]) - n.outSince[SourceVELO])
	flits := uint64(n.out[SourceVELO].first().Flits)
	return n.txStall + stood - min(stood, flits)
}

// ---- completer ----

const completerBuffers = 2

// Coming announces that the head of a packet has reached the ejection buffer of its destination, so
// that the packet can be prefetched.
func (p *Part) Coming(h uint32) { p.packets.want(h) }

// Accepts reports whether the destination unit takes the head of a packet in this cycle.
func (p *Part) Accepts(node, class int, h uint32) bool {
	n := &p.nodes[node]
	if class == SourceVELO.Class() {
		held := n.rx.n
		if n.rxFreed == p.now { // the buffer is free from the next cycle on
			held++
		}
		return held < completerBuffers
	}
	return n.acceptsRMA(class-SourceRequest.Class(), h)
}

// RouteError reports that node's router discards a packet without a route.
func (p *Part) RouteError(node int) { p.nodes[node].interrupt(regs.IRQStatusError) }

// Discarded frees such a packet after its last flit.
func (p *Part) Discarded(h uint32) { p.packets.put(h) }

// Collected hands over a packet whose last flit the unit takes in this cycle.
func (p *Part) Collected(node, class int, h uint32) {
	n := &p.nodes[node]
	if class != SourceVELO.Class() {
		n.collectedRMA(class-SourceRequest.Class(), h)
		return
	}
	*n.rx.grow() = h
	if n.rx.n == 1 {
		n.check(p.now + 1)
	}
}

// check looks at the oldest packet ahead of time, for the next cycle. Cases that would wait or fail
// are left to recheck, in that cycle itself.
func (n *node) check(at drivers.Cycle) {
	p := n.p.packets.at(*n.rx.first())
	m := &n.mbox[p.Header.DstVPID()]
	if !m.on() || m.full() || !n.serves(p) || n.writesNow() ||
		n.discardReason(p) != regs.DropReasonNone || n.slots.n == regs.DMAWrites || n.spoiling > 0 {
		n.wake(unitCheck, at)
		return
	}
	n.begin(at, m)
}

// discardReason returns why a packet is discarded whatever it contains: a link has cut it, or it
// was routed to the wrong NIC.
func (n *node) discardReason(p *Packet) regs.DropReason {
	switch {
	case p.cut.Load():
		return regs.DropReasonCRC
	case int(p.Header.DstNode()) != n.id:
		return regs.DropReasonNoSuchNode
	}
	return regs.DropReasonNone
}

// recheck looks at the oldest packet in the present cycle.
func (n *node) recheck() {
	now := n.p.now
	if n.rx.n == 0 || n.rxBusy {
		return
	}
	p := n.p.packets.at(*n.rx.first())
	h := p.Header
	if reason := n.discardReason(p); reason != regs.DropReasonNone {
		if n.dropsNow(now) {
			n.wake(unitCheck, now+1)
			return
		}
		if reason == regs.DropReasonCRC {
			n.rxCRCErrors++
		} else {
			n.rxDropped++
		}
		n.drop(now, h, reason)
		n.p.packets.put(*n.rx.first())
		n.releaseBuffer()
		return
	}
	vpid, serves := h.DstVPID(), n.served(p)
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
		if n.slots.n < regs.DMAWrites {
			n.begin(now, m)
		} // else commit has it looked at again
		return
	}
	if n.dropsNow(now) { // one is told at a time
		n.wake(unitCheck, now+1)
		return
	}
	n.rxDropped++
	reason := regs.DropReasonMailboxOff
	switch {
	case !serves:
		n.countForeign(p)
		reason = regs.DropReasonDomain
	case overflows:
		m.hold.drop()
		reason = regs.DropReasonOverflow
	}
	n.drop(now, h, reason)
	n.p.packets.put(*n.rx.first())
	n.releaseBuffer()
}

func (n *node) endStall(at drivers.Cycle) {
	n.rxStall.end(at)
	n.mbox[n.stalled].stall.end(at)
}

// mailboxChanged makes the completer look again at a packet that waits for a mailbox.
func (n *node) mailboxChanged() {
	if n.rxStall.on {
		n.wake(unitCheck, n.p.now+1)
	}
}

// releaseBuffer frees the buffer of the oldest packet. The completer looks at the next one in the
// next cycle.
func (n *node) releaseBuffer() {
	n.rx.drop()
	n.rxFreed = n.p.now
	n.p.net.Resume(n.id, SourceVELO.Class(), n.p.now+1)
	if n.rx.n > 0 {
		n.check(n.p.now + 1)
	}
}

// drop records why a packet or send was discarded. The caller counts it.
func (n *node) drop(at drivers.Cycle, h regs.Header, reason regs.DropReason) {
	n.m.trace(at, n.id, drivers.PointDropped, uint64(h)>>48|uint64(h)>>32&0xffff<<16|uint64(reason)<<32)
	n.note(h, reason)
}

func (n *node) interrupt(cause uint64) {
	n.irqStatus |= cause
	n.checkIRQ()
}
