package portals

import "fmt"

// A Request has the arguments of the data movement operations (3.15) with the names that they have
// there. Each function uses those that its original has.
type Request struct {
	MD           MD // FetchAtomic and Swap: the put descriptor
	LocalOffset  uint64
	GetMD        MD
	GetOffset    uint64
	Length       uint64
	Ack          AckReq
	Target       Process
	PT           uint8
	MatchBits    uint64
	RemoteOffset uint64
	UserPtr      uint64
	HdrData      uint64
	Op           Op
	Datatype     Datatype
	Operand      [OperandBytes]byte
}

// An operation is a request that was started and whose events are not all raised.
type operation struct {
	Request
	kind           Kind
	sent, answered bool
	armed          bool // it waits for its trigger: nothing of it is in the network
}

// inProgress finds an operation whose request is in the network.
func (n *NI) inProgress(id uint32) *operation {
	if o := n.ops.get(id); o != nil && !o.armed {
		return o
	}
	return nil
}

// Put is PtlPut (3.15.2). The ID names the operation in Sent and Undeliverable.
func (n *NI) Put(r *Request) (id uint32, err error) { return n.start(KindPut, r) }

// Get is PtlGet (3.15.3).
func (n *NI) Get(r *Request) (id uint32, err error) { return n.start(KindGet, r) }

// Atomic is PtlAtomic (3.15.5).
func (n *NI) Atomic(r *Request) (id uint32, err error) { return n.start(KindAtomic, r) }

// FetchAtomic is PtlFetchAtomic (3.15.6).
func (n *NI) FetchAtomic(r *Request) (id uint32, err error) { return n.start(KindFetchAtomic, r) }

// Swap is PtlSwap (3.15.7).
func (n *NI) Swap(r *Request) (id uint32, err error) { return n.start(KindSwap, r) }

func (n *NI) start(kind Kind, r *Request) (uint32, error) {
	id, err := n.reserve(kind, r)
	if err == nil {
		n.send(id)
	}
	return id, err
}

// reserve checks a request and allocates its operation, so that sending it later cannot fail.
func (n *NI) reserve(kind Kind, r *Request) (uint32, error) {
	put, get := r.MD, MD(0)
	switch kind {
	case KindGet:
		put, get = 0, r.MD
	case KindFetchAtomic, KindSwap:
		get = r.GetMD
	}
	if err := n.checkRequest(kind, r, put, get); err != nil {
		return 0, err
	}
	id, ok := n.ops.add(operation{Request: *r, kind: kind})
	if !ok {
		return 0, NoSpace
	}
	o := n.ops.at(id)
	if kind == KindGet {
		o.MD, o.GetMD, o.GetOffset, o.sent = 0, r.MD, r.LocalOffset, true
	}
	if !kind.hasReply() {
		o.GetMD, o.answered = 0, r.Ack == NoAckReq
	} else {
		o.Ack = NoAckReq
	}
	n.pin(o, 1)
	return id, nil
}

func (n *NI) checkRequest(kind Kind, r *Request, put, get MD) error {
	limit := n.limits.MaxMsgSize
	switch kind {
	case KindAtomic:
		limit = n.limits.MaxAtomicSize
	case KindFetchAtomic, KindSwap:
		limit = n.limits.MaxFetchAtomicSize
	}
	switch {
	case r.Length > limit:
		return invalid("%v of %d bytes: the limit is %d", kind, r.Length, limit)
	case r.Target.NID == NIDAny || n.options&NIPhysical != 0 && r.Target.PID == PIDAny ||
		n.options&NIPhysical == 0 && r.Target.PID != 0:
		return invalid("target %d:%d is no process", r.Target.NID, r.Target.PID)
	case r.Ack > OCAckReq:
		return invalid("acknowledgement request %d", r.Ack)
	}
	if kind.isAtomic() {
		if err := checkAtomic(kind, r.Op, r.Datatype, r.Length); err != nil {
			return err
		}
	}
	if kind != KindGet {
		if err := n.checkRange(put, r.LocalOffset, r.Length); err != nil {
			return err
		}
		d := n.mds.at(uint32(put))
		if !kind.hasReply() && (r.Ack == FullAckReq && d.EQ == 0 || r.Ack > FullAckReq && d.CT == 0) {
			return invalid("acknowledgement request %d: the memory descriptor has nothing to record it", r.Ack)
		}
	}
	if !kind.hasReply() {
		return nil
	}
	offset := r.GetOffset
	if kind == KindGet {
		offset = r.LocalOffset
	}
	return n.checkRange(get, offset, r.Length)
}

