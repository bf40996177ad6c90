package rendezvous

import "errors"

// post gives out the next operation, if one may be posted. Those that have some alternate,
// protocols and within each the transfers.
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
			continue // the protocol has as many under way as it may
		}
		c.posting, c.next = q.pop(), at+1
		c.posting.lined = false
		c.do(a)
		return
	}
}

// line puts an end into the queue of those with operations to post, stop takes it out.
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

// Posted answers a Get, Put or Fence, before anything else is told: it is under way, or it is not,
// for want of a descriptor ([ErrAgain]) or for good.
func (c *Core) Posted(a Action, err error) {
	e := a.End
	if c.posting != e {
		panic("rendezvous: Posted without an operation")
	}
	c.posting = nil
	switch {
	case errors.Is(err, ErrAgain) || err != nil && a.Do == Fence: // without it nobody knows whether puts are under way
		c.blocked = true
		if !c.busy() { // else what is under way makes room
			c.retryAt = min(c.retryAt, c.now+c.cfg.Retry)
		}
		c.next = e.index
		e.lined = true
		c.moving[e.index].unpop(e)
	case err != nil:
		e.fail(&Error{Code: Fault, Here: true, Cause: err})
	default:
		if a.Do != Put { // of which only its fence tells
			e.under++
			c.under[e.index]++
		}
		if a.Do == Fence {
			e.fence = fencing
			return
		}
		if e.posted += a.Bytes; e.posted < e.bytes {
			c.line(e)
		} else if a.Do == Put { // right behind them: it need not wait until they have left
			e.fence = fenceWanted
			c.line(e)
		}
	}
}

// busy: operations are under way.
func (c *Core) busy() bool {
	for _, n := range c.under {
		if n > 0 {
			return true
		}
	}
	return false
}

// Done says that a get of so many bytes is over, its bytes having come, or a fence, what came
// before it having been done: nobody tells of the end of a put. err is its fault.
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

// Faulted says that a put has met a fault, here or at its target.
func (c *Core) Faulted(e *End, err error) {
	if e.live {
		e.fail(&Error{Code: Fault, Detail: detail(err), Here: true, Cause: err})
	}
}

// detail is the hardware's number of a fault, for the other end.
func detail(err error) uint8 {
	var d interface{ Detail() uint8 }
	if errors.As(err, &d) {
		return d.Detail()
	}
	return 0
}
