package record

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Shape returns the options for a system that can replay a log: the same number of nodes, and
// memory with the same segments.
func Shape(m *translog.Meta) drivers.Options {
	return drivers.Options{Nodes: m.Info.Nodes, MemoryBytes: slices.Max(m.Memory), Segments: m.Segments}
}

// nameOf is the name of the hardware of a system.
func nameOf(info drivers.Info) string { return registersOf(info).Name }

// fits checks that a system has the shape of the recorded one.
func fits(sys drivers.System, m *translog.Meta) error {
	info := sys.Info()
	if (m.Registers != nil || info.Registers != nil) && info.DescHash != m.Info.DescHash {
		return fmt.Errorf("%w: a log of %s, whose registers have the description %016x, on %s with the description %016x",
			drivers.ErrConfig, nameOf(m.Info), m.Info.DescHash, nameOf(info), info.DescHash)
	}
	if n := info.Nodes; n != m.Info.Nodes {
		return fmt.Errorf("%w: a log of %d nodes on a system of %d", drivers.ErrConfig, m.Info.Nodes, n)
	}
	for n, size := range m.Memory {
		if has := len(sys.Device(n).Memory()); has < size {
			return fmt.Errorf("%w: node %d has %d bytes of memory: expected %d", drivers.ErrConfig, n, has, size)
		}
	}
	if has := segment.Of(sys); !slices.EqualFunc(has, m.Segments, slices.Equal) {
		return fmt.Errorf("%w: each NIC finds its memory at %+v: expected %+v (none: at address 0)", drivers.ErrConfig, has, m.Segments)
	}
	return nil
}
