package portals

import "slices"

// A matchList is a list in matching order: of entries, or of unexpected headers. The criteria are
// contiguous in memory, so a walk costs about a nanosecond per item; a linked list of objects would
// cost a cache miss each. A removed item leaves a hole that the next compaction closes.
type matchList struct {
	keys     []key
	head     int // the first key that is no hole, if there is one
	live     int
	position []int32 // of the item with an index
}

// A key matches a message if both differences are 0 in the bits that are compared.
type key struct {
	bits, compared         uint64
	source, comparedSource uint64
	item                   uint32 // a handle; 0: a hole
}

// noSource is the source of a hole. No message has it: the wildcards are refused as a source.
const noSource = ^uint64(0)

func sourceKey(p Process) uint64 { return uint64(p.NID)<<32 | uint64(p.PID) }

func (l *matchList) add(k key) {
	if len(l.keys) == cap(l.keys) && l.live <= len(l.keys)/2 {
		l.compact()
	}
	at := int(k.item & indexMask)
	for at >= len(l.position) {
		l.position = append(l.position, 0)
	}
	l.position[at] = int32(len(l.keys))
	l.keys = append(l.keys, k)
	l.live++
}

func (l *matchList) remove(item uint32) {
	at := l.position[item&indexMask]
	l.keys[at] = key{source: noSource, comparedSource: noSource}
	l.live--
	if l.live == 0 {
		l.keys, l.head = l.keys[:0], 0
		return
	}
	for l.keys[l.head].item == 0 {
		l.head++
	}
	if n := len(l.keys) - l.head; n >= 32 && l.live < n/2 {
		l.compact() // costs n, and n/2 items were removed since the last one
	}
}

func (l *matchList) compact() {
	n := 0
	for _, k := range l.keys[l.head:] {
		if k.item != 0 {
			l.position[k.item&indexMask] = int32(n)
			l.keys[n] = k
			n++
		}
	}
	l.keys, l.head = l.keys[:n], 0
}

// entryFor finds the first entry from position at on that accepts a message.
func (l *matchList) entryFor(at int, bits, source uint64) int {
	keys := l.keys
	for at = max(at, l.head); at < len(keys); at++ {
		k := &keys[at]
		if (k.bits^bits)&k.compared|(k.source^source)&k.comparedSource == 0 {
			return at
		}
	}
	return -1
}

// headerFor finds the first header from position at on that an entry accepts.
func (l *matchList) headerFor(at int, e *key) int {
	keys := l.keys
	for at = max(at, l.head); at < len(keys); at++ {
		k := &keys[at]
		if (k.bits^e.bits)&e.compared|(k.source^e.source)&e.comparedSource == 0 && k.item != 0 {
			return at
		}
	}
	return -1
}

func (l *matchList) clone() matchList {
	return matchList{slices.Clone(l.keys), l.head, l.live, slices.Clone(l.position)}
}
