package packets

import (
	"syscall"
	"unsafe"
)

// slab allocates memory for a whole network, on huge pages if available, because it is accessed
// everywhere all the time. This affects speed only, so errors are ignored.
func slab[T any](n int) []T {
	const page = 4096
	s := make([]T, n)
	if n == 0 {
		return s
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	size := uintptr(n) * unsafe.Sizeof(s[0])
	if skip := -from % page; size > skip+page {
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
		_ = syscall.Madvise(b[skip:skip+(size-skip)/page*page], syscall.MADV_HUGEPAGE)
	}
	return s
}
