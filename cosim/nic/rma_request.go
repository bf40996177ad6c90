package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// takeDescriptor judges the write on the bus and queues the descriptor that it completes.
func (n *node) takeDescriptor(l *line) {
	p := regs.RMAPio(l.off)
	pk := n.p.packets.at(l.packet)
	s := n.standing(p.SrcVPID())
	w := &n.procs[p.SrcVPID()].windows[windowRMA]
	q := &n.rma.descs[p.SrcVPID()]
	taken, reason := false, regs.DropReasonNone
	switch {
	case !s.starts:
		reason = regs.DropReasonWindowOff
	case s.stamp.pdid() == 0:
		reason = regs.DropReasonDomain
	case l.misplaced():
		reason, w.here = regs.DropReasonBadLength, 0
	default:
		if whole, lost := n.collect(w, l); whole {
			wrong := regs.DropReasonNone
			if w0 := regs.RMADesc(pk.quad(0)); l.off&rmaRsvd != 0 || w0 != w0.Fields().Pack() {
				wrong = regs.DropReasonBadLength
			}
			taken, reason = w.judge(lost, q.n >= regs.RMADepth, wrong)
		}
	}
	if n.pioAck {
		w.acknowledge()
		n.pioAck = false
	}
	if n.pioReason = reason; reason != regs.DropReasonNone {
		n.rma.refused++
		n.noteHere(p.SrcVPID(), reason)
	}
	if n.pioKept = taken; !taken {
		return
	}
	*q.grow() = descriptor{w0: regs.RMADesc(pk.quad(0)), w1: pk.quad(1), w2: pk.quad(2)}
	if c := &n.rma.closed[p.SrcVPID()]; c.at == n.p.now-1 && !n.rma.rings[p.SrcVPID()].mayStart() {
		c.dead++ // the window went off as it came
	}
	n.shared, n.rma.newest, n.rma.taken = true, int(p.SrcVPID()), n.p.now
	if n.rma.waiting++; n.rma.waiting == 1 {
		n.rma.requester.notBefore(n.p.now + behind) // also if the engine works in this cycle
	}
	n.m.trace(n.p.now-1, n.id, drivers.PointPIO, uint64(l.off))
	n.wake(unitRMA, 0)
}

const rmaRsvd = 1<<25 - 1<<13 // bits of an address of the RMA window that say nothing

// dropDescriptor removes the first descriptor of a process.
func (n *node) dropDescriptor(vpid int) {
	n.rma.progress[vpid] = 0
	n.rma.descs[vpid].drop()
	n.rma.closed[vpid].popped()
	n.rma.waiting--
	n.entryFree(uint8(vpid))
}

// A fragment is the part of a descriptor that becomes the next packet.
type fragment struct {
	vpid   int
	bytes  int
	asked  drivers.Cycle // it is judged, and an access begins
	last   bool          // of its descriptor
	nla    uint64        // for its notification: the local one of a put or get
	packet Packet
	mem    access
	fault  regs.RMAError
}

// begun is a fragment that was started; the bytes of a put are being read.
type begun struct {
	job   job
	reads bool // of a put
	asked drivers.Cycle
	ready drivers.Cycle // it may be sent, if those before it are; Forever: that is not known yet
}

// behind is the number of cycles by which the requester of the model lags its hardware: it sees a
// descriptor when that has its entry.
const behind = 1

func (r *rma) requestDue() drivers.Cycle {
	switch {
	case r.requester.phase == phaseIdle && (r.waiting == 0 || !r.senders[ofRequests].room()),
		r.requester.phase == phaseAct && r.frag.reads() && r.reads.asking(readRequester):
		return drivers.Forever
	}
	return r.requester.free
}

// reads reports whether the bytes of a fragment are read from memory.
func (f *fragment) reads() bool { return f.mem.done && f.fault == regs.RMAErrorNone }

func (r *rma) begunDue() drivers.Cycle {
	if r.begun.n == 0 {
		return drivers.Forever
	}
	return max(r.begun.first().ready, r.sent+1)
}

