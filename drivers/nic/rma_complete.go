package nic

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// An outcome is what a packet leads to, before any of it is done.
type outcome struct {
	unit    regs.RMAUnit
	command regs.RMACommand
	asked   bool // the descriptor wants this unit to notify
	bytes   int
	w0      uint64         // of its notification
	need    regs.ATURights // of the memory it touches
	answer  bool           // a GET or FCAA, which is answered even when all is well
	mem     access
	fault   regs.RMAError
}

// complete does the next phase of a class's completer. Requests are written, or read
// and answered, and a fault goes back to the origin; answers end here.
func (n *node) complete(now drivers.Cycle, class int) {
	u, o := &n.rma.completer[class], &n.rma.outcome[class]
	p := n.m.pool.at(*n.rma.in[class].first())
	switch u.phase {
	case phaseIdle:
		n.beginPacket(now, class, p)
	case phaseMove:
		n.move(now, u, o)
	case phaseAct:
		if class == vcRequest {
			n.completeRequest(now, p)
		} else {
			n.completeAnswer(now, p)
		}
	default:
		if n.tellStep(now, u) {
			n.endPacket(now, class)
		}
	}
}

// beginPacket judges a packet and has its address translated.
func (n *node) beginPacket(now drivers.Cycle, class int, p *Packet) {
	u, o, t := &n.rma.completer[class], &n.rma.outcome[class], &n.m.cfg.Timing
	u.owner = ownerRequests + class
	u.moved = 0
	*o = outcome{}
	misses := n.atu.misses
	if class == vcRequest {
		n.requestOutcome(p, o)
	} else if !n.rma.rings[p.Header.DstVPID()].on() { // the origin does not listen any more
		n.rma.rxDropped++
		n.endPacket(now, class)
		return
	} else {
		n.answerOutcome(p, o)
	}
	at := now + 1
	if o.mem.done {
		at += t.translate(n.atu.misses > misses) + 1
	}
	switch {
	case o.need == 0 || o.fault != regs.RMAErrorNone:
		u.enter(phaseAct, at)
	case o.answer:
		u.enter(phaseAct, at+t.read(o.mem.span))
	default:
		u.enter(phaseMove, at)
	}
}

// move has a burst written; when there is none left, the bytes are in memory.
func (n *node) move(now drivers.Cycle, u *unit, o *outcome) {
	if u.moved == o.bytes {
		u.enter(phaseAct, now)
		return
	}
	s := o.mem.span
	addr := s.addr + uint64(u.moved)
	bytes := min(o.bytes-u.moved, regs.SlotBytes-int(addr%regs.SlotBytes))
	quads := drivers.Cycle(addr%8+uint64(bytes)+7) / 8
	at, ok := n.claimWrites(u.owner, now, addr, quads)
	if u.asks = !ok; u.asks {
		u.free = at // or when retryWrites says so
		return
	}
	u.moved += bytes
	u.free = at + quads + n.m.cfg.Timing.HostWrite
}

// endPacket lets go of a packet.
func (n *node) endPacket(now drivers.Cycle, class int) {
	n.m.pool.put(*n.rma.in[class].first())
	n.rma.in[class].drop()
	n.rma.freed[class] = now
	n.rma.completer[class].enter(phaseIdle, now+1)
	n.m.net.Resume(n.id, class)
}

// finish notifies if that is wanted, and ends the packet.
func (n *node) finish(now drivers.Cycle, class int, m notice) {
	if m.wanted {
		n.tell(&n.rma.completer[class], m, now)
		return
	}
	n.endPacket(now, class)
}

// completeRequest does what a request asks for.
func (n *node) completeRequest(now drivers.Cycle, p *Packet) {
	r := &n.rma
	u, o := &r.completer[vcRequest], &r.outcome[vcRequest]
	answers := o.answer || o.fault != regs.RMAErrorNone
	if answers && !n.room(u, vcAnswer) {
		return
	}
	m := n.notice(p, o, p.Header.DstVPID())
	m.wanted = o.asked && o.fault == regs.RMAErrorNone && (p.op().Last() || p.op().Each())
	r.rxPackets++
	if !answers {
		if o.need != 0 {
			n.store(o.mem.span, p.bytes())
		}
		n.finish(now, vcRequest, m)
		return
	}
	if o.fault != regs.RMAErrorNone {
		n.answerError(p, o)
	} else {
		n.answerRequest(p, o)
	}
	n.submit(vcAnswer, job{packet: n.copied(&r.answer), sends: true, note: m})
	n.endPacket(now, vcRequest)
	u.free = now // the next one is looked at meanwhile
}

