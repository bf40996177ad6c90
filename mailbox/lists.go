package mailbox

import "fmt"

// level is the activity of a sender (FC paper, section 6.2).
type level uint8

const (
	low level = iota
	medium
	high
	null
	numLevels
)

func (l level) String() string { return [numLevels]string{"low", "medium", "high", "null"}[l] }

const none = int32(-1)

// links make a sender an element of exactly one list. ring is the index of that list in lists.ends;
// a shift of the lists does not change it.
type links struct {
	prev, next int32
	ring       uint8
}

type ends struct{ first, last int32 }

// lists are the four activity lists of senders, doubly linked through the senders, so that a move
// takes constant time. A shift does not move the three lists in memory but increments base, the
// index of the low one (section 6.5.2, footnote 15).
type lists struct {
	senders []sender
	ends    [numLevels]ends
	base    uint8
}

// newLists puts all n senders into the low list in increasing order (section 6.3).
func newLists(n int) lists {
	l := lists{senders: make([]sender, n)}
	l.clear()
	for i := n - 1; i >= 0; i-- {
		l.insertFirst(int32(i), low)
	}
	return l
}

func (l *lists) clear() {
	for i := range l.ends {
		l.ends[i] = ends{none, none}
	}
}

func (l *lists) ring(v level) uint8 {
	if v == null {
		return uint8(null)
	}
	return (uint8(v) + l.base) % uint8(null)
}

func (l *lists) level(i int32) level {
	ring := l.senders[i].ring
	if ring == uint8(null) {
		return null
	}
	return level((ring + uint8(null) - l.base) % uint8(null))
}

func (l *lists) empty(v level) bool    { return l.ends[l.ring(v)].first == none }
func (l *lists) first(v level) int32   { return l.ends[l.ring(v)].first }
func (l *lists) last(v level) int32    { return l.ends[l.ring(v)].last }
func (l *lists) next(i int32) int32    { return l.senders[i].next }
func (l *lists) move(i int32, v level) { l.remove(i); l.insertFirst(i, v) }

// shift turns the high list into the medium one and the medium list into the low one. The low list,
// which must be empty, becomes the new high list.
func (l *lists) shift() {
	if !l.empty(low) {
		panic(fmt.Sprintf("mailbox: shift of the activity lists while sender %d is in the low one", l.first(low)))
	}
	l.base = (l.base + 1) % uint8(null)
}

func (l *lists) remove(i int32) {
	k := &l.senders[i].links
	e := &l.ends[k.ring]
	if k.prev == none {
		e.first = k.next
	} else {
		l.senders[k.prev].next = k.next
	}
	if k.next == none {
		e.last = k.prev
	} else {
		l.senders[k.next].prev = k.prev
	}
}

func (l *lists) insertFirst(i int32, v level) { l.insertAfter(none, i, v) }

// insertAfter inserts i behind prev, which is in the list of level v, or at the front for none.
func (l *lists) insertAfter(prev, i int32, v level) {
	ring := l.ring(v)
	next := &l.ends[ring].first
	if prev != none {
		next = &l.senders[prev].next
	}
	l.senders[i].links = links{prev: prev, next: *next, ring: ring}
	if *next == none {
		l.ends[ring].last = i
	} else {
		l.senders[*next].prev = i
	}
	*next = i
}

// check verifies that every sender is in exactly one list and that the links are consistent.
func (l *lists) check() error {
	seen := 0
	for v := low; v < numLevels; v++ {
		prev := none
		for i := l.first(v); i != none; i = l.next(i) {
			if l.senders[i].prev != prev || l.level(i) != v || seen == len(l.senders) {
				return fmt.Errorf("mailbox: broken %v list at sender %d", v, i)
			}
			prev = i
			seen++
		}
		if l.last(v) != prev {
			return fmt.Errorf("mailbox: the %v list ends at sender %d, expected %d", v, l.last(v), prev)
		}
	}
	if seen != len(l.senders) {
		return fmt.Errorf("mailbox: %d senders in the activity lists, expected %d", seen, len(l.senders))
	}
	return nil
}
