package path

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
)

// Progress takes one packet, if there is one, and sends what its credits allow. After errStuck it
// continues where it was.
func (e *Engine) Progress() (bool, error) {
	got := e.serving != nobody
	if !got {
		var err error
		if got, err = e.take(); err != nil {
			return false, err
		}
	}
	for {
		if e.serving == nobody {
			peer, more := e.endpoint.Credited()
			if !more {
				return e.settleProgress(got)
			}
			e.serving = peer
		}
		got = true
		if err := e.push(e.serving); err != nil {
			return false, err
		}
		e.serving = nobody
	}
}

// settleProgress is the end of a step: collectives whose messages are done continue, and a rank
// that has found nothing to do does what it had delayed.
func (e *Engine) settleProgress(got bool) (bool, error) {
	if e.Resumable {
		got, e.Nested = true, true
		e.Resume()
		e.Nested = false
	}
	if got {
		return true, nil
	}
	return false, e.runDeferred()
}

func (e *Engine) runDeferred() error {
	for _, d := range e.deferrers {
		if err := d.Deferred(); err != nil {
			return err
		}
	}
	return nil
}

// take takes one packet, or what else has come, if there is any.
func (e *Engine) take() (bool, error) {
	got, err := e.poll()
	if err != nil {
		return false, err
	}
	if got {
		e.Proc.Spend(e.Cost.Take + e.credit + e.search() + e.Cost.CopyByte*drivers.Time(len(e.packet.Payload)))
		if err := e.deliver(e.packet.From, e.packet.Payload); err != nil {
			return false, err
		}
	}
	e.chargeControl()
	moved, err := e.progressPaths()
	return moved || got, err
}

// search is the extra time for a data packet that a rank receives while its send waits for credits.
func (e *Engine) search() drivers.Time {
	if e.Waiting == nil || e.Waiting.Receive {
		return 0
	}
	return e.Cost.Search
}

// progressPaths lets the paths make progress, and hands one notification of RMA to the path that it
// belongs to.
func (e *Engine) progressPaths() (moved bool, err error) {
	now := e.Proc.Now()
	for _, p := range e.progressers {
		did, err := p.Progress(now)
		if err != nil {
			return false, err
		}
		moved = moved || did
	}
	notified := false
	if e.DMA != nil {
		if notified, err = e.DMA.Port.Poll(&e.DMA.event); err != nil {
			return moved, err
		}
	}
	if notified {
		e.Proc.Spend(e.Cost.Take)
		if err := e.notify(); err != nil {
			return true, err
		}
	}
	for _, p := range e.flushers {
		did, err := p.Flush(notified)
		if err != nil {
			return true, err
		}
		moved = moved || did
	}
	return moved || notified, nil
}

// notify hands the notification that was polled to its path.
func (e *Engine) notify() error {
	ev := &e.DMA.event
	for _, n := range e.notified {
		if taken, err := n.Event(ev); taken || err != nil {
			return err
		}
	}
	if ev.Err == nil {
		return nil
	}
	for _, c := range e.claimants {
		if err := c.Unclaimed(ev); err != nil {
			return err
		}
	}
	return nil
}

// poll takes the next data packet out of the mailbox.
func (e *Engine) poll() (bool, error) {
	for {
		if !e.mayPost() {
			return false, errStuck
		}
		if data, more, err := e.endpoint.Take(&e.packet); data || !more || err != nil {
			return data, err
		}
	}
}

// mayPost tells whether the endpoint may be called: nothing that a rank does in Attend may wait.
func (e *Engine) mayPost() bool { return !e.attends || e.Proc.Room(velo.MaxPosts) }

// WaitFor makes progress until op is done.
func (e *Engine) WaitFor(op *Op) error {
	e.Waiting, e.done = op, op.Done
	for !e.done {
		if err := e.await(); err != nil {
			return err
		}
	}
	e.Waiting = nil
	return nil
}

// await makes progress until the operation that the rank waits for is done, or less. With RMA,
// whose operations post lines of their own, and with collectives in progress, which start messages,
// it does so step by step.
func (e *Engine) await() error {
	if e.Failed != nil {
		return e.TakeFailed()
	}
	if e.DMA == nil && e.Background == 0 {
		e.stuck = false
		if e.Proc.Attend((*attention)(e), e.Cost.Poll); e.err != nil || !e.stuck {
			return e.RunEnded(e.err)
		}
	}
	_, err := e.Step()
	return err
}

// TakeFailed is what a helper met since the last call, which the next one reports.
func (e *Engine) TakeFailed() error {
	err := e.Failed
	e.Failed = nil
	return err
}

