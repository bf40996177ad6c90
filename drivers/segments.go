package drivers

import "fmt"

// A Segment is a part of Memory that lies in one piece for the NIC: the byte at Off+i of Memory has the device address
// Addr+i. Off, Addr and, but for the last one, Bytes are multiples of SegmentGrain.
type Segment struct{ Off, Addr, Bytes uint64 }

// SegmentGrain is the smallest page.
const SegmentGrain = 1 << 12

// Address is the device address of [off, off+n) of Memory. What lies in several segments has none.
func Address(dev Device, off, n uint64) (uint64, error) {
	if size := uint64(len(dev.Memory())); off > size || n > size-off {
		return 0, fmt.Errorf("%w: %d bytes at 0x%x: expected a range inside the %d bytes of memory", ErrConfig, n, off, size)
	}
	list := dev.Segments()
	if list == nil {
		return off, nil
	}
	for _, s := range list {
		if off >= s.Off && off-s.Off < s.Bytes {
			if n > s.Bytes-(off-s.Off) {
				break
			}
			return s.Addr + (off - s.Off), nil
		}
	}
	return 0, fmt.Errorf("%w: %d bytes at 0x%x of memory do not lie in one piece for the NIC", ErrConfig, n, off)
}

// Offset is where in Memory a device address lies, if it does.
func Offset(dev Device, addr uint64) (uint64, bool) {
	list := dev.Segments()
	if list == nil {
		return addr, addr < uint64(len(dev.Memory()))
	}
	for _, s := range list {
		if addr >= s.Addr && addr-s.Addr < s.Bytes {
			return s.Off + (addr - s.Addr), true
		}
	}
	return 0, false
}

// FitInSegment is the first multiple of align, not before off, from which on n bytes lie in one segment. Without segments they
// do so everywhere.
func FitInSegment(list []Segment, off, n, align uint64) (uint64, error) {
	up := func(off uint64) uint64 { return (off + align - 1) / align * align }
	off = up(off)
	if list == nil {
		return off, nil
	}
	for _, s := range list {
		at := max(off, up(s.Off))
		if end := s.Off + s.Bytes; at < end && n <= end-at {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%w: no room from 0x%x on for %d bytes that the NIC finds in one piece", ErrConfig, off, n)
}
