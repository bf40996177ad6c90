package portals

import "fmt"

// Deliver takes a packet from the network. Packets of a pair must be delivered in the order in
// which they were sent (2.4). The payload is not needed after the call. An error means that no
// correct interface can have sent the packet, or that it was sent twice; the state is then
// unchanged.
func (n *NI) Deliver(p *Packet) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.NI != n.Number() {
		return fmt.Errorf("portals: packet for interface %d reached interface %d", p.NI, n.Number())
	}
	switch p.Kind {
	case KindAck:
		return n.deliverAck(p)
	case KindReply:
		return n.deliverReply(p)
	}
	n.deliverRequest(p)
	return nil
}

// A match is the entry that takes a message, and which part of its memory.
type match struct {
	pt              *portal
	entry           *entry
	handle          uint32
	offset, mlength uint64
}

func (n *NI) deliverRequest(p *Packet) {
	pt := n.portal(p.PT)
	switch {
	case pt == nil:
		n.status.Dropped++
		n.respond(p, nil, FailDropped, nil)
		return
	case !pt.enabled:
		n.status.Dropped++
		n.respond(p, nil, FailPTDisabled, nil)
		return
	}
	m := n.findEntry(pt, p)
	if m.entry == nil {
		n.refuse(p, &m, false)
		return
	}
	if fail := n.permits(m.entry, p); fail != FailNone {
		n.respond(p, &m, fail, nil)
		return
	}
	keepsHeader := m.entry.list == OverflowList && m.entry.Options&MEUnexpectedHdrDisable == 0
	if keepsHeader && n.headers.used >= n.headers.limit || !n.hasEventRoom(&m, p, keepsHeader) {
		n.refuse(p, &m, m.entry.Options&MEEventFlowCtrlDisable != 0)
		return
	}
	n.accept(p, &m, keepsHeader)
}

// findEntry walks the priority list, then the overflow list (3.12). An entry that does not truncate
// and is too short does not match.
func (n *NI) findEntry(pt *portal, p *Packet) match {
	source := sourceKey(p.Source)
	for i := range pt.lists {
		l := &pt.lists[i]
		for at := l.entryFor(0, p.Bits, source); at >= 0; at = l.entryFor(at+1, p.Bits, source) {
			h := l.keys[at].item
			e := n.entries.at(h)
			offset, length := e.place(p)
			if length < p.Length && e.Options&MENoTruncate != 0 && n.options&NINoMatching == 0 {
				continue
			}
			return match{pt, e, h, offset, length}
		}
	}
	return match{pt: pt}
}

// place is the offset of a message in an entry, and how much of it fits. Items of atomics are not
// split.
func (e *entry) place(p *Packet) (offset, length uint64) {
	offset = p.Offset
	if e.Options&MEManageLocal != 0 {
		offset = e.offset
	}
	length = p.Length
	if offset >= e.Length {
		length = 0
	} else if room := e.Length - offset; length > room {
		length = room
		if p.Kind.isAtomic() {
			length -= length % p.Datatype.Size()
		}
	}
	return offset, length
}

// permits checks the user, then the operation (3.3.7). Neither continues with the next entry.
func (n *NI) permits(e *entry, p *Packet) Fail {
	if e.UID != UIDAny && e.UID != p.UID {
		n.status.PermissionViolations++
		return FailPermViolation
	}
	need := MEOpPut
	switch p.Kind {
	case KindGet:
		need = MEOpGet
	case KindFetchAtomic, KindSwap:
		need |= MEOpGet
	}
	if e.Options&need != need {
		n.status.OperationViolations++
		return FailOpViolation
	}
	return FailNone
}

// refuse drops a message for want of an entry, a header or an event. With flow control that
// disables the portal table entry (2.5).
func (n *NI) refuse(p *Packet, m *match, silently bool) {
	n.status.Dropped++
	if m.pt.options&PTFlowControl == 0 {
		n.respond(p, m, FailDropped, nil)
		return
	}
	m.pt.enabled = false
	if !silently {
		n.raise(m.pt.eq, &Event{Kind: EventPTDisabled, PT: p.PT, Fail: FailPTDisabled})
	}
	n.respond(p, m, FailPTDisabled, nil)
}

// usesUp tells whether a message is the last one that the entry takes.
func (m *match) usesUp() bool {
	e := m.entry
	return e.Options&MEUseOnce != 0 || e.Options&MEManageLocal != 0 && e.Length-m.offset-m.mlength < e.MinFree
}

