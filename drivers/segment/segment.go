// Package segment checks and lays out memory whose device addresses are not its offsets
// ([drivers.Segment]).
package segment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// Grain is the smallest page size.
const Grain = 1 << 12

// Check validates Options.Segments for n nodes with that many bytes each. nil is valid: the
// backend chooses.
func Check(nodes [][]drivers.Segment, n, bytes int) error {
	if nodes != nil && len(nodes) != n {
		return fmt.Errorf("%w: segments of %d nodes: expected those of %d", drivers.ErrConfig, len(nodes), n)
	}
	for node, list := range nodes {
		byAddr := slices.SortedFunc(slices.Values(list), func(a, b drivers.Segment) int { return cmp.Compare(a.Addr, b.Addr) })
		for i, s := range byAddr {
			switch {
			case s.Bytes == 0 || s.Off > uint64(bytes) || s.Bytes > uint64(bytes)-s.Off || s.Addr > math.MaxUint64-s.Bytes:
				return fmt.Errorf("%w: node %d: a segment of 0x%x bytes from 0x%x on: expected one in the %d bytes of memory", drivers.ErrConfig, node, s.Bytes, s.Off, bytes)
			case s.Off%Grain != 0 || s.Addr%Grain != 0:
				return fmt.Errorf("%w: node %d: a segment from 0x%x on at 0x%x: expected multiples of %d", drivers.ErrConfig, node, s.Off, s.Addr, Grain)
			case i > 0 && s.Addr-byAddr[i-1].Addr < byAddr[i-1].Bytes:
				return fmt.Errorf("%w: node %d: segments at 0x%x and 0x%x overlap", drivers.ErrConfig, node, byAddr[i-1].Addr, s.Addr)
			}
		}
	}
	return nil
}

// Of returns the segments of all nodes of a system, or nil if no node has any.
func Of(sys drivers.System) (nodes [][]drivers.Segment) {
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

// CheckLayout returns an error if the memory of a system is not where Options.Segments requires it.
func CheckLayout(sys drivers.System, nodes [][]drivers.Segment) error {
	for n, list := range nodes {
		if !slices.Equal(sys.Device(n).Segments(), list) {
			return fmt.Errorf("%w: memory of %s at chosen addresses", drivers.ErrNotSupported, sys.Info().Backend)
		}
	}
	return nil
}

// Fit returns the first multiple of align, at or after off, from which n bytes lie in one
// segment. Without segments every range does.
func Fit(list []drivers.Segment, off, n, align uint64) (uint64, error) {
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
	return 0, fmt.Errorf("%w: no room from 0x%x on for %d bytes that the NIC finds in one piece", drivers.ErrConfig, off, n)
}
