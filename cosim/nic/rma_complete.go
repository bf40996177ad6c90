package nic

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// An outcome is the decision about a packet, before it is performed.
type outcome struct {
	unit     regs.RMAUnit
	command  regs.RMACommand
	asked    drivers.Cycle // it was judged
	asks     bool          // the descriptor wants this unit to notify
	bytes    int
	w0       uint64         // of its notification
	need     regs.ATURights // of the memory it touches
	answer   bool           // a GET or FCAA, which is answered even when all is well
	mem      access
	fault    regs.RMAError
	unwanted bool   // an answer whose ring is off, or of another life
	life     uint16 // of the process it is for
	old      uint32 // of a lock: what it found
	success  bool   // it may write
	written  bool   // and has
}

// A completer takes a class's packets through three steps, each on another packet: one is
// judged and its address translated, one is written, and of those before it the memory's answer is
// awaited and the process told. Of requests it is the responder as well, which reads and
// answers instead.
type completer struct {
	unit    // ends what was begun
	judge   unit
	outcome outcome // of the packet that is judged
	write   writer
	ends    queue[ending]
	idle    drivers.Cycle // from when on, if nothing else was begun
	answers bool          // it is the responder now
}

// An ending is a packet whose access has begun.
type ending struct {
	packet uint32
	data   uint32 // of a request that reads: the packet that its bytes come to, and that answers it
	outcome
	ready drivers.Cycle // its bytes are read, or the memory has answered
	lands bool          // ready is not known because the last beat has not reached memory
}

// touches reports whether the packet accesses memory.
func (o *outcome) touches() bool { return o.need != 0 && o.fault == regs.RMAErrorNone }

// client returns the client that translates the address.
func (o *outcome) client(class int) int {
	switch {
	case class == ofAnswers:
		return clientAnswers
	case o.answer:
		return clientResponder
	}
	return clientRequests
}

// responds reports whether a packet returns to the origin.
func (e *ending) responds(class int) bool {
	return class == ofRequests && (e.answer || e.fault != regs.RMAErrorNone)
}

// CollectShows is the number of cycles from the tail of a packet until its unit sees it
// (rtl/core/rma_collect.sv).
const CollectShows drivers.Cycle = 2

// TellShows is the number of cycles until a packet that accesses no memory is answered or notified
// of.
const TellShows drivers.Cycle = 2

// judgeDue is the cycle in which the next packet of a class is judged or passed on.
func (n *node) judgeDue(class int) drivers.Cycle {
	r := &n.rma
	c := &r.completer[class]
	looked := 0 // the one that is written keeps its buffer
	if c.write.busy {
		looked = 1
	}
	if r.wrong && c.judge.phase == phaseIdle && r.in[class].n > looked && n.discardReason(n.p.packets.at(*r.in[class].at(looked))) != regs.DropReasonNone {
		if c.write.busy || c.locking() {
			return drivers.Forever
		}
		return n.shown(class, looked)
	}
	switch {
	case c.judge.phase == phaseIdle && r.in[class].n == looked,
		c.judge.phase == phaseIdle && !c.answers && c.ends.n == underWay && !n.unwanted(class, looked), // no access begins without its entry among those to be told
		c.judge.phase == phaseIdle && c.answers && !n.mayAnswer(c, *r.in[class].at(looked)),
		c.judge.phase == phaseAct && (c.write.busy || c.ends.n == underWay || c.answers && r.reads.asking(readResponder)):
		return drivers.Forever
	}
	if c.judge.phase == phaseIdle {
		return n.shown(class, looked)
	}
	return c.judge.free
}

// shown is the cycle in which the completer sees the next packet of a class: two cycles behind its
// tail, or behind the packet before.
func (n *node) shown(class, looked int) drivers.Cycle {
	at := n.rma.completer[class].judge.free
	if n.rma.in[class].n == looked+1 {
		at = max(at, n.rma.arrived[class]+CollectShows)
	}
	return at
}

// unwanted reports whether the next packet of a class is an answer that no process waits for.
func (n *node) unwanted(class, looked int) bool {
	if class != ofAnswers {
		return false
	}
	p := n.p.packets.at(*n.rma.in[class].at(looked))
	v := p.Header.DstVPID()
	return !n.rma.rings[v].enabled() || p.stamp != n.procs[v].stamp
}

// mayAnswer reports whether a buffer for the answer is free. A lock is processed alone, so that it
// is atomic.
func (n *node) mayAnswer(c *completer, h uint32) bool {
	if !n.rma.senders[ofAnswers].room() {
		return false
	}
	return c.ends.n == 0 || !c.locking() && n.p.packets.at(h).Header.Type() != regs.PacketTypeRMALockReq
}

