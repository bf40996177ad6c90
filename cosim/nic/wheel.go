package nic

import (
	"math/bits"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

const (
	wheelSlots = 512 // cycles that the wheel reaches ahead, a power of two
	slotMask   = wheelSlots - 1
)

// A wheel is a timing wheel: one bit per unit, node and cycle, so that waking a unit twice for one
// cycle has no cost. Wake-ups beyond its range are kept in a list, which is short: only hosts and
// limiters schedule that far ahead.
type wheel struct {
	words    int      // per unit: 64 nodes each
	due      []uint64 // [slot][unit][word]
	occupied [wheelSlots / 64]uint64
	far      []farWake
	nextFar  drivers.Cycle
}

type farWake struct {
	at   drivers.Cycle
	unit unitID
	node int
}

func newWheel(nodes int) wheel {
	words := (nodes + 63) / 64
	return wheel{words: words, due: make([]uint64, wheelSlots*int(units)*words), nextFar: drivers.Forever}
}

// wake schedules a unit for cycle at, which must be later than now.
func (w *wheel) wake(now, at drivers.Cycle, unit unitID, node int) {
	if at-now >= wheelSlots {
		w.far = append(w.far, farWake{at, unit, node})
		w.nextFar = min(w.nextFar, at)
		return
	}
	slot := int(at & slotMask)
	w.occupied[slot>>6] |= 1 << (slot & 63)
	w.due[(slot*int(units)+int(unit))*w.words+node>>6] |= 1 << (node & 63)
}

// next returns the first cycle after now for which a unit is scheduled.
func (w *wheel) next(now drivers.Cycle) drivers.Cycle {
	from := int(now+1) & slotMask
	word, i := w.occupied[from>>6]>>(from&63), from>>6
	if word != 0 {
		return min(w.nextFar, now+1+drivers.Cycle(bits.TrailingZeros64(word)))
	}
	ahead := 64 - from&63
	for range w.occupied {
		i = (i + 1) % len(w.occupied)
		if word = w.occupied[i]; word != 0 {
			return min(w.nextFar, now+1+drivers.Cycle(ahead+bits.TrailingZeros64(word)))
		}
		ahead += 64
	}
	return w.nextFar
}

// bringNear moves the wake-ups that are within range by now from the list into the wheel.
func (w *wheel) bringNear(now drivers.Cycle) {
	list := w.far
	w.far, w.nextFar = w.far[:0], drivers.Forever
	for _, f := range list {
		w.wake(now, f.at, f.unit, f.node)
	}
}

// cancelFar drops the wake-ups of a unit that are beyond the range of the wheel. One that is left
// would do nothing, but the hardware would not be quiet before it.
func (w *wheel) cancelFar(unit unitID, node int) {
	w.far = slices.DeleteFunc(w.far, func(f farWake) bool { return f.unit == unit && f.node == node })
	w.nextFar = drivers.Forever
	for _, f := range w.far {
		w.nextFar = min(w.nextFar, f.at)
	}
}

// take returns the units scheduled for cycle now and marks the cycle as done. The caller clears the
// words.
func (w *wheel) take(now drivers.Cycle) []uint64 {
	if w.nextFar-now < wheelSlots {
		w.bringNear(now)
	}
	slot := int(now & slotMask)
	w.occupied[slot>>6] &^= 1 << (slot & 63)
	n := int(units) * w.words
	return w.due[slot*n : (slot+1)*n]
}
