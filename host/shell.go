package host

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
)

// drain does all that the core asks for.
func (r *Rank) drain() error {
	for {
		a, ok := r.bulk.core.Next()
		if !ok {
			return nil
		}
		if err := r.do(a); err != nil {
			return err
		}
	}
}

func (r *Rank) do(a rendezvous.Action) error {
	switch a.Do {
	case rendezvous.Tell:
		return r.tell(a)
	case rendezvous.Register:
		t := a.End.User().(*transfer)
		at, err := r.allocate(t, a)
		r.bulk.core.Registered(a.End, at, err)
	case rendezvous.Get, rendezvous.Put, rendezvous.Fence:
		err := r.post(a)
		if err != nil && !errors.Is(err, rendezvous.ErrAgain) && !errors.Is(err, drivers.ErrConfig) {
			return err // the device is gone
		}
		r.bulk.core.Posted(a, err)
	case rendezvous.Release:
		r.release(a.End.User().(*transfer))
	case rendezvous.Complete:
		return r.finish(a.End.User().(*transfer), a)
	case rendezvous.Withdraw:
		return r.withdraw(a)
	case rendezvous.Forget:
		r.forget(a.End.User().(*transfer))
	case rendezvous.Unpost:
		r.unpost(a.End.User().(*transfer))
	default:
		panic(fmt.Sprintf("host: the rendezvous core asks to %v", a.Do))
	}
	return nil
}

// ---- control messages ----

// newControl takes a request that carries a control message.
func (r *Rank) newControl(kind uint8) *Request {
	if n := len(r.controls); n > 0 {
		q := r.controls[n-1]
		r.controls = r.controls[:n-1]
		*q = Request{comm: &r.Comm, kind: kind, buf: q.buf[:rendezvous.ControlBytes], packets: Packets(rendezvous.ControlBytes)}
		return q
	}
	return &Request{comm: &r.Comm, kind: kind, buf: make([]byte, rendezvous.ControlBytes), packets: Packets(rendezvous.ControlBytes)}
}

// tell sends a control message behind what goes to the same rank; an RTS or a claim goes where its message
// stands among them.
func (r *Rank) tell(a rendezvous.Action) error {
	if kind := a.Control.Kind; kind != rendezvous.RTS && kind != rendezvous.Claim {
		q := r.newControl(kindControl)
		tellEnvelope(q, a.Peer, a.Control.Envelope)
		a.Control.Put(q.buf)
		return r.hurry(a.Peer, q)
	}
	t := a.End.User().(*transfer)
	q := t.rts
	a.Control.Put(q.buf)
	t.rts = nil
	return r.letGo(a.Peer, q)
}

// withdraw takes back a message that its sender has cancelled, if no receive has matched it.
func (r *Rank) withdraw(a rendezvous.Action) error {
	meant := func(m *message) bool { return m.kind == kindRTS && m.more.rts.From == a.Control.From }
	if _, ok := r.match.Withdraw(a.Peer, meant); ok {
		r.bulk.core.Withdrawn(a.Peer, a.Control.From)
	}
	return nil
}

// ---- memory ----

// allocate finds where in DMA memory the data lies, and registers that. What it cannot register it
// does not keep.
func (r *Rank) allocate(t *transfer, a rendezvous.Action) (uint64, error) {
	b, buf := r.bulk, t.q.buf[:a.Bytes]
	at, inside := locate(b.Memory, buf)
	if !inside {
		var ok bool
		if at, ok = b.standIn(a.Class, uint64(len(buf))); !ok {
			return 0, rendezvous.ErrFull
		}
	}
	region, err := r.register(at, uint64(len(buf)), rightsFor(a.End))
	if err != nil {
		if !inside {
			b.putBack(a.Class, at, uint64(len(buf)))
		}
		return 0, err
	}
	t.region, t.at = region, at
	if !inside {
		t.bounce, t.class = uint64(len(buf)), a.Class
		if a.End.Sends() {
			r.proc.Spend(r.cost.CopyByte * drivers.Time(len(buf)))
			copy(b.Memory[at:], buf)
		}
	}
	return uint64(region.NLA(at)), nil
}

// rightsFor are what the other end does with the memory; of puts a fence reads behind them.
func rightsFor(e *rendezvous.End) rma.Rights {
	switch {
	case e.Sends():
		return rma.ReadOnly
	case e.Pushes():
		return rma.ReadWrite
	}
	return rma.WriteOnly
}

// register maps memory; tables that are full may empty themselves, for all ranks of the node share them.
func (r *Rank) register(at, n uint64, rights rma.Rights) (*rma.Region, error) {
	r.proc.Spend(r.cost.Register)
	if err := r.unmapStale(); err != nil {
		return nil, err
	}
	region, err := r.bulk.Port.Register(at, n, rights)
	if errors.Is(err, rma.ErrTablesFull) {
		r.yieldReused()
	}
	if errors.Is(err, rma.ErrTryAgain) || errors.Is(err, rma.ErrTablesFull) {
		return nil, rendezvous.ErrAgain
	}
	return region, err
}

// standIn takes a piece of the heap for a message outside DMA memory. Early sends leave half of what
// Alloc has left, and room for a receive and a late send of their size; these leave room for one of
// the other kind unless they are the first of their own. So neither can keep the other from its end.
func (b *bulk) standIn(class rendezvous.Class, n uint64) (uint64, bool) {
	leave := roundUp(n)
	switch {
	case class == rendezvous.Early:
		leave = max(2*leave, (b.heap.left()+b.bounced)/2)
	case b.held[class] == 0:
		leave = 0
	}
	at, err := b.heap.alloc(n)
	if err != nil {
		return 0, false
	}
	if b.heap.largest() < leave {
		b.heap.free(at, n)
		return 0, false
	}
	b.held[class]++
	b.bounced += roundUp(n)
	return at, true
}

