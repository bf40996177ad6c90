package fabric

import "math/bits"

// A calendar says which outputs are to be looked at in the cycles to come, each once
// per cycle and in order of their numbers.
type calendar struct {
	mask   uint64   // cycles that it reaches ahead, less one
	words  uint64   // per cycle: 64 outputs each
	sets   []uint64 // by cycle
	filled []uint64 // cycles that have any
}

func newCalendar(reach, words int) calendar {
	cycles := uint64(64)
	for cycles <= uint64(reach) {
		cycles *= 2
	}
	return calendar{mask: cycles - 1, words: uint64(words), sets: make([]uint64, cycles*uint64(words)), filled: make([]uint64, cycles/64)}
}

func (c *calendar) add(at uint64, out uint32) {
	at &= c.mask
	c.sets[at*c.words+uint64(out>>6)] |= 1 << (out & 63)
	c.filled[at>>6] |= 1 << (at & 63)
}

// take gives the outputs of a cycle; whoever takes them clears the words.
func (c *calendar) take(at uint64) []uint64 {
	at &= c.mask
	if c.filled[at>>6]>>(at&63)&1 == 0 {
		return nil
	}
	c.filled[at>>6] &^= 1 << (at & 63)
	return c.sets[at*c.words:][:c.words]
}

// next is the first cycle from one on that has any, or Forever.
func (c *calendar) next(from uint64) uint64 { return firstFilled(c.filled, c.mask, from) }

func firstFilled(filled []uint64, mask, from uint64) uint64 {
	for at := from; at <= from+mask; at += 64 - at&63 {
		if word := filled[at&mask>>6] >> (at & 63); word != 0 {
			return at + uint64(bits.TrailingZeros64(word))
		}
	}
	return Forever
}

// agenda is a list per cycle to come, long enough for all that one cycle can bring.
type agenda[T any] struct {
	mask   uint64
	lists  [][]T
	filled []uint64 // lists that are not empty
}

// newAgenda reaches so many cycles ahead, with at most size entries in a cycle.
func newAgenda[T any](reach, size int) agenda[T] {
	cycles := uint64(64)
	for cycles <= uint64(reach) {
		cycles *= 2
	}
	a := agenda[T]{mask: cycles - 1, lists: make([][]T, cycles), filled: make([]uint64, cycles/64)}
	for i := range a.lists {
		a.lists[i] = make([]T, 0, size)
	}
	return a
}

func (a *agenda[T]) add(at uint64, entry T) {
	i := at & a.mask
	a.filled[i>>6] |= 1 << (i & 63)
	a.lists[i] = append(a.lists[i], entry)
}

// take empties the list of a cycle; what it returns is good until the next add.
func (a *agenda[T]) take(at uint64) []T {
	i := at & a.mask
	list := a.lists[i]
	if len(list) > 0 {
		a.lists[i] = list[:0]
		a.filled[i>>6] &^= 1 << (i & 63)
	}
	return list
}

// next is the first cycle from one on that has anything, or Forever.
func (a *agenda[T]) next(from uint64) uint64 { return firstFilled(a.filled, a.mask, from) }
