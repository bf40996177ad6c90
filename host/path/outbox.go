package path

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
)

// errStuck: there is no room for a line, and a rank that attends must not wait for it.
var errStuck = errors.New("path: no room for a line")

// outbound is the queue of the messages to one destination. The packets of two messages of a pair
// never mix.
type outbound struct {
	head, tail *Outgoing
	held       int    // messages in the queue that are held
	next       uint32 // number of the message at the head
	stopped    bool   // only urgent messages leave
}

// Enqueue queues op, a send of at most EagerMax bytes, as a message of VELO.
func (e *Engine) Enqueue(dst int, op *Op) error {
	op.op = op
	return e.enqueue(dst, &op.Outgoing)
}

// EnqueueControl queues a control message behind what goes to the same rank: it takes a position
// among the messages of the pair.
func (e *Engine) EnqueueControl(dst int, q *Outgoing) error { return e.enqueue(dst, q) }

func (e *Engine) enqueue(dst int, q *Outgoing) error {
	o := &e.peers[dst].outbound
	e.queued++
	if o.head != nil {
		o.tail.next, o.tail = q, q
		e.delay(q)
		return nil
	}
	o.head, o.tail = q, q
	return e.push(dst)
}

// EnqueueAhead queues a control message ahead of held messages. Those may be waiting for the reply
// to it; behind them it would deadlock.
func (e *Engine) EnqueueAhead(dst int, q *Outgoing) error {
	o := &e.peers[dst].outbound
	if o.held == 0 {
		return e.enqueue(dst, q)
	}
	at := &o.head
	for !(*at).held {
		at = &(*at).next
	}
	e.queued++
	q.next, *at = *at, q
	if o.head == q {
		return e.push(dst)
	}
	e.delay(q)
	return nil
}

// EnqueueFirst queues a control message ahead of all others.
func (e *Engine) EnqueueFirst(dst int, q *Outgoing) error {
	o := &e.peers[dst].outbound
	q.next, o.head = o.head, q
	if q.next == nil {
		o.tail = q
	}
	e.queued++
	return e.push(dst)
}

// Hold queues a control message whose content is not known yet. It keeps its position, and what is
// behind it waits until Release or Drop.
func (e *Engine) Hold(dst int, q *Outgoing) error {
	q.held = true
	e.peers[dst].outbound.held++
	e.held++
	return e.enqueue(dst, q)
}

// Release sends a held message when its turn comes.
func (e *Engine) Release(dst int, q *Outgoing) error {
	o := &e.peers[dst].outbound
	q.held = false
	o.held--
	e.held--
	if o.head == q {
		return e.push(dst)
	}
	return nil
}

// Drop removes a held message from its position.
func (e *Engine) Drop(dst int, q *Outgoing) error {
	q.dropped = true
	return e.Release(dst, q)
}

// ResumeQueue lets messages follow one that had Stops set.
func (e *Engine) ResumeQueue(dst int) error {
	e.peers[dst].outbound.stopped = false
	return e.push(dst)
}

// ControlBytes is the room that NewControl gives a control message.
const ControlBytes = 24

// NewControl takes a message of the given kind that a path fills and queues. Its Buf has
// ControlBytes bytes.
func (e *Engine) NewControl(kind Kind) *Outgoing {
	n := len(e.controls)
	if n == 0 {
		return &Outgoing{Kind: kind, Buf: make([]byte, ControlBytes), packets: Packets(ControlBytes)}
	}
	q := e.controls[n-1]
	e.controls = e.controls[:n-1]
	*q = Outgoing{Kind: kind, Buf: q.Buf[:ControlBytes], packets: Packets(ControlBytes)}
	return q
}

// Shorten cuts a control message to n bytes.
func (q *Outgoing) Shorten(n int) { q.Buf, q.packets = q.Buf[:n], Packets(n) }

// push sends packets to dst while there are some and the credits last.
func (e *Engine) push(dst int) error {
	o := &e.peers[dst].outbound
	for o.head != nil {
		if !e.mayPost() {
			return errStuck
		}
		q := o.head
		if q.held || o.stopped && !q.Urgent {
			return nil
		}
		if q.dropped {
			o.head, q.next = q.next, nil
			e.queued--
			e.controls = append(e.controls, q)
			continue
		}
		if err := e.sendPacket(dst, o, q); err == velo.ErrTryAgain {
			e.delay(q)
			return nil
		} else if err != nil {
			return err
		}
		if q.sent++; q.sent == q.packets {
			e.hasLeft(o, q)
		}
	}
	return nil
}

// hasLeft removes the message at the head of a queue, whose last packet has been sent.
func (e *Engine) hasLeft(o *outbound, q *Outgoing) {
	if q.op != nil {
		e.End(q.op)
	}
	o.head, q.next = q.next, nil
	e.queued--
	o.next++
	o.stopped = o.stopped || q.Stops
	if q.op == nil {
		e.controls = append(e.controls, q)
	}
}

// delay counts a message that has to wait, once.
func (e *Engine) delay(q *Outgoing) {
	if !q.delayed {
		q.delayed = true
		e.Stats.DelayedMessages++
	}
}

func (e *Engine) sendPacket(dst int, o *outbound, q *Outgoing) error {
	n, header := 0, headerBytes(&q.Envelope)
	if q.sent == 0 {
		h := Header{Tag: q.Envelope.Tag, Length: uint32(len(q.Buf)), Seq: o.next, Comm: q.Envelope.Comm, Kind: q.Kind}
		h.Put(e.line[:])
		if q.Envelope.Wide {
			putExtension(e.line[:], &q.Envelope)
		}
		n = header
	}
	data := q.Buf[min(len(q.Buf), max(q.sent*regs.VELOPayload-header, 0)):]
	n += copy(e.line[n:], data)
	err := e.endpoint.Send(dst, e.line[:n])
	if err == nil {
		e.Proc.Spend(e.credit + e.Cost.CopyByte*drivers.Time(n))
	}
	e.chargeControl()
	return err
}

// chargeControl charges the control packets that were handled since it was last called.
func (e *Engine) chargeControl() {
	if n := e.endpoint.Controls(); n != e.control {
		e.Proc.Spend(e.Cost.Control * drivers.Time(n-e.control))
		e.control = n
	}
}

// Owes tells whether messages that may leave have not left.
func (e *Engine) Owes() bool { return e.queued > e.held }

// owing is what a rank that owes messages waits for.
func (e *Engine) owing() Waiting {
	for p := range e.peers {
		if q := e.peers[p].head; q != nil && !q.held {
			return q.waiting(p)
		}
	}
	return Waiting{}
}

func (q *Outgoing) waiting(dst int) Waiting {
	return Waiting{For: "credits", Peer: dst, Tag: int(q.Envelope.Tag), Sent: q.sent, Of: q.packets}
}
