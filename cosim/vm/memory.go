package vm

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/mapping"
)

type file = *os.File

// guestMemory is what the NIC reaches by DMA: its memory is laid into the file that the guest's is in, so that an address is the same on both sides.
// Until the guest lets the function be a bus master, and again when it no longer does, a file that nobody sees is there instead.
type guestMemory struct {
	sys   drivers.Lender
	node  int
	bytes uint64

	mu    sync.Mutex
	file  *os.File // the guest's, from the first that came on
	inode uint64
	sink  *os.File
	on    bool
}

func newGuestMemory(sys drivers.Lender, node int, bytes uint64) (*guestMemory, error) {
	sink, err := mapping.File(bytes)
	if err != nil {
		return nil, err
	}
	return &guestMemory{sys: sys, node: node, bytes: bytes, sink: sink}, nil
}

// take looks at the regions that QEMU tells of, some ninety times in a boot. It keeps one file of them.
func (m *guestMemory) take(regions []region, files *[]file) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range regions {
		var st unix.Stat_t
		if err := unix.Fstat(int((*files)[i].Fd()), &st); err != nil {
			return os.NewSyscallError("fstat", err)
		}
		switch {
		case uint64(st.Size) != m.bytes: // a ROM's
			continue
		case m.file == nil:
			m.inode = st.Ino
			m.file, (*files)[i] = (*files)[i], nil
		}
		if st.Ino == m.inode && (r.at < 0 || r.guest != uint64(r.at)) {
			return fmt.Errorf("%w: the guest's memory at 0x%x lies at 0x%x of its file: expected it in one piece, from 0 on", drivers.ErrProtocol, r.guest, r.at)
		}
	}
	return nil
}

// begin hides what the NIC has of its own.
func (m *guestMemory) begin() error { return m.sys.Lend(m.node, 0, m.bytes, m.sink, 0) }

// reach lets the NIC reach the guest's memory, or no more.
func (m *guestMemory) reach(on bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if on == m.on {
		return nil
	}
	to := m.sink
	if on {
		if m.file == nil {
			return fmt.Errorf("%w: a bus master, and QEMU has shared no memory of %d bytes: expected share=on", drivers.ErrProtocol, m.bytes)
		}
		to = m.file
	}
	m.on = on
	return m.sys.Lend(m.node, 0, m.bytes, to, 0)
}

// follow is called before anything is posted that may have the NIC reach memory.
func (m *guestMemory) follow() error { return nil }

func (m *guestMemory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.sink.Close()
	if m.file != nil {
		_ = m.file.Close()
	}
}
