package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

func holdOf(mailbox, ring uint64) uint64 {
	return mailbox<<regs.HoldMailbox.LSB() | ring<<regs.HoldRing.LSB()
}

func TestHoldRunsDown(t *testing.T) {
	for _, tc := range []struct {
		left, want uint32
		cycles     drivers.Cycle
	}{{100, 60, 40}, {100, 0, 100}, {100, 0, 1 << 40}, {0, 0, 1}, {forGood, forGood, 1 << 40}} {
		h := hold{left: tc.left}
		require.Equal(t, tc.want, h.after(tc.cycles))
		require.Equal(t, tc.left, h.left, "after only looks ahead")
		h.spend(tc.cycles)
		require.Equal(t, tc.want, h.left)
	}
}

// rtl/README.md, Limits on blocking: at 0, what finds the mailbox full is dropped at once, counted
// in OVERFLOW.mailbox and RX_DROPPED, and told by slot.overflow of the next slot.
func TestMailboxHold(t *testing.T) {
	const cycles = 300
	r := newPair(t)
	r.set(1, regs.MboxCtrl(5), 0)
	r.openMailbox(1, 5, 1)
	r.set(1, regs.Hold(5), holdOf(cycles, 7))
	require.Equal(t, holdOf(cycles, 7), r.reg(1, regs.Hold(5)))
	for range 3 {
		r.send(0, 3, 1, 5, nil)
	}
	r.send(0, 3, 1, 3, []byte("behind"))
	start := r.Now()
	r.run(start + 150)
	require.NotZero(t, r.reg(1, regs.RXStallVPID)&regs.RXStallVPIDStalled)
	left := regs.HoldMailbox.Of(r.reg(1, regs.Hold(5)))
	r.run(r.Now() + 20)
	require.Less(t, regs.HoldMailbox.Of(r.reg(1, regs.Hold(5))), left-20, "it counts down")
	require.Zero(t, r.reg(1, regs.MboxWP(3)))

	r.idle() // others wait for HOLD cycles at most
	require.EqualValues(t, cycles, r.reg(1, regs.RXStall))
	require.EqualValues(t, cycles, r.reg(1, regs.MboxStall(5)))
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(3)))
	require.Equal(t, holdOf(0, 7), r.reg(1, regs.Hold(5)))
	require.EqualValues(t, 2, regs.OverflowMailbox.Of(r.reg(1, regs.Overflow(5))))
	require.EqualValues(t, 2, r.reg(1, regs.RXDropped))
	require.EqualValues(t, regs.DropReasonOverflow, regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo)))

	r.set(1, regs.MboxRP(5), 1)
	for _, overflow := range []bool{true, false} {
		r.send(0, 3, 1, 5, nil)
		r.idle()
		h, _ := r.slot(1, 5, 0)
		require.Equal(t, overflow, h.Overflow)
		r.set(1, regs.MboxRP(5), uint64(h.Seq))
	}
}

// Limits on blocking: forgotten when the mailbox is switched on.
func TestOverflowIsForgottenWithTheMailbox(t *testing.T) {
	r := newPair(t)
	r.set(1, regs.Hold(5), 0)
	r.set(1, regs.MboxCtrl(5), 0)
	r.openMailbox(1, 5, 1)
	for range 2 {
		r.send(0, 3, 1, 5, nil)
	}
	r.idle()
	require.EqualValues(t, 1, regs.OverflowMailbox.Of(r.reg(1, regs.Overflow(5))))
	r.set(1, regs.MboxCtrl(5), 0)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
	r.send(0, 3, 1, 5, nil)
	r.idle()
	h, _ := r.slot(1, 5, 0)
	require.False(t, h.Overflow)
}

// Limits on blocking: HOLD is given anew by privileged software, also to a mailbox that holds.
func TestHoldGivenWhileItHolds(t *testing.T) {
	r := newPair(t)
	r.set(1, regs.MboxCtrl(5), 0)
	r.openMailbox(1, 5, 1)
	for range 2 {
		r.send(0, 3, 1, 5, nil)
	}
	r.settle()
	require.False(t, r.stop.Idle, "all ones is for good")
	r.set(1, regs.Hold(5), holdOf(50, 0))
	r.idle()
	require.EqualValues(t, 1, regs.OverflowMailbox.Of(r.reg(1, regs.Overflow(5))))
}

// Limits on blocking: a ring that is full and holds no longer: OVERFLOW.ring, and before the next
// notification one with rma_error OVERFLOW, whose first quadword is OVERFLOW.ring.
func TestRingHold(t *testing.T) {
	const cycles = 200
	r := newRMA(t)
	r.smallRing(0, origin, 2)
	r.set(0, regs.Hold(origin), holdOf(7, cycles))
	r.pings(origin, 4)
	r.idle()
	stalled := r.reg(0, regs.NotiStall(origin))
	require.EqualValues(t, cycles+1, stalled, "and one cycle in which its unit asks again")
	require.Equal(t, holdOf(7, 0), r.reg(0, regs.Hold(origin)))
	require.EqualValues(t, 2, regs.OverflowRing.Of(r.reg(0, regs.Overflow(origin))))
	require.EqualValues(t, regs.DropReasonOverflow, regs.ErrorInfoReason.Of(r.reg(0, regs.ErrorInfo)))
	r.notifications(0, origin, 2)

	r.set(0, regs.NotiRP(origin), 2)
	r.pings(origin, 1)
	r.idle()
	r.notifications(0, origin, 4)
	w0, n := r.notification(0, origin, 0)
	require.EqualValues(t, 2, w0)
	require.Equal(t, regs.RMANotiFields{Error: regs.RMAErrorOverflow, Last: true, Seq: 3}, n)
	_, n = r.notification(0, origin, 1)
	require.Equal(t, regs.RMAErrorNone, n.Error)
	require.EqualValues(t, 4, n.Seq)
}

// Limits on blocking: HOLD counts down while the ring holds; a ring whose read pointer moves in
// time loses nothing.
func TestRingHoldCountsDown(t *testing.T) {
	r := newRMA(t)
	r.smallRing(0, origin, 1)
	r.set(0, regs.Hold(origin), holdOf(0, 10000))
	r.describe(0, origin, ping, 1, 0)
	r.describe(0, origin, ping, 1, 0)
	r.run(r.Now() + 300)
	left := regs.HoldRing.Of(r.reg(0, regs.Hold(origin)))
	require.Less(t, left, uint64(10000))
	require.Greater(t, left, uint64(9700))
	r.set(0, regs.NotiRP(origin), 1)
	r.idle()
	r.notifications(0, origin, 2)
	rest := regs.HoldRing.Of(r.reg(0, regs.Hold(origin)))
	require.Less(t, rest, left)
	r.run(r.Now() + 100)
	require.Equal(t, rest, regs.HoldRing.Of(r.reg(0, regs.Hold(origin))), "it holds nobody now")
}
