package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// memoryBytes is the size of a rank's memory. Byte 0 is unused, because address 0 means no memory.
const memoryBytes = 24

// World consists of ranks with the real core and their environment: networks that keep the order of
// a pair, memory, and an application that sends and receives.
type World struct {
	o        *Options
	plant    plant
	ranks    []rank
	messages []message
	receives []receive
	outbox   [][]packet // [pair]: control and eager messages
	requests [][]op     // [pair]: operations in order, not yet performed
	answers  [][]op     // [pair]: responses from the target to the origin
	now      []rendezvous.Time

	faults, shortages, refusals int // remaining budget

	event event // being applied
	asked int   // requests so far in this event
	say   func(format string, args ...any)
}

type rank struct {
	core       *rendezvous.Core
	memory     [memoryBytes]byte
	sent       int       // number of its messages that were sent, in order
	posted     int       // number of its receives that were posted
	waiting    []int     // unmatched receives, oldest first
	unexpected []arrival // unmatched messages, oldest first
	registered [3]int
	under      int // operations in flight
}

type arrival struct {
	message int
	rts     rendezvous.Control
}

// progress is the state of a request.
type progress uint8

const (
	notBegun progress = iota
	begun
	over
)

type message struct {
	progress
	code      rendezvous.Code
	ref       int // ref of its sender's end
	receive   int // matching receive, or -1
	held      bool
	class     rendezvous.Class // of its memory
	disturbed int              // number of failures and cancels that affected it
	withdrawn bool
	cancelled bool // a cancel was requested
}

type receive struct {
	progress
	code      rendezvous.Code
	ref       int
	message   int // matching message, or -1
	held      bool
	cancelled bool
	offered   bool // its end is an offer
}

// packet is a message between ranks. An RTS or a claim reserves its position before it is ready.
type packet struct {
	message int // of an RTS, a claim or an eager message; otherwise -1
	held    bool
	control rendezvous.Control
}

// op is an operation for a message, issued by the end ref at its origin.
type op struct {
	ref, message  int
	id            rendezvous.ID // of that end; the ref may be reused
	other         rendezvous.ID // of the end at the target
	do            rendezvous.Do
	local, remote uint64
	bytes         int
	left          bool // of a put: its bytes have left the origin
	fault         bool
	data          [memoryBytes]byte
}

