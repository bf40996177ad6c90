package nic

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// rtl/README.md, Flit channel: 10 cycles + HOST_WR_LATENCY from a packet's last flit to the answer
// of its slot, which counts in the cycle behind it; the next slot begins 9 cycles behind the one
// before.
func TestSlotCycles(t *testing.T) {
	slots := &traceLog{}
	r := newPair(t, func(c *Config) { c.Trace = slots })
	r.send(0, 3, 1, 5, make([]byte, 56))
	r.send(0, 3, 1, 5, make([]byte, 56))
	r.idle()
	const lastFlit = 8
	arrived := r.net.departed[0].at + lastFlit + r.net.delay
	var lasts, counted []drivers.Cycle
	for _, e := range slots.events {
		switch {
		case e.Node == 1 && e.Point == drivers.PointWriteLast:
			lasts = append(lasts, e.Cycle)
		case e.Node == 1 && e.Point == drivers.PointSlot:
			counted = append(counted, e.Cycle)
		}
	}
	hostWrite := RTL().NIC.HostWrite
	require.Equal(t, []drivers.Cycle{arrived + 10, arrived + 10 + 9}, lasts)
	require.Equal(t, []drivers.Cycle{arrived + 10 + hostWrite + 1, arrived + 10 + hostWrite + 1 + 9}, counted)
}

// Receiving: payload, zeros behind it whatever the sender's line held, the slot header in the last
// quadword.
func TestSlotContent(t *testing.T) {
	r := newPair(t)
	for i := range regs.SlotBytes {
		r.memory(1)[mailboxes+5*mailboxStride+i] = 0xee
	}
	line := append([]byte("hello\x02\x01"), bytes.Repeat([]byte{0xff}, 57)...)
	f := regs.PioFields{Length: 5, Piggyback: true, Kind: regs.KindCredit, DstNode: 1, DstVPID: 5, SrcVPID: 3}
	r.PostPIO(0, r.Now(), uint32(f.Pack()), line)
	r.idle()
	h, payload := r.slot(1, 5, 0)
	require.Equal(t, regs.SlotFields{SrcVPID: 3, SrcNode: 0, Length: 5, Kind: regs.KindCredit, Piggyback: true, Seq: 1}, h)
	require.Equal(t, append([]byte("hello\x02\x01"), make([]byte, 49)...), payload)
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(5)))
	require.EqualValues(t, 1, r.reg(1, regs.RXPackets))
}

// Receiving: a full mailbox holds the completer until RP moves or the mailbox is switched off.
func TestFullMailbox(t *testing.T) {
	for _, tc := range []struct {
		name    string
		release func(r *rig)
		slots   uint64 // written in the end
		dropped uint64
	}{
		{"read pointer moves", func(r *rig) { r.set(1, regs.MboxRP(5), 2) }, 4, 0},
		{"switched off", func(r *rig) { r.set(1, regs.MboxCtrl(5), 0) }, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			r.set(1, regs.MboxCtrl(5), 0)
			r.openMailbox(1, 5, 2)
			for i := range 4 {
				r.send(0, 3, 1, 5, []byte{byte(i)})
			}
			r.settle()
			require.False(t, r.stop.Idle, "a stall, not the end")
			require.EqualValues(t, 2, r.reg(1, regs.MboxWP(5)))
			require.EqualValues(t, regs.RXStallVPIDStalled|5, r.reg(1, regs.RXStallVPID))
			require.NotZero(t, r.reg(1, regs.IRQStatus)&regs.IRQStatusStall)
			before := r.reg(1, regs.RXStall)
			r.run(r.Now() + 100)
			require.GreaterOrEqual(t, r.reg(1, regs.RXStall), before+100)
			require.GreaterOrEqual(t, r.reg(1, regs.MboxStall(5)), before+100)

			tc.release(r)
			r.idle()
			require.Equal(t, tc.slots, r.reg(1, regs.RXPackets))
			require.Equal(t, tc.dropped, r.reg(1, regs.RXDropped))
			require.EqualValues(t, 5, r.reg(1, regs.RXStallVPID), "stalled last")
			total := r.reg(1, regs.RXStall)
			r.run(r.Now() + 50)
			require.Equal(t, total, r.reg(1, regs.RXStall))
		})
	}
}

