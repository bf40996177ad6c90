package reuse

import (
	"fmt"
	"math/bits"
)

// Config is what a table works by; what is 0 is the default.
type Config struct {
	Buckets    int // of the hash table, a power of two
	Buffers    int // that it holds at most
	Registered int // of them
	// Share is the percentage of registered buffers below which the table stops growing, once Chained
	// percent of its buffers stand behind another in their bucket. Endless: it goes on up to Buffers.
	Share, Chained int
	Endless        bool
	// Threshold is the use at which a buffer of n bytes is registered; 0: never.
	Threshold func(n int) int
}

// The share is the paper's. Its table, of 1M buckets, stops at the first buffer behind another,
// which comes after 1,200 buffers or so if addresses are random; this one after 900 of those, and
// after 2,000 that lie at equal distances, which the hash keeps apart.
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

// Verdict is what is to be done with the bytes of a buffer.
type Verdict uint8

// The verdicts.
const (
	Copy     Verdict = iota // they go through an intermediate buffer
	Register                // the buffer is to be registered; then as Direct
	Direct                  // they go from the buffer itself
)

func (v Verdict) String() string { return [...]string{"copy", "register", "direct"}[v] }

// A Use is what one use of a buffer has come to.
type Use[R any] struct {
	Verdict
	Ref    Ref // of Register and Direct
	Region R   // of Direct
	Looked int // entries that were looked at, at least 1
}

// A Ref names a buffer in the table, as it was when it was given.
type Ref struct {
	index      int32
	generation uint32
}

// Stats count what a table did.
type Stats struct {
	Uses, Hits  uint64 // of buffers; of those that it knew
	Looked      uint64 // entries, for all of them
	Direct      uint64 // uses that needed no copy
	Registered  uint64 // registrations
	Refused     uint64 // registrations that failed
	Evicted     uint64 // registrations that ended for another one
	Invalidated uint64 // buffers that were forgotten because their memory went
	Stopped     uint64 // new buffers that came while it did not grow
}

const nothing = -1

type state uint8

const (
	unused state = iota
	counted
	registered
	gone // invalidated while somebody held it
)

type entry[R any] struct {
	at         uint64
	bytes      int // of the longest use, or what is registered
	uses, due  uint32
	holders    int32
	generation uint32
	next       int32 // in its bucket, or on the free list
	state      state
	older      int32 // of registered ones, by last use
	newer      int32
	region     R
}

// A Table counts uses of buffers. R is what a registration is for its caller.
type Table[R any] struct {
	Config
	shift   uint
	buckets []int32
	entries []entry[R]
	free    int32 // the first that is not in use
	hand    int32 // the entry that is worn out next
	high    int32 // above all that were ever in use
	oldest  int32 // registered
	newest  int32
	live    int // buffers that can be found
	chained int // of them, behind another
	known   int // of them, registered
	held    int // registrations, those included whose buffer is gone
	out     []R
	stats   Stats
}

// New makes an empty table.
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

// Len is the number of buffers that the table knows, Known how many of them are registered.
func (t *Table[R]) Len() int   { return t.live }
func (t *Table[R]) Known() int { return t.known }

// Stats gives the table's counters.
func (t *Table[R]) Stats() Stats { return t.stats }

// InUse counts registrations, those included whose buffer is gone and that somebody holds.
func (t *Table[R]) InUse() int { return t.held }

// bucket spreads addresses, whose low bits say little, by the golden ratio.
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
	if e.state == registered { // a part of it
		t.end(i)
	}
	if t.held < t.Config.Registered || t.evict() {
		u.Verdict, u.Ref = Register, t.ref(i)
	}
	return u
}

func (t *Table[R]) ref(i int32) Ref { return Ref{i, t.entries[i].generation} }

// at gives the entry of a reference, if that is still the same buffer.
func (t *Table[R]) at(ref Ref) *entry[R] {
	if e := &t.entries[ref.index]; e.generation == ref.generation {
		return e
	}
	return nil
}

// grows tells whether a buffer more is worth an entry (section 5.3.4).
func (t *Table[R]) grows() bool {
	if t.free == nothing {
		return false
	}
	return t.Endless || 100*t.chained <= t.Chained*t.live || 100*t.known >= t.Share*t.live
}

// insert finds an entry for a new buffer, or nothing.
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

// wear takes a use from the buffer whose time it is, and its entry when that was the last. So a
// buffer that is used often gets an entry soon, and those that were used once lose theirs.
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

// take takes an entry out of its bucket. References to it are of no use any more.
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

// putBack puts an entry on the free list.
func (t *Table[R]) putBack(i int32) {
	e := &t.entries[i]
	e.state, e.next = unused, t.free
	t.free = i
}

// link makes a registered buffer the newest, unlink takes it from the list.
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
