package drivers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Segment is a contiguous part of Memory in the NIC's address space: the byte at Off+i of Memory
// has device address Addr+i. Off, Addr and Bytes are multiples of SegmentGrain, except Bytes of the
// last segment.
type Segment struct{ Off, Addr, Bytes uint64 }

// SegmentGrain is the smallest page size.
const SegmentGrain = 1 << 12

// CheckSegments validates Options.Segments for n nodes with that many bytes each. nil is valid: the
// backend chooses.
func CheckSegments(nodes [][]Segment, n, bytes int) error {
	if nodes != nil && len(nodes) != n {
		return fmt.Errorf("%w: segments of %d nodes: expected those of %d", ErrConfig, len(nodes), n)
	}
	for node, list := range nodes {
		byAddr := slices.SortedFunc(slices.Values(list), func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) })
		for i, s := range byAddr {
			switch {
			case s.Bytes == 0 || s.Off > uint64(bytes) || s.Bytes > uint64(bytes)-s.Off || s.Addr > math.MaxUint64-s.Bytes:
				return fmt.Errorf("%w: node %d: a segment of 0x%x bytes from 0x%x on: expected one in the %d bytes of memory", ErrConfig, node, s.Bytes, s.Off, bytes)
			case s.Off%SegmentGrain != 0 || s.Addr%SegmentGrain != 0:
				return fmt.Errorf("%w: node %d: a segment from 0x%x on at 0x%x: expected multiples of %d", ErrConfig, node, s.Off, s.Addr, SegmentGrain)
			case i > 0 && s.Addr-byAddr[i-1].Addr < byAddr[i-1].Bytes:
				return fmt.Errorf("%w: node %d: segments at 0x%x and 0x%x overlap", ErrConfig, node, byAddr[i-1].Addr, s.Addr)
			}
		}
	}
	return nil
}

// SegmentsOf returns the segments of all nodes of a system, or nil if no node has any.
func SegmentsOf(sys System) (nodes [][]Segment) {
	some := false
	for n := range sys.Info().Nodes {
		list := sys.Device(n).Segments()
		nodes, some = append(nodes, list), some || list != nil
	}
	if !some {
		return nil
	}
	return nodes
}

// checkLayout returns an error if the memory of a system is not where Options.Segments requires it.
func checkLayout(sys System, nodes [][]Segment) error {
	for n, list := range nodes {
		if !slices.Equal(sys.Device(n).Segments(), list) {
			return fmt.Errorf("%w: memory of %s at chosen addresses", ErrNotSupported, sys.Info().Backend)
		}
	}
	return nil
}

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

// FitInSegment returns the first multiple of align, at or after off, from which n bytes lie in one
// segment. Without segments every range does.
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
