package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// Send modes of MPI other than the standard one, matched probes and cancellation.

// Issend begins a synchronous send: it is done only when a receive has matched it. Between nodes it
// requires RMA, because the rendezvous reports the match.
func (c *Comm) Issend(dst, tag int, data []byte) (*Request, error) {
	if err := c.checkSynchronous(dst); err != nil {
		return nil, err
	}
	return c.begin(dst, tag, c.context, data, true)
}

func (c *Comm) checkSynchronous(dst int) error {
	e := &c.rank.engine
	if dst >= 0 && dst < c.size && e.DMA == nil && !e.StaysLocal(c.World(dst)) {
		return fmt.Errorf("%w: synchronous send to another node: needs a world with RMA", drivers.ErrNotSupported)
	}
	return nil
}

// Ssend is Issend and Wait.
func (c *Comm) Ssend(dst, tag int, data []byte) error {
	q, err := c.Issend(dst, tag, data)
	if err == nil {
		_, err = c.rank.Wait(q)
	}
	return err
}

// A Matched is a message that a probe has taken out of the matching queue: no other receive can
// match it.
type Matched struct {
	Status
	comm *Comm
	env  match.Envelope
	m    *path.Message
}

// Improbe is Iprobe that takes the message that it finds. It returns nil if there is none.
func (c *Comm) Improbe(source, tag int) (*Matched, error) {
	st, ok, err := c.Iprobe(source, tag)
	if !ok || err != nil {
		return nil, err
	}
	e, m, _ := c.rank.engine.Match.Take(c.pattern(st.Source, st.Tag, c.context))
	return &Matched{st, c, e, m}, nil
}

// Mprobe waits until there is a matching message and takes it.
func (c *Comm) Mprobe(source, tag int) (*Matched, error) {
	for {
		if m, err := c.Improbe(source, tag); m != nil || err != nil {
			return m, err
		}
		if _, err := c.rank.engine.Step(); err != nil {
			return nil, err
		}
	}
}

// Irecv begins to receive the message into buf. It may be called once.
func (m *Matched) Irecv(buf []byte) (*Request, error) {
	if m == nil || m.m == nil {
		return nil, fmt.Errorf("%w: receive of a matched message: none was matched, or it was received already", drivers.ErrConfig)
	}
	r := m.comm.rank
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start + r.engine.Cost.Match)
	q := r.requests.Get()
	*q = Request{comm: m.comm}
	q.op.NewReceive(m.env, buf)
	message := m.m
	m.m = nil
	return q, r.engine.Bind(&q.op, int(m.env.Source), message)
}

// Recv is Irecv and Wait.
func (m *Matched) Recv(buf []byte) (Status, error) {
	q, err := m.Irecv(buf)
	if err != nil {
		return Status{}, err
	}
	return m.comm.rank.waitFor(q)
}

// Cancel cancels a request that has not been matched. As in MPI, the request either ends with
// ErrCancelled or completes normally, and the caller still has to wait for it.
func (r *Rank) Cancel(q *Request) error {
	if q == nil {
		return errNoRequest()
	}
	return r.engine.Cancel(&q.op)
}
