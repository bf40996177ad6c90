package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// forGood is a hold that does not run down.
const forGood = 1<<24 - 1

// A hold is for how many more cycles a full ring may hold others, and what was dropped for it when
// it may not.
type hold struct {
	left       uint32
	overflows  uint32
	overflowed bool // since the last that was written
}

// spend takes cycles off.
func (h *hold) spend(cycles drivers.Cycle) {
	if h.left != forGood {
		h.left -= uint32(min(drivers.Cycle(h.left), cycles))
	}
}

// after is what will be left then.
func (h hold) after(cycles drivers.Cycle) uint32 {
	h.spend(cycles)
	return h.left
}

// drop counts what was dropped.
func (h *hold) drop() { h.overflows, h.overflowed = h.overflows+1, true }

// ---- mailboxes: the one that holds the completer pays, from heldFrom on ----

// heldFor is how long the mailbox that stalls has been paying.
func (n *node) heldFor(at drivers.Cycle) drivers.Cycle {
	if !n.rxStall.on || at < n.heldFrom {
		return 0
	}
	return at - n.heldFrom
}

// payMailbox settles what a mailbox owes up to a cycle.
func (n *node) payMailbox(at drivers.Cycle) {
	n.mbox[n.stalled].spend(n.heldFor(at))
	n.heldFrom = max(n.heldFrom, at)
}

// wakeSpent has the completer look again when the mailbox that holds it may do so no longer.
func (n *node) wakeSpent() {
	if left := n.mbox[n.stalled].left; left != forGood {
		n.wake(unitCheck, n.heldFrom+drivers.Cycle(left))
	}
}

// ---- rings: of those that hold units, that of the first unit pays ----

// payers finds who pays from a cycle on, when units have begun or ceased to wait. For its ring, and
// no other, cycles are counted.
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
			f.pays, f.payer, f.first = true, n.rma.teller(i).note.vpid, i
			n.rma.rings[f.payer].stall.begin(from)
			if left := n.rma.rings[f.payer].left; left != forGood {
				f.spent = from + drivers.Cycle(left)
				n.wake(unitRMA, f.spent)
			}
			return
		}
	}
}

// spendRing: the ring that pays has nothing left; its unit asks again.
func (n *node) spendRing(now drivers.Cycle) {
	f := &n.rma.notifier
	f.waits[f.first], f.asks[f.first] = false, now+1
	n.payers(now + 1)
	n.wake(unitRMA, now+1)
}

// setHold writes HOLD of a process.
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
	return uint64(n.mbox[i].overflows)<<regs.OverflowMailbox.LSB() | uint64(n.rma.rings[i].overflows)<<regs.OverflowRing.LSB()
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
