package reuse

// Registered answers a Register: n bytes of the buffer are accessible through r. It returns the
// verdict for this use: Direct, or Copy if the buffer was invalidated meanwhile.
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

// Refused answers a Register that failed. The table asks again after the same number of further
// uses.
func (t *Table[R]) Refused(ref Ref) {
	t.stats.Refused++
	if e := t.at(ref); e != nil {
		e.due = 2 * e.uses
	}
}

// Hold keeps the registration of a buffer until Drop.
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

// Held reports whether the hardware may still read from a buffer within n bytes of an address.
func (t *Table[R]) Held(at uint64, n uint64) bool {
	for i := range t.entries {
		if e := &t.entries[i]; e.holders > 0 && e.overlaps(at, n) {
			return true
		}
	}
	return false
}

// Invalidate removes all buffers that overlap n bytes at an address.
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
		case e.holders > 0: // released by the last Drop
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

// Released returns a registration that is no longer needed; ok is false when there are none left.
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

// end ends the registration of a buffer without holders. The buffer stays in the table.
func (t *Table[R]) end(i int32) {
	e := &t.entries[i]
	t.unlink(i)
	t.known--
	t.release(e.region)
	e.state, e.region = counted, *new(R)
}

// Evict ends the least recently used registration to free its memory or table entries; false: it is
// still held, or there is none.
func (t *Table[R]) Evict() bool { return t.evict() }

// evict ends the least recently used registration that has no holders. Its buffer must reach the
// threshold again.
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
