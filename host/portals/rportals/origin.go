package rportals

import (
	"fmt"

	"github.com/nicloop/nicloop/host/portals"
)

type opState uint8

const (
	opFree opState = iota
	opQueued
	opIssued
	opAccepted // answered with success; SEND is still missing
	opRefused  // answered with PT_DISABLED; SEND is still missing
)

// An operation is kept until the target has accepted it.
type operation struct {
	request    portals.Request // as the program gave it, but for MD
	isGet      bool
	state      opState
	sent       bool // SEND of the attempt was read
	answer     portals.Event
	channel    uint32
	prev, next uint32 // in its channel, in the order of issue; next also links free operations
}

// A channel has the operations of this process on one portal table entry of one target.
type channel struct {
	first, last uint32 // operations that are not done
	unissued    uint32 // the first one to issue next; 0: none
	outstanding int    // attempts whose events were not all read
	isHeld      bool   // an attempt was refused: nothing is issued before UNPAUSE
	isPaused    bool
	ackPending  bool // PAUSE_ACK is owed as soon as no attempt is outstanding
	isReady     bool // the channel is in Layer.ready
	epoch       uint16
}

// cost is the number of events that an attempt raises in the origin queue.
func (l *Layer) cost(isGet bool) int {
	if isGet || l.mistake == OneCreditPerPut {
		return 1
	}
	return 2
}

// Put starts a put. MD of the request is not used: the local offset is an address.
func (l *Layer) Put(r *portals.Request) error { return l.start(r, false) }

// Get starts a get. MD of the request is not used: the local offset is an address.
func (l *Layer) Get(r *portals.Request) error { return l.start(r, true) }

func (l *Layer) start(r *portals.Request, isGet bool) error {
	peer, entry := l.peer(r.Target), l.entry(r.PT)
	switch {
	case peer < 0:
		return fmt.Errorf("rportals: target %v is not among the %d peers", r.Target, len(l.config.Peers))
	case entry < 0:
		return l.notProtected(r.PT)
	case r.LocalOffset > l.config.MemoryLength || r.Length > l.config.MemoryLength-r.LocalOffset:
		return fmt.Errorf("rportals: %d bytes at %#x: the address space has %d bytes",
			r.Length, r.LocalOffset, l.config.MemoryLength)
	case r.Length > l.ni.Limits().MaxMsgSize:
		return fmt.Errorf("rportals: message of %d bytes: the limit is %d", r.Length, l.ni.Limits().MaxMsgSize)
	case !isGet && r.Ack > portals.FullAckReq:
		return fmt.Errorf("rportals: acknowledgement request %d: only full acknowledgements are supported", r.Ack)
	}
	l.enqueue(r, isGet, l.channel(peer, entry))
	return l.issueReady()
}

func (l *Layer) enqueue(r *portals.Request, isGet bool, at uint32) {
	h := l.free
	if h == 0 {
		h = uint32(len(l.ops))
		l.ops = append(l.ops, operation{})
	} else {
		l.free = l.ops[h].next
	}
	c := &l.channels[at]
	l.ops[h] = operation{request: *r, isGet: isGet, state: opQueued, channel: at}
	l.ops[h].request.MD = l.md
	l.link(h)
	if c.unissued == 0 {
		c.unissued = h
	}
	l.markReady(at)
}

// markReady queues a channel that may issue. Channels wait for credits in one queue, so that gets,
// which need fewer, do not starve puts.
func (l *Layer) markReady(at uint32) {
	c := &l.channels[at]
	if !c.isReady && !c.isHeld && !c.isPaused && c.unissued != 0 {
		c.isReady = true
		l.ready = append(l.ready, at)
	}
}

// issueReady issues queued operations as long as there are credits.
func (l *Layer) issueReady() error {
	for len(l.ready) > 0 {
		at := l.ready[0]
		c := &l.channels[at]
		if c.unissued != 0 && !c.isHeld && !c.isPaused {
			o := &l.ops[c.unissued]
			if l.attempts == 0 || l.credits < l.cost(o.isGet) {
				return nil
			}
			if err := l.issue(c, c.unissued); err != nil {
				return err
			}
			c.unissued = o.next
		}
		l.ready = append(l.ready[:0], l.ready[1:]...)
		c.isReady = false
		l.markReady(at)
	}
	return nil
}

