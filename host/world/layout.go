package world

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/host"
)

// A Layout is what of a node's DMA memory is whose, in offsets: for each process its notification
// ring and mailbox, which one watch covers; then the heaps, which one range of a write limiter can
// hold together; and behind them the translation tables. Without messages for RMA there is nothing
// but mailboxes. All nodes have the same.
//
// What the NIC must find in one piece does not cross from one segment into another. On a device
// that other programs use too (drivers.Tenant) there is this program's part alone, without the
// tables.
type Layout struct {
	noti, box, heap, atu int      // bytes
	rings, heaps         []uint64 // by seat
	tables, end          uint64
}

// pageBytes aligns everything, as mapping it into processes would.
const pageBytes = 4096

// A process may have so many operations under way, and has room for that many
// notifications.
const (
	rmaOutstanding = 64
	notiSlots      = 2048
)

// spareBuffers stand in for buffers outside DMA memory.
const spareBuffers = 4

func pages(n int) int { return (n + pageBytes - 1) / pageBytes * pageBytes }

// Layout lays out the memory of a device; nil: of one whose memory is in one piece, and this
// program's.
func (c *Config) Layout(dev drivers.Device) (*Layout, error) {
	_, procs := c.Directory.seats(nil)
	lent := isLent(dev)
	if lent {
		_, procs = c.Directory.seats(c.Mine)
	}
	return c.layout(dev, procs, lent)
}

// LentBytes is what of a node's memory this program needs where others have theirs:
// Options.MemoryBytes of a drivers.Tenant.
func (c *Config) LentBytes() (int, error) {
	_, procs := c.Directory.seats(c.Mine)
	m, err := c.layout(nil, procs, true)
	if err != nil {
		return 0, err
	}
	return m.Bytes(), nil
}

// layout is Layout for so many processes.
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
	for range procs { // mapped page by page, so these may lie in several segments
		m.heaps = append(m.heaps, m.end)
		m.end += uint64(m.heap)
	}
	m.tables = m.end
	if m.atu > 0 {
		m.tables = put("translation tables of a node", m.atu)
	}
	return err
}

// Bytes of DMA memory that a node needs.
func (m *Layout) Bytes() int { return int(m.end) }

// Mailboxes is where the mailboxes and notification rings of all processes are.
func (m *Layout) Mailboxes() (off, n uint64) { return m.rings[0], m.heaps[0] - m.rings[0] }

// Heaps is where the heaps of all processes are; empty without RMA.
func (m *Layout) Heaps() (off, n uint64) {
	return m.heaps[0], uint64(m.heap) * uint64(len(m.heaps))
}

// Tables is where the node's translation tables are.
func (m *Layout) Tables() (off uint64, bytes int) { return m.tables, m.atu }

func (m *Layout) ring(seat int) uint64    { return m.rings[seat] }
func (m *Layout) mailbox(seat int) uint64 { return m.rings[seat] + uint64(m.noti) }

// watched is what tells a process that something came: its ring and its mailbox.
func (m *Layout) watched(seat int) (off, n uint64) { return m.rings[seat], uint64(m.noti + m.box) }
