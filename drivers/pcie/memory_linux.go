package pcie

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

const (
	smallPage = 1 << 12
	largePage = 1 << 21
)

// memory is memory that the program and its board share.
type memory struct {
	bytes    []byte
	segments []drivers.Segment
	shared   bool // a part of another memory, whose owner frees it
}

// Fields of an entry of /proc/PID/pagemap.
const (
	pagePresent = 1 << 63
	pageNumber  = 1<<55 - 1
)

// hugePages allocates at least twice n bytes plus one page, in 2 MB pages that the kernel does not
// move. Only root can read their physical addresses.
func hugePages(n int) (m memory, err error) {
	pages := (2*n+largePage-1)/largePage + 1
	m.bytes, err = unix.Mmap(-1, 0, pages*largePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_HUGETLB|unix.MAP_HUGE_2MB|unix.MAP_POPULATE)
	if err != nil {
		return m, fmt.Errorf("%w: %d pages of 2 MB: %w; as root: echo %d >/proc/sys/vm/nr_hugepages", drivers.ErrEnvironment, pages, err, 2*pages)
	}
	if m.segments, err = physical("/proc/self/pagemap", m.bytes); err != nil {
		_ = unix.Munmap(m.bytes)
	}
	return m, err
}

// physical returns the physical addresses of the pages as segments; adjacent pages are merged.
func physical(pagemap string, mem []byte) (list []drivers.Segment, err error) {
	f, err := os.Open(pagemap)
	if err != nil {
		return nil, fmt.Errorf("%w: where memory lies: %w", drivers.ErrEnvironment, err)
	}
	defer f.Close()
	first := int64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) / smallPage * 8
	for off := 0; off < len(mem); off += largePage {
		var b [8]byte
		if _, err := f.ReadAt(b[:], first+int64(off/smallPage*8)); err != nil {
			return nil, fmt.Errorf("%w: where memory lies: %w", drivers.ErrEnvironment, err)
		}
		e := binary.NativeEndian.Uint64(b[:])
		if e&pagePresent == 0 || e&pageNumber == 0 {
			return nil, fmt.Errorf("%w: only root can read physical addresses of memory (CAP_SYS_ADMIN)", drivers.ErrEnvironment)
		}
		addr := e & pageNumber * smallPage
		if n := len(list); n > 0 && list[n-1].Addr+list[n-1].Bytes == addr {
			list[n-1].Bytes += largePage
			continue
		}
		list = append(list, drivers.Segment{Off: uint64(off), Addr: addr, Bytes: largePage})
	}
	return list, nil
}

func (m *memory) free() error {
	if m.bytes == nil || m.shared {
		return nil
	}
	err := unix.Munmap(m.bytes)
	m.bytes = nil
	return err
}
