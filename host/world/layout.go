package world

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/host"
)

// A Layout divides a node's DMA memory, in offsets. In order:
//
//   - per process, a notification ring and a mailbox, adjacent so that one watch covers both.
//   - the heaps, adjacent so that one range of a write limiter covers them.
//   - the translation tables.
//
// Without RMA there are only mailboxes. All nodes use the same layout.
//
// Rings, mailboxes and tables must be contiguous for the NIC and never cross a segment boundary. On
// a device shared with other programs (drivers.Tenant) the layout covers only this program's part,
// without the tables.
type Layout struct {
	noti, box, heap, atu int      // bytes
	rings, heaps         []uint64 // by local index
	tables, end          uint64
}

// pageBytes is the alignment of every part, so that each can be mapped into a process.
const pageBytes = 4096

// Limits of a process: outstanding RMA operations, and entries of its notification ring.
const (
	rmaOutstanding = 64
	notiSlots      = 2048
)

// spareBuffers is the number of bounce buffers for user buffers outside DMA memory.
const spareBuffers = 4

func pages(n int) int { return (n + pageBytes - 1) / pageBytes * pageBytes }

// Layout divides the memory of a device. Nil stands for a device with contiguous memory that
// belongs to this program alone.
func (c *Config) Layout(dev drivers.Device) (*Layout, error) {
	_, procs := c.Directory.localIndices(nil)
	lent := isLent(dev)
	if lent {
		_, procs = c.Directory.localIndices(c.Mine)
	}
	return c.layout(dev, procs, lent)
}

// LentBytes is the DMA memory per node that this program needs on a shared device
// (Options.MemoryBytes of a drivers.Tenant).
func (c *Config) LentBytes() (int, error) {
	_, procs := c.Directory.localIndices(c.Mine)
	m, err := c.layout(nil, procs, true)
	if err != nil {
		return 0, err
	}
	return m.Bytes(), nil
}

// layout is Layout for a given number of processes per node.
func (c *Config) layout(dev drivers.Device, procs int, lent bool) (*Layout, error) {
	var list []drivers.Segment
	if dev != nil {
		list = dev.Segments()
	}
	slots, err := c.Velo.MailboxSlots(len(c.Directory))
	if err != nil {
		return nil, err
	}
	m := &Layout{box: pages(slots * regs.SlotBytes)}
	if c.Longest > host.EagerMax || c.Reuse.On() {
		m.noti = pages(notiSlots * regs.NotiBytes)
		m.heap = pages((c.Buffers+spareBuffers)*(c.Longest+pageBytes)) + pages(c.Reuse.Bytes(len(c.Directory)))
		if c.Eager != nil {
			m.heap += pages(c.Eager.Buffers)
		}
		if !lent {
			m.atu = pages(pageBytes + 2*8*procs*(m.noti+m.box+m.heap)/pageBytes)
		}
	}
	return m, m.allocate(list, procs)
}

func (m *Layout) allocate(list []drivers.Segment, procs int) (err error) {
	put := func(what string, bytes int) (at uint64) {
		if err != nil {
			return 0
		}
		if at, err = segment.Fit(list, m.end, uint64(bytes), pageBytes); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		m.end = at + uint64(bytes)
		return at
	}
	for range procs {
		m.rings = append(m.rings, put("ring and mailbox of a process", m.noti+m.box))
	}
	for range procs { // mapped page by page, so a heap may cross segments
		m.heaps = append(m.heaps, m.end)
		m.end += uint64(m.heap)
	}
	m.tables = m.end
	if m.atu > 0 {
		m.tables = put("translation tables of a node", m.atu)
	}
	return err
}

// Bytes is the DMA memory that a node needs.
func (m *Layout) Bytes() int { return int(m.end) }

// Mailboxes is the range of all mailboxes and notification rings.
func (m *Layout) Mailboxes() (off, n uint64) { return m.rings[0], m.heaps[0] - m.rings[0] }

// Heaps is the range of all heaps; empty without RMA.
func (m *Layout) Heaps() (off, n uint64) {
	return m.heaps[0], uint64(m.heap) * uint64(len(m.heaps))
}

// Tables is the range of the node's translation tables.
func (m *Layout) Tables() (off uint64, bytes int) { return m.tables, m.atu }

func (m *Layout) ring(index int) uint64    { return m.rings[index] }
func (m *Layout) mailbox(index int) uint64 { return m.rings[index] + uint64(m.noti) }

// watched is the range whose writes wake a process: its notification ring and its mailbox.
func (m *Layout) watched(index int) (off, n uint64) { return m.rings[index], uint64(m.noti + m.box) }
