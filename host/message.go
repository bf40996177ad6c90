package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/velo"
)

// Packets is the number of VELO packets of a message of n bytes.
func Packets(n int) int { return (n + HeaderBytes + regs.VELOPayload - 1) / regs.VELOPayload }

// ---- sending ----

// outbound are the messages to one destination, in order: the packets of two
// messages of a pair never mix.
type outbound struct {
	head, tail *Request
	held       int    // RTS among them that may not go yet
	next       uint32 // number of the message at the head
	stopped    bool   // a partial handshake is under way: see package threshold
}

// enqueue puts a send behind those to the same destination.
func (r *Rank) enqueue(dst int, q *Request) error {
	o := &r.peers[dst].outbound
	r.queued++
	if o.head != nil {
		o.tail.next, o.tail = q, q
		r.delay(q)
		return nil
	}
	o.head, o.tail = q, q
	return r.push(dst)
}

// hurry puts a control message in front of messages that may not go yet: what they wait for may need
// it.
func (r *Rank) hurry(dst int, q *Request) error {
	o := &r.peers[dst].outbound
	if o.held == 0 {
		return r.enqueue(dst, q)
	}
	at := &o.head
	for !(*at).held {
		at = &(*at).next
	}
	r.queued++
	q.next, *at = *at, q
	if o.head == q {
		return r.push(dst)
	}
	r.delay(q)
	return nil
}

// letGo lets a message go that was held, or drops it from its position.
func (r *Rank) letGo(dst int, q *Request) error {
	o := &r.peers[dst].outbound
	q.held = false
	o.held--
	r.held--
	if o.head == q {
		return r.push(dst)
	}
	return nil
}

// push sends packets to dst while there are some and the credits last.
func (r *Rank) push(dst int) error {
	o := &r.peers[dst].outbound
	for o.head != nil {
		if !r.mayPost() {
			return errStuck
		}
		q := o.head
		if q.held || o.stopped && !q.outside { // an RTS that the core has not given out yet, or a handshake
			return nil
		}
		if q.void {
			o.head, q.next = q.next, nil
			r.queued--
			r.controls = append(r.controls, q)
			continue
		}
		if err := r.sendPacket(dst, o, q); err == velo.ErrTryAgain {
			r.delay(q)
			return nil
		} else if err != nil {
			return err
		}
		if q.sent++; q.sent == q.packets {
			r.end(q)
			o.head, q.next = q.next, nil
			r.queued--
			o.next++
			o.stopped = o.stopped || q.closes
			if q.kind != kindEager {
				r.controls = append(r.controls, q)
			}
		}
	}
	return nil
}

// delay counts a message that has to wait, once.
func (r *Rank) delay(q *Request) {
	if !q.delayed {
		q.delayed = true
		r.stats.DelayedMessages++
	}
}

func (r *Rank) sendPacket(dst int, o *outbound, q *Request) error {
	n := 0
	if q.sent == 0 {
		header{tag: q.env.Tag, length: uint32(len(q.buf)), seq: o.next, comm: q.env.Comm, kind: q.kind}.put(r.line[:])
		n = HeaderBytes
	}
	data := q.buf[min(len(q.buf), max(q.sent*regs.VELOPayload-HeaderBytes, 0)):]
	n += copy(r.line[n:], data)
	err := r.ep.Send(dst, r.line[:n])
	if err == nil {
		r.proc.Spend(r.credit + r.cost.CopyByte*drivers.Time(n))
	}
	r.chargeControl()
	return err
}

// ---- receiving ----

// A message is one that has begun to arrive, or whose RTS has. It fills a cache line.
type message struct {
	header
	got   uint32
	entry int32    // of a ring, where the bytes go; or what Contents calls them
	req   *Request // the receive that it matched, or nil
	data  []byte   // of an unexpected message
	more  *extra
}

// An extra is what few messages have.
type extra struct {
	rts  rendezvous.Control
	send *Request // a synchronous one of this node, which waits for the match
	at   uint64   // of its eager buffer
	// Of a message of a stream.
	number  uint16
	streamd bool
}

// inbound is the reassembly of one source: packets of a pair come in order, so
// at most one message of a source is incomplete.
type inbound struct {
	current *message
	seq     uint32
}

// file puts a packet's payload where it belongs.
func (r *Rank) file(from int, b []byte) error {
	if from == r.id {
		return drivers.BadField(from, "source", "this rank", "another rank: messages to oneself stay in memory")
	}
	in := &r.peers[from].inbound
	if in.current == nil {
		h, err := parseHeader(from, b)
		if err != nil {
			return err
		}
		if r.settles && h.kind != kindControl && h.kind != kindRingControl && h.kind != kindThreshold && h.kind != kindEmpties {
			return errUnreceived(from)
		}
		if h.seq != in.seq {
			return drivers.BadField(from, "message number", h.seq, "%d: lost, doubled or out of order", in.seq)
		}
		in.seq++
		if h.kind == kindRing || h.kind == kindRingControl {
			return r.fileRing(from, h, b[HeaderBytes:])
		}
		if h.kind != kindEager {
			return r.fileControl(from, h, b[HeaderBytes:])
		}
		in.current = r.accept(from, h)
		b = b[HeaderBytes:]
		if err := r.overtaken(in.current.req); err != nil {
			return err
		}
		if in.current.req != nil {
			if err := r.streamMatched(from, in.current, false); err != nil {
				return err
			}
		}
	}
	if r.settles {
		return errUnreceived(from)
	}
	m := in.current
	if m.got+uint32(len(b)) > m.length {
		return drivers.BadField(from, fmt.Sprintf("bytes of message %d", m.seq), m.got+uint32(len(b)), "the %d of its header", m.length)
	}
	m.store(b)
	if m.got == m.length {
		in.current = nil
		if m.req != nil {
			r.complete(m, from)
		} else {
			r.arrived(m, from)
		}
	}
	return nil
}

