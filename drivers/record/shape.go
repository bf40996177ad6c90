package record

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Shape is what a system for the replay of a log is opened with: as many nodes, with their memory where the recorded NICs found it, in as
// many pieces.
func Shape(m *translog.Meta) drivers.Options {
	return drivers.Options{Nodes: m.Info.Nodes, MemoryBytes: slices.Max(m.Memory), Segments: m.Segments}
}

// fits tells whether a system has the shape of the recorded one.
func fits(sys drivers.System, m *translog.Meta) error {
	if n := sys.Info().Nodes; n != m.Info.Nodes {
		return fmt.Errorf("%w: a log of %d nodes on a system of %d", drivers.ErrConfig, m.Info.Nodes, n)
	}
	for n, size := range m.Memory {
		if has := len(sys.Device(n).Memory()); has < size {
			return fmt.Errorf("%w: node %d has %d bytes of memory: expected %d", drivers.ErrConfig, n, has, size)
		}
	}
	if has := drivers.SegmentsOf(sys); !slices.EqualFunc(has, m.Segments, slices.Equal) {
		return fmt.Errorf("%w: each NIC finds its memory at %+v: expected %+v (none: at address 0)", drivers.ErrConfig, has, m.Segments)
	}
	return nil
}
