package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// A Space separates messages with tags of 64 bits from each other and from those of communicators.
type Space uint16

// The spaces. Communicators never use these contexts.
const (
	ServiceSpace  Space = contextService // requests that a rank serves while it makes progress
	TaggedSpace   Space = contextFreed   // messages with a tag
	UntaggedSpace Space = contextNone    // messages without a tag: it is 0
)

// A TaggedOp is a send or a receive with a tag of 64 bits. A receive may ignore any of its bits, as
// in libfabric and Portals. Peer is a rank of the world, or AnySource.
type TaggedOp struct {
	Space       Space
	Peer        int
	Tag         uint64
	Ignore      uint64 // of a receive: bits of Tag that are not compared
	Data        uint64 // of a send: travels with the message
	Buf         []byte
	Synchronous bool // a send that is done only when a receive has matched it
	User        any  // not interpreted

	op     path.Op
	queue  *TaggedQueue
	queued bool // OpDone was called
}

// A TaggedStatus describes a message that was received or found.
type TaggedStatus struct {
	Source    int
	Tag, Data uint64
	Bytes     int // of the message, which may be longer than the buffer
}

// A TaggedQueue collects the operations of a rank that are done, in the order in which they ended.
type TaggedQueue struct {
	rank *Rank
	done []*TaggedOp
	next int
}

// NewTaggedQueue makes a queue for operations of the rank.
func (r *Rank) NewTaggedQueue() *TaggedQueue { return &TaggedQueue{rank: r} }

// Next removes the first completed operation from the queue and returns it; nil: the queue is
// empty.
func (q *TaggedQueue) Next() *TaggedOp {
	if q.next == len(q.done) {
		return nil
	}
	t := q.done[q.next]
	q.done[q.next] = nil
	if q.next++; q.next == len(q.done) {
		q.done, q.next = q.done[:0], 0
	}
	return t
}

// Len returns the number of completed operations in the queue.
func (q *TaggedQueue) Len() int { return len(q.done) - q.next }

// OpDone implements path.Group.
func (t *TaggedOp) OpDone() {
	t.queued = true
	t.queue.done = append(t.queue.done, t)
}

// Blocker implements path.Group.
func (t *TaggedOp) Blocker() *path.Op { return &t.op }

// Status describes the message that a receive got; none if it was cancelled.
func (t *TaggedOp) Status() (TaggedStatus, error) {
	got := &t.op.Received
	if !got.Valid {
		return TaggedStatus{}, t.op.Err
	}
	return TaggedStatus{Source: got.From, Tag: got.WideTag(), Data: got.Wide.Data, Bytes: int(got.Bytes)}, t.op.Err
}

// IsDone reports whether the operation is complete.
func (t *TaggedOp) IsDone() bool { return t.op.Done }

func (t *TaggedOp) envelope() match.Envelope {
	return match.NewWide(int32(t.Peer), uint16(t.Space), t.Tag)
}

// Send begins a send.
func (q *TaggedQueue) Send(t *TaggedOp) error {
	r := q.rank
	if err := t.check(r, false); err != nil {
		return err
	}
	t.queue, t.queued = q, false
	e := t.envelope()
	e.Bits = t.Data
	t.op = path.Op{}
	t.op.NewSend(e, t.Buf)
	t.op.Synchronous, t.op.Group = t.Synchronous, t
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	if err := r.engine.Send(&t.op); err != nil {
		return err
	}
	if t.op.Done && !t.queued { // the local path completes a send without calling OpDone
		t.OpDone()
	}
	return nil
}

// Receive begins a receive.
func (q *TaggedQueue) Receive(t *TaggedOp) error {
	r := q.rank
	if err := t.prepareReceive(q); err != nil {
		return err
	}
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	return r.engine.Receive(&t.op)
}

func (t *TaggedOp) prepareReceive(q *TaggedQueue) error {
	if err := t.check(q.rank, true); err != nil {
		return err
	}
	t.queue, t.queued = q, false
	e := t.envelope()
	e.Bits = t.Ignore
	t.op = path.Op{}
	t.op.NewReceive(e, t.Buf)
	t.op.Group = t
	return nil
}

