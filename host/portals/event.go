package portals

// An eventQueue is a ring. If it is full, a new event replaces the oldest one, and the next event
// that is read is marked: the loss is then known no later than with the next event.
type eventQueue struct {
	ring     []Event
	head, n  int
	lost     bool
	users    int
	disabled []uint8 // PTs whose PT_DISABLED found the ring full; it must not be lost (2.5)
}

func (q *eventQueue) room() int { return len(q.ring) - q.n }

func (q *eventQueue) push(e *Event) {
	if e.Kind == EventPTDisabled && q.n == len(q.ring) {
		q.disabled = append(q.disabled, e.PT)
		return
	}
	*q.next() = *e
}

// next is the place of a new event, which the caller fills.
func (q *eventQueue) next() *Event {
	if q.n == len(q.ring) {
		if old := &q.ring[q.head]; old.Kind == EventPTDisabled {
			q.disabled = append(q.disabled, old.PT)
		} else {
			q.lost = true
		}
		q.head, q.n = (q.head+1)%len(q.ring), q.n-1
	}
	at := q.head + q.n
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	q.n++
	return &q.ring[at]
}

func (q *eventQueue) pop(e *Event) error {
	switch {
	case q.n > 0:
		*e = q.ring[q.head]
		if q.head++; q.head == len(q.ring) {
			q.head = 0
		}
		q.n--
	case len(q.disabled) > 0:
		*e = Event{Kind: EventPTDisabled, PT: q.disabled[0], Fail: FailPTDisabled}
		q.disabled = append(q.disabled[:0], q.disabled[1:]...)
	default:
		return EQEmpty
	}
	if q.lost {
		q.lost = false
		return EQDropped
	}
	return nil
}

// EQAlloc is PtlEQAlloc (3.13.5).
func (n *NI) EQAlloc(count int) (EQ, error) {
	if count < 1 {
		return 0, invalid("event queue of %d events: expected at least 1", count)
	}
	h, ok := n.eqs.add(eventQueue{ring: make([]Event, count), disabled: make([]uint8, 0, 4)})
	if !ok {
		return 0, NoSpace
	}
	return EQ(h), nil
}

// EQFree is PtlEQFree (3.13.6). A queue of a portal table entry or descriptor is in use.
func (n *NI) EQFree(h EQ) error {
	q := n.eqs.get(uint32(h))
	switch {
	case q == nil:
		return invalid("event queue handle %#x is stale", uint32(h))
	case q.users > 0:
		return InUse
	}
	n.eqs.remove(uint32(h))
	return nil
}

// EQGet is PtlEQGet (3.13.7). The errors EQEmpty and EQDropped mean what they mean there: with
// EQDropped there is an event too.
func (n *NI) EQGet(h EQ, e *Event) error {
	q := n.eqs.get(uint32(h))
	if q == nil {
		return invalid("event queue handle %#x is stale", uint32(h))
	}
	return q.pop(e)
}

// EQPoll is PtlEQPoll (3.13.9) without its timeout: it returns the first event of the first queue
// that has one, and which queue that is.
func (n *NI) EQPoll(list []EQ, e *Event) (which int, err error) {
	for i, h := range list {
		if err := n.EQGet(h, e); err != EQEmpty {
			return i, err
		}
	}
	return 0, EQEmpty
}

type counter struct {
	Count
	users int
	first uint32 // triggered operations by threshold, then by age
}

// CTAlloc is PtlCTAlloc (3.14.2).
func (n *NI) CTAlloc() (CT, error) {
	h, ok := n.cts.add(counter{})
	if !ok {
		return 0, NoSpace
	}
	return CT(h), nil
}

// CTFree is PtlCTFree (3.14.3). It deletes the triggered operations that wait for the counter. The
// specification leaves open what happens while a descriptor, an entry or a triggered operation
// still refers to the counter; here it is in use.
func (n *NI) CTFree(h CT) error {
	c := n.cts.get(uint32(h))
	switch {
	case c == nil:
		return invalid("counter handle %#x is stale", uint32(h))
	case c.users > 0:
		return InUse
	}
	n.cancel(c)
	n.cts.remove(uint32(h))
	return nil
}

// CTGet is PtlCTGet (3.14.5).
func (n *NI) CTGet(h CT) (Count, error) {
	if c := n.cts.get(uint32(h)); c != nil {
		return c.Count, nil
	}
	return Count{}, invalid("counter handle %#x is stale", uint32(h))
}

// CTPoll is PtlCTPoll (3.14.7) without its timeout: it returns the first counter whose successes
// have reached its test value or that has counted a failure.
func (n *NI) CTPoll(list []CT, tests []uint64) (which int, v Count, err error) {
	if len(list) != len(tests) {
		return 0, v, invalid("%d counters and %d test values", len(list), len(tests))
	}
	for i, h := range list {
		if v, err = n.CTGet(h); err != nil || v.Success >= tests[i] || v.Failure > 0 {
			return i, v, err
		}
	}
	return 0, Count{}, CTNoneReached
}

// CTSet is PtlCTSet (3.14.8).
func (n *NI) CTSet(h CT, v Count) error {
	c := n.cts.get(uint32(h))
	if c == nil {
		return invalid("counter handle %#x is stale", uint32(h))
	}
	c.Count = v
	n.release(c)
	return nil
}

// CTInc is PtlCTInc (3.14.9). Only one of the two values may be incremented.
func (n *NI) CTInc(h CT, by Count) error {
	c := n.cts.get(uint32(h))
	if c == nil {
		return invalid("counter handle %#x is stale", uint32(h))
	}
	if by.Success > 0 && by.Failure > 0 {
		return invalid("increment of both successes and failures")
	}
	n.count(h, by)
	return nil
}

func (n *NI) count(h CT, by Count) {
	c := n.cts.at(uint32(h))
	c.Success += by.Success
	c.Failure += by.Failure
	if c.first != 0 {
		n.release(c)
	}
}

// countEvent counts an operation or its bytes.
func (n *NI) countEvent(h CT, fail Fail, inBytes bool, length uint64) {
	switch {
	case h == 0:
	case fail != FailNone:
		n.count(h, Count{Failure: 1})
	case inBytes:
		n.count(h, Count{Success: length})
	default:
		n.count(h, Count{Success: 1})
	}
}

// newEvent is the place of a new event that the caller fills, or nil without an event queue.
func (n *NI) newEvent(h EQ) *Event {
	if h == 0 {
		return nil
	}
	return n.eqs.at(uint32(h)).next()
}

func (n *NI) raise(h EQ, e *Event) {
	if h != 0 {
		n.eqs.at(uint32(h)).push(e)
	}
}
