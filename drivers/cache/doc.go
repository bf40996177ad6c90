// Package cache asks for memory before it is needed. Where a thousand processes run one after the other, most of what one of them has is in no
// cache when it comes to it, and a load waits as long as a hundred instructions take; what was asked for some microseconds before is there.
//
// It changes nothing but time, and does nothing on processors that it does not know.
package cache

import "unsafe"

// LineBytes is a line of the cache.
const LineBytes = 64

// Want asks for so many lines from the one on in which p points. p may point anywhere.
func Want(p unsafe.Pointer, lines int) { want(p, lines) }

// An Area is memory that is used together.
type Area struct {
	at    unsafe.Pointer
	lines int
}

// Of is where a value lies.
func Of[T any](p *T) Area { return At(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// At is so many bytes of memory.
func At(p unsafe.Pointer, bytes uintptr) Area {
	return Area{p, (int(bytes) + LineBytes - 1) / LineBytes}
}

// First is the beginning of an area, of so many bytes.
func (a Area) First(bytes uintptr) Area {
	return Area{a.at, min(a.lines, (int(bytes)+LineBytes-1)/LineBytes)}
}

// Want asks for all of it.
func (a Area) Want() {
	if a.lines > 0 {
		want(a.at, a.lines)
	}
}