func (t *TaggedOp) check(r *Rank, receives bool) error {
	switch {
	case receives && t.Peer == AnySource:
	case t.Peer < 0 || t.Peer >= r.size:
		return fmt.Errorf("%w: operation with rank %d: expected 0 to %d", drivers.ErrConfig, t.Peer, r.size-1)
	}
	if len(t.Buf) > MaxBytes {
		return fmt.Errorf("%w: message of %d bytes: expected at most %d", drivers.ErrConfig, len(t.Buf), MaxBytes)
	}
	return nil
}

// Cancel cancels an operation that nothing has matched yet; all others continue.
func (q *TaggedQueue) Cancel(t *TaggedOp) error { return q.rank.engine.Cancel(&t.op) }

// A Claimed message has been taken out of the queue of unexpected messages for one receive.
type Claimed struct {
	TaggedStatus
	env match.Envelope
	m   *path.Message
}

// Peek looks for a message that has arrived and that a receive like t would match. It makes no
// progress.
func (q *TaggedQueue) Peek(t *TaggedOp) (TaggedStatus, bool) {
	p := t.envelope()
	p.Bits = t.Ignore
	e, m, ok := q.rank.engine.Match.Probe(p)
	if !ok {
		return TaggedStatus{}, false
	}
	return statusOf(&e, m), true
}

// Claim is Peek that removes the message from the queue; nil: there is none.
func (q *TaggedQueue) Claim(t *TaggedOp) *Claimed {
	p := t.envelope()
	p.Bits = t.Ignore
	e, m, ok := q.rank.engine.Match.Take(p)
	if !ok {
		return nil
	}
	return &Claimed{statusOf(&e, m), e, m}
}

func statusOf(e *match.Envelope, m *path.Message) TaggedStatus {
	return TaggedStatus{Source: int(e.Source), Tag: e.WideTag(), Data: e.Bits, Bytes: int(m.Length)}
}

// ReceiveClaimed begins to receive a claimed message, once.
func (q *TaggedQueue) ReceiveClaimed(t *TaggedOp, c *Claimed) error {
	if c.m == nil {
		return fmt.Errorf("%w: the claimed message was received already", drivers.ErrConfig)
	}
	if err := t.prepareReceive(q); err != nil {
		return err
	}
	r := q.rank
	r.engine.Proc.Spend(r.engine.Cost.Start + r.engine.Cost.Match)
	m := c.m
	c.m = nil
	return r.engine.Bind(&t.op, int(c.env.Source), m)
}

// UnexpectedCount returns the number of messages that arrived before a matching receive was posted.
func (r *Rank) UnexpectedCount() uint64 { return r.engine.Stats.Unexpected }

// IsMoving tells whether the hardware moves bytes of a long message for this rank.
func (r *Rank) IsMoving() bool { return r.rendezvous != nil && r.rendezvous.IsMoving() }

// ProgressUntil makes progress until stop returns true or, if nothing arrives, until the given
// time.
func (r *Rank) ProgressUntil(deadline drivers.Time, stop func() bool) error {
	r.enter()
	e := &r.engine
	for !stop() {
		switch got, err := e.Progress(); {
		case err != nil || e.Proc.Err() != nil:
			return e.RunEnded(err)
		case got || e.Proc.Sync():
		case e.Proc.Now() >= deadline:
			return nil
		default:
			e.Proc.WaitArrival(min(deadline, e.NextWake()))
			e.Proc.Spend(e.Cost.Poll)
		}
	}
	return e.RunEnded(nil)
}

// Wake ends the current wait of another rank in ProgressUntil, whose memory was changed without a
// message to it. All ranks must run in one thread.
func (r *Rank) Wake(rank int) { r.engine.Proc.Wake(rank, r.Now()+r.engine.Cost.Wake) }

// QuietUntil is a time before which no message arrives and the library has nothing to do, provided
// that ProgressUntil has just found nothing. Where that is unknown, it is the present time.
func (r *Rank) QuietUntil() drivers.Time {
	p, ok := r.engine.Proc.(interface{ QuietUntil() drivers.Time })
	if !ok {
		return r.Now()
	}
	return min(p.QuietUntil(), r.engine.NextWake())
}
