package host

import (
	"errors"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
)

// ErrTruncated: a message was longer than the buffer of the receive it matched.
var ErrTruncated = errors.New("host: message longer than the receive buffer")

// Wildcards of a receive.
const (
	AnySource = match.Any
	AnyTag    = match.Any
)

// What a message's header has room for.
const (
	MaxTag   = math.MaxInt32
	MaxBytes = math.MaxUint32
)

// Status says what a receive got.
type Status struct {
	Source int // in the communicator of the receive
	Tag    int
	Bytes  int
}

// A Request is a send or a receive under way. Its buffer belongs to it until it
// is done. Those that Wait and its kin have told to be done are the caller's to forget; persistent ones
// are told once for each Start.
type Request struct {
	comm    *Comm
	env     match.Envelope // a receive's pattern; of a send, Source is the destination. In the world
	receive bool
	done    bool
	kind    uint8 // of a send: eager, or a message of a rendezvous
	delayed bool
	held    bool // of an RTS: not to be sent yet
	void    bool // of an RTS: not to be sent at all
	put     bool // of a send: its bytes go into a ring
	closes  bool // of a handshake: the last message of a channel before that stops
	outside bool // of a handshake: goes though the channel has stopped

	synchronous bool // of a send: done only when it has matched
	blocks      bool // of a send: the call ends when it is done
	persistent  bool // made by SendInit, SsendInit or RecvInit
	numbered    bool // of a send: its stream counts on it
	offered     bool // of a receive: it was ready before its message, which has
	number      uint16
	idle        bool // of a persistent one: not started, or its end has been told

	buf    []byte
	err    error
	status Status

	sent, packets int          // of a send
	long          *transfer    // of a rendezvous under way
	schedule      *schedule    // of a collective: what it is a part of, or stands for
	next          *Request     // behind it, to the same destination
	apart         *apart       // of a receive whose bytes go apart
	posted        drivers.Time // with eager buffers: when it was begun
}

// Done tells whether the request has finished or has not been started, without making progress.
func (q *Request) Done() bool { return q.done }

// Isend begins to send data with tag to rank dst. It is done when its last
// packet has been handed to the NIC.
func (c *Comm) Isend(dst, tag int, data []byte) (*Request, error) {
	return c.begin(dst, tag, c.context, data, false)
}

// begin begins a send. A synchronous one is done when a receive has matched it.
func (c *Comm) begin(dst, tag int, context uint16, data []byte, synchronous bool) (*Request, error) {
	if err := c.checkSend(dst, tag, context, data); err != nil {
		return nil, err
	}
	q := c.newSend(dst, tag, context, data)
	q.synchronous = synchronous
	return q, c.rank.startSend(q)
}

func (c *Comm) newSend(dst, tag int, context uint16, data []byte) *Request {
	q := c.rank.requests.get()
	*q = Request{comm: c, env: c.pattern(dst, tag, context), buf: data, packets: Packets(len(data))}
	return q
}

func (c *Comm) checkSend(dst, tag int, context uint16, data []byte) error {
	if err := c.checkPeer(dst, context); err != nil {
		return err
	}
	if tag < 0 || tag > MaxTag {
		return fmt.Errorf("%w: tag %d: a send needs one of 0 to %d", drivers.ErrConfig, tag, MaxTag)
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("%w: message of %d bytes: expected at most %d", drivers.ErrConfig, len(data), MaxBytes)
	}
	return nil
}

func (r *Rank) startSend(q *Request) error {
	r.enter()
	r.proc.Spend(r.cost.Start)
	dst := int(q.env.Source)
	r.stats.MessagesSent++
	r.stats.BytesSent += uint64(len(q.buf))
	switch {
	case dst == r.id:
		r.sendSelf(q, q.synchronous)
		return nil
	case r.isLocal(dst):
		r.sendLocal(dst, q, q.synchronous)
		return nil
	}
	if sent, err := r.sendByRing(dst, q); sent || err != nil {
		return err
	}
	if sent, err := r.sendStreamd(dst, q); sent || err != nil {
		return err
	}
	if len(q.buf) > EagerMax || q.synchronous {
		if done, err := r.sendBuffered(dst, q); done || err != nil {
			return err
		}
		if err := r.glance(q); err != nil {
			return err
		}
		return r.sendLong(dst, q)
	}
	if r.bulk != nil {
		r.bulk.core.Sent(dst, told(q))
	}
	return r.enqueue(dst, q)
}

// Irecv begins to receive the first message that matches source and tag.
func (c *Comm) Irecv(source, tag int, buf []byte) (*Request, error) {
	return c.irecv(source, tag, c.context, buf)
}

func (c *Comm) irecv(source, tag int, context uint16, buf []byte) (*Request, error) {
	if err := c.checkPattern(source, tag, context); err != nil {
		return nil, err
	}
	q := c.rank.requests.get()
	*q = Request{comm: c, receive: true, env: c.pattern(source, tag, context), buf: buf}
	return q, c.rank.startReceive(q)
}