// reading returns the fragment whose bytes are being read, and the cycle in which those before it
// are passed on.
func (r *rma) reading() (b *begun, before drivers.Cycle) {
	before = r.sent
	i := 0
	for ; r.begun.at(i).ready != drivers.Forever; i++ {
		before = max(before+1, r.begun.at(i).ready)
	}
	return r.begun.at(i), max(before, behind) - behind
}

// fetched handles the last address of a fragment's read. Its last beat arrives in the cycle before
// data.
func (r *rma) fetched(now, data drivers.Cycle) {
	b, _ := r.reading()
	b.ready = data + behind
	if r.requester.phase == phaseAct && r.frag.reads() { // and waits for its grant to
		r.requester.notBefore(now + 1 + behind)
	}
}

// request performs the next phase of the requester.
func (n *node) request(now drivers.Cycle) {
	r := &n.rma
	switch {
	case r.requester.phase == phaseIdle:
		n.judgeFragment(now)
	case r.requester.phase == phaseMove && !r.closed[r.frag.vpid].seen(r.frag.asked):
		r.requester.enter(phaseAct, drivers.Forever)
		n.ask(clientRequester, now)
	default:
		n.beginFragment(now)
	}
}

// judgeFragment selects the next fragment. The address of a put is then translated.
func (n *node) judgeFragment(now drivers.Cycle) {
	r, t := &n.rma, &n.m.cfg.Timing
	r.senders[ofRequests].promised++
	vpid := r.pick(now)
	frag := &r.frag
	frag.vpid = vpid
	frag.asked = now + t.Descriptor - 1
	r.requester.enter(phaseAct, now+t.Descriptor)
	if n.fragment(r.descs[vpid].first(), uint8(vpid), r.progress[vpid], frag) {
		r.requester.phase, frag.mem.done = phaseMove, true // and is translated, unless it is dead
	}
}

// beginFragment starts to read the bytes of a put while the next fragment is judged.
func (n *node) beginFragment(now drivers.Cycle) {
	r, frag := &n.rma, &n.rma.frag
	vpid := frag.vpid
	f := r.descs[vpid].first().w0.Fields()
	dead := r.closed[vpid].seen(now - behind)
	last := frag.last || frag.fault != regs.RMAErrorNone || dead
	s := n.standing(uint8(vpid)).stamp
	b := begun{asked: frag.asked, ready: now + 1, job: job{sends: frag.fault == regs.RMAErrorNone && !dead, note: notice{
		wanted: !dead && (frag.fault != regs.RMAErrorNone || f.NotiRequester && (last || f.Each)), vpid: uint8(vpid), stamp: s,
		w0: uint64(regs.RMAExtFields{NLA: frag.nla & nlaMask, Tag: f.Tag}.Pack()),
		w1: regs.RMANotiFields{BytesMinus1: frag.told(&f), Unit: regs.RMAUnitRequester, Command: f.Command,
			Error: frag.fault, Last: last, PeerVPID: f.DstVPID, PeerNode: f.DstNode},
	}}}
	if b.job.sends {
		frag.packet.stamp = s
		b.job.packet = n.copied(&frag.packet)
		if f.Command == regs.RMACommandPut {
			b.reads, b.ready = true, drivers.Forever
			n.askRead(readRequester, now+1-behind, frag.mem.span, n.p.packets.at(b.job.packet).data(frag.mem.span.n))
		}
	} else if dead {
		n.rma.purged++
		n.faulted(&frag.mem, frag.fault)
	} else {
		n.failed(&frag.mem, frag.fault)
	}
	*r.begun.grow() = b
	if last {
		n.dropDescriptor(vpid)
	} else {
		r.progress[vpid] += uint32(frag.bytes)
	}
	r.next = (vpid + 1) % regs.VPIDs
	r.requester.enter(phaseIdle, now+1)
}

