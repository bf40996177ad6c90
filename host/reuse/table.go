package reuse

import (
	"fmt"
	"math/bits"
)

// Config configures a table; 0 selects a default.
type Config struct {
	Buckets    int // of the hash table, a power of two
	Buffers    int // maximum number of buffers
	Registered int // maximum number of registered ones
	// The table stops growing when fewer than Share percent of its buffers are registered and more
	// than Chained percent are behind another in their bucket. Endless disables this limit: the
	// table grows up to Buffers.
	Share, Chained int
	Endless        bool
	// Threshold is the use at which a buffer of n bytes is registered; 0: never.
	Threshold func(n int) int
}

// The share is the paper's. Its table has 1M buckets and stops at the first collision, which random
// addresses cause after about 1,200 buffers. This table stops after 900 random addresses, or 2,000
// equidistant ones, which the hash spreads better.
const (
	defaultBuckets    = 1 << 12
	defaultBuffers    = 1 << 13
	defaultRegistered = 1 << 10
	defaultShare      = 20
	defaultChained    = 10
)

func (c *Config) complete() error {
	for _, v := range []struct{ have, want *int }{
		{&c.Buckets, new(defaultBuckets)}, {&c.Buffers, new(defaultBuffers)}, {&c.Registered, new(defaultRegistered)},
		{&c.Share, new(defaultShare)}, {&c.Chained, new(defaultChained)},
	} {
		if *v.have == 0 {
			*v.have = *v.want
		}
	}
	switch {
	case c.Threshold == nil:
		return fmt.Errorf("reuse: a table without a Threshold")
	case c.Buckets < 1 || c.Buckets&(c.Buckets-1) != 0:
		return fmt.Errorf("reuse: %d buckets, expected a power of two", c.Buckets)
	case c.Buffers < 1 || c.Registered < 1 || c.Share < 0 || c.Chained < 0:
		return fmt.Errorf("reuse: %d buffers, %d of them registered, share %d %%, chained %d %%: expected at least 1 buffer of either kind and no share below 0",
			c.Buffers, c.Registered, c.Share, c.Chained)
	}
	return nil
}

// Verdict says how to send the bytes of a buffer.
type Verdict uint8

// The verdicts.
const (
	Copy     Verdict = iota // through an intermediate buffer
	Register                // register the buffer; then as Direct
	Direct                  // from the buffer itself
)

func (v Verdict) String() string { return [...]string{"copy", "register", "direct"}[v] }

// A Use is the result of one use of a buffer.
type Use[R any] struct {
	Verdict
	Ref    Ref // for Register and Direct
	Region R   // for Direct
	Looked int // number of entries examined, at least 1
}

// A Ref identifies a buffer in the table. It becomes invalid when the buffer is removed.
type Ref struct {
	index      int32
	generation uint32
}

// Stats are the counters of a table.
type Stats struct {
	Uses, Hits  uint64 // uses of buffers; uses of buffers already in the table
	Looked      uint64 // entries examined in all lookups
	Direct      uint64 // uses without a copy
	Registered  uint64 // registrations
	Refused     uint64 // failed registrations
	Evicted     uint64 // registrations ended in favour of another
	Invalidated uint64 // buffers removed because their memory was freed or remapped
	Stopped     uint64 // new buffers while the table did not grow
}

const nothing = -1

type state uint8

const (
	unused state = iota
	counted
	registered
	gone // invalidated while held
)

type entry[R any] struct {
	at         uint64
	bytes      int // longest use, or length of the registration
	uses, due  uint32
	holders    int32
	generation uint32
	next       int32 // in its bucket or on the free list
	state      state
	older      int32 // in the list of registered buffers by last use
	newer      int32
	region     R
}

// A Table counts uses of buffers. R is the caller's handle of a registration.
type Table[R any] struct {
	Config
	shift   uint
	buckets []int32
	entries []entry[R]
	free    int32 // head of the free list
	hand    int32 // next entry to age
	high    int32 // number of entries that were ever in use
	oldest  int32 // least recently used registered buffer
	newest  int32
	live    int // buffers in buckets
	chained int // of these, those behind another
	known   int // of these, the registered ones
	held    int // registrations, including those of invalidated buffers
	out     []R
	stats   Stats
}

// New creates an empty table.
func New[R any](c Config) (*Table[R], error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	t := &Table[R]{
		Config: c, shift: uint(64 - bits.TrailingZeros(uint(c.Buckets))), buckets: make([]int32, c.Buckets),
		entries: make([]entry[R], c.Buffers), out: make([]R, 0, c.Registered), oldest: nothing, newest: nothing,
	}
	for i := range t.buckets {
		t.buckets[i] = nothing
	}
	for i := range t.entries {
		t.entries[i].next = int32(i + 1)
	}
	t.entries[len(t.entries)-1].next = nothing
	return t, nil
}