func (r *Rank) startReceive(q *Request) error {
	r.enter()
	r.proc.Spend(r.cost.Start)
	if r.eager() != nil || r.streams() != nil {
		q.posted = r.proc.Now()
	}
	if err := r.glance(q); err != nil {
		return err
	}
	if e, m, ok := r.match.Post(q.env, q); ok {
		r.proc.Spend(r.cost.Match)
		return r.bind(q, e, m)
	}
	if err := r.offerStream(q); err != nil {
		return err
	}
	return r.offer(q)
}

// pattern is what a receive matches, and where a send goes.
func (c *Comm) pattern(source, tag int, context uint16) match.Envelope {
	if source != AnySource {
		source = c.World(source)
	}
	return match.Envelope{Source: int32(source), Tag: int32(tag), Comm: context}
}

// checkPattern checks what a receive names.
func (c *Comm) checkPattern(source, tag int, context uint16) error {
	if tag != AnyTag && (tag < 0 || tag > MaxTag) {
		return fmt.Errorf("%w: tag %d: a receive needs one of 0 to %d, or AnyTag", drivers.ErrConfig, tag, MaxTag)
	}
	if source == AnySource {
		source = c.id
	}
	return c.checkPeer(source, context)
}

func (c *Comm) checkPeer(peer int, context uint16) error {
	if context == contextNone {
		return fmt.Errorf("%w: a message in a group, which has no context for it: make a communicator of it with Dup", drivers.ErrConfig)
	}
	if context == contextFreed {
		return fmt.Errorf("%w: a message in a communicator that was freed", drivers.ErrConfig)
	}
	if peer >= 0 && peer < c.size {
		return nil
	}
	return fmt.Errorf("%w: rank %d talks to rank %d: expected one below %d", drivers.ErrConfig, c.id, peer, c.size)
}

// Wait makes progress until q is done.
func (r *Rank) Wait(q *Request) (Status, error) {
	if q == nil {
		return Status{}, errNothing()
	}
	r.enter()
	already := r.waits()
	r.waiting, r.over = q, q.done
	for !r.over {
		if err := r.await(); err != nil {
			return Status{}, err
		}
	}
	r.waiting = nil
	if err := r.waited(already); err != nil {
		return Status{}, err
	}
	return q.told()
}

// told gives the end of a request to its owner.
func (q *Request) told() (Status, error) {
	if q.apart != nil {
		q.unpack()
	}
	st, err := q.status, q.err
	if q.persistent {
		q.idle, q.status, q.err = true, Status{}, nil
	}
	return st, err
}

// Test makes progress once and tells whether q is done.
func (r *Rank) Test(q *Request) (Status, bool, error) {
	if q == nil {
		return Status{}, false, errNothing()
	}
	if !q.done {
		if err := r.look(); err != nil {
			return Status{}, false, err
		}
	}
	if !q.done {
		return Status{}, false, nil
	}
	st, err := q.told()
	return st, true, err
}

// look makes progress once, without waiting.
func (r *Rank) look() error {
	r.enter()
	if r.failed != nil {
		return r.helperFailed()
	}
	r.proc.Spend(r.cost.Poll)
	r.proc.Sync()
	if err := r.runEnded(nil); err != nil {
		return err
	}
	_, err := r.progress()
	return r.runEnded(err)
}

// Send sends data with tag to rank dst and returns when its buffer may be reused.
func (c *Comm) Send(dst, tag int, data []byte) error {
	return c.send(dst, tag, c.context, data)
}

func (c *Comm) send(dst, tag int, context uint16, data []byte) error {
	if err := c.checkSend(dst, tag, context, data); err != nil {
		return err
	}
	q := c.newSend(dst, tag, context, data)
	q.blocks = true
	err := c.rank.startSend(q)
	if err == nil {
		_, err = c.rank.waitFor(q)
	}
	return err
}

// waitFor is Wait for a request that nobody else knows. A rendezvous might.
func (r *Rank) waitFor(q *Request) (Status, error) {
	st, err := r.Wait(q)
	if err == nil && len(q.buf) <= EagerMax {
		r.requests.put(q)
	}
	return st, err
}

// Recv receives the first message that matches source and tag into buf.
func (c *Comm) Recv(source, tag int, buf []byte) (Status, error) {
	return c.recv(source, tag, c.context, buf)
}

func (c *Comm) recv(source, tag int, context uint16, buf []byte) (Status, error) {
	q, err := c.irecv(source, tag, context, buf)
	if err != nil {
		return Status{}, err
	}
	return c.rank.waitFor(q)
}

// Probe waits until a message that matches source and tag can be received, and
// says what it is.
func (c *Comm) Probe(source, tag int) (Status, error) {
	for {
		if st, ok, err := c.Iprobe(source, tag); ok || err != nil {
			return st, err
		}
		if _, err := c.rank.step(); err != nil {
			return Status{}, err
		}
	}
}

// Iprobe is Probe without waiting: what it does not find has not come yet.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.checkPattern(source, tag, c.context); err != nil {
		return Status{}, false, err
	}
	if err := c.rank.look(); err != nil {
		return Status{}, false, err
	}
	e, m, ok := c.rank.match.Probe(c.pattern(source, tag, c.context))
	if !ok {
		return Status{}, false, nil
	}
	return Status{Source: c.local(int(e.Source)), Tag: int(e.Tag), Bytes: int(m.length)}, true, nil
}
