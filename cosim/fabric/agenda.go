package fabric

import "math/bits"

// cycles is which of those to come have anything.
type cycles struct {
	mask   uint64 // how many it reaches ahead, less one
	filled []uint64
}

func newCycles(reach int) cycles {
	n := uint64(64)
	for n <= uint64(reach) {
		n *= 2
	}
	return cycles{mask: n - 1, filled: make([]uint64, n/64)}
}

// index is that of a cycle among all, in whose order they stand.
func (c *cycles) index(at uint64) uint64 { return at & c.mask }

func (c *cycles) fill(i uint64) { c.filled[i>>6] |= 1 << (i & 63) }

func (c *cycles) empty(i uint64) { c.filled[i>>6] &^= 1 << (i & 63) }

func (c *cycles) has(i uint64) bool { return c.filled[i>>6]>>(i&63)&1 != 0 }

// Next is the first cycle from one on that has anything, or Forever.
func (c *cycles) Next(from uint64) uint64 {
	for at := from; at <= from+c.mask; at += 64 - at&63 {
		if word := c.filled[at&c.mask>>6] >> (at & 63); word != 0 {
			return at + uint64(bits.TrailingZeros64(word))
		}
	}
	return Forever
}

// A Calendar says which of some numbered things are to be looked at in the cycles to come, each
// once per cycle and in order of their numbers.
type Calendar struct {
	cycles
	words uint64   // per cycle: 64 things each
	sets  []uint64 // by cycle
}

// NewCalendar reaches at least so many cycles ahead, for things below n.
func NewCalendar(reach, n int) Calendar {
	c := Calendar{cycles: newCycles(reach), words: uint64(n+63) / 64}
	c.sets = make([]uint64, (c.mask+1)*c.words)
	return c
}

// Add notes a thing for a cycle, no further ahead of the present one than the calendar reaches.
func (c *Calendar) Add(at uint64, thing uint32) {
	i := c.index(at)
	c.sets[i*c.words+uint64(thing>>6)] |= 1 << (thing & 63)
	c.fill(i)
}

// Take gives the things of a cycle, a bit for each, or nil; whoever takes them clears the words.
func (c *Calendar) Take(at uint64) []uint64 {
	i := c.index(at)
	if !c.has(i) {
		return nil
	}
	c.empty(i)
	return c.sets[i*c.words:][:c.words]
}

// agenda is a list per cycle to come, long enough for all that one cycle can bring.
type agenda[T any] struct {
	cycles
	lists [][]T
}

// newAgenda reaches so many cycles ahead, with at most size entries in a cycle.
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

// take empties the list of a cycle; what it returns is good until the next add.
func (a *agenda[T]) take(at uint64) []T {
	i := a.index(at)
	list := a.lists[i]
	if len(list) > 0 {
		a.lists[i] = list[:0]
		a.empty(i)
	}
	return list
}
