package scan

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// readWords reads registers of a BAR, whole words at a time, by mapping its file: the kernel gives
// memory in no other way.
func readWords(file string, offsets ...uint32) ([]uint64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const page = 4096
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < page {
		return nil, fmt.Errorf("%s has %d bytes: expected a BAR of registers", file, st.Size())
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, page, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: file, Err: err}
	}
	defer syscall.Munmap(m)
	var words []uint64
	for _, off := range offsets {
		words = append(words, atomic.LoadUint64((*uint64)(unsafe.Pointer(&m[off]))))
	}
	return words, nil
}
