package portals

// A trigger is an operation that waits for a counter (3.16). Its arguments are copied when it is
// posted.
type trigger struct {
	next      uint32 // of the same counter, by threshold, then by age
	threshold uint64
	op        uint32 // an operation to send; 0: the counter is changed
	ct        CT
	set       bool // PtlTriggeredCTSet, otherwise PtlTriggeredCTInc
	value     Count
}

// The triggered operations. Each takes the arguments of the function that it is named after, and
// the counter and the threshold that release it: it is started once the sum of successes and
// failures reaches or exceeds the threshold. Failures count as in the reference implementation
// (__ct_check in src/ib/ptl_ct.c); a chain then does not hang behind a failed operation. An
// operation whose threshold is already reached starts at once.

// TriggeredPut is PtlTriggeredPut (3.16.1).
func (n *NI) TriggeredPut(r *Request, ct CT, threshold uint64) error {
	return n.postOperation(KindPut, r, ct, threshold)
}

// TriggeredGet is PtlTriggeredGet (3.16.2).
func (n *NI) TriggeredGet(r *Request, ct CT, threshold uint64) error {
	return n.postOperation(KindGet, r, ct, threshold)
}

// TriggeredAtomic is PtlTriggeredAtomic (3.16.3).
func (n *NI) TriggeredAtomic(r *Request, ct CT, threshold uint64) error {
	return n.postOperation(KindAtomic, r, ct, threshold)
}

// TriggeredFetchAtomic is PtlTriggeredFetchAtomic (3.16.4).
func (n *NI) TriggeredFetchAtomic(r *Request, ct CT, threshold uint64) error {
	return n.postOperation(KindFetchAtomic, r, ct, threshold)
}

// TriggeredSwap is PtlTriggeredSwap (3.16.5).
func (n *NI) TriggeredSwap(r *Request, ct CT, threshold uint64) error {
	return n.postOperation(KindSwap, r, ct, threshold)
}

// TriggeredCTInc is PtlTriggeredCTInc (3.16.6). Target and trigger may be the same counter.
func (n *NI) TriggeredCTInc(target CT, by Count, ct CT, threshold uint64) error {
	if by.Success > 0 && by.Failure > 0 {
		return invalid("increment of both successes and failures")
	}
	return n.postCount(trigger{ct: target, value: by}, ct, threshold)
}

// TriggeredCTSet is PtlTriggeredCTSet (3.16.7).
func (n *NI) TriggeredCTSet(target CT, to Count, ct CT, threshold uint64) error {
	return n.postCount(trigger{ct: target, value: to, set: true}, ct, threshold)
}

func (n *NI) postOperation(kind Kind, r *Request, ct CT, threshold uint64) error {
	if n.cts.get(uint32(ct)) == nil {
		return invalid("counter handle %#x is stale", uint32(ct))
	}
	if n.triggers.used >= n.triggers.limit {
		return NoSpace
	}
	id, err := n.reserve(kind, r)
	if err != nil {
		return err
	}
	n.ops.at(id).armed = true
	n.post(trigger{op: id}, ct, threshold)
	return nil
}

func (n *NI) postCount(t trigger, ct CT, threshold uint64) error {
	if n.cts.get(uint32(ct)) == nil || n.cts.get(uint32(t.ct)) == nil {
		return invalid("counter handle %#x or %#x is stale", uint32(ct), uint32(t.ct))
	}
	if n.triggers.used >= n.triggers.limit {
		return NoSpace
	}
	if t.ct != ct { // an operation on its own counter must not keep that from being freed
		n.cts.at(uint32(t.ct)).users++
	}
	n.post(t, ct, threshold)
	return nil
}

func (n *NI) post(t trigger, ct CT, threshold uint64) {
	t.threshold = threshold
	h, _ := n.triggers.add(t)
	c := n.cts.at(uint32(ct))
	at := &c.first
	for *at != 0 && n.triggers.at(*at).threshold <= threshold {
		at = &n.triggers.at(*at).next
	}
	n.triggers.at(h).next, *at = *at, h
	n.release(c)
}

// release starts the operations whose threshold is reached, in the order of thresholds, then of
// posting. Those that a started one releases follow in a queue: a chain of any length needs no
// stack, and each operation is started exactly once.
func (n *NI) release(c *counter) {
	for c.first != 0 && n.triggers.at(c.first).threshold <= c.Success+c.Failure {
		n.firing = append(n.firing, c.first)
		t := n.triggers.at(c.first)
		c.first, t.next = t.next, 0
		if t.op == 0 && n.cts.at(uint32(t.ct)) != c {
			n.cts.at(uint32(t.ct)).users--
		}
	}
	if n.active {
		return
	}
	n.active = true
	for i := 0; i < len(n.firing); i++ {
		n.fire(n.firing[i])
	}
	n.firing, n.active = n.firing[:0], false
}

func (n *NI) fire(h uint32) {
	t := *n.triggers.at(h)
	n.triggers.remove(h)
	if t.op != 0 {
		n.send(t.op)
		return
	}
	c := n.cts.at(uint32(t.ct))
	if t.set {
		c.Count = t.value
	} else {
		c.Success += t.value.Success
		c.Failure += t.value.Failure
	}
	n.release(c)
}

// CTCancelTriggered is PtlCTCancelTriggered (3.14.4).
func (n *NI) CTCancelTriggered(h CT) error {
	c := n.cts.get(uint32(h))
	if c == nil {
		return invalid("counter handle %#x is stale", uint32(h))
	}
	n.cancel(c)
	return nil
}

func (n *NI) cancel(c *counter) {
	for c.first != 0 {
		h := c.first
		t := *n.triggers.at(h)
		c.first = t.next
		n.triggers.remove(h)
		if t.op != 0 {
			n.pin(n.ops.at(t.op), -1)
			n.ops.remove(t.op)
		} else if other := n.cts.at(uint32(t.ct)); other != c {
			other.users--
		}
	}
}
