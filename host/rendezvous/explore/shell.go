package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// trouble is the outcome of a request that fails.
type trouble uint8

const (
	none trouble = iota
	shortage
	refused
	faulty // translation fault
)

func (t trouble) String() string { return [...]string{"", "short", "refused", "fault"}[t] }

var (
	errRefused = errors.New("refused")
	errFault   = errors.New("fault")
)

// drain executes the actions of a rank's core, as package host does.
func (w *World) drain(at int) error {
	core := w.ranks[at].core
	for {
		a, ok := core.Next()
		if !ok {
			break
		}
		if w.plant.action != nil && !w.plant.action(w, at, &a) {
			continue
		}
		if err := w.do(at, a); err != nil {
			return err
		}
	}
	if err := core.Check(); err != nil {
		return violation("%v", err)
	}
	return nil
}

// trouble returns the outcome that the event chose for this request.
func (w *World) trouble() trouble {
	w.asked++
	if w.asked != int(w.event.nth) {
		return none
	}
	if w.event.trouble == shortage {
		w.shortages--
	} else {
		w.refusals--
	}
	return w.event.trouble
}

func (w *World) do(at int, a rendezvous.Action) error {
	switch a.Do {
	case rendezvous.Tell:
		return w.sendControl(at, a)
	case rendezvous.Register:
		return w.register(at, a)
	case rendezvous.Get, rendezvous.Put, rendezvous.Fence:
		return w.begin(at, a)
	case rendezvous.Release:
		return w.release(at, a.End)
	case rendezvous.Complete:
		return w.complete(at, a)
	case rendezvous.Forget:
		w.receives[a.End.User().(int)].offered = false
		return nil
	case rendezvous.Unpost:
		return w.unpost(at, a.End.User().(int))
	}
	return w.withdraw(at, a)
}

func (w *World) sendControl(at int, a rendezvous.Action) error {
	w.say("%d>%d %v", at, a.Peer, a.Control)
	pair := w.pair(at, a.Peer)
	if a.Control.Kind == rendezvous.RTS || a.Control.Kind == rendezvous.Claim {
		i := a.End.User().(int)
		for k := range w.outbox[pair] {
			if p := &w.outbox[pair][k]; p.message == i && p.held {
				p.held, p.control = false, a.Control
				return nil
			}
		}
		return violation("message %d has two RTS", i)
	}
	w.enqueue(pair, a.Control)
	return nil
}

// unpost removes an unmatched receive.
func (w *World) unpost(at, i int) error {
	r := &w.ranks[at]
	k := slices.Index(r.waiting, i)
	if k < 0 {
		return violation("receive %d is taken back, and was matched", i)
	}
	r.waiting = slices.Delete(r.waiting, k, k+1)
	w.receives[i].offered = false
	return nil
}

// enqueue queues a control message ahead of held messages. Those may be waiting for the reply to
// it; behind them it would deadlock.
func (w *World) enqueue(pair int, c rendezvous.Control) {
	at := slices.IndexFunc(w.outbox[pair], func(p packet) bool { return p.held })
	if at < 0 || w.plant.queues {
		at = len(w.outbox[pair])
	}
	w.outbox[pair] = slices.Insert(w.outbox[pair], at, packet{message: -1, control: c})
}

// memoryOf returns the memory of an end, its flag for being registered, and its message.
func (w *World) memoryOf(e *rendezvous.End) (base int, held *bool, message int) {
	i := e.User().(int)
	if e.Sends() {
		return w.o.Messages[i].At, &w.messages[i].held, i
	}
	return w.o.Receives[i].At, &w.receives[i].held, w.receives[i].message
}

func (w *World) register(at int, a rendezvous.Action) error {
	base, held, m := w.memoryOf(a.End)
	r := &w.ranks[at]
	err := error(nil)
	switch t := w.trouble(); {
	case t == shortage:
		err = rendezvous.ErrAgain
		if w.o.Impatient && a.Class != rendezvous.Early {
			w.messages[m].disturbed++
		}
	case t == refused:
		err = errRefused
		if a.Class != rendezvous.Early {
			w.messages[m].disturbed++
		}
	case w.o.Registrations[a.Class] > 0 && r.registered[a.Class] == w.o.Registrations[a.Class]:
		err = rendezvous.ErrFull
	default:
		if *held {
			return violation("the memory of message %d is given twice", m)
		}
		*held = true
		r.registered[a.Class]++
		if a.End.Sends() {
			w.messages[m].class = a.Class
		}
	}
	if w.plant.registered != nil {
		w.plant.registered(&err)
	}
	w.say("rank %d: %v memory for %v: %v", at, a.Class, a.End, text(err))
	r.core.Registered(a.End, uint64(base), err)
	return nil
}

func text(err error) string {
	if err == nil {
		return "yes"
	}
	return err.Error()
}

