package drivers

import "fmt"

// A Segment is a contiguous part of Memory in the NIC's address space: the byte at Off+i of Memory
// has device address Addr+i. Off, Addr and Bytes are multiples of the smallest page size, 4 KiB,
// except Bytes of the last segment.
type Segment struct{ Off, Addr, Bytes uint64 }

// Address returns the device address of the range [off, off+n) of Memory. A range that spans
// several segments has none.
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

// Offset converts a device address to an offset in Memory; false if it lies outside.
func Offset(dev Device, addr uint64) (uint64, bool) {
	list := dev.Segments()
	if list == nil {
		return addr, addr < uint64(len(dev.Memory()))
	}
	if s := SegmentAt(list, addr); s != nil {
		return s.Off + (addr - s.Addr), true
	}
	return 0, false
}

// SegmentAt returns the segment that contains a device address, or nil.
func SegmentAt(list []Segment, addr uint64) *Segment {
	for i := range list {
		if s := &list[i]; addr >= s.Addr && addr-s.Addr < s.Bytes {
			return s
		}
	}
	return nil
}
