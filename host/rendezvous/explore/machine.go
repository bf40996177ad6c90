package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// The machine performs operations of a pair in order. A put first leaves its origin, which is
// reported only in case of a fault; faults at the target are reported later, in order with the
// responses of gets.

// leaving is the oldest operation of a pair that has not left its origin, or -1.
func (w *World) leaving(from, to int) int {
	return slices.IndexFunc(w.requests[w.pair(from, to)], func(o op) bool { return !o.left })
}

// leave reads the bytes of the oldest put that has not left. A fault is reported to the origin.
func (w *World) leave(from, to int, fault bool) error {
	pair := w.pair(from, to)
	k := w.leaving(from, to)
	o := &w.requests[pair][k]
	r := &w.ranks[from]
	r.under--
	if fault {
		w.faults--
		w.messages[o.message].disturbed++
		gone := *o
		w.requests[pair] = slices.Delete(w.requests[pair], k, k+1)
		return w.faultOf(from, gone)
	}
	o.left = true
	if !w.messages[o.message].held {
		return violation("a put reads the memory of message %d, which was given back", o.message)
	}
	copy(o.data[:o.bytes], r.memory[o.local:])
	return nil
}

// faultOf reports a fault of a put to its origin.
func (w *World) faultOf(at int, o op) error {
	core := w.ranks[at].core
	e := core.At(o.ref)
	if !o.of(e) {
		return violation("a fault of a put of message %d comes when its transfer is over", o.message)
	}
	core.Faulted(e, errFault)
	return w.drain(at)
}

// done reports the completion of an operation to its origin.
func (w *World) done(at int, o op, err error) error {
	core := w.ranks[at].core
	e := core.At(o.ref)
	if !o.of(e) {
		return violation("a %v of message %d ends when its transfer is over", o.do, o.message)
	}
	if w.plant.done != nil {
		w.plant.done(w, at, o, &err)
	}
	core.Done(e, o.do, o.bytes, err)
	return w.drain(at)
}

// perform performs the oldest operation of a pair at its target.
func (w *World) perform(from, to int, fault bool) error {
	pair := w.pair(from, to)
	o := w.requests[pair][0]
	w.requests[pair] = w.requests[pair][1:]
	o.fault = fault
	if fault {
		w.faults--
		w.messages[o.message].disturbed++
	}
	if err := w.touch(to, &o); err != nil {
		return err
	}
	if o.do != rendezvous.Put || fault {
		back := w.pair(to, from)
		w.answers[back] = append(w.answers[back], o)
	}
	if w.plant.performed != nil {
		return w.plant.performed(w, from, to, o)
	}
	return nil
}

// touch reads or writes the target's memory.
func (w *World) touch(to int, o *op) error {
	r, m := &w.ranks[to], w.o.Messages[o.message]
	base, room, held := m.At, m.Bytes, w.messages[o.message].held
	if to != m.From {
		var i int
		i, held = w.target(to, o)
		base, room = w.o.Receives[i].At, w.o.Receives[i].Room
	}
	switch at := int(o.remote); {
	case !held:
		return violation("a %v finds the memory of message %d at rank %d given back", o.do, o.message, to)
	case o.do == rendezvous.Fence:
	case at < base || at+o.bytes > base+room:
		return violation("a %v of message %d touches bytes %d to %d of rank %d, expected %d to %d", o.do, o.message, at, at+o.bytes-1, to, base, base+room-1)
	case o.fault:
	case o.do == rendezvous.Get:
		copy(o.data[:o.bytes], r.memory[at:])
	default:
		copy(r.memory[at:], o.data[:o.bytes])
	}
	return nil
}

// target is the receive whose memory a put writes, and whether it holds memory. A put may arrive
// before its message is matched.
func (w *World) target(at int, o *op) (i int, held bool) {
	core := w.ranks[at].core
	for ref := range core.Records() {
		if e := core.At(ref); e.Live() && e.ID() == o.other {
			i = e.User().(int)
			return i, w.receives[i].held
		}
	}
	return 0, false
}

// answer delivers the oldest response of a pair to its origin.
func (w *World) answer(from, to int, fault bool) error {
	pair := w.pair(from, to)
	o := w.answers[pair][0]
	w.answers[pair] = w.answers[pair][1:]
	if fault {
		w.faults--
		w.messages[o.message].disturbed++
		o.fault = true
	}
	var err error
	if o.fault {
		err = errFault
	}
	if o.do == rendezvous.Put { // reported late
		if w.plant.deaf {
			return nil
		}
		return w.faultOf(to, o)
	}
	w.ranks[to].under--
	if o.do == rendezvous.Get && !o.fault {
		if !w.receives[w.messages[o.message].receive].held {
			return violation("the answer of a get finds the memory of message %d given back", o.message)
		}
		copy(w.ranks[to].memory[o.local:], o.data[:o.bytes])
	}
	return w.done(to, o, err)
}

// of reports whether an operation's end is still the one that issued it.
func (o *op) of(e *rendezvous.End) bool { return e.Live() && e.ID() == o.id }