// Receiving: an impossible read pointer is refused: the old one stays, MBOX_RP.refused says so
// until the next write, RP_REFUSED counts, IRQ_STATUS.error comes.
func TestReadPointers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rp      uint64
		refused bool
	}{
		{"all that was written", 3, false},
		{"ahead of what was written", 4, true},
		{"further behind than the ring has slots", 1<<32 - 14, true},
		{"as far behind as the ring has slots", 1<<32 - 13, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			for range 3 {
				r.send(0, 3, 1, 5, nil)
			}
			r.idle()
			r.set(1, regs.MboxRP(5), tc.rp)
			if !tc.refused {
				require.Equal(t, tc.rp, r.reg(1, regs.MboxRP(5)))
				require.Zero(t, r.reg(1, regs.RPRefused))
				return
			}
			require.EqualValues(t, regs.MboxRPRefused, r.reg(1, regs.MboxRP(5)))
			require.EqualValues(t, 1, r.reg(1, regs.RPRefused))
			require.NotZero(t, r.reg(1, regs.IRQStatus)&regs.IRQStatusError)
			r.set(1, regs.MboxRP(5), 1)
			require.EqualValues(t, 1, r.reg(1, regs.MboxRP(5)))
		})
	}
}

// Registers: switching a mailbox on sets WP and RP to 0; writing the switches of one that is on
// keeps them.
func TestSwitchingOnStartsEmpty(t *testing.T) {
	r := newPair(t)
	r.send(0, 3, 1, 5, nil)
	r.idle()
	r.set(1, regs.MboxRP(5), 1)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable|regs.MboxCtrlIRQArrival)
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(5)))
	r.set(1, regs.MboxCtrl(5), 0)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
	require.Zero(t, r.reg(1, regs.MboxWP(5)))
	require.Zero(t, r.reg(1, regs.MboxRP(5)))
	r.send(0, 3, 1, 5, []byte("again"))
	r.idle()
	h, _ := r.slot(1, 5, 0)
	require.EqualValues(t, 1, h.Seq)
}

// Receiving, checks: what is not written, where it counts, and as what.
func TestDroppedPackets(t *testing.T) {
	good := regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 8, SrcVPID: 3, DstNode: 1, DstVPID: 5}
	for _, tc := range []struct {
		name    string
		prepare func(r *rig)
		dstNode uint16
		domain  uint16
		reason  regs.DropReason
		counter uint32
	}{
		{"not for this node", nil, 0, 1, regs.DropReasonNoSuchNode, regs.RXDropped},
		{"another domain", nil, 1, 2, regs.DropReasonDomain, regs.RXDropped},
		{"no domain", nil, 1, 0, regs.DropReasonDomain, regs.RXDropped},
		{"no domain at either end", func(r *rig) {
			r.set(1, regs.PDID(5), 0)
			r.openMailbox(1, 5, 16)
		}, 1, 0, regs.DropReasonDomain, regs.RXDropped},
		{"mailbox off", func(r *rig) { r.set(1, regs.MboxCtrl(5), 0) }, 1, 1, regs.DropReasonMailboxOff, regs.RXDropped},
		{"ring of 0 slots", func(r *rig) {
			r.set(1, regs.MboxCtrl(5), 0)
			r.openMailbox(1, 5, 0)
		}, 1, 1, regs.DropReasonMailboxOff, regs.RXDropped},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			if tc.prepare != nil {
				tc.prepare(r)
			}
			h := good
			h.DstNode = tc.dstNode
			for range 3 { // the completer goes on
				r.forge(1, SourceVELO.Class(), h, stamp(tc.domain), 42)
			}
			r.idle()
			require.EqualValues(t, 3, r.reg(1, tc.counter))
			require.Zero(t, r.reg(1, regs.RXPackets))
			info := r.reg(1, regs.ErrorInfo)
			require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(info))
			require.EqualValues(t, 3, regs.ErrorInfoSrc.Of(info))
			if tc.reason == regs.DropReasonDomain {
				require.EqualValues(t, 3, r.reg(1, regs.DomainRefused))
			}
			r.send(0, 3, 1, 3, []byte("after")) // and others notice nothing
			r.idle()
			require.EqualValues(t, 1, r.reg(1, regs.RXPackets))
		})
	}
}

// Links: the destination of a packet that a link has cut counts it in RX_CRC_ERRORS and drops it.
func TestCutPacket(t *testing.T) {
	r := newPair(t)
	r.send(0, 3, 1, 5, []byte("cut"))
	for len(r.net.ends[1].arrived[0]) == 0 {
		r.run(r.Now() + 1)
	}
	r.net.part.Cut(r.net.ends[1].arrived[0][0].packet)
	r.net.part.Discarded(r.net.ends[1].arrived[0][0].packet) // its made-up tail ends elsewhere
	r.idle()
	require.EqualValues(t, 1, r.reg(1, regs.RXCRCErrors))
	require.Zero(t, r.reg(1, regs.RXDropped))
	require.Zero(t, r.reg(1, regs.RXPackets))
	require.EqualValues(t, regs.DropReasonCRC, regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo)))
}

