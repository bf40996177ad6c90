package host

import (
	"errors"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// ErrTruncated: a message was longer than the buffer of the receive it matched.
var ErrTruncated = errors.New("host: message longer than the receive buffer")

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

// A Request is a send or a receive in progress. Its buffer belongs to it until it is done. Wait and
// its kin report its end once, after which the caller must not use it again; a persistent one is
// reported once for each Start.
type Request struct {
	op         path.Op
	comm       *Comm
	typed      *typedBuffer // of a receive into blocks
	persistent bool         // made by SendInit, SsendInit or RecvInit
	idle       bool         // of a persistent one: not started, or its end has been reported
}

// Done tells whether the request has finished or has not been started, without making progress.
func (q *Request) Done() bool { return q.op.Done }

// Isend begins to send data with tag to rank dst. It is done when its last packet has been handed
// to the NIC.
func (c *Comm) Isend(dst, tag int, data []byte) (*Request, error) {
	return c.begin(dst, tag, c.context, data, false)
}

// begin begins a send. A synchronous one is done when a receive has matched it.
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
		return fmt.Errorf("%w: tag %d: a send needs one of 0 to %d", drivers.ErrConfig, tag, MaxTag)
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

// pattern is what a receive matches, and the destination of a send.
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

// report gives the end of a request to its owner.
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

// outcome is what a request that is done has got, and its error.
func (q *Request) outcome() (Status, error) {
	got, err := q.op.Received, q.op.Err
	if !got.Valid {
		return Status{}, err
	}
	st := Status{Source: q.comm.local(got.From), Tag: int(got.Tag), Bytes: int(got.Bytes)}
	if err == nil && st.Bytes > len(q.op.Buf) {
		err = fmt.Errorf("%w: %d bytes from rank %d with tag %d, the buffer holds %d", ErrTruncated, st.Bytes, st.Source, st.Tag, len(q.op.Buf))
	}
	return st, err
}

// Test makes progress once and tells whether q is done.
func (r *Rank) Test(q *Request) (Status, bool, error) {
	if q == nil {
		return Status{}, false, errNoRequest()
	}
	if !q.op.Done {
		if err := r.look(); err != nil {
			return Status{}, false, err
		}
	}
	if !q.op.Done {
		return Status{}, false, nil
	}
	st, err := q.report()
	return st, true, err
}

// look makes progress once, without waiting.
func (r *Rank) look() error {
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

// waitFor is Wait for a request that the caller does not keep. A path may keep that of a long
// message.
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

// Iprobe is Probe without waiting: a message that it does not find has not arrived yet.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.checkPattern(source, tag, c.context); err != nil {
		return Status{}, false, err
	}
	if err := c.rank.look(); err != nil {
		return Status{}, false, err
	}
	e, m, ok := c.rank.engine.Match.Probe(c.pattern(source, tag, c.context))
	if !ok {
		return Status{}, false, nil
	}
	return Status{Source: c.local(int(e.Source)), Tag: int(e.Tag), Bytes: int(m.Length)}, true, nil
}
