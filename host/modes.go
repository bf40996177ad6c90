package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// What MPI has besides plain sends and receives.

// Issend is Isend of a send that is done only when a receive has matched it. To another node it
// takes RMA, whose rendezvous says when that is.
func (c *Comm) Issend(dst, tag int, data []byte) (*Request, error) {
	if err := c.checkSynchronous(dst); err != nil {
		return nil, err
	}
	return c.begin(dst, tag, c.context, data, true)
}

func (c *Comm) checkSynchronous(dst int) error {
	e := &c.rank.engine
	if dst >= 0 && dst < c.size && e.DMA == nil && !e.StaysLocal(c.World(dst)) {
		return fmt.Errorf("%w: a synchronous send to another node in a world without RMA", drivers.ErrNotSupported)
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

// A Matched is a message that a probe has taken: no other receive can match it.
type Matched struct {
	Status
	comm *Comm
	env  match.Envelope
	m    *path.Message
}

// Improbe is Iprobe that takes the message it finds; nil: there is none yet.
func (c *Comm) Improbe(source, tag int) (*Matched, error) {
	st, ok, err := c.Iprobe(source, tag)
	if !ok || err != nil {
		return nil, err
	}
	e, m, _ := c.rank.engine.Match.Take(c.pattern(st.Source, st.Tag, c.context))
	return &Matched{st, c, e, m}, nil
}

// Mprobe waits until there is such a message and takes it.
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

// Irecv begins to receive the message into buf. It is called once.
func (m *Matched) Irecv(buf []byte) (*Request, error) {
	if m == nil || m.m == nil {
		return nil, fmt.Errorf("%w: no matched message, or one that was received already", drivers.ErrConfig)
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

// Cancel gives a request up if nothing has matched it yet, as MPI has it: the request ends either
// with ErrCancelled or as if nothing had happened. It must be waited for as ever.
func (r *Rank) Cancel(q *Request) error {
	if q == nil {
		return errNoRequest()
	}
	return r.engine.Cancel(&q.op)
}