// locking reports whether the responder processes a lock. It looks at no other request until the
// lock has ended.
func (c *completer) locking() bool {
	return c.answers && c.ends.n > 0 && c.ends.first().command == regs.RMACommandFCAA
}

// endDue is the cycle of the next step of the oldest packet whose access has begun.
func (n *node) endDue(class int) drivers.Cycle {
	c := &n.rma.completer[class]
	if c.ends.n == 0 {
		return drivers.Forever
	}
	e := c.ends.first()
	if c.phase != phaseIdle {
		return c.free
	}
	switch {
	case e.ready == drivers.Forever:
		return drivers.Forever
	case !e.responds(class):
		return max(c.free, e.ready)
	case !e.answer && !n.rma.senders[ofAnswers].room():
		return drivers.Forever
	}
	return max(c.free, e.ready) + 1 // the sender has it from the next cycle on
}

// complete performs all steps of a completer that are due.
func (n *node) complete(now drivers.Cycle, class int) {
	c := &n.rma.completer[class]
	for n.endDue(class) <= now {
		if c.phase == phaseIdle {
			n.end(now, class)
		} else {
			n.endPacket(now, class)
		}
	}
	for c.write.due() <= now {
		n.move(now, class)
	}
	for n.judgeDue(class) <= now {
		if c.judge.phase == phaseIdle {
			n.judgePacket(now, class)
		} else {
			n.beginPacket(now, class)
		}
	}
}

// judgePacket decides about a packet and requests the translation of its address.
func (n *node) judgePacket(now drivers.Cycle, class int) {
	c, o := &n.rma.completer[class], &n.rma.completer[class].outcome
	looked := 0
	if c.write.busy {
		looked = 1
	}
	p := n.p.packets.at(*n.rma.in[class].at(looked))
	if reason := n.discardReason(p); reason != regs.DropReasonNone {
		n.discard(now, class, reason)
		return
	}
	*o = outcome{asked: now, life: n.procs[p.Header.DstVPID()].life()}
	if class == ofRequests {
		n.requestOutcome(p, o)
	} else if n.unwanted(class, looked) {
		if c.write.busy { // its buffer is freed in order
			c.judge.free = drivers.Forever
			o.unwanted = true
		} else {
			c.judge.enter(phaseIdle, now+CollectShows)
			n.dropUnwanted(now, class)
		}
		return
	} else {
		n.answerOutcome(p, o)
	}
	if c.answers {
		n.rma.senders[ofAnswers].promised++
	}
	c.judge.enter(phaseAct, now+1)
	if o.mem.n > 0 {
		c.judge.free = drivers.Forever
		n.ask(o.client(class), now+1)
	}
}

// discard drops the oldest packet.
func (n *node) discard(now drivers.Cycle, class int, reason regs.DropReason) {
	r := &n.rma
	r.rxDropped++
	n.p.packets.put(*r.in[class].first())
	n.freeBuffer(now, class)
	r.completer[class].judge.enter(phaseIdle, now+CollectShows)
	n.noteHere(0, reason)
}

// beginPacket starts the access to memory, if there is one.
func (n *node) beginPacket(now drivers.Cycle, class int) {
	r := &n.rma
	c := &r.completer[class]
	c.judge.enter(phaseIdle, now+CollectShows)
	e := ending{packet: *r.in[class].first(), outcome: c.outcome, ready: now + TellShows}
	switch {
	case !e.touches():
		n.freeBuffer(now, class)
	case e.answer:
		e.ready = drivers.Forever
		e.data = n.p.packets.get()
		n.askRead(readResponder, now+1, e.mem.span, n.p.packets.at(e.data).data(e.mem.span.n))
		n.freeBuffer(now, class)
	default:
		e.ready = drivers.Forever
		c.write = writer{busy: true, free: now + 1}
	}
	*c.ends.grow() = e
}

// dropUnwanted drops an answer whose ring is off, or whose process has begun another life.
func (n *node) dropUnwanted(now drivers.Cycle, class int) {
	r := &n.rma
	h := *r.in[class].first()
	r.rxDropped++
	reason := regs.DropReasonWindowOff
	if r.rings[n.p.packets.at(h).Header.DstVPID()].enabled() {
		r.late++
		reason = regs.DropReasonLate
	}
	n.noteHere(0, reason)
	n.p.packets.put(h)
	n.freeBuffer(now, class)
}

// freeBuffer frees the buffer of the oldest packet from the next cycle on.
func (n *node) freeBuffer(now drivers.Cycle, class int) {
	n.rma.in[class].drop()
	n.rma.freed[class] = now
	n.p.net.Resume(n.id, sourceOf(class).Class(), now+1)
}

