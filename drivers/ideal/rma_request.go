package ideal

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// takeDescriptor accepts or refuses a line of the RMA window.
func (n *node) takeDescriptor(now drivers.Cycle, l *line) {
	p := regs.RMAPio(l.off)
	w0 := regs.RMADesc(l.word(0))
	if l.n != descBytes || p != (regs.RMAPioFields{SrcVPID: p.SrcVPID(), RMA: true}).Pack() ||
		w0 != w0.Fields().Pack() || !n.rma.rings[p.SrcVPID()].mayStart() {
		n.rma.refused++
		n.interrupt(regs.IRQStatusError)
		n.s.fail(&drivers.BusError{Node: n.id, Port: "pio", Off: l.off, Write: true, Resp: slverr})
		return
	}
	*n.rma.descs[p.SrcVPID()].grow() = descriptor{w0: w0, w1: l.word(1), w2: l.word(2), ready: now + 1}
	n.s.trace(drivers.TraceEvent{Cycle: now, Node: uint16(n.id), Point: drivers.PointPIO, Data: uint64(l.off)})
}

// A fragment is what the requester does next for a descriptor.
type fragment struct {
	bytes  int
	last   bool
	nla    uint64 // for its notification: the local one of a put or get
	packet rmaPacket
	mem    access
	fault  regs.RMAError
}

// request does the next fragment of process vpid, if all it needs is there.
func (n *node) request(now drivers.Cycle, vpid int) {
	r := &n.rma
	u := &r.requester
	r.turn = vpid
	d := r.descs[vpid].first()
	f := d.w0.Fields()
	frag := &r.frag
	n.fragment(d, uint8(vpid), r.progress[vpid], frag)
	last := frag.last || frag.fault != regs.RMAErrorNone
	m := notice{
		wanted: frag.fault != regs.RMAErrorNone || f.NotiRequester && (last || f.Each), vpid: uint8(vpid),
		w0: uint64(regs.RMAExtFields{NLA: frag.nla & nlaMask, Tag: f.Tag}.Pack()),
		w1: regs.RMANotiFields{BytesMinus1: uint32(frag.bytes - 1), Unit: regs.RMAUnitRequester, Command: f.Command,
			Error: frag.fault, Last: last, PeerVPID: f.DstVPID, PeerNode: f.DstNode},
	}
	if !n.ringRoom(now, u, &m) || frag.fault == regs.RMAErrorNone && !n.netRoom(u, f.DstNode, vcRequest) {
		return
	}
	if frag.fault == regs.RMAErrorNone {
		n.injectRMA(now, u, &frag.packet)
	} else {
		u.done(now + memoryCycles)
		n.failed(&frag.mem, frag.fault)
	}
	n.notify(now, &m)
	r.progress[vpid] += uint32(frag.bytes)
	if last {
		r.progress[vpid] = 0
		r.descs[vpid].drop()
	}
	r.turn = (vpid + 1) % regs.VPIDs
}

const nlaMask = 1<<48 - 1

// operands are what a command makes of a descriptor's words.
type operands struct {
	bytes       int
	read, write bool // w1, w2 is an NLA
	packet      regs.PacketType
}

func operandsOf(f *regs.RMADescFields) operands {
	switch f.Command {
	case regs.RMACommandPut:
		return operands{int(f.BytesMinus1) + 1, true, true, regs.PacketTypeRMAPut}
	case regs.RMACommandGet:
		return operands{int(f.BytesMinus1) + 1, true, true, regs.PacketTypeRMAGetReq}
	case regs.RMACommandImmPut:
		return operands{int(f.BytesMinus1) + 1, false, true, regs.PacketTypeRMAImmPut}
	case regs.RMACommandFCAA:
		return operands{4, false, true, regs.PacketTypeRMALockReq}
	}
	return operands{8, false, false, regs.PacketTypeRMANoti}
}

