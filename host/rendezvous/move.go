package rendezvous

import "errors"

// post issues the next operation that may be posted. Protocols alternate, and within a protocol its
// transfers.
func (c *Core) post() {
	if c.blocked || c.posting != nil {
		return
	}
	for i := range c.moving {
		at := (c.next + i) % len(c.moving)
		q := &c.moving[at]
		if q.len() == 0 {
			continue
		}
		a, ok := c.operation(q.first())
		if !ok {
			continue // the protocol's limit of operations in flight is reached
		}
		c.posting, c.next = q.pop(), at+1
		c.posting.lined = false
		c.do(a)
		return
	}
}

// line enqueues an end in the queue of those with operations to post; stop removes it.
func (c *Core) line(e *End) {
	e.lined = true
	c.moving[e.index].push(e)
}

func (c *Core) stop(e *End) {
	if e.lined {
		e.lined = false
		drop(&c.moving[e.index], e)
	}
}

func (c *Core) operation(e *End) (Action, bool) {
	a := Action{Do: Fence, Peer: e.peer, End: e, Remote: e.remote, Bytes: 1}
	if e.fence == fenceWanted {
		return a, true
	}
	n := e.protocol.Step(e.bytes-e.posted, c.under[e.index])
	a.Do, a.Bytes = e.verb, n
	a.Local, a.Remote = e.local+uint64(e.posted), e.remote+uint64(e.posted)
	return a, n > 0
}

// Posted answers a Get, Put or Fence before any other call: it was posted, refused for want of a
// descriptor ([ErrAgain]), or refused for good.
func (c *Core) Posted(a Action, err error) {
	e := a.End
	if c.posting != e {
		panic("rendezvous: Posted without an operation")
	}
	c.posting = nil
	switch {
	case errors.Is(err, ErrAgain) || err != nil && a.Do == Fence: // a fence is retried: without it the state of earlier puts is unknown
		c.blocked = true
		if !c.busy() { // otherwise the completion of an operation in flight makes room
			c.retryAt = min(c.retryAt, c.now+c.cfg.Retry)
		}
		c.next = e.index
		e.lined = true
		c.moving[e.index].unpop(e)
	case err != nil:
		e.fail(&Error{Code: Fault, Here: true, Cause: err})
	default:
		if a.Do != Put { // puts do not complete by themselves, only through the fence
			e.under++
			c.under[e.index]++
		}
		if a.Do == Fence {
			e.fence = fencing
			return
		}
		if e.posted += a.Bytes; e.posted < e.bytes {
			c.line(e)
		} else if a.Do == Put { // immediately behind the puts, without waiting until they have left
			e.fence = fenceWanted
			c.line(e)
		}
	}
}

// busy reports whether operations are in flight.
func (c *Core) busy() bool {
	for _, n := range c.under {
		if n > 0 {
			return true
		}
	}
	return false
}

// Done reports that a get of the given length, or a fence, has completed. A completed fence also
// completes all operations before it; puts have no completion of their own. err is a fault.
func (c *Core) Done(e *End, verb Do, bytes int, err error) {
	e.under--
	c.under[e.index]--
	c.blocked = false
	if verb == Fence {
		e.fence, e.moved = fenced, e.posted
	} else {
		e.moved += bytes
	}
	if err != nil {
		c.Faulted(e, err)
		return
	}
	e.settle()
}

// Faulted reports that a put met a fault, at this rank or at its target.
func (c *Core) Faulted(e *End, err error) {
	if e.live {
		e.fail(&Error{Code: Fault, Detail: detail(err), Here: true, Cause: err})
	}
}

// detail is the fault code of the hardware, to send to the other end.
func detail(err error) uint8 {
	var d interface{ Detail() uint8 }
	if errors.As(err, &d) {
		return d.Detail()
	}
	return 0
}
