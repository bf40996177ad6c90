package host

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// What a receiver does for messages that are put before it may be ready.

// streamCame numbers a message that has come, if it is of a stream.
func (r *Rank) streamCame(from int, h header, m *message) {
	n := r.streams()
	if n == nil {
		return
	}
	if number, ok := n.core.Came(streamOf(from, h.tag, h.comm)); ok {
		if m.more == nil {
			m.more = &extra{}
		}
		m.more.number, m.more.streamd = number, true
	}
}

// streamMatched tells that a message has its receive, which so is not offered any more.
func (r *Rank) streamMatched(from int, m *message, inside bool) error {
	if m.more == nil || !m.more.streamd {
		return nil
	}
	n, l := r.bulk.streams, streamOf(from, m.tag, m.comm)
	n.core.Matched(l, m.more.number, inside)
	return r.drainStreams()
}

// fileNotReady handles a message whose bytes are put as soon as its receive is ready.
func (r *Rank) fileNotReady(from int, h header, b []byte) error {
	n := r.streams()
	if n == nil || len(b) != threshold.MessageBytes {
		return fmt.Errorf("%w: rank %d puts before rank %d is ready, which does not know that: all ranks need the same handshake", drivers.ErrConfig, from, r.id)
	}
	length, most := binary.LittleEndian.Uint64(b[8:]), uint64(n.core.Longest(streamOf(from, h.tag, h.comm)))
	if length <= EagerMax || length > most {
		return drivers.BadField(from, "length of a message of a stream", length, "%d..%d", EagerMax+1, most)
	}
	h.length = uint32(length)
	r.came(from, h)
	r.proc.Spend(r.cost.Match)
	m := r.messages.get()
	*m = message{header: h, more: &extra{}}
	r.streamCame(from, h, m)
	if want := binary.LittleEndian.Uint64(b[0:]); !m.more.streamd || uint64(m.more.number) != want {
		return drivers.BadField(from, "message number in a stream", want, "%d (stream open: %t): lost, doubled or out of order", m.more.number, m.more.streamd)
	}
	q, ok := r.match.Arrive(h.envelope(from), m)
	if !ok {
		r.stats.Unexpected++
		return nil
	}
	return r.bindNotReady(q, from, m)
}

// bindNotReady gives a message to the receive that it matches.
func (r *Rank) bindNotReady(q *Request, from int, m *message) error {
	m.req = q
	n := r.bulk.streams
	n.arrived[streamKey{streamOf(from, m.tag, m.comm), m.more.number}] = &streamArrival{m: m, from: from}
	return r.streamMatched(from, m, true)
}

// offerStream readies a receive before its message is known, if none in front of it can get that, and if its buffer lies as the sender will put.
func (r *Rank) offerStream(q *Request) error {
	n, from := r.streams(), int(q.env.Source)
	if q.offered = false; n == nil || from == AnySource || q.env.Tag == AnyTag || from == r.id || r.isLocal(from) {
		return nil
	}
	l := streamOf(from, q.env.Tag, q.env.Comm)
	number, address, ok := n.core.Offerable(l, r.match.Fitting(q.env)-1, len(q.buf))
	at, inside := locate(r.bulk.Memory, q.buf)
	if !ok || !inside || at%pageBytes != address%pageBytes {
		return nil
	}
	q.offered, q.number = true, number
	n.gate(streamKey{l, number}).offered = q
	n.core.Offer(l, number)
	return r.drainStreams()
}

// openStream puts the buffer of a receive behind a gate. Where that lies otherwise than the sender puts, or is too short, something stands in for it.
func (r *Rank) openStream(key streamKey) error {
	n, b := r.bulk.streams, r.bulk
	r.proc.Spend(r.cost.Register)
	r.proc.Sync() // a gate is memory: what the hardware did before it opens it must have done
	a := n.arrived[key]
	if a == nil {
		g := n.gate(key)
		at, _ := locate(b.Memory, g.offered.buf)
		return g.Open(at, uint64(g.bytes), rma.ReadWrite)
	}
	buf, bytes := a.m.req.buf, uint64(a.m.length)
	address := n.core.Address(key.stream, key.number)
	at, inside := locate(b.Memory, buf)
	if !inside || uint64(len(buf)) < bytes || at%pageBytes != address%pageBytes {
		var ok bool
		if a.heap, ok = b.standIn(rendezvous.Received, bytes+pageBytes); !ok {
			n.opening = append(n.opening, key)
			return nil
		}
		a.bounce = bytes + pageBytes
		at = a.heap + (address-a.heap)%pageBytes
		a.at = at
	}
	return n.gate(key).Open(at, bytes, rma.ReadWrite)
}

// filledStream ends a receive whose message is there.
func (r *Rank) filledStream(key streamKey) {
	n, b := r.bulk.streams, r.bulk
	a := n.arrived[key]
	delete(n.arrived, key)
	if a.bounce > 0 {
		bytes := min(uint64(a.m.length), uint64(len(a.m.req.buf)))
		r.proc.Spend(r.cost.CopyByte * drivers.Time(bytes))
		copy(a.m.req.buf, b.Memory[a.at:a.at+bytes])
		b.putBack(rendezvous.Received, a.heap, a.bounce)
	}
	if at, inside := locate(b.Memory, a.m.req.buf); inside {
		n.gate(key).next = at % pageBytes
	}
	r.complete(a.m, a.from)
}

// revokeStream wants a receive back that was readied, to cancel it.
func (r *Rank) revokeStream(q *Request) error {
	n, l := r.bulk.streams, streamOf(int(q.env.Source), q.env.Tag, q.env.Comm)
	n.core.Revoke(l, q.number)
	return r.drainStreams()
}
