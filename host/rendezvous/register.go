package rendezvous

import "errors"

// class is the class of memory that an end needs.
func (e *End) class() Class {
	switch {
	case e.offer:
		return Early
	case !e.send:
		return Received
	case e.announced:
		return Late
	}
	return Early
}

// RegisterIfRoom requests memory unless another end is waiting for some. The protocol's Registered
// is called in either case.
func (e *End) RegisterIfRoom() {
	c := e.core
	if e.bytes == 0 || c.waiting[Late].len()+c.waiting[Received].len() > 0 {
		e.protocol.Registered(e)
		return
	}
	c.ask(e)
}

// Register requests memory and waits for it in the order of requests.
func (e *End) Register() {
	c := e.core
	q := &c.waiting[e.class()]
	e.memory, e.since = wanted, c.now
	q.push(e)
	if q.len() == 1 {
		c.ask(e)
	} else {
		c.stats.Queued++
	}
}

func (c *Core) ask(e *End) {
	e.memory = requested
	c.do(Action{Do: Register, Class: e.class(), Peer: e.peer, End: e, Bytes: e.bytes})
}

// Registered answers a Register with the address of the memory, with [ErrAgain] or [ErrFull], or
// with another error. Refused memory is not held.
func (c *Core) Registered(e *End, address uint64, err error) {
	if e.memory != requested {
		panic("rendezvous: Registered without a Register")
	}
	class := e.class()
	e.memory = noMemory
	switch {
	case err == nil:
		e.memory, e.local = held, address
		c.registered++
	case class == Early:
		// It continues without memory: the other end will request the address.
	case errors.Is(err, ErrFull) && c.registered > 0:
		e.memory = wanted // until a transfer ends
		c.stats.Queued++
		return
	case errors.Is(err, ErrAgain) && c.now-e.since < c.cfg.Patience:
		e.memory = wanted
		c.retryAt = min(c.retryAt, c.now+c.cfg.Retry)
		return
	default:
		c.leaveQueue(e)
		e.fail(&Error{Code: Memory, Here: true, Cause: err})
		c.askAgain()
		return
	}
	if class != Early {
		c.leaveQueue(e)
	}
	e.protocol.Registered(e)
	c.askAgain()
}

// leaveQueue removes an end from the queue for memory.
func (c *Core) leaveQueue(e *End) {
	for i := range c.waiting {
		drop(&c.waiting[i], e)
	}
}

// askAgain repeats the request of the first end of each queue.
func (c *Core) askAgain() {
	for i := range c.waiting {
		if q := &c.waiting[i]; q.len() > 0 && q.first().memory == wanted {
			c.ask(q.first())
		}
	}
}
