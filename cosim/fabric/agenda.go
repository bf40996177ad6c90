package fabric

import "math/bits"

// agenda is what must be looked at in the cycles to come, a list per cycle, long
// enough for all that one cycle can bring.
type agenda[T any] struct {
	mask   uint64
	lists  [][]T
	filled []uint64 // lists that are not empty
	inside int
}

// newAgenda reaches horizon cycles ahead, with at most size entries in a cycle.
func newAgenda[T any](horizon, size int) agenda[T] {
	cycles := 64
	for cycles <= horizon {
		cycles *= 2
	}
	a := agenda[T]{mask: uint64(cycles - 1), lists: make([][]T, cycles), filled: make([]uint64, cycles/64)}
	for i := range a.lists {
		a.lists[i] = make([]T, 0, size)
	}
	return a
}

func (a *agenda[T]) add(at uint64, entry T) {
	i := at & a.mask
	if len(a.lists[i]) == 0 {
		a.filled[i>>6] |= 1 << (i & 63)
	}
	a.lists[i] = append(a.lists[i], entry)
	a.inside++
}

// take empties the list of a cycle; what it returns is good until the next add.
func (a *agenda[T]) take(at uint64) []T {
	i := at & a.mask
	list := a.lists[i]
	if len(list) > 0 {
		a.lists[i] = list[:0]
		a.filled[i>>6] &^= 1 << (i & 63)
		a.inside -= len(list)
	}
	return list
}

// next is the first cycle behind now that has anything, or Forever.
func (a *agenda[T]) next(now uint64) uint64 {
	if a.inside == 0 {
		return Forever
	}
	for at := now + 1; ; at += 64 - at&63 {
		if word := a.filled[at&a.mask>>6] >> (at & 63); word != 0 {
			return at + uint64(bits.TrailingZeros64(word))
		}
	}
}