// Len is the number of buffers in the table, Known the number of registered ones.
func (t *Table[R]) Len() int   { return t.live }
func (t *Table[R]) Known() int { return t.known }

// Stats returns the counters of the table.
func (t *Table[R]) Stats() Stats { return t.stats }

// InUse counts registrations, including those of invalidated buffers that are still held.
func (t *Table[R]) InUse() int { return t.held }

// bucket uses Fibonacci hashing, because the low bits of addresses carry little information.
func (t *Table[R]) bucket(at uint64) *int32 {
	if t.shift == 64 {
		return &t.buckets[0]
	}
	return &t.buckets[(at>>3)*0x9e3779b97f4a7c15>>t.shift]
}

// Use counts a use of n bytes at an address.
func (t *Table[R]) Use(at uint64, n int) (u Use[R]) {
	t.stats.Uses++
	i := *t.bucket(at)
	for u.Looked = 1; i != nothing && t.entries[i].at != at; i = t.entries[i].next {
		u.Looked++
	}
	defer func() { t.stats.Looked += uint64(u.Looked) }()
	if i == nothing {
		if i = t.insert(at); i == nothing {
			return u
		}
	} else {
		t.stats.Hits++
	}
	e := &t.entries[i]
	e.uses++
	if e.state == registered {
		t.unlink(i)
		t.link(i)
		if n <= e.bytes {
			t.stats.Direct++
			u.Verdict, u.Ref, u.Region = Direct, t.ref(i), e.region
			return u
		}
	} else {
		e.bytes = max(e.bytes, n)
	}
	threshold := t.Threshold(n)
	if threshold == 0 || e.uses < max(uint32(threshold), e.due) || e.holders > 0 {
		return u
	}
	if e.state == registered { // but only for a shorter length
		t.end(i)
	}
	if t.held < t.Config.Registered || t.evict() {
		u.Verdict, u.Ref = Register, t.ref(i)
	}
	return u
}

func (t *Table[R]) ref(i int32) Ref { return Ref{i, t.entries[i].generation} }

// at returns the entry of a reference, or nil if the buffer was removed.
func (t *Table[R]) at(ref Ref) *entry[R] {
	if e := &t.entries[ref.index]; e.generation == ref.generation {
		return e
	}
	return nil
}

// grows reports whether a new buffer may use a free entry (section 5.3.4).
func (t *Table[R]) grows() bool {
	if t.free == nothing {
		return false
	}
	return t.Endless || 100*t.chained <= t.Chained*t.live || 100*t.known >= t.Share*t.live
}

// insert finds an entry for a new buffer, or returns nothing.
func (t *Table[R]) insert(at uint64) int32 {
	var i int32
	switch {
	case t.grows():
		i = t.free
		t.free = t.entries[i].next
		t.high = max(t.high, i+1)
	default:
		t.stats.Stopped++
		if i = t.wear(); i == nothing {
			return nothing
		}
	}
	e := &t.entries[i]
	b := t.bucket(at)
	if *b != nothing {
		t.chained++
	}
	*e = entry[R]{at: at, generation: e.generation, state: counted, next: *b, older: nothing, newer: nothing}
	*b = i
	t.live++
	return i
}

// wear decrements the use count of the next buffer in turn and takes its entry at zero. A new
// buffer that is used often thus gets an entry soon, at the expense of buffers that were used once.
func (t *Table[R]) wear() int32 {
	i := t.hand
	if t.hand++; t.hand >= t.high {
		t.hand = 0
	}
	e := &t.entries[i]
	if e.state != counted || e.holders > 0 {
		return nothing
	}
	if e.uses--; e.uses > 0 {
		return nothing
	}
	t.take(i)
	return i
}

// take removes an entry from its bucket and invalidates references to it.
func (t *Table[R]) take(i int32) {
	e := &t.entries[i]
	b := t.bucket(e.at)
	p := b
	for *p != i {
		p = &t.entries[*p].next
	}
	*p = e.next
	if *b != nothing {
		t.chained--
	}
	t.live--
	e.generation++
	e.state = unused
}

// putBack returns an entry to the free list.
func (t *Table[R]) putBack(i int32) {
	e := &t.entries[i]
	e.state, e.next = unused, t.free
	t.free = i
}

// link makes a registered buffer the most recently used one; unlink removes it from the list.
func (t *Table[R]) link(i int32) {
	e := &t.entries[i]
	e.older, e.newer = t.newest, nothing
	if t.newest != nothing {
		t.entries[t.newest].newer = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

func (t *Table[R]) unlink(i int32) {
	e := &t.entries[i]
	if e.older != nothing {
		t.entries[e.older].newer = e.newer
	} else {
		t.oldest = e.newer
	}
	if e.newer != nothing {
		t.entries[e.newer].older = e.older
	} else {
		t.newest = e.older
	}
	e.older, e.newer = nothing, nothing
}