// reading returns the request whose bytes are being read, and the cycle in which the one before it
// is done.
func (c *completer) reading() (e *ending, before drivers.Cycle) {
	i := 0
	for ; c.ends.at(i).ready != drivers.Forever; i++ { // they leave in order, one in a cycle
		before = max(before+1, c.free, c.ends.at(i).ready)
	}
	return c.ends.at(i), before
}

// fetched handles the last address of a request's read. Its last beat arrives in the cycle before
// data.
func (c *completer) fetched(now, data drivers.Cycle) {
	e, _ := c.reading()
	e.ready = data
	if c.answers { // also one that reads nothing keeps behind it
		c.mayAct(now + 1)
	}
}

// end answers the oldest packet, or notifies of it.
func (n *node) end(now drivers.Cycle, class int) {
	r := &n.rma
	e := r.completer[class].ends.first()
	if e.answer && e.touches() && n.locks(now, e) {
		return
	}
	p := n.p.packets.at(e.packet)
	m := n.notice(p, &e.outcome, p.Header.DstVPID())
	m.wanted = e.asks && (p.op().Last() || p.op().Each())
	if e.responds(class) {
		m.wanted = m.wanted && e.fault == regs.RMAErrorNone
		n.respond(p, e, m)
	} else {
		if e.fault != regs.RMAErrorNone {
			m.wanted = true
			if e.need != 0 {
				n.faulted(&e.mem, e.fault)
			}
		}
		if m.wanted {
			n.tell(completers+class, m, now)
			return
		}
	}
	n.endPacket(now, class)
}

// endPacket counts and frees the oldest packet.
func (n *node) endPacket(now drivers.Cycle, class int) {
	c := &n.rma.completer[class]
	e := c.ends.first()
	n.rma.rxPackets++
	if !e.responds(class) && e.fault != regs.RMAErrorNone && e.need != 0 {
		n.rma.errors++
	}
	lock, full := c.locking(), c.ends.n == underWay
	next := now // one that responds was done with a cycle ago
	if !e.responds(class) {
		next++
	}
	n.p.packets.put(e.packet)
	c.ends.drop()
	c.enter(phaseIdle, next)
	if c.idle = next; lock {
		c.idle++
	}
	if full {
		c.judge.notBefore(c.idle)
	}
	if lock { // the next request is looked at a cycle later
		c.judge.notBefore(c.idle)
	}
	n.p.net.Resume(n.id, sourceOf(class).Class(), c.idle)
}

// mayAct lets a judged packet that had to wait continue from a cycle on.
func (c *completer) mayAct(from drivers.Cycle) {
	if c.judge.phase == phaseAct {
		c.judge.notBefore(from)
	} else if c.outcome.unwanted { // it is judged again
		c.outcome.unwanted, c.judge.free = false, from
	}
}

// respond sends the answer of a request, or its error, to the origin.
func (n *node) respond(p *Packet, e *ending, m notice) {
	if !e.answer { // the completer asks for it; the responder has asked before
		n.rma.senders[ofAnswers].promised++
	}
	h := e.data
	if e.fault != regs.RMAErrorNone {
		h = n.p.packets.get()
		n.answerError(n.p.packets.at(h), p, &e.outcome)
	} else {
		n.answerRequest(n.p.packets.at(h), p, &e.outcome)
	}
	n.p.packets.at(h).pad()
	n.submit(ofAnswers, job{packet: h, sends: true, note: m})
}

// locks starts the write of a fetch-compare-and-add that succeeds, and reports whether it did.
func (n *node) locks(now drivers.Cycle, e *ending) bool {
	if e.command != regs.RMACommandFCAA || e.written {
		return false
	}
	e.old = binary.LittleEndian.Uint32(n.p.packets.at(e.data).data(4))
	lock := regs.RMALock(n.p.packets.at(e.packet).word())
	if e.success = e.old <= lock.Compare(); !e.success {
		return false
	}
	e.written, e.ready = true, drivers.Forever // until lockWritten
	n.askWrite(writeLocks, now, e.mem.span.addr, 1)
	return true
}

// lockWritten stores the new word when it enters the write channel.
func (n *node) lockWritten(now drivers.Cycle) {
	e := n.rma.completer[ofRequests].ends.first()
	binary.LittleEndian.PutUint32(n.dma(e.mem.span), e.old+regs.RMALock(n.p.packets.at(e.packet).word()).Add())
	n.written(e.mem.span)
	e.ready = now + n.m.cfg.Timing.HostWrite
}

