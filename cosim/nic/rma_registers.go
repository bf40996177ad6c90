package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// readRMA reads the RMA page.
func (n *node) readRMA(off uint32) uint64 {
	r, u := &n.rma, &n.atu
	switch off {
	case regs.RMATXPackets:
		return r.txPackets
	case regs.RMARXPackets:
		return r.rxPackets
	case regs.RMARefused:
		return r.refused
	case regs.RMARXDropped:
		return r.rxDropped
	case regs.RMAErrors:
		return r.errors
	case regs.RMANotis:
		return r.notis
	case regs.RMANotiOff:
		return r.notiOff
	case regs.RMALevel:
		n.seeDescriptor()
		_, ended := n.passing(uint8(r.frag.vpid))
		return r.level() - uint64(ended)
	case regs.RMALate:
		return r.late
	case regs.RMAPurged:
		return r.purged
	case regs.RMAStallVPID:
		return n.readRingStall()
	case regs.ATUFaults:
		return u.faults
	case regs.ATUFault:
		return u.last
	case regs.ATUHits:
		return u.hits
	case regs.ATUMisses:
		return u.misses
	case regs.ATUDone:
		return u.commands.doneAddr
	case regs.ATUCommand:
		return 0
	case regs.ATUStatus:
		return u.commands.status()
	case regs.ATURefused:
		return uint64(u.commands.refused)
	case regs.ATUDoneErrors:
		return uint64(u.commands.errors)
	}
	panic("nic: no such register: " + regs.Describe(off))
}

// level counts the descriptors that wait, and tells which units wait for room in a
// ring: bit 0 requester, 1 responder, 2 completer of requests, 3 of answers.
func (r *rma) level() uint64 {
	v := uint64(r.waiting)
	for i, waits := range r.notifier.waits {
		if waits {
			v |= 1 << (regs.RMALevelStalled.LSB() + i)
		}
	}
	return v
}

// readRMAPages reads RMA's registers among the strided pages.
func (n *node) readRMAPages(now drivers.Cycle, off uint32, i uint8) (uint64, bool) {
	ring, table := &n.rma.rings[i], &n.atu.tables[i]
	switch off {
	case regs.NotiBase(i):
		return ring.base, true
	case regs.NotiSlots(i):
		return uint64(ring.slots), true
	case regs.NotiCtrl(i):
		if n.rma.notifier.writing(now, i) {
			return ring.ctrl | regs.NotiCtrlBusy, true
		}
		return ring.ctrl, true
	case regs.NotiWP(i):
		return uint64(ring.wp), true
	case regs.NotiStall(i):
		return ring.stall.count(now), true
	case regs.NotiRP(i):
		return ring.readRP(), true
	case regs.ATUBase(i):
		return table.base, true
	case regs.ATUPages(i):
		return table.pages, true
	}
	return 0, false
}

// writeRMA writes RMA's registers; it tells whether off is one of them.
func (n *node) writeRMA(now drivers.Cycle, off uint32, i uint8, v uint64) bool {
	ring, table := &n.rma.rings[i], &n.atu.tables[i]
	switch off {
	case regs.ATUDone:
		n.atu.commands.doneAddr, n.atu.commands.doneSet = v&^7, true
	case regs.ATUCommand:
		n.atu.commands.put(now, v)
		n.wake(unitRMA, 0)
	case regs.NotiBase(i):
		ring.base = v &^ (regs.NotiBytes - 1)
	case regs.NotiSlots(i):
		ring.slots = uint32(v & (1<<13 - 1))
		n.ringChanged(now)
	case regs.NotiCtrl(i):
		n.setRing(now, i, v)
	case regs.NotiRP(i):
		if n.moveRP(&ring.pointers, uint32(v), ring.slots, n.rma.notifier.begins(now, i)) {
			n.ringChanged(now)
		}
	case regs.ATUBase(i):
		n.atu.setTable(now, &table.base, v&^(entryBytes-1))
	case regs.ATUPages(i):
		n.atu.setTable(now, &table.pages, v&(regs.ATUPagesPages.Mask()|regs.ATUPagesSize.Mask()))
	default:
		return false
	}
	return true
}
