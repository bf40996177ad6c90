package record

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
)

// mostRoom is how much memory a replay takes at most: that of simulated nodes begins at address 0, however far up that of a board lay.
const mostRoom = 1 << 30

// base is the address from which on the recorded NIC found its memory in one piece.
func base(m *translog.Meta) (uint64, error) {
	if len(m.Segments) == 0 {
		return 0, nil
	}
	first := m.Segments[0]
	for _, s := range m.Segments {
		if s.Addr-first.Addr != s.Off-first.Off {
			return 0, fmt.Errorf("%w: the recorded NIC found memory in several pieces, from 0x%x and from 0x%x on: expected one; record with less memory, or behind an IOMMU",
				drivers.ErrNotSupported, first.Addr, s.Addr)
		}
	}
	return first.Addr - first.Off, nil
}

// Room is how many bytes of memory the nodes of a replay need.
func Room(m *translog.Meta) (int, error) {
	from, err := base(m)
	if err != nil {
		return 0, err
	}
	most := 0
	for _, size := range m.Memory {
		most = max(most, size)
	}
	if from > mostRoom-uint64(min(most, mostRoom)) {
		return 0, fmt.Errorf("%w: the recorded NIC found memory from address 0x%x on: expected below %d MB, where simulated nodes can have some; record behind an IOMMU",
			drivers.ErrNotSupported, from, mostRoom>>20)
	}
	return int(from) + most, nil
}

// based is a system whose nodes have their memory where the recorded ones had it.
type based struct {
	drivers.Timed
	devices []drivers.Device
}

// Device implements drivers.System.
func (p *based) Device(node int) drivers.Device { return p.devices[node] }

type basedDevice struct {
	drivers.Device
	memory   []byte
	segments []drivers.Segment
}

// Memory implements drivers.Device.
func (d *basedDevice) Memory() []byte { return d.memory }

// Segments implements drivers.Device.
func (d *basedDevice) Segments() []drivers.Segment { return d.segments }

// rebase gives a system of the recorded shape in the memory of another one, which begins at address 0.
func rebase(sys drivers.Timed, m *translog.Meta) (drivers.Timed, error) {
	from, err := base(m)
	if err != nil {
		return nil, err
	}
	p := &based{Timed: sys}
	for n, size := range m.Memory {
		dev := sys.Device(n)
		if need := from + uint64(size); uint64(len(dev.Memory())) < need || dev.Segments() != nil {
			return nil, fmt.Errorf("%w: node %d has %d bytes of memory: expected %d, at address 0", drivers.ErrConfig, n, len(dev.Memory()), need)
		}
		p.devices = append(p.devices, &basedDevice{dev, dev.Memory()[from:][:size], m.Segments})
	}
	return p, nil
}