// requestOutcome decides what a request does here.
func (n *node) requestOutcome(p *Packet, o *outcome) {
	op, ext := p.op(), p.ext()
	o.unit, o.asked, o.need, o.bytes = regs.RMAUnitCompleter, op.NotiCompleter(), regs.ATURightsWo, len(p.bytes())
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
		o.unit, o.asked, o.bytes = regs.RMAUnitResponder, op.NotiResponder(), int(regs.RMAGet(p.word()).BytesMinus1())+1
	case regs.PacketTypeRMALockReq:
		o.command, o.need, o.answer = regs.RMACommandFCAA, regs.ATURightsRw, true
		o.unit, o.asked, o.bytes = regs.RMAUnitResponder, op.NotiResponder(), 4
	}
	vpid := p.Header.DstVPID()
	if !n.rma.rings[vpid].on() {
		o.fault = regs.RMAErrorWindowOff
		return
	}
	if o.need != 0 {
		o.mem = access{nla: regs.NLA(ext.NLA()), n: o.bytes, need: o.need, vpid: vpid}
		o.fault = n.translate(&o.mem)
	}
}

func (n *node) notice(p *Packet, o *outcome, vpid uint8) notice {
	h := p.Header
	return notice{vpid: vpid, w0: o.w0, w1: regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault,
		Last: p.op().Last(), PeerVPID: h.SrcVPID(), PeerNode: h.SrcNode(),
	}}
}

// reply makes an answer to p with so many bytes behind the header.
func (n *node) reply(p *Packet, t regs.PacketType, bytes int) *Packet {
	h := p.Header
	a := &n.rma.answer
	a.Header = regs.HeaderFields{VC: vcAnswer, Type: t, Op: h.Op(), Length: uint16(8 + bytes),
		SrcVPID: h.DstVPID(), SrcNode: uint16(n.id), DstVPID: h.SrcVPID(), DstNode: h.SrcNode()}.Pack()
	return a
}

func (n *node) answerError(p *Packet, o *outcome) {
	n.failed(&o.mem, o.fault)
	a := n.reply(p, regs.PacketTypeRMAError, 8)
	a.set(p.ext(), uint64(regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault, Last: p.op().Last()}.Pack()))
}

func (n *node) answerRequest(p *Packet, o *outcome) {
	if o.command == regs.RMACommandGet {
		g := regs.RMAGet(p.word())
		a := n.reply(p, regs.PacketTypeRMAGetRsp, o.bytes)
		a.set(regs.RMAExtFields{NLA: g.NLA(), Tag: p.ext().Tag()}.Pack(), 0)
		n.load(o.mem.span, a.body[8:])
		return
	}
	lock := regs.RMALock(p.word())
	var word [4]byte
	n.load(o.mem.span, word[:])
	old := binary.LittleEndian.Uint32(word[:])
	res := regs.RMAResultFields{Old: old, Success: old <= lock.Compare(), Tag: p.ext().Tag()}
	if res.Success {
		binary.LittleEndian.PutUint32(word[:], old+lock.Add())
		n.store(o.mem.span, word[:])
	}
	a := n.reply(p, regs.PacketTypeRMALockRsp, 8)
	a.set(p.ext(), uint64(res.Pack()))
}

// completeAnswer does what an answer brings to its origin.
func (n *node) completeAnswer(now drivers.Cycle, p *Packet) {
	r := &n.rma
	o := &r.outcome[vcAnswer]
	m := n.notice(p, o, p.Header.DstVPID())
	m.wanted = o.fault != regs.RMAErrorNone || o.asked && (p.op().Last() || p.op().Each())
	r.rxPackets++
	if o.need != 0 && o.fault == regs.RMAErrorNone {
		n.store(o.mem.span, p.bytes())
	} else if o.need != 0 {
		n.failed(&o.mem, o.fault)
	}
	n.finish(now, vcAnswer, m)
}

func (n *node) answerOutcome(p *Packet, o *outcome) {
	o.unit, o.asked, o.w0 = regs.RMAUnitCompleter, p.op().NotiCompleter(), uint64(p.ext())
	vpid := p.Header.DstVPID()
	switch p.Header.Type() {
	case regs.PacketTypeRMAGetRsp:
		o.command, o.need, o.bytes = regs.RMACommandGet, regs.ATURightsWo, len(p.bytes())
		o.mem = access{nla: regs.NLA(p.ext().NLA()), n: o.bytes, need: o.need, vpid: vpid}
		o.fault = n.translate(&o.mem)
	case regs.PacketTypeRMALockRsp:
		o.command, o.bytes, o.w0 = regs.RMACommandFCAA, 4, p.word()
	case regs.PacketTypeRMAError:
		e := regs.RMANoti(p.word()).Fields()
		o.unit, o.command, o.fault, o.bytes = e.Unit, e.Command, e.Error, int(e.BytesMinus1)+1
	}
}
