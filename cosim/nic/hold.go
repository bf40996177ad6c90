package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// forGood is the value of a hold that does not count down.
const forGood = 1<<24 - 1

// A hold limits for how many more cycles a full ring may block others, and counts what was dropped
// because that time was used up (register HOLD).
type hold struct {
	left       uint32
	overflows  uint32
	overflowed bool // since the last that was written
}

// spend subtracts cycles.
func (h *hold) spend(cycles drivers.Cycle) {
	if h.left != forGood {
		h.left -= uint32(min(drivers.Cycle(h.left), cycles))
	}
}

// after returns what remains after so many more cycles.
func (h hold) after(cycles drivers.Cycle) uint32 {
	h.spend(cycles)
	return h.left
}

// drop counts a dropped packet or notification.
func (h *hold) drop() { h.overflows, h.overflowed = h.overflows+1, true }

// ---- mailboxes: the one that holds the completer pays, from heldFrom on ----

// heldFor returns the cycles since heldFrom for which a full mailbox has blocked the completer.
func (n *node) heldFor(at drivers.Cycle) drivers.Cycle {
	if !n.rxStall.on || at < n.heldFrom {
		return 0
	}
	return at - n.heldFrom
}

// payMailbox subtracts the cycles up to at from the hold of the mailbox that blocks the completer.
func (n *node) payMailbox(at drivers.Cycle) {
	n.mbox[n.stalled].spend(n.heldFor(at))
	n.heldFrom = max(n.heldFrom, at)
}

// wakeSpent schedules the completer for the cycle in which the hold of the full mailbox is used up.
func (n *node) wakeSpent() {
	if left := n.mbox[n.stalled].left; left != forGood {
		n.wake(unitCheck, n.heldFrom+drivers.Cycle(left))
	}
}

// ---- rings: of those that hold units, that of the first unit pays ----

// payers selects the ring whose hold counts down from a cycle on. It is called when a unit starts
// or stops waiting for a full ring. Only the ring of the first waiting unit counts down.
func (n *node) payers(from drivers.Cycle) {
	f := &n.rma.notifier
	if f.pays && from > f.paysFrom {
		n.rma.rings[f.payer].spend(from - f.paysFrom)
	}
	if f.pays {
		n.rma.rings[f.payer].stall.end(from)
	}
	f.pays, f.paysFrom, f.spent = false, from, drivers.Forever
	for i := range f.waits {
		if f.waits[i] {
			f.pays, f.payer, f.first = true, n.rma.notifyingUnit(i).note.vpid, i
			n.rma.rings[f.payer].stall.begin(from)
			if left := n.rma.rings[f.payer].left; left != forGood {
				f.spent = from + drivers.Cycle(left)
				n.wake(unitRMA, f.spent)
			}
			return
		}
	}
}

// spendRing lets the first waiting unit ask again when the hold of its ring is used up.
func (n *node) spendRing(now drivers.Cycle) {
	f := &n.rma.notifier
	f.waits[f.first], f.asks[f.first] = false, now+1
	n.payers(now + 1)
	n.wake(unitRMA, now+1)
}

// setHold writes register HOLD of a process.
func (n *node) setHold(now drivers.Cycle, i uint8, v uint64) {
	n.payMailbox(now + 1)
	n.payers(now + 1)
	n.mbox[i].left = uint32(regs.HoldMailbox.Of(v))
	n.rma.rings[i].left = uint32(regs.HoldRing.Of(v))
	if n.rxStall.on && n.stalled == i {
		n.wakeSpent()
	}
	n.payers(now + 1)
}

func (n *node) readHold(now drivers.Cycle, i uint8) uint64 {
	box, ring := n.mbox[i].hold, n.rma.rings[i].hold
	if n.stalled == i {
		box.spend(n.heldFor(now))
	}
	if f := &n.rma.notifier; f.pays && f.payer == i && now > f.paysFrom {
		ring.spend(now - f.paysFrom)
	}
	return uint64(box.left)<<regs.HoldMailbox.LSB() | uint64(ring.left)<<regs.HoldRing.LSB()
}

func (n *node) readOverflow(i uint8) uint64 {
	return uint64(n.mbox[i].overflows)<<regs.OverflowMailbox.LSB() |
		uint64(n.rma.rings[i].overflows)<<regs.OverflowRing.LSB()
}

func (n *node) readRingStall() uint64 {
	f := &n.rma.notifier
	v := uint64(f.found)
	for _, waits := range f.waits {
		if waits {
			v |= regs.RMAStallVPIDStalled
		}
	}
	return v
}