func (n *NI) checkRange(h MD, offset, length uint64) error {
	d := n.mds.get(uint32(h))
	if d == nil {
		return invalid("memory descriptor handle %#x is stale", uint32(h))
	}
	if offset > d.Length || length > d.Length-offset {
		return invalid("%d bytes at offset %d of a memory descriptor of %d bytes", length, offset, d.Length)
	}
	return nil
}

// pin counts an operation at its descriptors, which cannot be released meanwhile.
func (n *NI) pin(o *operation, by int) {
	for _, h := range [...]MD{o.MD, o.GetMD} {
		if h != 0 {
			n.mds.at(uint32(h)).pending += by
		}
	}
}

// send queues the packet of an operation. Data are read now: the shell copies or transmits them.
func (n *NI) send(id uint32) {
	o := n.ops.at(id)
	o.armed = false
	p := Packet{Target: o.Target, Operand: o.Operand}
	p.Header = Header{
		Kind: o.kind, NI: n.Number(), Ack: o.Ack, PT: o.PT, Source: n.self, Bits: o.MatchBits,
		HdrData: o.HdrData, Length: o.Length, Offset: o.RemoteOffset, ID: id, UID: n.uid,
	}
	if o.kind.isAtomic() {
		p.Op, p.Datatype = o.Op, o.Datatype
	}
	if o.MD != 0 && o.Length > 0 {
		p.Payload, _ = n.memory.Bytes(n.mds.at(uint32(o.MD)).Start+o.LocalOffset, o.Length)
		if p.Payload == nil { // the memory was taken away while the operation waited for its trigger
			n.fail(id, FailSegv)
			return
		}
	}
	n.out.push(&p)
}

// Next takes the oldest packet to send. Its payload is memory of the process, or of the interface:
// copy or transmit it before the next call of the interface.
func (n *NI) Next(p *Packet) bool { return n.out.pop(p) }

// Sent reports that the data of an operation may change. It raises SEND (3.13.1). It
// is not called for gets, acknowledgements and replies, which have no data of an operation.
func (n *NI) Sent(id uint32) error {
	o := n.inProgress(id)
	switch {
	case o == nil:
		return fmt.Errorf("portals: operation %#x was sent, but is not in progress", id)
	case o.sent:
		return fmt.Errorf("portals: operation %#x was sent twice", id)
	}
	o.sent = true
	n.finish(id, o, n.sendEvent(o, FailNone))
	return nil
}

// Undeliverable reports that the network gives a request up. It ends the operation.
func (n *NI) Undeliverable(id uint32) error {
	if n.inProgress(id) == nil {
		return fmt.Errorf("portals: operation %#x is undeliverable, but not in progress", id)
	}
	n.fail(id, FailUndeliverable)
	return nil
}

// fail raises the events that an operation still owes, as failures.
func (n *NI) fail(id uint32, fail Fail) {
	o := *n.ops.at(id)
	n.pin(&o, -1)
	n.ops.remove(id)
	var counts [2]counting
	if !o.sent {
		counts[0] = n.sendEvent(&o, fail)
	}
	if !o.answered {
		counts[1] = n.answerEvent(&o, &Header{Fail: fail})
	}
	for _, c := range counts {
		n.countEvent(c.ct, c.fail, c.inBytes, c.length)
	}
}

