package ideal

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

// completeRequest does the first request that arrived: it writes, or reads and
// answers. A fault goes back to the origin instead.
func (n *node) completeRequest(now drivers.Cycle) {
	r := &n.rma
	u := &r.completer[vcRequest]
	p := r.in[vcRequest].first()
	var o outcome
	n.requestOutcome(p, &o)
	m := n.notice(p, &o, p.header.DstVPID())
	m.wanted = o.asked && o.fault == regs.RMAErrorNone && (p.op().Last() || p.op().Each())
	replies := o.answer || o.fault != regs.RMAErrorNone
	if !n.ringRoom(now, u, &m) || replies && !u.room(&r.answers, answerDepth) {
		return
	}
	u.done(now + memoryCycles + drivers.Cycle((o.bytes+7)/8))
	r.rxPackets++
	switch {
	case o.fault != regs.RMAErrorNone:
		n.answerError(now, p, &o)
	case o.answer:
		n.answerRequest(now, p, &o)
	case o.need != 0:
		n.store(o.mem.span, p.bytes())
	}
	n.notify(now, &m)
	r.in[vcRequest].drop()
}

// requestOutcome decides what a request does here.
func (n *node) requestOutcome(p *rmaPacket, o *outcome) {
	op, ext := p.op(), p.ext()
	o.unit, o.asked, o.need, o.bytes = regs.RMAUnitCompleter, op.NotiCompleter(), regs.ATURightsWo, len(p.bytes())
	o.w0 = uint64(ext)
	switch p.header.Type() {
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
	vpid := p.header.DstVPID()
	if !n.rma.rings[vpid].on() {
		o.fault = regs.RMAErrorWindowOff
		return
	}
	if o.need != 0 {
		o.mem = access{nla: regs.NLA(ext.NLA()), n: o.bytes, need: o.need, vpid: vpid}
		o.fault = n.translate(&o.mem)
	}
}

func (n *node) notice(p *rmaPacket, o *outcome, vpid uint8) notice {
	h := p.header
	return notice{vpid: vpid, w0: o.w0, w1: regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault,
		Last: p.op().Last(), PeerVPID: h.SrcVPID(), PeerNode: h.SrcNode(),
	}}
}

// reply begins an answer to p with so many bytes behind the extension flit.
func (n *node) reply(now drivers.Cycle, p *rmaPacket, t regs.PacketType, bytes int) *rmaPacket {
	h := p.header
	a := n.rma.answers.grow()
	a.ready = now + memoryCycles
	a.header = regs.HeaderFields{VC: vcAnswer, Type: t, Op: h.Op(), Length: uint16(8 + bytes),
		SrcVPID: h.DstVPID(), SrcNode: uint16(n.id), DstVPID: h.SrcVPID(), DstNode: h.SrcNode()}.Pack()
	return a
}

func (n *node) answerError(now drivers.Cycle, p *rmaPacket, o *outcome) {
	n.failed(&o.mem, o.fault)
	n.reply(now, p, regs.PacketTypeRMAError, 8).set(p.ext(), uint64(regs.RMANotiFields{
		BytesMinus1: uint32(o.bytes - 1), Unit: o.unit, Command: o.command, Error: o.fault, Last: p.op().Last()}.Pack()))
}

func (n *node) answerRequest(now drivers.Cycle, p *rmaPacket, o *outcome) {
	if o.command == regs.RMACommandGet {
		g := regs.RMAGet(p.word())
		a := n.reply(now, p, regs.PacketTypeRMAGetRsp, o.bytes)
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
	n.reply(now, p, regs.PacketTypeRMALockRsp, 8).set(p.ext(), uint64(res.Pack()))
}

// completeAnswer does the first answer that arrived at this origin.
func (n *node) completeAnswer(now drivers.Cycle) {
	r := &n.rma
	u := &r.completer[vcAnswer]
	p := r.in[vcAnswer].first()
	if !r.rings[p.header.DstVPID()].on() { // the origin does not listen any more
		r.rxDropped++
		u.done(now + 1)
		r.in[vcAnswer].drop()
		return
	}
	var o outcome
	n.answerOutcome(p, &o)
	m := n.notice(p, &o, p.header.DstVPID())
	m.wanted = o.fault != regs.RMAErrorNone || o.asked && (p.op().Last() || p.op().Each())
	if !n.ringRoom(now, u, &m) {
		return
	}
	u.done(now + memoryCycles + drivers.Cycle((o.bytes+7)/8))
	r.rxPackets++
	if o.need != 0 && o.fault == regs.RMAErrorNone {
		n.store(o.mem.span, p.bytes())
	} else if o.need != 0 {
		n.failed(&o.mem, o.fault)
	}
	n.notify(now, &m)
	r.in[vcAnswer].drop()
}

func (n *node) answerOutcome(p *rmaPacket, o *outcome) {
	o.unit, o.asked, o.w0 = regs.RMAUnitCompleter, p.op().NotiCompleter(), uint64(p.ext())
	vpid := p.header.DstVPID()
	switch p.header.Type() {
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