// Outstanding writes: DMA_WRITES slots are sent before the first is answered.
func TestSlotsUnderWay(t *testing.T) {
	log := &traceLog{}
	r := newPair(t, func(c *Config) { c.Timing.HostWrite, c.Trace = 1000, log })
	r.set(1, regs.MboxCtrl(5), 0)
	r.set(1, regs.MboxSlots(5), 32)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
	for range regs.DMAWrites + 2 {
		r.send(0, 3, 1, 5, []byte("x"))
		r.run(r.Now() + 20)
	}
	r.run(r.Now() + 200)
	require.Zero(t, r.reg(1, regs.MboxWP(5)), "nothing is answered yet")
	require.NotZero(t, r.reg(1, regs.MboxCtrl(5))&regs.MboxCtrlBusy)
	begun := 0
	for _, e := range log.events {
		if e.Node == 1 && e.Point == drivers.PointWriteAddr {
			begun++
		}
	}
	require.Equal(t, regs.DMAWrites, begun)
	r.idle()
	require.EqualValues(t, regs.DMAWrites+2, r.reg(1, regs.MboxWP(5)))
	require.Zero(t, r.reg(1, regs.MboxCtrl(5))&regs.MboxCtrlBusy)
}

// Outstanding writes: a write that fails switches its mailbox off. The failed slot is dropped with
// DMA_ERROR, those behind it in the same mailbox with MAILBOX_OFF.
func TestFailedSlot(t *testing.T) {
	r := newPair(t)
	r.set(1, regs.MboxCtrl(5), 0)
	r.set(1, regs.MboxBase(5), rigMemory-2*regs.SlotBytes) // two of its slots are memory
	r.set(1, regs.MboxSlots(5), 8)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
	for range 4 {
		r.send(0, 3, 1, 5, []byte("x"))
	}
	var dma *drivers.DMAError
	require.ErrorAs(t, r.lost(), &dma)
	require.Equal(t, drivers.DMAError{Node: 1, Addr: rigMemory, Bytes: regs.SlotBytes, Memory: rigMemory}, *dma)
	require.Zero(t, r.reg(1, regs.MboxCtrl(5))&regs.MboxCtrlEnable)
	require.EqualValues(t, 2, r.reg(1, regs.RXPackets))
	require.EqualValues(t, 2, r.reg(1, regs.RXDropped))
	require.EqualValues(t, regs.DropReasonDMAError, regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo)))
}

// Receiving: a mailbox that is switched off is off at once. Slots that are being written are
// dropped.
func TestSwitchedOffWhileSlotsAreWritten(t *testing.T) {
	r := newPair(t, func(c *Config) { c.Timing.HostWrite = 500 })
	r.send(0, 3, 1, 5, []byte("x"))
	r.run(r.Now() + 60)
	require.NotZero(t, r.reg(1, regs.MboxCtrl(5))&regs.MboxCtrlBusy)
	r.set(1, regs.MboxCtrl(5), 0)
	require.EqualValues(t, regs.MboxCtrlBusy, r.reg(1, regs.MboxCtrl(5)))
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable) // old slots do not count in the new life
	r.idle()
	require.Zero(t, r.reg(1, regs.MboxWP(5)))
	require.EqualValues(t, 1, r.reg(1, regs.RXDropped))
	require.EqualValues(t, regs.DropReasonMailboxOff, regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo)))
	require.EqualValues(t, regs.MboxCtrlEnable, r.reg(1, regs.MboxCtrl(5)))
}

// The arrival interrupt comes when a slot is acknowledged, if the mailbox asks for it.
func TestArrivalInterrupt(t *testing.T) {
	r := newPair(t)
	r.set(1, regs.IRQMask, regs.IRQMaskArrival.Mask())
	r.ArmIRQ(1)
	r.send(0, 3, 1, 5, nil)
	r.idle()
	require.Empty(t, r.stop.Fired)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable|regs.MboxCtrlIRQArrival)
	r.send(0, 3, 1, 5, nil)
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ, Node: 1}}, r.stop.Fired)
	require.EqualValues(t, 1<<5, r.reg(1, regs.IRQStatus))
	r.set(1, regs.IRQStatus, 1<<5)
	require.Zero(t, r.reg(1, regs.IRQStatus))
}
