package rendezvous

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
)

// drain does all that the core asks for.
func (p *Path) drain() error {
	for {
		a, ok := p.core.Next()
		if !ok {
			return nil
		}
		if err := p.do(a); err != nil {
			return err
		}
	}
}

func (p *Path) do(a rendezvous.Action) error {
	switch a.Do {
	case rendezvous.Tell:
		return p.tell(a)
	case rendezvous.Register:
		at, err := p.prepare(a.End.User().(*transfer), a)
		p.core.Registered(a.End, at, err)
	case rendezvous.Get, rendezvous.Put, rendezvous.Fence:
		err := p.post(a)
		if err != nil && !errors.Is(err, rendezvous.ErrAgain) && !errors.Is(err, drivers.ErrConfig) {
			return err // the device is gone
		}
		p.core.Posted(a, err)
	case rendezvous.Release:
		p.release(a.End.User().(*transfer))
	case rendezvous.Complete:
		return p.finish(a.End.User().(*transfer), a)
	case rendezvous.Withdraw:
		p.withdraw(a)
	case rendezvous.Forget:
		p.forget(a.End.User().(*transfer))
	case rendezvous.Unpost:
		t := a.End.User().(*transfer)
		t.unposted = p.e.Unpost(t.op)
	default:
		panic(fmt.Sprintf("host: the rendezvous core asks to %v", a.Do))
	}
	return nil
}

// ---- control messages ----

// tell sends a control message behind what goes to the same rank. An RTS or a claim goes where its
// message stands among them.
func (p *Path) tell(a rendezvous.Action) error {
	if kind := a.Control.Kind; kind != rendezvous.RTS && kind != rendezvous.Claim {
		q := p.e.NewControl(path.Rendezvous)
		q.Envelope = match.Envelope{Source: int32(a.Peer), Tag: a.Control.Envelope.Tag, Comm: a.Control.Envelope.Comm}
		a.Control.Put(q.Buf)
		return p.e.EnqueueAhead(a.Peer, q)
	}
	t := a.End.User().(*transfer)
	q := t.rts
	a.Control.Put(q.Buf)
	t.rts = nil
	return p.e.Release(a.Peer, q)
}

// withdraw takes back a message that its sender has cancelled, if no receive has matched it.
func (p *Path) withdraw(a rendezvous.Action) {
	is := func(m *path.Message) bool {
		return m.Kind == path.RTS && m.More.State.(*announced).rts.From == a.Control.From
	}
	if _, ok := p.e.Match.Withdraw(a.Peer, is); ok {
		p.core.Withdrawn(a.Peer, a.Control.From)
	}
}

// ---- memory ----

// prepare finds where in DMA memory the data lies, and registers that.
func (p *Path) prepare(t *transfer, a rendezvous.Action) (uint64, error) {
	buf := t.op.Buf[:a.Bytes]
	m, ok, err := p.e.DMA.Prepare(classes[a.Class], buf, rightsFor(a.End))
	switch {
	case errors.Is(err, path.ErrAgain):
		return 0, rendezvous.ErrAgain
	case err != nil:
		return 0, err
	case !ok:
		return 0, rendezvous.ErrFull
	}
	t.memory = m
	if a.End.Sends() {
		p.e.DMA.CopyIn(m, buf)
	}
	return uint64(m.Region.NLA(m.At)), nil
}

var classes = [...]path.Class{
	rendezvous.Early: path.EarlySend, rendezvous.Late: path.LateSend, rendezvous.Received: path.Receive,
}

// rightsFor are what the other end does with the memory; a fence reads behind its puts.
func rightsFor(e *rendezvous.End) rma.Rights {
	switch {
	case e.Sends():
		return rma.ReadOnly
	case e.Pushes():
		return rma.ReadWrite
	}
	return rma.WriteOnly
}

// release gives the memory of a transfer back. What a receive got is copied into its buffer.
func (p *Path) release(t *transfer) {
	d := p.e.DMA
	if t.memory.Copied() && !t.end.Sends() && t.end.Whole() {
		n := uint64(t.end.Bytes())
		p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(n))
		copy(t.op.Buf, d.Memory[t.memory.At:t.memory.At+n])
	}
	d.Release(t.memory)
}

// ---- the end of a transfer ----

// finish ends the operation of a transfer.
func (p *Path) finish(t *transfer, a rendezvous.Action) error {
	op, held, counts := t.op, t.rts, !t.unposted
	p.ops = slices.DeleteFunc(p.ops, func(o operation) bool { return o.t == t })
	op.Holder, op.State, op.Err = nil, nil, a.Err
	if op.Receive && counts {
		op.Received = t.received
		p.e.Stats.MessagesReceived++
		if a.Err == nil {
			p.e.Stats.BytesReceived += uint64(t.end.Bytes())
		}
	}
	if a.Err == nil && counts {
		if err := p.e.LongDone(op, a.Peer, t.end.Bytes()); err != nil {
			return err
		}
	}
	p.transfers.Put(t)
	p.e.End(op)
	if held != nil { // cancelled before it could go: what is behind it may go
		return p.e.Drop(a.Peer, held)
	}
	return nil
}

// forget leaves a receive to matching.
func (p *Path) forget(t *transfer) {
	t.op.Holder, t.op.State = nil, nil
	p.transfers.Put(t)
}

// ---- operations ----

func (p *Path) post(a rendezvous.Action) error {
	h, err := p.operation(a)
	if errors.Is(err, rma.ErrTryAgain) {
		return rendezvous.ErrAgain
	}
	if err == nil {
		t := a.End.User().(*transfer)
		p.ops = append(p.ops, operation{handle: h, t: t, verb: a.Do, bytes: a.Bytes, put: a.Do == rendezvous.Put})
	}
	return err
}

func (p *Path) operation(a rendezvous.Action) (rma.Handle, error) {
	d := p.e.DMA
	peer, local, remote := d.Peers[a.Peer], rma.NLA(a.Local), rma.NLA(a.Remote)
	switch a.Do {
	case rendezvous.Put:
		return d.Port.PutUnsignaled(peer, local, remote, a.Bytes)
	case rendezvous.Fence:
		at, err := d.Scratch()
		if err != nil {
			return 0, err
		}
		local = at
	}
	if err := p.getTwice(peer, local, remote, a); err != nil {
		return 0, err
	}
	return d.Port.Get(peer, local, remote, a.Bytes, rma.Completer)
}

// LengthenGets has every get of a message take so many percent longer than a put of as many bytes:
// so much of it is read twice. It is for experiments that ask how reads which are slower than
// writes change a rendezvous.
func (p *Path) LengthenGets(percent int) { p.lengthen = percent }

// getTwice reads what of a message is read twice. It is not waited for: operations of a pair are
// performed in order, so it has ended when the message has arrived.
func (p *Path) getTwice(peer rma.Peer, local, remote rma.NLA, a rendezvous.Action) error {
	n := a.Bytes * p.lengthen / 100
	if a.Do != rendezvous.Get || n == 0 {
		return nil
	}
	_, err := p.e.DMA.Port.Get(peer, local, remote, n, rma.Completer)
	return err
}
