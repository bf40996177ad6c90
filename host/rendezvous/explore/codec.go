package explore

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// AppendState encodes a state. Two states with one encoding have the same future.
func (w *World) AppendState(b []byte) []byte {
	number := func(v int) { b = binary.AppendUvarint(b, uint64(v+1)) }
	for i := range w.ranks {
		r := &w.ranks[i]
		b = r.core.AppendState(b)
		b = append(b, r.memory[:]...)
		number(r.sent)
		number(r.posted)
		number(r.under)
		number(len(r.waiting))
		for _, i := range r.waiting {
			number(i)
		}
		number(len(r.unexpected))
		for _, u := range r.unexpected {
			number(u.message)
			b = appendControl(b, u.rts)
		}
		b = append(b, byte(r.registered[0]), byte(r.registered[1]), byte(r.registered[2]))
	}
	for i := range w.messages {
		m := &w.messages[i]
		b = append(b, byte(m.progress), byte(m.code), byte(m.receive+1), byte(m.ref), byte(m.class), byte(m.disturbed), flags(m.held, m.withdrawn, m.cancelled))
	}
	for i := range w.receives {
		r := &w.receives[i]
		b = append(b, byte(r.progress), byte(r.code), byte(r.message+1), byte(r.ref), flags(r.held, r.cancelled, r.offered))
	}
	for pair := range w.outbox {
		number(len(w.outbox[pair]))
		for _, p := range w.outbox[pair] {
			number(p.message)
			b = append(b, flags(p.held))
			b = appendControl(b, p.control)
		}
		for _, list := range [...][]op{w.requests[pair], w.answers[pair]} {
			number(len(list))
			for _, o := range list {
				b = append(b, byte(o.ref), byte(o.message), byte(o.do), byte(o.local), byte(o.remote), byte(o.bytes), flags(o.left, o.fault))
				b = binary.AppendUvarint(b, uint64(o.id))
				b = binary.AppendUvarint(b, uint64(o.other))
				b = append(b, o.data[:]...)
			}
		}
	}
	return append(b, byte(w.faults), byte(w.shortages), byte(w.refusals))
}

func appendControl(b []byte, c rendezvous.Control) []byte {
	var wire [rendezvous.ControlBytes]byte
	c.Put(wire[:])
	return append(append(b, wire[:]...), byte(c.Envelope.Tag))
}

func flags(list ...bool) (v byte) {
	for i, set := range list {
		if set {
			v |= 1 << i
		}
	}
	return v
}