// hasEventRoom tells whether the events of a message find room. It matters with flow control only;
// without it an event queue that overflows loses events.
func (n *NI) hasEventRoom(m *match, p *Packet, keepsHeader bool) bool {
	if m.pt.options&PTFlowControl == 0 {
		return true
	}
	need, o := 0, m.entry.Options
	if o&(MEEventCommDisable|MEEventSuccessDisable) == 0 {
		need++
	}
	if o&MEEventUnlinkDisable == 0 && m.usesUp() {
		need++
		if m.entry.list == OverflowList && !keepsHeader && m.entry.pendingHeaders == 0 {
			need++ // AUTO_FREE follows at once
		}
	}
	return n.eqs.at(uint32(m.pt.eq)).room() >= need
}

// accept moves the data of a message, raises its events and answers it.
func (n *NI) accept(p *Packet, m *match, keepsHeader bool) {
	e := m.entry
	start := e.Start + m.offset
	fail, reply := FailNone, []byte(nil)
	if m.mlength > 0 {
		if memory, ok := n.memory.Bytes(start, m.mlength); ok {
			reply = n.move(p, memory)
		} else {
			fail, m.mlength = FailSegv, 0
		}
	}
	usedUp := m.usesUp()
	if e.Options&MEManageLocal != 0 {
		e.offset += m.mlength
	}
	n.respond(p, m, fail, reply)
	if e.Options&MEEventCommDisable == 0 && (fail != FailNone || e.Options&MEEventSuccessDisable == 0) {
		if ev := n.newEvent(m.pt.eq); ev != nil {
			*ev = Event{
				Kind: p.Kind.targetEvent(), PT: p.PT, List: e.list, Fail: fail, Op: p.Op, Datatype: p.Datatype, UID: p.UID,
				Initiator: p.Source, MatchBits: p.Bits, RLength: p.Length, MLength: m.mlength, RemoteOffset: m.offset,
				Start: start, UserPtr: e.UserPtr, HdrData: p.HdrData,
			}
		}
	}
	if keepsHeader && fail == FailNone {
		hh, _ := n.headers.add(header{
			kind: p.Kind, op: p.Op, datatype: p.Datatype, uid: p.UID, source: p.Source, entry: ME(m.handle), bits: p.Bits,
			hdrData: p.HdrData, rlength: p.Length, mlength: m.mlength, roffset: m.offset, start: start,
		})
		m.pt.unexpected.add(key{bits: p.Bits, source: sourceKey(p.Source), item: hh})
		e.pendingHeaders++
	}
	ct, inBytes := e.CT, e.Options&MEEventCTBytes != 0
	counts := e.Options&MEEventCTComm != 0
	if usedUp {
		n.unlinkUsed(m.pt, e, m.handle)
	}
	if counts { // last: it may start triggered operations
		n.countEvent(ct, fail, inBytes, m.mlength)
	}
}

// move copies the data of a request and returns those of its reply.
func (n *NI) move(p *Packet, memory []byte) (reply []byte) {
	switch p.Kind {
	case KindPut:
		copy(memory, p.Payload)
		return nil
	case KindGet:
		return memory
	case KindFetchAtomic, KindSwap:
		reply = n.out.scratch(len(memory))
		copy(reply, memory)
	}
	applyAtomic(p.Op, p.Datatype, memory, p.Payload[:len(memory)], &p.Operand)
	return reply
}

// respond sends the acknowledgement or the reply that a request asks for.
func (n *NI) respond(p *Packet, m *match, fail Fail, reply []byte) {
	if !p.Kind.hasReply() && p.Ack == NoAckReq {
		return
	}
	r := Packet{Target: p.Source, Payload: reply}
	r.Header = Header{
		Kind: KindReply, NI: p.NI, Fail: fail, Source: n.self, ID: p.ID, UID: n.uid, Length: uint64(len(reply)),
	}
	if !p.Kind.hasReply() {
		r.Kind, r.Ack = KindAck, p.Ack
		if fail == FailNone {
			r.Length = m.mlength
		}
		r.Silent = m != nil && m.entry != nil && m.entry.Options&MEAckDisable != 0 && fail == FailNone
	}
	if m != nil && m.entry != nil {
		r.Offset = m.offset
	}
	n.out.push(&r)
}
