package fabric

import "math/bits"

// cycles is a ring of flags: which of the next cycles have entries.
type cycles struct {
	mask   uint64 // number of cycles ahead, minus one
	filled []uint64
}

func newCycles(reach int) cycles {
	n := uint64(64)
	for n <= uint64(reach) {
		n *= 2
	}
	return cycles{mask: n - 1, filled: make([]uint64, n/64)}
}

// index is the position of a cycle in the ring.
func (c *cycles) index(at uint64) uint64 { return at & c.mask }

func (c *cycles) fill(i uint64) { c.filled[i>>6] |= 1 << (i & 63) }

func (c *cycles) empty(i uint64) { c.filled[i>>6] &^= 1 << (i & 63) }

func (c *cycles) hasEntry(i uint64) bool { return c.filled[i>>6]>>(i&63)&1 != 0 }

// Next is the first cycle at or after from that has entries, or Forever.
func (c *cycles) Next(from uint64) uint64 {
	for at := from; at <= from+c.mask; at += 64 - at&63 {
		if word := c.filled[at&c.mask>>6] >> (at & 63); word != 0 {
			return at + uint64(bits.TrailingZeros64(word))
		}
	}
	return Forever
}

// A Calendar schedules numbered items for future cycles, each at most once per cycle, in order of
// their numbers.
type Calendar struct {
	cycles
	words uint64   // per cycle: 64 items each
	sets  []uint64 // by cycle
}

// NewCalendar creates a calendar for items below n that reaches at least so many cycles ahead.
func NewCalendar(reach, n int) Calendar {
	c := Calendar{cycles: newCycles(reach), words: uint64(n+63) / 64}
	c.sets = make([]uint64, (c.mask+1)*c.words)
	return c
}

// Add schedules an item for a cycle within the calendar's reach.
func (c *Calendar) Add(at uint64, thing uint32) {
	i := c.index(at)
	c.sets[i*c.words+uint64(thing>>6)] |= 1 << (thing & 63)
	c.fill(i)
}

// Take returns the items of a cycle as a bit set, or nil. The caller clears the words.
func (c *Calendar) Take(at uint64) []uint64 {
	i := c.index(at)
	if !c.hasEntry(i) {
		return nil
	}
	c.empty(i)
	return c.sets[i*c.words:][:c.words]
}

// agenda is a list per future cycle with a fixed capacity.
type agenda[T any] struct {
	cycles
	lists [][]T
}

// newAgenda reaches so many cycles ahead, with at most size entries per cycle.
func newAgenda[T any](reach, size int) agenda[T] {
	a := agenda[T]{cycles: newCycles(reach)}
	a.lists = make([][]T, a.mask+1)
	for i := range a.lists {
		a.lists[i] = make([]T, 0, size)
	}
	return a
}

func (a *agenda[T]) add(at uint64, entry T) {
	i := a.index(at)
	a.fill(i)
	a.lists[i] = append(a.lists[i], entry)
}

// take empties the list of a cycle; its result is valid until the next add.
func (a *agenda[T]) take(at uint64) []T {
	i := a.index(at)
	list := a.lists[i]
	if len(list) > 0 {
		a.lists[i] = list[:0]
		a.empty(i)
	}
	return list
}
