package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// ping is a descriptor without memory that notifies the origin alone.
var ping = regs.RMADescFields{Command: regs.RMACommandNotiPut, DstVPID: target, DstNode: 1, NotiRequester: true}

// pings posts some, each when there is an entry for it.
func (r *rig) pings(vpid uint8, n int) {
	for range n {
		r.describe(0, vpid, ping, 1, 0)
		r.settle()
	}
}

func (r *rig) smallRing(node int, vpid uint8, entries uint64) {
	r.set(node, regs.NotiCtrl(vpid), 0)
	r.openRing(node, vpid, entries)
}

// Format rma_noti: seq is the number of the notification in its ring, from 1; the ring wraps
// around.
func TestRingWrapsAround(t *testing.T) {
	r := newRMA(t)
	r.smallRing(0, origin, 3)
	for i := range uint64(7) {
		r.pings(origin, 1)
		_, n := r.notification(0, origin, i%3)
		require.EqualValues(t, i+1, n.Seq)
		r.set(0, regs.NotiRP(origin), i+1)
	}
	require.EqualValues(t, 7, r.reg(0, regs.RMANotis))
}

// rtl/README.md, RMA: a full ring holds the unit that notifies until software reads the ring or
// switches it off; IRQ_STATUS.stall comes at its start, RMA_STALL_VPID names the process.
func TestFullRingHoldsItsUnit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		release func(r *rig)
		written uint64
		off     uint64
	}{
		{"read pointer moves", func(r *rig) { r.set(0, regs.NotiRP(origin), 2) }, 3, 0},
		{"switched off", func(r *rig) { r.set(0, regs.NotiCtrl(origin), 0) }, 2, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			r.smallRing(0, origin, 2)
			r.pings(origin, 3)
			require.False(t, r.stop.Idle)
			require.NotZero(t, r.reg(0, regs.IRQStatus)&regs.IRQStatusStall)
			require.EqualValues(t, regs.RMAStallVPIDStalled|origin, r.reg(0, regs.RMAStallVPID))
			require.EqualValues(t, 1, regs.RMALevelStalled.Of(r.reg(0, regs.RMALevel)), "bit 0: the requester")
			before := r.reg(0, regs.NotiStall(origin))
			r.run(r.Now() + 100)
			require.GreaterOrEqual(t, r.reg(0, regs.NotiStall(origin)), before+100)
			require.NotZero(t, regs.LevelFragments.Of(r.reg(0, regs.Level(origin))))

			// What waits behind it: at the requester all processes of the node. VELO waits for no
			// ring.
			r.describe(0, target, ping, 1, 0)
			r.send(0, origin, 1, target, nil)
			r.settle()
			r.notifications(0, target, 0)
			require.EqualValues(t, 1, r.reg(1, regs.RXPackets))

			tc.release(r)
			r.idle()
			require.Equal(t, tc.off, r.reg(0, regs.RMANotiOff))
			require.Equal(t, tc.written+1, r.reg(0, regs.RMANotis))
			require.EqualValues(t, origin, r.reg(0, regs.RMAStallVPID))
			r.notifications(0, target, 1)
		})
	}
}

// RMA: a full ring of the target holds requests, and answers go on: gets of the target itself end.
func TestAnswersPassAFullRing(t *testing.T) {
	r := newRMA(t)
	r.smallRing(1, target, 1)
	d := ping
	d.NotiRequester, d.NotiCompleter = false, true
	for range 2 {
		r.describe(0, origin, d, 1, 0)
	}
	r.settle()
	require.EqualValues(t, 4, regs.RMALevelStalled.Of(r.reg(1, regs.RMALevel)), "bit 2: the completer of requests")
	r.openPages(1, origin)
	r.openPages(0, target)
	get := regs.RMADescFields{Command: regs.RMACommandGet, DstVPID: target, BytesMinus1: 63, NotiCompleter: true}
	r.describe(1, origin, get, nla(0), nla(0))
	r.settle()
	r.notifications(1, origin, 1)
}

