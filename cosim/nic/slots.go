package nic

import (
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A slotWrite is the DMA write of a mailbox slot in flight.
type slotWrite struct {
	addr   uint64
	header regs.Slot
	packet uint32
	vpid   uint8
	failed bool
	lost   bool          // its mailbox was switched off
	began  drivers.Cycle // it was checked
	lands  drivers.Cycle // its last beat reaches memory; 0: that is not known
	ends   drivers.Cycle // its answer counts, once it is in memory
}

// begin starts the write of the slot of the oldest packet, which was checked in cycle checked.
func (n *node) begin(checked drivers.Cycle, m *mailbox) {
	packet := *n.rx.first()
	h := n.p.packets.at(packet).Header
	w := n.slots.grow()
	*w = slotWrite{addr: m.base + uint64(m.idx)*regs.SlotBytes, vpid: h.DstVPID(), packet: packet, began: checked}
	w.header = regs.SlotFields{
		SrcVPID: h.SrcVPID(), SrcNode: h.SrcNode(), Length: h.Length(), Kind: h.Kind(),
		Piggyback: h.Piggyback(), Overflow: m.overflowed, Seq: m.ahead + 1,
	}.Pack()
	if w.failed = !n.inMemory(span{w.addr, regs.SlotBytes}); w.failed {
		n.spoiling++
	} else {
		cache.Want(unsafe.Pointer(&n.mem[n.offset(w.addr)]), regs.SlotBytes/cache.LineBytes)
	}
	m.begin(m.slots)
	m.overflowed = false // the slot tells it
	n.rxBusy, n.rxBegan, n.rxSent = true, checked, drivers.Forever
	const quads = regs.SlotBytes / 8
	if !n.shared && !n.nvmInUse && !n.atu.commands.busy() && n.writes.owner == writeVELO {
		n.slotLeaves(n.writeAlone(writeVELO, checked+1, w.addr, quads))
	} else {
		n.askWrite(writeVELO, checked+1, w.addr, quads)
	}
}

// slotLeaves records when the last beat of the slot in transfer reaches memory. It leaves the
// completer one cycle earlier.
func (n *node) slotLeaves(last drivers.Cycle) {
	n.rxSent, n.slots.at(n.slots.n-1).lands = last-1, last
	n.wake(unitSlot, last-1)
	n.wake(unitSlot, last)
}

// stepSlot handles the last beat of a slot: it leaves the completer, or reaches memory.
func (n *node) stepSlot() {
	if n.slotsIn < n.slots.n && n.slots.at(n.slotsIn).lands == n.p.now {
		n.slotWritten()
	}
	if n.rxBusy && n.rxSent == n.p.now {
		n.rxBusy = false
		n.releaseBuffer()
	}
}

// slotWritten stores a slot whose last beat reaches memory. Its answer takes effect one cycle after
// it arrives.
func (n *node) slotWritten() {
	w := n.slots.at(n.slotsIn)
	n.slotsIn++
	w.ends = n.p.now + n.m.cfg.Timing.HostWrite + 1
	n.wake(unitCommit, w.ends)
	if w.failed {
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: w.addr, Bytes: regs.SlotBytes, Memory: uint64(len(n.mem))})
		return
	}
	p := n.p.packets.at(w.packet)
	at := span{w.addr, regs.SlotBytes}
	mem := n.dma(at)
	used := copy(mem, p.body[:flit.Bytes(p.Header)])
	clear(mem[used:regs.SlotHdrOff])
	putWord(mem[regs.SlotHdrOff:], uint64(w.header))
	n.written(at)
}

// commit handles the answer of the oldest slot write.
func (n *node) commit() {
	w := *n.slots.first()
	n.slots.drop()
	n.slotsIn--
	n.rxEnded = n.p.now
	m, h := &n.mbox[w.vpid], n.p.packets.at(w.packet).Header
	if w.failed {
		n.spoiling--
	}
	switch {
	case w.failed:
		n.rxDropped++
		n.drop(n.p.now, h, regs.DropReasonDMAError)
		if !w.lost { // slots behind it may be under way
			n.keepStanding(w.vpid)
			n.setMailbox(w.vpid, m.ctrl&^regs.MboxCtrlEnable)
		}
	case w.lost:
		n.rxDropped++
		n.drop(n.p.now, h, regs.DropReasonMailboxOff)
	default:
		m.wp++
		n.rxPackets++
		n.m.trace(n.p.now, n.id, drivers.PointSlot, uint64(w.header))
		if m.ctrl&regs.MboxCtrlIRQArrival != 0 {
			n.interrupt(1 << w.vpid)
		}
	}
	n.p.packets.put(w.packet)
	if n.slots.n == regs.DMAWrites-1 && n.rx.n > 0 && !n.rxBusy { // there is an entry again
		n.wake(unitCheck, n.p.now+1)
	}
}

// dropsNow reports whether a slot write is answered in this cycle that failed or whose mailbox is
// off.
func (n *node) dropsNow(now drivers.Cycle) bool {
	return n.slotsIn > 0 && n.slots.first().ends == now && (n.slots.first().failed || n.slots.first().lost)
}

// slotUnderWay reports whether a slot of a mailbox is being written.
func (n *node) slotUnderWay(vpid uint8) bool {
	for i := range n.slots.n {
		if w := n.slots.at(i); w.vpid == vpid && w.began < n.p.now-1 {
			return true
		}
	}
	return false
}

// slotBegins reports whether a slot write of a mailbox has begun that its pointers do not show yet.
func (n *node) slotBegins(vpid uint8) bool {
	if n.slots.n == 0 {
		return false
	}
	w := n.slots.at(n.slots.n - 1)
	return w.vpid == vpid && w.began >= n.p.now-2
}
