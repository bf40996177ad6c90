// Package cache prefetches memory. When a thousand simulated processes run one after the other,
// most data of a process has been evicted from the cache when its next step runs, and a load stalls
// for as long as a hundred instructions take. Data prefetched some microseconds earlier is already
// cached.
//
// Prefetching affects only the run time. On unsupported processors the functions do nothing.
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