// requestOutcome decides about a request.
func (n *node) requestOutcome(p *Packet, o *outcome) {
	op, ext := p.op(), p.ext()
	o.unit, o.asks, o.need, o.bytes = regs.RMAUnitCompleter, op.NotiCompleter(), regs.ATURightsWo, len(p.bytes())
	o.w0 = uint64(ext)
	switch p.Header.Type() {
	case regs.PacketTypeRMAPut:
		o.command = regs.RMACommandPut
	case regs.PacketTypeRMAImmPut:
		o.command = regs.RMACommandImmPut
	case regs.PacketTypeRMANoti:
		o.command, o.need, o.w0 = regs.RMACommandNotiPut, 0, p.word()
	case regs.PacketTypeRMAGetReq:
		o.command, o.need, o.answer = regs.RMACommandGet, regs.ATURightsRo, true
		o.unit, o.asks, o.bytes = regs.RMAUnitResponder, op.NotiResponder(), int(regs.RMAGet(p.word()).BytesMinus1())+1
	case regs.PacketTypeRMALockReq:
		o.command, o.need, o.answer = regs.RMACommandFCAA, regs.ATURightsRw, true
		o.unit, o.asks, o.bytes = regs.RMAUnitResponder, op.NotiResponder(), 4
	}
	vpid := p.Header.DstVPID()
	if !n.serves(p) {
		n.countForeign(p)
		n.note(p.Header, regs.DropReasonDomain)
		o.fault = regs.RMAErrorDomain
		return
	}
	if !n.rma.rings[vpid].enabled() {
		o.fault = regs.RMAErrorWindowOff
		return
	}
	if o.need != 0 {
		o.mem = access{nla: regs.NLA(ext.NLA()), n: o.bytes, need: o.need, vpid: vpid}
	}
}

func (n *node) notice(p *Packet, o *outcome, vpid uint8) notice {
	h := p.Header
	return notice{vpid: vpid, stamp: p.stamp.in(o.life), w0: o.w0, w1: regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault,
		Last: p.op().Last(), PeerVPID: h.SrcVPID(), PeerNode: h.SrcNode(),
	}}
}

// reply fills in the header of answer a to request p, with so many bytes behind the extension.
func (n *node) reply(a, p *Packet, t regs.PacketType, bytes int) {
	h := p.Header
	a.Header = regs.HeaderFields{Answer: true, Type: t, Op: h.Op(), Length: uint16(8 + bytes),
		SrcVPID: h.DstVPID(), SrcNode: uint16(n.id), DstVPID: h.SrcVPID(), DstNode: h.SrcNode()}.Pack()
	a.stamp = p.stamp
}

func (n *node) answerError(a, p *Packet, o *outcome) {
	n.failed(&o.mem, o.fault)
	n.reply(a, p, regs.PacketTypeRMAError, 8)
	a.set(p.ext(), uint64(regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault, Last: p.op().Last()}.Pack()))
}

// answerRequest completes an answer that holds the bytes that were read.
func (n *node) answerRequest(a, p *Packet, o *outcome) {
	if o.command == regs.RMACommandGet {
		n.reply(a, p, regs.PacketTypeRMAGetRsp, o.bytes)
		a.setExt(regs.RMAExtFields{NLA: regs.RMAGet(p.word()).NLA(), Tag: p.ext().Tag()}.Pack())
		return
	}
	res := regs.RMAResultFields{Old: o.old, Success: o.success, Tag: p.ext().Tag()}
	n.reply(a, p, regs.PacketTypeRMALockRsp, 8)
	a.set(p.ext(), uint64(res.Pack()))
}

func (n *node) answerOutcome(p *Packet, o *outcome) {
	o.unit, o.asks, o.w0 = regs.RMAUnitCompleter, p.op().NotiCompleter(), uint64(p.ext())
	vpid := p.Header.DstVPID()
	switch p.Header.Type() {
	case regs.PacketTypeRMAGetRsp:
		o.command, o.need, o.bytes = regs.RMACommandGet, regs.ATURightsWo, len(p.bytes())
		o.mem = access{nla: regs.NLA(p.ext().NLA()), n: o.bytes, need: o.need, vpid: vpid}
	case regs.PacketTypeRMALockRsp:
		o.command, o.bytes, o.w0 = regs.RMACommandFCAA, 4, p.word()
	case regs.PacketTypeRMAError:
		e := regs.RMANoti(p.word()).Fields()
		o.unit, o.command, o.fault, o.bytes = e.Unit, e.Command, e.Error, int(e.BytesMinus1)+1
	}
}