// fragment makes the packet of the bytes behind done, or finds why there is none.
// A fragment crosses no page of 4 KB on either side.
func (n *node) fragment(d *descriptor, vpid uint8, done uint32, f *fragment) {
	desc := d.w0.Fields()
	o := operandsOf(&desc)
	read, write := d.w1+uint64(done), d.w2+uint64(done)
	rest := o.bytes - int(done)
	f.bytes = min(rest, regs.RMAMTU)
	if o.read {
		f.bytes = min(f.bytes, roomInPage(read))
	}
	if o.write {
		f.bytes = min(f.bytes, roomInPage(write))
	}
	f.last = f.bytes == rest
	f.mem = access{nla: regs.NLA(read), n: f.bytes, need: regs.ATURightsRo, vpid: vpid}
	f.nla = 0
	if desc.Command == regs.RMACommandPut {
		f.nla = read & nlaMask
	} else if o.write {
		f.nla = write & nlaMask
	}
	if f.fault = n.illegal(d, &desc, &o); f.fault != regs.RMAErrorNone {
		return
	}
	n.build(d, vpid, done, f)
	if desc.Command != regs.RMACommandPut {
		return
	}
	if f.fault = n.translate(&f.mem); f.fault == regs.RMAErrorNone {
		n.load(f.mem.span, f.packet.body[8:])
	}
}

func roomInPage(nla uint64) int { return pageMask + 1 - int(nla&pageMask) }

// build fills in the fragment's packet but for the bytes of a put.
func (n *node) build(d *descriptor, vpid uint8, done uint32, f *fragment) {
	desc := d.w0.Fields()
	o := operandsOf(&desc)
	op := regs.RMAOpFields{Last: f.last, NotiRequester: desc.NotiRequester, NotiResponder: desc.NotiResponder,
		NotiCompleter: desc.NotiCompleter, Each: desc.Each}
	h := regs.HeaderFields{Type: o.packet, Op: uint8(op.Pack()), Length: 16,
		SrcVPID: vpid, SrcNode: uint16(n.id), DstVPID: desc.DstVPID, DstNode: desc.DstNode}
	ext := regs.RMAExtFields{NLA: (d.w2 + uint64(done)) & nlaMask, Tag: desc.Tag}
	word := d.w1
	switch desc.Command {
	case regs.RMACommandPut:
		h.Length = uint16(8 + f.bytes)
	case regs.RMACommandImmPut:
		h.Length = uint16(8 + f.bytes)
		word >>= 8 * done
	case regs.RMACommandGet:
		word = uint64(regs.RMAGetFields{NLA: ext.NLA, BytesMinus1: uint16(f.bytes - 1)}.Pack())
		ext.NLA = (d.w1 + uint64(done)) & nlaMask
	case regs.RMACommandNotiPut:
		ext.NLA = 0
	}
	f.packet.header = h.Pack()
	f.packet.set(ext.Pack(), word)
}

// illegal finds what is wrong with a descriptor itself.
func (n *node) illegal(d *descriptor, f *regs.RMADescFields, o *operands) regs.RMAError {
	switch {
	case f.Command < regs.RMACommandPut || f.Command > regs.RMACommandFCAA,
		f.Command == regs.RMACommandImmPut && o.bytes > 8,
		f.Command == regs.RMACommandFCAA && d.w2%4 != 0:
		return regs.RMAErrorBadCommand
	case int(f.DstNode) >= len(n.s.nodes):
		return regs.RMAErrorNoSuchNode
	case o.read && leavesTable(d.w1, o.bytes), o.write && leavesTable(d.w2, o.bytes):
		return regs.RMAErrorBounds
	}
	return regs.RMAErrorNone
}

// leavesTable: no operation spans two tables.
func leavesTable(nla uint64, bytes int) bool {
	return nla > nlaMask || regs.NLA(nla).Offset()+uint64(bytes)-1 >= 1<<44
}