// ErrUnsafe is the cause of every violation.
var ErrUnsafe = errors.New("rendezvous violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// NewWorld creates the initial state.
func NewWorld(o *Options) (*World, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	w := &World{
		o: o, plant: plants[o.Plant], ranks: make([]rank, o.Ranks), now: make([]rendezvous.Time, o.Ranks),
		messages: make([]message, len(o.Messages)), receives: make([]receive, len(o.Receives)),
		faults: o.Faults, shortages: o.Shortages, refusals: o.Refusals, say: func(string, ...any) {},
	}
	for i := range w.ranks {
		w.ranks[i].core = rendezvous.New(o.config(w.plant))
		for a := range w.ranks[i].memory {
			w.ranks[i].memory[a] = pattern(i, a)
		}
	}
	for i := range w.messages {
		w.messages[i].receive = -1
	}
	for i := range w.receives {
		w.receives[i].message = -1
	}
	pairs := o.Ranks * o.Ranks
	w.outbox, w.requests, w.answers = make([][]packet, pairs), make([][]op, pairs), make([][]op, pairs)
	return w, nil
}

// pattern is the initial contents of a rank's memory, unique per offset.
func pattern(rank, at int) byte { return byte(1 + rank*memoryBytes + at) }

func (w *World) pair(from, to int) int { return from*w.o.Ranks + to }

// clone copies a world between two events.
func (w *World) clone() *World {
	n := w.cloneFor(nobody)
	for i := range n.ranks {
		n.ranks[i].core = n.ranks[i].core.Clone()
	}
	return n
}

const nobody = -1

// cloneFor copies a world to which only events of one rank will be applied. The cores of the other
// ranks are shared with w.
func (w *World) cloneFor(actor int) *World {
	n := *w
	n.ranks = slices.Clone(w.ranks)
	for i := range n.ranks {
		r := &n.ranks[i]
		if i == actor {
			r.core = r.core.Clone()
		}
		r.waiting, r.unexpected = slices.Clone(r.waiting), slices.Clone(r.unexpected)
	}
	n.messages, n.receives, n.now = slices.Clone(w.messages), slices.Clone(w.receives), slices.Clone(w.now)
	n.outbox, n.requests, n.answers = slices.Clone(w.outbox), slices.Clone(w.requests), slices.Clone(w.answers)
	for i := range n.outbox {
		n.outbox[i], n.requests[i], n.answers[i] = slices.Clone(w.outbox[i]), slices.Clone(w.requests[i]), slices.Clone(w.answers[i])
	}
	return &n
}

// nextSend is the message that a rank sends next, or -1; nextReceive is the receive that it posts
// next.
func (w *World) nextSend(at int) int {
	return nth(len(w.o.Messages), w.ranks[at].sent, func(i int) bool { return w.o.Messages[i].From == at })
}

func (w *World) nextReceive(at int) int {
	return nth(len(w.o.Receives), w.ranks[at].posted, func(i int) bool { return w.o.Receives[i].Rank == at })
}

func nth(total, n int, mine func(int) bool) int {
	for i := range total {
		if mine(i) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// send starts the next message of a rank.
func (w *World) send(at int) error {
	i := w.nextSend(at)
	m := w.o.Messages[i]
	w.ranks[at].sent++
	pair := w.pair(m.From, m.To)
	w.messages[i].progress = begun
	w.outbox[pair] = append(w.outbox[pair], packet{message: i, held: !m.Eager})
	if m.Eager {
		if !w.plant.uncounted {
			w.ranks[at].core.Sent(m.To, m.envelope())
		}
		return w.sendOver(i, rendezvous.Good)
	}
	e := w.ranks[at].core.Send(rendezvous.Message{Peer: m.To, Bytes: m.Bytes, Blocks: i%2 == 1, Envelope: m.envelope()}, i)
	w.messages[i].ref = e.Ref()
	return w.drain(at)
}

// post posts the next receive of a rank.
func (w *World) post(at int) error {
	i := w.nextReceive(at)
	r := &w.ranks[at]
	r.posted++
	w.receives[i].progress = begun
	for k, a := range r.unexpected {
		if w.fits(i, a.message) {
			r.unexpected = slices.Delete(r.unexpected, k, k+1)
			return w.match(i, a.message, a.rts)
		}
	}
	r.waiting = append(r.waiting, i)
	return w.offer(at, i)
}

// offer speculates on the message of a receive that was just posted.
func (w *World) offer(at, i int) error {
	r := w.o.Receives[i]
	if r.Source == Any || r.Tag == Any {
		return nil
	}
	fitting := -1
	for _, k := range w.ranks[at].waiting {
		if o := w.o.Receives[k]; (o.Source == Any || o.Source == r.Source) && (o.Tag == Any || o.Tag == r.Tag) && !(w.plant.bold && w.wild(k)) {
			fitting++
		}
	}
	e := w.ranks[at].core.Offer(r.Source, rendezvous.Envelope{Tag: int32(r.Tag)}, fitting, r.Room, i)
	if e == nil {
		return nil
	}
	w.receives[i].offered, w.receives[i].ref = true, e.Ref()
	return w.drain(at)
}

func (w *World) wild(receive int) bool {
	r := w.o.Receives[receive]
	return r.Source == Any || r.Tag == Any
}

func (m Message) envelope() rendezvous.Envelope { return rendezvous.Envelope{Tag: int32(m.Tag)} }

func (w *World) fits(receive, message int) bool {
	r, m := w.o.Receives[receive], w.o.Messages[message]
	return r.Rank == m.To && (r.Source == Any || r.Source == m.From) && (r.Tag == Any || r.Tag == m.Tag)
}

// arrive matches an RTS, a claim or an eager message.
func (w *World) arrive(at, message int, rts rendezvous.Control) error {
	r := &w.ranks[at]
	if !w.plant.unseen || !w.o.Messages[message].Eager {
		r.core.Came(w.o.Messages[message].From, w.o.Messages[message].envelope())
	}
	for k, i := range r.waiting {
		if w.fits(i, message) {
			r.waiting = slices.Delete(r.waiting, k, k+1)
			return w.match(i, message, rts)
		}
	}
	r.unexpected = append(r.unexpected, arrival{message, rts})
	return nil
}

// match checks MPI's rule: no earlier unmatched message of the same sender would have matched.
func (w *World) match(receive, i int, rts rendezvous.Control) error {
	m := w.o.Messages[i]
	for k := range i {
		earlier := w.o.Messages[k]
		if earlier.From == m.From && w.messages[k].receive < 0 && !w.messages[k].withdrawn && w.messages[k].progress != notBegun && w.fits(receive, k) &&
			!(w.messages[k].progress == over && w.messages[k].code == rendezvous.Cancelled) {
			return violation("receive %d got message %d before message %d of the same sender", receive, i, k)
		}
	}
	w.messages[i].receive, w.receives[receive].message = receive, i
	w.say("receive %d matches message %d", receive, i)
	r, s := w.o.Receives[receive], &w.receives[receive]
	core := w.ranks[r.Rank].core
	offered := s.offered
	s.offered = false
	switch {
	case offered && m.Eager:
		core.Overtaken(core.At(s.ref))
	case offered:
		if e := core.At(s.ref); rts.Kind == rendezvous.Claim && rts.To != e.ID() {
			return violation("message %d goes to %v, and matches receive %d", i, rts.To, receive)
		}
		core.Matched(core.At(s.ref), rts)
	case rts.Kind == rendezvous.Claim:
		return violation("message %d goes to %v, and matches receive %d, which is no offer", i, rts.To, receive)
	case !m.Eager:
		s.ref = core.Receive(m.From, rts, r.Room, receive).Ref()
	}
	if err := w.drain(r.Rank); err != nil || !m.Eager {
		return err
	}
	return w.receiveOver(receive, rendezvous.Good)
}

// deliver delivers the oldest message of a pair.
func (w *World) deliver(from, to int) error {
	pair := w.pair(from, to)
	p := w.outbox[pair][0]
	w.outbox[pair] = w.outbox[pair][1:]
	if p.message >= 0 {
		return w.arrive(to, p.message, p.control)
	}
	if w.plant.hear != nil && !w.plant.hear(w, from, to, &p.control) {
		return nil
	}
	if err := w.ranks[to].core.Allowed(from, p.control, false); err != nil && w.o.Plant == "" {
		return violation("%v", err)
	}
	w.ranks[to].core.Hear(from, p.control)
	return w.drain(to)
}

// cancelMessage requests the cancellation of a message.
func (w *World) cancelMessage(i int) error {
	m := w.o.Messages[i]
	w.messages[i].cancelled = true
	core := w.ranks[m.From].core
	core.Cancel(core.At(w.messages[i].ref))
	return w.drain(m.From)
}

func (w *World) cancelReceive(i int) error {
	r := w.o.Receives[i]
	w.receives[i].cancelled = true
	core := w.ranks[r.Rank].core
	if w.receives[i].offered && !w.plant.abrupt {
		core.Cancel(core.At(w.receives[i].ref))
		return w.drain(r.Rank)
	}
	if w.receives[i].message < 0 {
		if w.receives[i].offered {
			w.receives[i].offered = false
			core.Overtaken(core.At(w.receives[i].ref))
			if err := w.drain(r.Rank); err != nil {
				return err
			}
		}
		w.ranks[r.Rank].waiting = slices.DeleteFunc(w.ranks[r.Rank].waiting, func(k int) bool { return k == i })
		w.receives[i].progress, w.receives[i].code = over, rendezvous.Cancelled
		return nil
	}
	w.messages[w.receives[i].message].disturbed++
	core.Cancel(core.At(w.receives[i].ref))
	return w.drain(r.Rank)
}

// stepped limits the length of operations, like rendezvous.MaxStep for long messages.
type stepped struct {
	rendezvous.Protocol
	bytes int
}

func (s stepped) Step(left, underWay int) int { return min(s.bytes, s.Protocol.Step(left, underWay)) }
