package bench

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// memory is the layout of a node's DMA memory: for each process its
// notification ring and mailbox, then the heaps, which one range of a write
// limiter can hold together, and behind them the translation tables.
// Without messages for RMA there is nothing but mailboxes.
type memory struct {
	noti, box, heap int // bytes of one process
	atu             int // bytes of one node
}

// pageBytes aligns everything, as mapping it into processes would.
const pageBytes = 4096

// A process may have so many operations under way, and has room for that many
// notifications.
const (
	rmaOutstanding = 64
	notiSlots      = 2048
	notiBytes      = 16
)

// spareBuffers stand in for buffers outside DMA memory.
const spareBuffers = 4

func pages(n int) int { return (n + pageBytes - 1) / pageBytes * pageBytes }

func (c *Config) memory() (m memory, err error) {
	slots, err := c.Velo.MailboxSlots(c.Ranks())
	m.box = pages(slots * regs.SlotBytes)
	longest := 0
	for _, n := range c.Sizes {
		longest = max(longest, n)
	}
	if longest > host.EagerMax {
		m.noti = pages(notiSlots * notiBytes)
		m.heap = pages((c.buffers + spareBuffers) * (longest + pageBytes))
		m.atu = pages(pageBytes + 2*8*c.Procs*(m.stride()+m.heap)/pageBytes)
	}
	return m, err
}

func (m memory) stride() int             { return m.noti + m.box }
func (m memory) bytes(procs int) int     { return int(m.atuBase(procs)) + m.atu }
func (m memory) ring(vpid int) uint64    { return uint64(vpid * m.stride()) }
func (m memory) mailbox(vpid int) uint64 { return m.ring(vpid) + uint64(m.noti) }
func (m memory) heapOf(vpid, procs int) uint64 {
	return uint64(procs*m.stride() + vpid*m.heap)
}
func (m memory) atuBase(procs int) uint64 { return m.heapOf(procs, procs) }

// watched is what tells a process that something came: its ring and its mailbox.
func (m memory) watched(vpid int) (off, n uint64) { return m.ring(vpid), uint64(m.noti + m.box) }

// openRMA gives a rank its port and its heap.
func (m memory) openRMA(c *Config, r *host.Rank, dev drivers.Device, a velo.Addr, atu *rma.ATU) error {
	port, err := rma.Open(dev, a.VPID, a.Node, rma.Config{
		NotiSlots: notiSlots, Outstanding: rmaOutstanding, NotiBase: m.ring(a.VPID), ATU: atu, Domain: c.Velo.Domain,
	})
	if err != nil {
		return err
	}
	peers := make([]rma.Peer, c.Ranks())
	for i, p := range c.addrs() {
		peers[i] = rma.Peer{Node: p.Node, VPID: p.VPID}
	}
	return r.UseRMA(host.RMA{
		Port: port, Peers: peers, Memory: dev.Memory(),
		HeapBase: m.heapOf(a.VPID, c.Procs), HeapBytes: uint64(m.heap),
		Protocol: c.Rendezvous, Chunk: c.Chunk, Outstanding: c.Outstanding,
	})
}