// putBack ends what standIn began.
func (b *bulk) putBack(class rendezvous.Class, at, n uint64) {
	b.heap.free(at, n)
	b.held[class]--
	b.bounced -= roundUp(n)
}

// release gives the memory of a transfer back; what a receive got goes where it belongs.
func (r *Rank) release(t *transfer) {
	b := r.bulk
	if t.bounce > 0 {
		if !t.end.Sends() && t.end.Whole() {
			r.proc.Spend(r.cost.CopyByte * drivers.Time(t.end.Bytes()))
			copy(t.q.buf, b.Memory[t.at:t.at+uint64(t.end.Bytes())])
		}
		b.putBack(t.class, t.at, t.bounce)
	}
	b.Port.Release(t.region)
}

// finish ends a request.
func (r *Rank) finish(t *transfer, a rendezvous.Action) error {
	b, q, err := r.bulk, t.q, a.Err
	void := t.rts
	keep := b.ops[:0]
	for _, op := range b.ops {
		if op.t != t {
			keep = append(keep, op)
		}
	}
	b.ops = keep
	q.long = nil
	if q.err = err; err == nil {
		q.err = t.err
	}
	if q.receive && !t.alone {
		q.status = t.status
		r.stats.MessagesReceived++
		if err == nil {
			r.stats.BytesReceived += uint64(t.end.Bytes())
		}
	}
	if err == nil && !t.alone {
		if err := r.profile(q, a.Peer, t.end.Bytes()); err != nil {
			return err
		}
	}
	b.transfers.put(t)
	r.end(q)
	if void != nil { // cancelled before it could go: those behind it may go
		void.void = true
		return r.letGo(a.Peer, void)
	}
	return nil
}

// ---- operations ----

func (r *Rank) post(a rendezvous.Action) error {
	b := r.bulk
	t := a.End.User().(*transfer)
	h, err := r.operation(a)
	if errors.Is(err, rma.ErrTryAgain) {
		return rendezvous.ErrAgain
	}
	if err == nil {
		b.ops = append(b.ops, pending{handle: h, t: t, verb: a.Do, bytes: a.Bytes, put: a.Do == rendezvous.Put})
	}
	return err
}

func (r *Rank) operation(a rendezvous.Action) (rma.Handle, error) {
	b, peer := r.bulk, r.bulk.Peers[a.Peer]
	local, remote := rma.NLA(a.Local), rma.NLA(a.Remote)
	switch a.Do {
	case rendezvous.Put:
		return b.Port.PutUnsignaled(peer, local, remote, a.Bytes)
	case rendezvous.Fence:
		at, err := r.scratchAt()
		if err != nil {
			return 0, err
		}
		local = at
	}
	if err := b.getAgain(peer, local, remote, a); err != nil {
		return 0, err
	}
	return b.Port.Get(peer, local, remote, a.Bytes, rma.Completer)
}

// scratchAt is where fences read to.
func (r *Rank) scratchAt() (rma.NLA, error) {
	b := r.bulk
	at := b.HeapBase + b.HeapBytes - scratchBytes
	if b.scratch == nil {
		region, err := r.register(at, scratchBytes, rma.WriteOnly)
		if errors.Is(err, rendezvous.ErrAgain) {
			err = rma.ErrTryAgain
		}
		if err != nil {
			return 0, err
		}
		b.scratch = region
	}
	return b.scratch.NLA(at), nil
}

// progressRMA takes one notification, if there is one, and asks again for what was refused, if it is
// time.
func (r *Rank) progressRMA() (bool, error) {
	b := r.bulk
	if b == nil {
		return false, nil
	}
	now := int64(r.proc.Now())
	due := b.core.Deadline() <= now
	b.core.Tick(now)
	posted, err := r.progressEager()
	if err != nil {
		return false, err
	}
	ok, err := b.Port.Poll(&b.event)
	if err != nil || !ok && !due {
		return posted, err
	}
	if ok {
		r.proc.Spend(r.cost.Take)
		taken, err := r.eagerEvent(&b.event)
		if err == nil && !taken {
			taken, err = r.reuseHappened(&b.event)
		}
		if err == nil && !taken {
			err = r.happened(&b.event)
		}
		if err != nil {
			return true, err
		}
	}
	return true, r.drain()
}

// happened tells the core of an event of one of this rank's operations. Peers' raise none here but puts into eager buffers.
func (r *Rank) happened(ev *rma.Event) error {
	b := r.bulk
	for i := range b.ops {
		op := &b.ops[i]
		switch {
		case op.handle != ev.Handle:
			continue
		case !ev.Last && ev.Err == nil:
		case op.put:
			b.core.Faulted(op.t.end, faulted(ev.Err))
		default:
			done := *op
			b.ops = append(b.ops[:i], b.ops[i+1:]...)
			b.core.Done(done.t.end, done.verb, done.bytes, faulted(ev.Err))
		}
		return nil
	}
	if b.eager != nil && ev.Command == rma.CommandPut {
		return eagerFault(ev)
	}
	return nil
}

// A hardwareFault gives the core the number of a fault.
type hardwareFault struct{ *rma.FaultError }

func (f hardwareFault) Detail() uint8 { return uint8(f.Code) }
func (f hardwareFault) Unwrap() error { return f.FaultError }

func faulted(err error) error {
	var f *rma.FaultError
	if errors.As(err, &f) {
		return hardwareFault{f}
	}
	return err
}
