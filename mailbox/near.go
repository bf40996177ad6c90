package mailbox

import "unsafe"

// Near returns the part of a Flow that every packet touches, independent of its peer, for
// prefetching; nil if unknown.
func Near(f Flow) (at unsafe.Pointer, bytes uintptr) {
	switch f := f.(type) {
	case *dynamic:
		return unsafe.Pointer(f), unsafe.Sizeof(*f)
	case *static:
		return unsafe.Pointer(f), unsafe.Sizeof(*f)
	}
	return nil, 0
}
