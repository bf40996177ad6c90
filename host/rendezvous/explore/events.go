package explore

import (
	"fmt"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// action is the type of an event.
type action uint8

const (
	send action = iota
	post
	deliver
	leave
	perform
	answer
	tick
	cancelSend
	cancelReceive
)

var actionNames = [...]string{"send", "receive", "deliver", "leave", "perform", "answer", "tick", "cancel-send", "cancel-receive"}

// An event is one step of a world. Its nth request ends with trouble; a leave, perform or answer
// fails itself. Events are small because the explorer stores one per state.
type event struct {
	act      action
	from, to uint8 // ranks; an event of one rank uses from; a cancel stores its number there
	nth      uint8
	trouble  trouble
}

func (e event) String() string {
	s := actionNames[e.act]
	switch e.act {
	case deliver, leave, perform, answer:
		s += fmt.Sprintf(" %d>%d", e.from, e.to)
	default:
		s += fmt.Sprintf(" %d", e.from)
	}
	switch {
	case e.trouble == faulty:
		s += " fault"
	case e.trouble != none:
		s += fmt.Sprintf(" %v=%d", e.trouble, e.nth)
	}
	return s
}

// actor is the rank whose core an event changes.
func (w *World) actor(e event) int {
	switch e.act {
	case deliver, perform, answer:
		return int(e.to)
	case cancelSend:
		return w.o.Messages[e.from].From
	case cancelReceive:
		return w.o.Receives[e.from].Rank
	}
	return int(e.from)
}

// Apply executes an event. A panic of the core is a violation.
func (w *World) Apply(e event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = violation("%v", p)
		}
	}()
	w.event, w.asked = e, 0
	from, to, fault := int(e.from), int(e.to), e.trouble == faulty
	switch e.act {
	case send:
		return w.send(from)
	case post:
		return w.post(from)
	case deliver:
		return w.deliver(from, to)
	case leave:
		return w.leave(from, to, fault)
	case perform:
		return w.perform(from, to, fault)
	case answer:
		return w.answer(from, to, fault)
	case tick:
		core := w.ranks[from].core
		w.now[from] = core.Deadline()
		core.Tick(w.now[from])
		return w.drain(from)
	case cancelSend:
		return w.cancelMessage(from)
	}
	return w.cancelReceive(from)
}

// Enabled lists the possible events, without variants that fail.
func (w *World) Enabled() (list []event) {
	add := func(act action, from, to int) { list = append(list, event{act: act, from: uint8(from), to: uint8(to)}) }
	for at := range w.ranks {
		if w.nextSend(at) >= 0 {
			add(send, at, 0)
		}
		if w.nextReceive(at) >= 0 {
			add(post, at, 0)
		}
		if w.ranks[at].core.Deadline() != rendezvous.Never && !w.plant.sleeps {
			add(tick, at, 0)
		}
		for to := range w.ranks {
			pair := w.pair(at, to)
			if q := w.outbox[pair]; len(q) > 0 && !q[0].held {
				add(deliver, at, to)
			}
			if w.leaving(at, to) >= 0 {
				add(leave, at, to)
			}
			if q := w.requests[pair]; len(q) > 0 && q[0].left {
				add(perform, at, to)
			}
			if len(w.answers[pair]) > 0 {
				add(answer, at, to)
			}
		}
	}
	for _, i := range w.o.Cancel {
		if s := w.messages[i]; s.progress == begun && !s.cancelled {
			add(cancelSend, i, 0)
		}
	}
	for _, i := range w.o.CancelAt {
		if s := w.receives[i]; s.progress == begun && !s.cancelled {
			add(cancelReceive, i, 0)
		}
	}
	return list
}

// faulted returns the event with a fault, if it can have one.
func (w *World) faulted(e event) (event, bool) {
	if w.faults == 0 || e.act != leave && e.act != perform && e.act != answer {
		return e, false
	}
	if e.act == answer {
		if o := w.answers[w.pair(int(e.from), int(e.to))][0]; o.do != rendezvous.Get || o.fault {
			return e, false // there is nothing to write
		}
	}
	e.trouble = faulty
	return e, true
}

// Finished verifies a final state.
func (w *World) Finished() error {
	loose := false // a cancel leaves its other end unmatched
	for i := range w.messages {
		loose = loose || w.messages[i].cancelled
	}
	for i := range w.receives {
		loose = loose || w.receives[i].cancelled
	}
	for i := range w.messages {
		m := &w.messages[i]
		switch {
		case m.progress != over && (m.receive >= 0 || m.cancelled || !loose):
			return violation("deadlock: message %d is not over and nothing is under way: %v", i, w.endOf(w.o.Messages[i].From, m.ref))
		case m.receive >= 0 && !w.agree(m):
			return violation("message %d ends with %v at its sender and with %v at its receiver", i, m.code, w.receives[m.receive].code)
		case m.progress == over && m.receive < 0 && m.code == rendezvous.Good && !w.o.Messages[i].Eager:
			return violation("message %d completes without having been received", i)
		}
	}
	for i := range w.receives {
		r := &w.receives[i]
		if r.progress != over && (r.message >= 0 || r.cancelled || !loose) {
			return violation("deadlock: receive %d is not over and nothing is under way", i)
		}
	}
	return w.empty(loose)
}

// agree reports whether both ends have the same result, unless each detected a failure of its own.
func (w *World) agree(m *message) bool {
	here, there := m.code, w.receives[m.receive].code
	return here == there || here != rendezvous.Good && there != rendezvous.Good && m.disturbed > 1
}

func (w *World) endOf(rank, ref int) string { return w.ranks[rank].core.At(ref).String() }

// empty verifies that everything was released.
func (w *World) empty(loose bool) error {
	for at := range w.ranks {
		r := &w.ranks[at]
		if r.core.Live() > 0 && !loose {
			return violation("rank %d has %d transfers left", at, r.core.Live())
		}
		if n := r.registered[0] + r.registered[1] + r.registered[2]; n > r.core.Live() {
			return violation("rank %d has %d pieces of memory left and %d transfers", at, n, r.core.Live())
		}
		if r.under > 0 {
			return violation("rank %d has %d operations left", at, r.under)
		}
	}
	return nil
}