// A counting is an increment that is made after everything else, as it may start triggered
// operations.
type counting struct {
	ct      CT
	fail    Fail
	inBytes bool
	length  uint64
}

func (n *NI) finish(id uint32, o *operation, c counting) {
	if o.sent && o.answered {
		n.pin(o, -1)
		n.ops.remove(id)
	}
	n.countEvent(c.ct, c.fail, c.inBytes, c.length)
}

func (n *NI) sendEvent(o *operation, fail Fail) counting {
	d := n.mds.at(uint32(o.MD))
	if fail != FailNone || d.Options&(MDEventSendDisable|MDEventSuccessDisable) == 0 {
		n.raise(d.EQ, &Event{
			Kind: EventSend, Fail: fail, MLength: o.Length, RemoteOffset: o.RemoteOffset, UserPtr: o.UserPtr,
		})
	}
	if d.Options&MDEventCTSend == 0 {
		return counting{}
	}
	return counting{d.CT, fail, d.Options&MDEventCTBytes != 0, o.Length}
}

// answerEvent raises ACK or REPLY. A completion acknowledgement counts operations and does not tell
// what became of the message (3.15.1).
func (n *NI) answerEvent(o *operation, h *Header) counting {
	kind, md, counted, full := EventAck, o.MD, MDEventCTAck, o.Ack == FullAckReq
	if o.kind.hasReply() {
		kind, md, counted, full = EventReply, o.GetMD, MDEventCTReply, true
	}
	d := n.mds.at(uint32(md))
	if full && (h.Fail != FailNone || d.Options&MDEventSuccessDisable == 0) {
		n.raise(d.EQ, &Event{
			Kind: kind, Fail: h.Fail, MLength: h.Length, RLength: o.Length, RemoteOffset: h.Offset, UserPtr: o.UserPtr,
		})
	}
	if d.Options&counted == 0 {
		return counting{}
	}
	if o.Ack == OCAckReq && h.Fail != FailUndeliverable && h.Fail != FailSegv {
		return counting{d.CT, FailNone, false, 0}
	}
	return counting{d.CT, h.Fail, d.Options&MDEventCTBytes != 0, h.Length}
}

func (n *NI) deliverAck(p *Packet) error {
	o, err := n.pendingAnswer(p)
	if err != nil {
		return err
	}
	if o.kind.hasReply() || o.Ack != p.Ack || p.Length > o.Length {
		return fmt.Errorf("portals: acknowledgement %+v does not fit its operation, a %v of %d bytes",
			p.Header, o.kind, o.Length)
	}
	o.answered = true
	var c counting
	if !p.Silent {
		c = n.answerEvent(o, &p.Header)
	}
	n.finish(p.ID, o, c)
	return nil
}

func (n *NI) deliverReply(p *Packet) error {
	o, err := n.pendingAnswer(p)
	if err != nil {
		return err
	}
	if !o.kind.hasReply() || p.Length > o.Length {
		return fmt.Errorf("portals: reply %+v does not fit its operation, a %v of %d bytes", p.Header, o.kind, o.Length)
	}
	o.answered = true
	h := p.Header
	if h.Length > 0 {
		b, ok := n.memory.Bytes(n.mds.at(uint32(o.GetMD)).Start+o.GetOffset, h.Length)
		if !ok {
			h.Fail, h.Length = FailSegv, 0
		}
		copy(b, p.Payload)
	}
	n.finish(p.ID, o, n.answerEvent(o, &h))
	return nil
}

// pendingAnswer finds the operation that a packet answers. An ID of the past is no operation.
func (n *NI) pendingAnswer(p *Packet) (*operation, error) {
	o := n.inProgress(p.ID)
	if o == nil || o.answered || o.Target != p.Source {
		return nil, fmt.Errorf("portals: %v %+v answers no operation in progress", p.Kind, p.Header)
	}
	return o, nil
}