func (w *World) begin(at int, a rendezvous.Action) error {
	r := &w.ranks[at]
	_, _, m := w.memoryOf(a.End)
	err := error(nil)
	switch t := w.trouble(); {
	case t == shortage:
		err = rendezvous.ErrAgain
	case t == refused:
		err = errRefused
		w.messages[m].disturbed++
	case w.o.Descriptors > 0 && r.under == w.o.Descriptors:
		err = rendezvous.ErrAgain
	}
	if err == nil {
		r.under++
		if w.o.Protocol == "chunked" && r.under > max(w.o.Window, 1) {
			return violation("%d gets under way at rank %d, at most %d are allowed", r.under, at, max(w.o.Window, 1))
		}
		pair := w.pair(at, a.Peer)
		o := op{ref: a.End.Ref(), id: a.End.ID(), other: a.End.Other(), message: m, do: a.Do, local: a.Local, remote: a.Remote, bytes: a.Bytes, left: a.Do != rendezvous.Put}
		w.requests[pair] = append(w.requests[pair], o)
	}
	w.say("rank %d: %v of message %d, %d bytes: %v", at, a.Do, m, a.Bytes, text(err))
	if w.plant.posted != nil {
		w.plant.posted(w, at, a, &err)
	}
	r.core.Posted(a, err)
	if w.plant.hasty && a.Do == rendezvous.Fence && err == nil {
		pair := w.pair(at, a.Peer)
		w.requests[pair] = w.requests[pair][:len(w.requests[pair])-1]
		r.under--
		r.core.Done(a.End, a.Do, a.Bytes, nil)
	}
	return nil
}

// release marks memory as released; no operation may access it afterwards.
func (w *World) release(at int, e *rendezvous.End) error {
	_, held, m := w.memoryOf(e)
	if !*held {
		return violation("the memory of message %d at rank %d is given back twice", m, at)
	}
	*held = false
	class := rendezvous.Received
	if e.Sends() {
		class = w.messages[m].class
	}
	w.ranks[at].registered[class]--
	for pair, list := range w.requests {
		for _, o := range list {
			origin, target := pair/w.o.Ranks, pair%w.o.Ranks
			if o.message == m && (origin == at && o.do != rendezvous.Fence || target == at) {
				return violation("rank %d gives back the memory of message %d, and a %v from rank %d is under way", at, m, o.do, origin)
			}
		}
	}
	for pair, list := range w.answers {
		for _, o := range list {
			if o.message == m && pair%w.o.Ranks == at && o.do == rendezvous.Get {
				return violation("rank %d gives back the memory of message %d, and the answer of a get is under way", at, m)
			}
		}
	}
	return nil
}

func (w *World) withdraw(at int, a rendezvous.Action) error {
	r := &w.ranks[at]
	for k, u := range r.unexpected {
		if w.o.Messages[u.message].From == a.Peer && u.rts.From == a.Control.From && !w.o.Messages[u.message].Eager {
			r.unexpected = slices.Delete(r.unexpected, k, k+1)
			w.messages[u.message].withdrawn = true
			w.say("rank %d: message %d is taken back", at, u.message)
			if w.plant.silent {
				return nil
			}
			r.core.Withdrawn(a.Peer, a.Control.From)
			return nil
		}
	}
	return nil
}

func (w *World) complete(at int, a rendezvous.Action) error {
	code := rendezvous.Good
	if a.Err != nil {
		var err *rendezvous.Error
		if !errors.As(a.Err, &err) || err.Peer != a.Peer {
			return violation("a transfer ends with %v, expected an *Error that names its peer", a.Err)
		}
		code = err.Code
	}
	i := a.End.User().(int)
	if a.End.Sends() {
		return w.sendOver(i, code)
	}
	return w.receiveOver(i, code)
}

// sendOver completes a send. The application then changes the buffer, unless another send from it
// is in progress.
func (w *World) sendOver(i int, code rendezvous.Code) error {
	m, s := w.o.Messages[i], &w.messages[i]
	w.say("message %d is over: %v", i, code)
	switch {
	case s.progress == over:
		return violation("the send of message %d ends twice", i)
	case code == rendezvous.Cancelled && s.receive < 0 && s.cancelled:
		if !s.withdrawn { // before its RTS: its reserved position is free again
			pair := w.pair(m.From, m.To)
			w.outbox[pair] = slices.DeleteFunc(w.outbox[pair], func(p packet) bool { return p.message == i })
		}
	case code != rendezvous.Good && s.disturbed == 0:
		return violation("message %d fails (%v), and nothing has happened to it", i, code)
	}
	s.progress, s.code = over, code
	r := &w.ranks[m.From]
	for at := m.At; at < m.At+m.Bytes; at++ {
		if !w.sends(m.From, at) {
			r.memory[at] = 0
		}
	}
	return nil
}

// sends reports whether a send from that byte is in progress.
func (w *World) sends(rank, at int) bool {
	for i, m := range w.o.Messages {
		if m.From == rank && m.At <= at && at < m.At+m.Bytes && w.messages[i].progress != over {
			return true
		}
	}
	return false
}

func (w *World) receiveOver(i int, code rendezvous.Code) error {
	s := &w.receives[i]
	w.say("receive %d is over: %v", i, code)
	if s.progress == over {
		return violation("receive %d ends twice", i)
	}
	s.progress, s.code = over, code
	if s.message < 0 {
		if code != rendezvous.Cancelled || !s.cancelled {
			return violation("receive %d ends with %v, and nothing has matched it", i, code)
		}
		return nil
	}
	m, r := w.o.Messages[s.message], w.o.Receives[i]
	if code != rendezvous.Good && w.messages[s.message].disturbed == 0 {
		return violation("receive %d fails (%v), and nothing has happened to its message", i, code)
	}
	if code != rendezvous.Good || m.Eager {
		return nil
	}
	for k := range min(m.Bytes, r.Room) {
		if got, want := w.ranks[r.Rank].memory[r.At+k], pattern(m.From, m.At+k); got != want {
			return violation("receive %d ends well, and byte %d of message %d is %s", i, k, s.message, whose(got))
		}
	}
	return nil
}

func whose(b byte) string {
	if b == 0 {
		return "what its sender wrote there afterwards"
	}
	return fmt.Sprintf("byte %d of rank %d", int(b-1)%memoryBytes, int(b-1)/memoryBytes)
}
