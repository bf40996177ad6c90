package vm

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

type file = *os.File

// guestMemory is the memory accessible to the NIC by DMA. The NIC's memory is mapped to the file of
// the guest's memory, so that addresses are the same on both sides; behind an IOMMU it is mapped
// page by page according to the guest's tables. Inaccessible ranges are mapped to a scratch file,
// and so is everything while bus mastering is disabled.
type guestMemory struct {
	sys   drivers.Lender
	node  int
	bytes uint64
	chip  *qtest // nil: there is no IOMMU

	mu    sync.Mutex
	file  *os.File // of the guest's memory, from the first message that contains it
	inode uint64
	sink  *os.File
	on    bool
	lent  []mapped // mapped to the guest's memory
	table tables   // behind an IOMMU
	root  uint64   // of its tables, when bus mastering was enabled
}

func newGuestMemory(sys drivers.Lender, node int, bytes uint64) (*guestMemory, error) {
	sink, err := sharedmem.File(bytes)
	if err != nil {
		return nil, err
	}
	m := &guestMemory{sys: sys, node: node, bytes: bytes, sink: sink}
	if err := sys.Lend(node, 0, bytes, sink, 0); err != nil { // hides the NIC's own memory
		_ = sink.Close()
		return nil, err
	}
	return m, nil
}

// take handles the regions that QEMU reports, about ninety times per boot. It keeps one of their
// files.
func (m *guestMemory) take(regions []region, files *[]file) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range regions {
		var st unix.Stat_t
		if err := unix.Fstat(int((*files)[i].Fd()), &st); err != nil {
			return os.NewSyscallError("fstat", err)
		}
		switch {
		case uint64(st.Size) != m.bytes: // of a ROM
			continue
		case m.file == nil:
			mem, err := sharedmem.Map((*files)[i], m.bytes)
			if err != nil {
				return err
			}
			m.inode, m.table = st.Ino, tables{mem, m.bytes}
			m.file, (*files)[i] = (*files)[i], nil
		}
		if st.Ino == m.inode && (r.at < 0 || r.guest != uint64(r.at)) {
			return fmt.Errorf("%w: the guest's memory at 0x%x lies at 0x%x of its file: expected it in one piece, from 0 on", drivers.ErrProtocol, r.guest, r.at)
		}
	}
	return nil
}

// reach enables or disables the NIC's access to the guest's memory.
func (m *guestMemory) reach(on bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on, m.root = on, 0
	if on && m.file == nil {
		return fmt.Errorf("%w: a bus master, and QEMU has shared no memory of %d bytes: expected share=on", drivers.ErrProtocol, m.bytes)
	}
	return m.lay()
}

// follow is called before anything is posted that may cause DMA: mappings made by the guest are
// complete at that time. The guest reports unmapped pages only to its IOMMU, so they stay mapped
// until the next post.
func (m *guestMemory) follow() error {
	if m.chip == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return nil
	}
	return m.lay()
}

// lay updates the mappings. The lock is held.
func (m *guestMemory) lay() error {
	want, err := m.reachable()
	if err != nil || slices.Equal(want, m.lent) {
		return err
	}
	for _, r := range m.lent {
		if !slices.Contains(want, r) {
			if err := m.sys.Lend(m.node, r.device, r.bytes, m.sink, r.device); err != nil {
				return err
			}
		}
	}
	for _, r := range want {
		if !slices.Contains(m.lent, r) {
			if err := m.sys.Lend(m.node, r.device, r.bytes, m.file, r.guest); err != nil {
				return err
			}
		}
	}
	m.lent = want
	return nil
}

// reachable returns the ranges that the NIC may access.
func (m *guestMemory) reachable() ([]mapped, error) {
	switch {
	case !m.on:
		return nil, nil
	case m.chip == nil:
		return []mapped{{0, 0, m.bytes}}, nil
	}
	var err error
	if m.root == 0 {
		if m.root, err = m.chip.load(iommuRoot); err != nil || m.root == 0 {
			return nil, err
		}
	}
	list, err := m.table.mappings(m.root)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(r mapped) bool {
		return r.guest >= m.bytes || r.bytes > m.bytes-r.guest || r.bytes > m.bytes-r.device
	}), nil
}

// message translates an interrupt message.
func (m *guestMemory) message(address uint64, data uint32) (uint64, uint32, error) {
	if m.chip == nil {
		return address, data, nil
	}
	table, err := m.chip.load(iommuInterrupts)
	if err != nil {
		return 0, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.remapped(table, address, data)
}

func (m *guestMemory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.sink.Close()
	if m.file != nil {
		_ = m.file.Close()
		sharedmem.Free(m.table.mem)
	}
}