// An attention is an engine in Attend.
type attention Engine

// Work makes progress as far as possible without waiting.
func (a *attention) Work() (done bool, until drivers.Time) {
	e := (*Engine)(a)
	for !e.done {
		e.attends = true
		got, err := e.Progress()
		e.attends = false
		switch {
		case err == errStuck:
			e.stuck = true
			return true, 0
		case err != nil:
			e.err = err
			return true, 0
		case !got:
			return false, e.NextWake()
		}
	}
	return true, 0
}

// Step makes progress, or sleeps until there can be any. An empty mailbox counts only once the
// hardware has caught up.
func (e *Engine) Step() (bool, error) {
	if e.Failed != nil {
		return false, e.TakeFailed()
	}
	got, err := e.Progress()
	if err != nil || got {
		return got, e.RunEnded(err)
	}
	if !e.Proc.Sync() {
		e.Proc.WaitArrival(e.NextWake())
		e.Proc.Spend(e.Cost.Poll)
	}
	return false, e.RunEnded(nil)
}

// Poll lets the hardware catch up and makes progress once, without waiting.
func (e *Engine) Poll() (bool, error) {
	e.Proc.Sync()
	if err := e.RunEnded(nil); err != nil {
		return false, err
	}
	got, err := e.Progress()
	return got, e.RunEnded(err)
}

// RunEnded returns drivers.ErrRunEnded when the machine has ended the run, otherwise err: an error
// of a device that was closed by the end of the run is not reported. What the rank waits for at
// that moment is kept for the report of the run, because its function continues and may wait for
// something else.
func (e *Engine) RunEnded(err error) error {
	ended := e.Proc.Err()
	if ended == nil {
		return err
	}
	if e.lastWait == nil {
		w := e.WaitingFor()
		e.lastWait = &w
	}
	return ended
}

// NextWake is when there is something to do that no packet announces.
func (e *Engine) NextWake() drivers.Time {
	at := drivers.Never
	for _, w := range e.wakers {
		at = min(at, w.Wake())
	}
	return at
}

// BeginWait notes that the rank waits from now on, and tells whether it had waited before: calls
// nest. EndWait is its other end.
func (e *Engine) BeginWait() (already bool) {
	if already = e.WaitsSince != 0; !already {
		e.WaitsSince = e.Proc.Now()
	}
	return already
}

// EndWait ends what BeginWait began.
func (e *Engine) EndWait(already bool) error {
	if already {
		return nil
	}
	e.WaitsSince = 0
	return e.runDeferred()
}

// Overlap measures an operation that has just ended: how long the application computed beside it,
// and how much of it was left when the application waited.
func (e *Engine) Overlap(op *Op) (beside, left drivers.Time) {
	now := e.Proc.Now()
	if e.WaitsSince == 0 {
		return now - op.Posted, 0
	}
	return max(e.WaitsSince-op.Posted, 0), now - max(e.WaitsSince, op.Posted)
}

// Settle does what can be done without waiting when no rank of the world runs any more, and tells
// whether it did anything. It takes no time. A message that comes only now has not been received:
// that is an error.
func (e *Engine) Settle() (moved bool, err error) {
	e.settling = true
	defer func() { e.settling = false }()
	taken := e.endpoint.Taken()
	data, err := e.endpoint.Poll(&e.packet)
	if err == nil && data {
		err = e.deliver(e.packet.From, e.packet.Payload)
	}
	for err == nil {
		peer, more := e.endpoint.Credited()
		if !more {
			break
		}
		before := e.queued
		err = e.push(peer)
		moved = moved || e.queued != before
	}
	return moved || e.endpoint.Taken() != taken, err
}

// WaitingFor says what the rank waits for, or what it waited for when the run was ended. A rank
// whose function has returned waits for credits as long as it owes messages.
func (e *Engine) WaitingFor() Waiting {
	if e.lastWait != nil {
		return *e.lastWait
	}
	op := e.Waiting
	if op != nil && op.Group != nil {
		op = op.Group.Blocker()
	}
	switch {
	case op == nil && e.Lingers && e.Owes():
		return e.owing()
	case op == nil:
		return Waiting{}
	}
	if op.Holder != nil {
		if w, ok := op.Holder.Waiting(op); ok {
			return w
		}
	}
	if op.Receive {
		return Waiting{For: "message", Peer: op.Peer(), Tag: int(op.Envelope.Tag)}
	}
	return op.Outgoing.waiting(op.Peer())
}