// RMA: a notification for a ring that is off is counted.
func TestNotificationForARingThatIsOff(t *testing.T) {
	r := newRMA(t, func(c *Config) { c.Timing.HostWrite = 300 })
	r.describe(0, origin, ping, 1, 0)
	r.run(r.Now() + 60)
	require.NotZero(t, r.reg(0, regs.NotiCtrl(origin))&regs.NotiCtrlBusy)
	r.set(0, regs.NotiCtrl(origin), 0) // while it is written
	require.EqualValues(t, regs.NotiCtrlBusy, r.reg(0, regs.NotiCtrl(origin)))
	r.idle()
	require.EqualValues(t, 1, r.reg(0, regs.RMANotiOff))
	require.Zero(t, r.reg(0, regs.RMANotis))
	require.Zero(t, r.reg(0, regs.NotiCtrl(origin)))
}

// Outstanding writes: a notification whose write fails switches its ring off and counts in
// RMA_NOTI_OFF.
func TestFailedNotification(t *testing.T) {
	r := newRMA(t)
	r.set(0, regs.NotiCtrl(origin), 0)
	r.set(0, regs.NotiBase(origin), rigMemory-regs.NotiBytes)
	r.set(0, regs.NotiSlots(origin), 8)
	r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
	for range 3 {
		r.describe(0, origin, ping, 1, 0)
	}
	var dma *drivers.DMAError
	require.ErrorAs(t, r.lost(), &dma)
	require.Equal(t, drivers.DMAError{Node: 0, Addr: rigMemory, Bytes: regs.NotiBytes, Memory: rigMemory}, *dma)
	require.EqualValues(t, 1, r.reg(0, regs.RMANotis))
	require.Zero(t, r.reg(0, regs.NotiCtrl(origin))&regs.NotiCtrlEnable)
	require.NotZero(t, r.reg(0, regs.RMANotiOff))
}

// Outstanding writes: as many notifications as DMA_WRITES are sent before the first is answered.
func TestNotificationsUnderWay(t *testing.T) {
	log := &traceLog{}
	r := newRMA(t, func(c *Config) { c.Timing.HostWrite, c.Trace = 5000, log })
	for range 10 {
		for _, v := range []uint8{origin, target} {
			r.describe(0, v, ping, 1, 0)
			r.run(r.Now() + 80)
		}
	}
	require.Len(t, log.slotWrites(0), regs.DMAWrites)
	r.notifications(0, origin, 0)
	r.idle()
	require.EqualValues(t, 20, r.reg(0, regs.RMANotis))
}

// RMA: NOTI_RP is refused as MBOX_RP is.
func TestNotificationReadPointer(t *testing.T) {
	r := newRMA(t)
	r.pings(origin, 2)
	r.set(0, regs.NotiRP(origin), 3)
	require.EqualValues(t, regs.NotiRPRefused, r.reg(0, regs.NotiRP(origin)))
	require.EqualValues(t, 1, r.reg(0, regs.RPRefused))
	r.set(0, regs.NotiRP(origin), 2)
	require.EqualValues(t, 2, r.reg(0, regs.NotiRP(origin)))
}

func TestNotificationInterrupt(t *testing.T) {
	r := newRMA(t)
	r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable|regs.NotiCtrlWindow|regs.NotiCtrlIRQ)
	r.pings(origin, 1)
	require.EqualValues(t, 1<<(18+origin), r.reg(0, regs.IRQStatus))
}

// Arbitration: units share the free entries of a full ring; the one that waits is passed by one
// notification of each other unit.
func TestUnitsShareAFullRing(t *testing.T) {
	r := newRMA(t)
	r.smallRing(0, origin, 1)
	get := regs.RMADescFields{Command: regs.RMACommandGet, DstVPID: target, DstNode: 1, BytesMinus1: 63,
		NotiRequester: true, NotiCompleter: true}
	for range 4 {
		r.describe(0, origin, get, nla(0), nla(0))
	}
	var units []regs.RMAUnit
	for i := range uint64(8) {
		r.settle()
		_, n := r.notification(0, origin, 0)
		require.EqualValues(t, i+1, n.Seq)
		units = append(units, n.Unit)
		r.set(0, regs.NotiRP(origin), i+1)
	}
	r.idle()
	const req, com = regs.RMAUnitRequester, regs.RMAUnitCompleter
	require.Equal(t, []regs.RMAUnit{req, com, req, com, req, com, req, com}, units)
}
