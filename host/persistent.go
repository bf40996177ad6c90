package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A persistent request is one send or receive that is executed repeatedly: the caller starts it
// with Start, waits for it like for any other request, and starts it again, without an allocation.

// SendInit makes a persistent Isend.
func (c *Comm) SendInit(dst, tag int, data []byte) (*Request, error) {
	return c.initSend(dst, tag, data, false)
}

// SsendInit makes a persistent Issend.
func (c *Comm) SsendInit(dst, tag int, data []byte) (*Request, error) {
	if err := c.checkSynchronous(dst); err != nil {
		return nil, err
	}
	return c.initSend(dst, tag, data, true)
}

func (c *Comm) initSend(dst, tag int, data []byte, synchronous bool) (*Request, error) {
	if err := c.checkSend(dst, tag, c.context, data); err != nil {
		return nil, err
	}
	q := c.idle(&Request{})
	q.op.NewSend(c.pattern(dst, tag, c.context), data)
	q.op.Synchronous = synchronous
	return q, nil
}

// RecvInit makes a persistent Irecv.
func (c *Comm) RecvInit(source, tag int, buf []byte) (*Request, error) {
	if err := c.checkPattern(source, tag, c.context); err != nil {
		return nil, err
	}
	q := c.idle(&Request{})
	q.op.NewReceive(c.pattern(source, tag, c.context), buf)
	return q, nil
}

func (c *Comm) idle(q *Request) *Request {
	q.comm, q.persistent, q.idle, q.op.Done = c, true, true, true
	return q
}

// Start begins a persistent request. The completion of its previous execution must have been
// reported.
func (r *Rank) Start(q *Request) error {
	if q == nil || !q.persistent || !q.idle {
		return fmt.Errorf("%w: Start of a request: expected a persistent one that is not in progress", drivers.ErrConfig)
	}
	old := q.op
	*q = Request{comm: q.comm, persistent: true}
	if old.Receive {
		q.op.NewReceive(old.Envelope, old.Buf)
		return r.startReceive(q)
	}
	q.op.NewSend(old.Envelope, old.Buf)
	q.op.Synchronous = old.Synchronous
	return r.startSend(q)
}

// Startall starts the requests of a list in order.
func (r *Rank) Startall(list []*Request) error {
	for _, q := range list {
		if err := r.Start(q); err != nil {
			return err
		}
	}
	return nil
}