// issue starts an attempt.
func (l *Layer) issue(c *channel, h uint32) error {
	o := &l.ops[h]
	r := o.request
	r.UserPtr = uint64(h)
	var err error
	if o.isGet {
		_, err = l.ni.Get(&r)
	} else {
		r.Ack = portals.FullAckReq
		_, err = l.ni.Put(&r)
	}
	if err != nil {
		return fmt.Errorf("rportals: operation on portal table entry %d of %v: %w", r.PT, r.Target, err)
	}
	o.state, o.sent = opIssued, o.isGet
	l.credits -= l.cost(o.isGet)
	l.attempts--
	c.outstanding++
	l.stats.Issued++
	return nil
}

// PollOrigin handles one event of an operation and reports whether there was one.
func (l *Layer) PollOrigin() (bool, error) {
	var e portals.Event
	if err := l.ni.EQGet(l.origin, &e); err == portals.EQEmpty {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("rportals: origin event queue: %w", err)
	}
	h := uint32(e.UserPtr)
	if int(h) >= len(l.ops) || l.ops[h].state == opFree {
		return false, fmt.Errorf("rportals: %v of operation %d, which is not in progress", e.Kind, h)
	}
	l.credits++
	o := &l.ops[h]
	if e.Kind == portals.EventSend {
		o.sent = true
	} else {
		o.answer = e
		o.state = opAccepted
		if e.Fail == portals.FailPTDisabled {
			o.state = opRefused
			l.channels[o.channel].isHeld = true
			l.stats.Refused++
		}
	}
	if o.sent && o.state != opIssued {
		if err := l.attemptEnded(h); err != nil {
			return true, err
		}
	}
	return true, l.issueReady()
}

// attemptEnded queues a refused operation again, or ends an accepted one.
func (l *Layer) attemptEnded(h uint32) error {
	o := &l.ops[h]
	c := &l.channels[o.channel]
	c.outstanding--
	l.attempts++
	if o.state == opRefused && l.mistake != ForgetRefused {
		o.state = opQueued
		if l.mistake == RequeueLast {
			l.moveLast(h)
		}
	} else {
		l.finish(h)
	}
	return l.acknowledgePause(o.channel)
}

// finish passes the events of an operation to the program, and releases it.
func (l *Layer) finish(h uint32) {
	o := &l.ops[h]
	e := o.answer
	e.UserPtr = o.request.UserPtr
	if !o.isGet {
		send := e
		send.Kind, send.Fail, send.MLength = portals.EventSend, portals.FailNone, o.request.Length
		if e.Fail == portals.FailUndeliverable || e.Fail == portals.FailSegv {
			send.Fail = e.Fail
		}
		l.pending = append(l.pending, send)
	}
	if o.isGet || o.request.Ack != portals.NoAckReq {
		l.pending = append(l.pending, e)
	}
	l.unlink(o)
	*o = operation{next: l.free, channel: o.channel}
	l.free = h
}

func (l *Layer) unlink(o *operation) {
	c := &l.channels[o.channel]
	if o.prev == 0 {
		c.first = o.next
	} else {
		l.ops[o.prev].next = o.next
	}
	if o.next == 0 {
		c.last = o.prev
	} else {
		l.ops[o.next].prev = o.prev
	}
}

// link appends an operation to its channel.
func (l *Layer) link(h uint32) {
	o := &l.ops[h]
	c := &l.channels[o.channel]
	o.prev, o.next = c.last, 0
	if c.last == 0 {
		c.first = h
	} else {
		l.ops[c.last].next = h
	}
	c.last = h
}

// OriginGet returns the next event of an operation, or EQEmpty.
func (l *Layer) OriginGet(e *portals.Event) error {
	for !l.TakeEvent(e) {
		if some, err := l.PollOrigin(); err != nil {
			return err
		} else if !some {
			return portals.EQEmpty
		}
	}
	return nil
}

// TakeEvent takes an event of an operation that is complete. Unlike OriginGet it handles no others.
func (l *Layer) TakeEvent(e *portals.Event) bool {
	if len(l.pending) == 0 {
		return false
	}
	*e = l.pending[0]
	l.pending = append(l.pending[:0], l.pending[1:]...)
	return true
}
