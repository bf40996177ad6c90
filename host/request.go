package host

import (
	"errors"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// ErrTruncated is the error of a receive whose buffer is shorter than the message that it matched.
var ErrTruncated = errors.New("host: message longer than the receive buffer")

// Limits of the fields of a message header.
const (
	MaxTag   = math.MaxInt32
	MaxBytes = math.MaxUint32
)

// Status describes a received message.
type Status struct {
	Source int // in the communicator of the receive
	Tag    int
	Bytes  int
}

// A Request is a send or a receive in progress. Its buffer must not be used until it is done. Wait
// and the related calls report its completion once; after that the caller must not use it again. A
// persistent request is reported once per Start.
type Request struct {
	op         path.Op
	comm       *Comm
	typed      *typedBuffer // blocks of a typed receive
	persistent bool         // made by SendInit, SsendInit or RecvInit
	idle       bool         // of a persistent one: not started, or its end has been reported
}

// Done reports whether the request is complete or not started. It makes no progress.
func (q *Request) Done() bool { return q.op.Done }

// Isend begins to send data with tag to rank dst. It is done when its last packet has been handed
// to the NIC.
func (c *Comm) Isend(dst, tag int, data []byte) (*Request, error) {
	return c.begin(dst, tag, c.context, data, false)
}

// begin begins a send. A synchronous send is done when a receive has matched it.
func (c *Comm) begin(dst, tag int, context uint16, data []byte, synchronous bool) (*Request, error) {
	if err := c.checkSend(dst, tag, context, data); err != nil {
		return nil, err
	}
	q := c.newSend(dst, tag, context, data)
	q.op.Synchronous = synchronous
	return q, c.rank.startSend(q)
}

func (c *Comm) newSend(dst, tag int, context uint16, data []byte) *Request {
	q := c.rank.requests.Get()
	*q = Request{comm: c}
	q.op.NewSend(c.pattern(dst, tag, context), data)
	return q
}

func (c *Comm) checkSend(dst, tag int, context uint16, data []byte) error {
	if err := c.checkPeer(dst, context); err != nil {
		return err
	}
	if tag < 0 || tag > MaxTag {
		return fmt.Errorf("%w: send with tag %d: expected 0 to %d", drivers.ErrConfig, tag, MaxTag)
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("%w: message of %d bytes: expected at most %d", drivers.ErrConfig, len(data), MaxBytes)
	}
	return nil
}

func (r *Rank) startSend(q *Request) error {
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	return r.engine.Send(&q.op)
}

// Irecv begins to receive the first message that matches source and tag.
func (c *Comm) Irecv(source, tag int, buf []byte) (*Request, error) {
	return c.irecv(source, tag, c.context, buf)
}

func (c *Comm) irecv(source, tag int, context uint16, buf []byte) (*Request, error) {
	if err := c.checkPattern(source, tag, context); err != nil {
		return nil, err
	}
	q := c.rank.requests.Get()
	*q = Request{comm: c}
	q.op.NewReceive(c.pattern(source, tag, context), buf)
	return q, c.rank.startReceive(q)
}

func (r *Rank) startReceive(q *Request) error {
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	return r.engine.Receive(&q.op)
}

// pattern returns the envelope that a receive matches, or the destination of a send.
func (c *Comm) pattern(source, tag int, context uint16) match.Envelope {
	if source != AnySource {
		source = c.World(source)
	}
	return match.Envelope{Source: int32(source), Tag: int32(tag), Comm: context}
}

// checkPattern checks the source and the tag of a receive.
func (c *Comm) checkPattern(source, tag int, context uint16) error {
	if tag != AnyTag && (tag < 0 || tag > MaxTag) {
		return fmt.Errorf("%w: receive with tag %d: expected 0 to %d, or AnyTag", drivers.ErrConfig, tag, MaxTag)
	}
	if source == AnySource {
		source = c.id
	}
	return c.checkPeer(source, context)
}

func (c *Comm) checkPeer(peer int, context uint16) error {
	if context == contextNone {
		return fmt.Errorf("%w: message in a group: a group has no context of its own; make a communicator of it with Dup", drivers.ErrConfig)
	}
	if context == contextFreed {
		return fmt.Errorf("%w: message in a communicator that has been freed", drivers.ErrConfig)
	}
	if peer >= 0 && peer < c.size {
		return nil
	}
	return fmt.Errorf("%w: message between rank %d and rank %d: expected ranks 0 to %d", drivers.ErrConfig, c.id, peer, c.size-1)
}

// Wait makes progress until q is done.
func (r *Rank) Wait(q *Request) (Status, error) {
	if q == nil {
		return Status{}, errNoRequest()
	}
	r.enter()
	e := &r.engine
	already := e.BeginWait()
	if err := e.WaitFor(&q.op); err != nil {
		return Status{}, err
	}
	if err := e.EndWait(already); err != nil {
		return Status{}, err
	}
	return q.report()
}

// report marks the completion of a request as reported and returns its outcome.
func (q *Request) report() (Status, error) {
	if q.typed != nil {
		q.unpack()
	}
	st, err := q.outcome()
	if q.persistent {
		q.idle, q.op.Received, q.op.Err = true, path.Received{}, nil
	}
	return st, err
}

// outcome returns the status and the error of a request that is done.
func (q *Request) outcome() (Status, error) {
	got, err := q.op.Received, q.op.Err
	if !got.Valid {
		return Status{}, err
	}
	st := Status{Source: q.comm.local(got.From), Tag: int(got.Tag), Bytes: int(got.Bytes)}
	if err == nil && st.Bytes > len(q.op.Buf) {
		err = fmt.Errorf("%w: message of %d bytes from rank %d with tag %d, buffer of %d", ErrTruncated, st.Bytes, st.Source, st.Tag, len(q.op.Buf))
	}
	return st, err
}

// Test makes progress once and reports whether q is done.
func (r *Rank) Test(q *Request) (Status, bool, error) {
	if q == nil {
		return Status{}, false, errNoRequest()
	}
	if !q.op.Done {
		if err := r.poll(); err != nil {
			return Status{}, false, err
		}
	}
	if !q.op.Done {
		return Status{}, false, nil
	}
	st, err := q.report()
	return st, true, err
}

// poll makes progress once, without waiting.
func (r *Rank) poll() error {
	r.enter()
	e := &r.engine
	if e.Failed != nil {
		return e.TakeFailed()
	}
	e.Proc.Spend(e.Cost.Poll)
	_, err := e.Poll()
	return err
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
	q.op.Blocking = true
	err := c.rank.startSend(q)
	if err == nil {
		_, err = c.rank.waitFor(q)
	}
	return err
}

// waitFor is Wait for a request that the caller does not keep, so it is reused unless a path keeps
// it, as for a long message.
func (r *Rank) waitFor(q *Request) (Status, error) {
	st, err := r.Wait(q)
	if err == nil && len(q.op.Buf) <= EagerMax {
		r.requests.Put(q)
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

// Probe waits until a message that matches source and tag can be received, and describes it.
func (c *Comm) Probe(source, tag int) (Status, error) {
	for {
		if st, ok, err := c.Iprobe(source, tag); ok || err != nil {
			return st, err
		}
		if _, err := c.rank.engine.Step(); err != nil {
			return Status{}, err
		}
	}
}

// Iprobe is Probe without waiting. A message that it does not find has not arrived yet.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.checkPattern(source, tag, c.context); err != nil {
		return Status{}, false, err
	}
	if err := c.rank.poll(); err != nil {
		return Status{}, false, err
	}
	e, m, ok := c.rank.engine.Match.Probe(c.pattern(source, tag, c.context))
	if !ok {
		return Status{}, false, nil
	}
	return Status{Source: c.local(int(e.Source)), Tag: int(e.Tag), Bytes: int(m.Length)}, true, nil
}