// told is the size that a notification reports. It is the size of the whole descriptor if that is
// illegal.
func (f *fragment) told(desc *regs.RMADescFields) uint32 {
	switch {
	case f.fault != regs.RMAErrorBadCommand && f.fault != regs.RMAErrorBounds:
		return uint32(f.bytes - 1)
	case desc.Command == regs.RMACommandNotiPut || desc.Command == regs.RMACommandFCAA:
		return uint32(operandsOf(desc).bytes - 1)
	}
	return desc.BytesMinus1 // also of a command that there is not
}

// passing reports what the requester of the model does for a process in this cycle, and hardware
// has done one cycle earlier: it starts or refuses a fragment, which may complete a descriptor.
func (n *node) passing(vpid uint8) (fragments, descriptors int) {
	r, frag := &n.rma, &n.rma.frag
	if r.requester.phase == phaseIdle || r.requestDue() > n.p.now || frag.vpid != int(vpid) {
		return 0, 0
	}
	c := &r.closed[vpid]
	if r.requester.phase == phaseMove && !c.seen(frag.asked) { // its address is to be translated
		return 0, 0
	}
	if frag.last || frag.fault != regs.RMAErrorNone || c.seen(n.p.now-behind) {
		return 1, 1
	}
	return 1, 0
}

// descriptors counts the waiting descriptors of a process as registers show them.
func (n *node) descriptors(vpid uint8) int {
	n.seeDescriptor()
	_, ended := n.passing(vpid)
	return n.rma.descs[vpid].n - ended
}

// sendFragment sends the oldest fragment, or reports its error.
func (n *node) sendFragment(now drivers.Cycle) {
	n.submit(ofRequests, n.rma.begun.first().job)
	n.rma.begun.drop()
	n.rma.sent = now
}

// copied returns a copy of a packet.
func (n *node) copied(p *Packet) uint32 {
	h := n.p.packets.get()
	to := n.p.packets.at(h)
	to.Header, to.stamp = p.Header, p.stamp
	copy(to.body[:], p.body[:p.Header.Length()])
	to.pad()
	return h
}

const nlaMask = 1<<48 - 1

// operands is the meaning of a descriptor's words for its command.
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

// fragment builds the packet of the bytes from done on, or finds why there is none. It reports
// whether an address has to be translated. No fragment crosses a 4 KB page on either side.
func (n *node) fragment(d *descriptor, vpid uint8, done uint32, f *fragment) bool {
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
	switch {
	case desc.Command == regs.RMACommandNotiPut:
		f.nla = 0
	case o.write && desc.Command != regs.RMACommandPut:
		f.nla = write & nlaMask
	default: // also of a command that there is not
		f.nla = read & nlaMask
	}
	if f.fault = n.illegal(d, &desc, &o); f.fault != regs.RMAErrorNone {
		return false
	}
	n.build(d, vpid, done, f)
	return desc.Command == regs.RMACommandPut
}

func roomInPage(nla uint64) int { return pageMask + 1 - int(nla&pageMask) }

// build fills in the packet of a fragment, except for the bytes of a put.
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
	f.packet.Header = h.Pack()
	f.packet.set(ext.Pack(), word)
}

// illegal checks the descriptor itself.
func (n *node) illegal(d *descriptor, f *regs.RMADescFields, o *operands) regs.RMAError {
	switch {
	case f.Command < regs.RMACommandPut || f.Command > regs.RMACommandFCAA,
		f.Command == regs.RMACommandImmPut && o.bytes > 8,
		f.Command == regs.RMACommandFCAA && d.w2%4 != 0:
		return regs.RMAErrorBadCommand
	case int(f.DstNode) >= len(n.m.nodes):
		return regs.RMAErrorNoSuchNode
	case o.read && leavesTable(d.w1, o.bytes), o.write && leavesTable(d.w2, o.bytes):
		return regs.RMAErrorBounds
	}
	return regs.RMAErrorNone
}

// leavesTable reports an operation that exceeds the address space of its table.
func leavesTable(nla uint64, bytes int) bool {
	return nla > nlaMask || regs.NLA(nla).Offset()+uint64(bytes)-1 >= 1<<44
}