// fileControl handles a message that is not eager, or not all of it.
func (r *Rank) fileControl(from int, h header, b []byte) error {
	switch h.kind {
	case kindBuffered:
		return r.fileBuffered(from, h, b)
	case kindThreshold:
		return r.fileThreshold(from, b)
	case kindEmpties:
		return r.fileEmpties(from, h, b)
	case kindNotReady:
		return r.fileNotReady(from, h, b)
	}
	c, err := rendezvous.Parse(b)
	if err != nil {
		return fmt.Errorf("from rank %d: %w", from, err)
	}
	if r.bulk == nil {
		return fmt.Errorf("%w: rank %d sends a long message, and rank %d has no RMA", drivers.ErrConfig, from, r.id)
	}
	c.Envelope = rendezvous.Envelope{Tag: h.tag, Comm: h.comm}
	if err := r.bulk.core.Allowed(from, c, h.kind == kindRTS); err != nil {
		return err
	}
	if h.kind == kindControl {
		if c.Kind == rendezvous.RTR {
			r.proc.Spend(r.cost.Match)
		}
		r.bulk.core.Tick(int64(r.proc.Now()))
		r.bulk.core.Hear(from, c)
		return r.drain()
	}
	h.length = c.Bytes
	r.came(from, h)
	r.proc.Spend(r.cost.Match)
	if r.eager() != nil {
		if err := r.handshake(func(t *threshold.Core) { t.Came(from, int(c.Bytes)) }); err != nil {
			return err
		}
	}
	m := &message{header: h, more: &extra{rts: c}}
	r.streamCame(from, h, m)
	if q, ok := r.match.Arrive(h.envelope(from), m); ok {
		if err := r.streamMatched(from, m, false); err != nil {
			return err
		}
		return r.receiveLong(q, from, int(h.tag), c)
	}
	r.stats.Unexpected++
	return nil
}

// accept matches a message with a posted receive, or finds room for it.
func (r *Rank) accept(from int, h header) *message {
	m := r.messages.get()
	*m = message{header: h}
	r.came(from, h)
	r.streamCame(from, h, m)
	r.proc.Spend(r.cost.Match)
	if q, ok := r.match.Arrive(h.envelope(from), m); ok {
		m.req = q
		return m
	}
	r.stats.Unexpected++
	if h.length > 0 {
		m.data = r.spare.get(int(h.length))
	}
	return m
}

// store keeps the next bytes of a message. What a receive buffer cannot hold is
// dropped; the receive will say so.
func (m *message) store(b []byte) {
	to := m.data
	if m.req != nil {
		to = m.req.buf
	}
	copy(to[min(len(to), int(m.got)):], b)
	m.got += uint32(len(b))
}

// bind gives an unexpected message to a receive that was posted later.
func (r *Rank) bind(q *Request, e match.Envelope, m *message) error {
	switch m.kind {
	case kindBuffered:
		return r.bindBuffered(q, m)
	case kindNotReady:
		return r.bindNotReady(q, int(e.Source), m)
	}
	if err := r.streamMatched(int(e.Source), m, false); err != nil {
		return err
	}
	if m.kind == kindRTS {
		return r.receiveLong(q, int(e.Source), int(m.tag), m.more.rts)
	}
	if m.kind == kindRing {
		return r.bindRing(q, int(e.Source), m)
	}
	if int(e.Source) == r.id || r.isLocal(int(e.Source)) {
		r.takeLocal(q, m, int(e.Source))
		return nil
	}
	r.takeEager(q, m, int(e.Source))
	return nil
}

// complete ends a receive whose message has all arrived.
func (r *Rank) complete(m *message, from int) {
	q := m.req
	r.end(q)
	q.status = Status{Source: q.comm.local(from), Tag: int(m.tag), Bytes: int(m.length)}
	if int(m.length) > len(q.buf) {
		q.err = truncated(int(m.length), q.status.Source, int(m.tag), len(q.buf))
	}
	r.stats.MessagesReceived++
	r.stats.BytesReceived += uint64(m.length)
	r.messages.put(m)
}

func truncated(n, from, tag, room int) error {
	return fmt.Errorf("%w: %d bytes from rank %d with tag %d, the buffer holds %d", ErrTruncated, n, from, tag, room)
}
