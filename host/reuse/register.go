package reuse

// Registered answers a Register: n bytes of the buffer are reachable through r. It gives the
// verdict for this use: Direct, or Copy if the buffer went meanwhile.
func (t *Table[R]) Registered(ref Ref, n int, r R) Verdict {
	t.stats.Registered++
	t.held++
	e := t.at(ref)
	if e == nil || e.state != counted {
		t.release(r)
		return Copy
	}
	e.state, e.bytes, e.region = registered, n, r
	t.known++
	t.link(ref.index)
	t.stats.Direct++
	return Direct
}

// Refused answers a Register, too: it cannot be done now. It is asked for again when the buffer has
// been used as often again.
func (t *Table[R]) Refused(ref Ref) {
	t.stats.Refused++
	if e := t.at(ref); e != nil {
		e.due = 2 * e.uses
	}
}

// Hold keeps what a buffer is registered by until Drop.
func (t *Table[R]) Hold(ref Ref) {
	e := t.at(ref)
	if e == nil || e.state != registered {
		panic("reuse: Hold of a buffer that is not registered")
	}
	e.holders++
}

// Drop ends a Hold.
func (t *Table[R]) Drop(ref Ref) {
	e := t.at(ref)
	if e == nil || e.holders == 0 {
		panic("reuse: Drop without Hold")
	}
	if e.holders--; e.holders == 0 && e.state == gone {
		t.release(e.region)
		t.forget(ref.index)
	}
}

// Held tells whether the hardware may still read from a buffer that lies in n bytes from an address
// on.
func (t *Table[R]) Held(at uint64, n uint64) bool {
	for i := range t.entries {
		if e := &t.entries[i]; e.holders > 0 && e.overlaps(at, n) {
			return true
		}
	}
	return false
}

// Invalidate forgets all buffers that have a byte of n from an address on.
func (t *Table[R]) Invalidate(at uint64, n uint64) {
	for i := range t.entries {
		e := &t.entries[i]
		if e.state != counted && e.state != registered || !e.overlaps(at, n) {
			continue
		}
		t.stats.Invalidated++
		known := e.state == registered
		if known {
			t.unlink(int32(i))
			t.known--
		}
		t.take(int32(i))
		switch {
		case e.holders > 0: // until the last Drop
			e.generation--
			e.state = gone
			continue
		case known:
			t.release(e.region)
		}
		e.region = *new(R)
		t.putBack(int32(i))
	}
}

func (e *entry[R]) overlaps(at, n uint64) bool {
	return e.state != unused && e.at < at+n && at < e.at+uint64(max(e.bytes, 1))
}

// Released gives what was registered and is of no use any more, until there is none.
func (t *Table[R]) Released() (r R, ok bool) {
	if len(t.out) == 0 {
		return r, false
	}
	r = t.out[len(t.out)-1]
	t.out[len(t.out)-1] = *new(R)
	t.out = t.out[:len(t.out)-1]
	return r, true
}

func (t *Table[R]) release(r R) {
	t.held--
	t.out = append(t.out, r)
}

// forget frees an entry that is in no bucket.
func (t *Table[R]) forget(i int32) {
	e := &t.entries[i]
	e.generation++
	e.region = *new(R)
	t.putBack(i)
}

// end ends the registration of a buffer that nobody holds, which is still counted.
func (t *Table[R]) end(i int32) {
	e := &t.entries[i]
	t.unlink(i)
	t.known--
	t.release(e.region)
	e.state, e.region = counted, *new(R)
}

// Evict ends the registration that was used longest ago, for whom its memory or its table entries
// are needed more; false: none can go.
func (t *Table[R]) Evict() bool { return t.evict() }

// evict ends the registration that was used longest ago, if nobody holds it. Its buffer has to earn
// it again.
func (t *Table[R]) evict() bool {
	for i := t.oldest; i != nothing; i = t.entries[i].newer {
		if e := &t.entries[i]; e.holders == 0 {
			t.end(i)
			e.uses, e.due = 0, 0
			t.stats.Evicted++
			return true
		}
	}
	return false
}
