package nic

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// rtl/README.md, Domains and lives: writing PDID switches off mailbox, ring and both windows.
func TestDomainSwitchesTheProcessOff(t *testing.T) {
	r := newRMA(t)
	r.set(0, regs.MboxCtrl(origin), regs.MboxCtrlEnable|regs.MboxCtrlWindow|regs.MboxCtrlIRQArrival)
	r.set(0, regs.PDID(origin), 7)
	require.EqualValues(t, 7, r.reg(0, regs.PDID(origin)))
	require.EqualValues(t, regs.MboxCtrlIRQArrival, r.reg(0, regs.MboxCtrl(origin)))
	require.Zero(t, r.reg(0, regs.NotiCtrl(origin)))
	for _, off := range []uint32{
		uint32(regs.PioFields{Length: 8, DstNode: 1, DstVPID: target, SrcVPID: origin}.Pack()),
		regs.Descriptors(origin),
	} {
		r.PostPIO(0, r.Now(), off, make([]byte, 24))
		require.Error(t, r.lost())
	}
	require.EqualValues(t, 1, r.reg(0, regs.TXDropped))
	require.EqualValues(t, 1, r.reg(0, regs.RMARefused))
}

// Domains and lives: a life begins when the ring goes on.
func TestLifeBeginsWithTheRing(t *testing.T) {
	r := newRMA(t)
	require.EqualValues(t, 1, r.reg(0, regs.Life(origin)))
	r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable) // it is on
	require.EqualValues(t, 1, r.reg(0, regs.Life(origin)))
	r.set(0, regs.NotiCtrl(origin), 0)
	require.EqualValues(t, 1, r.reg(0, regs.Life(origin)))
	r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable)
	require.EqualValues(t, 2, r.reg(0, regs.Life(origin)))
}

// Domains and lives: the tail of every packet has domain and life of the process that asked.
func TestStamps(t *testing.T) {
	s := stamp(0x1234) | 77<<16
	require.EqualValues(t, 0x1234, s.pdid())
	require.EqualValues(t, 77, s.life())
	require.Equal(t, s, stampOf(s.tail()))
	require.Equal(t, stamp(0x1234)|5<<16, s.in(5))
	require.Equal(t, regs.TailFields{PDID: 0x1234, Life: 77}, s.tail().Fields())
}

// Domains and lives: an answer whose process has begun another life is dropped: LATE,
// RMA_RX_DROPPED, RMA_LATE; one whose ring is off is dropped as well.
func TestLateAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		again  bool
		late   uint64
		reason regs.DropReason
	}{
		{"another life", true, 1, regs.DropReasonLate},
		{"ring off", false, 0, regs.DropReasonWindowOff},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t, func(c *Config) { c.Timing.HostRead = 500 })
			before := bytes.Clone(r.page(0, 0, 64))
			d := toTarget(regs.RMACommandGet, 64)
			d.NotiRequester = false
			r.describe(0, origin, d, nla(0), nla(0))
			r.run(r.Now() + 100)
			r.set(0, regs.NotiCtrl(origin), 0)
			if tc.again {
				r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
			}
			r.idle()
			require.Equal(t, before, r.page(0, 0, 64))
			require.EqualValues(t, 1, r.reg(0, regs.RMARXDropped))
			require.Equal(t, tc.late, r.reg(0, regs.RMALate))
			require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(r.reg(0, regs.ErrorInfo)))
			r.notifications(0, origin, 0)
		})
	}
}

// Domains and lives: a notification for another life than the one it was made for is discarded:
// RMA_NOTI_OFF.
func TestNotificationOfAnotherLife(t *testing.T) {
	r := newRMA(t)
	r.smallRing(0, origin, 1)
	r.pings(origin, 2) // the second waits for the ring
	require.False(t, r.stop.Idle)
	r.PostReg(0, r.Now(), regs.NotiCtrl(origin), 0)
	r.PostReg(0, r.Now(), regs.NotiCtrl(origin), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
	r.idle()
	require.EqualValues(t, 1, r.reg(0, regs.RMANotiOff))
	r.notifications(0, origin, 0)
}

// Domains and lives: a window of RMA that goes off leaves its descriptors dead, also if it goes on
// again: each is discarded in its order without a packet, and counted in RMA_PURGED. LEVEL shows
// what is left.
func TestPurge(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newRMA(t)
		r.smallRing(0, target, 1)
		for range 3 { // fill the ring of another process, so that the requester is held
			r.describe(0, target, ping, 1, 0)
		}
		r.settle()
		require.False(t, r.stop.Idle)
		for range 20 { // and all that it may have begun
			r.describe(0, origin, ping, 1, 0)
			r.settle()
		}
		dead := regs.LevelDescriptors.Of(r.reg(0, regs.Level(origin)))
		require.EqualValues(t, regs.RMADepth, dead)
		begun := regs.LevelFragments.Of(r.reg(0, regs.Level(origin)))
		require.NotZero(t, begun)
		require.NotZero(t, regs.RMALevelDescriptors.Of(r.reg(0, regs.RMALevel)))

		r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable)
		if again {
			r.set(0, regs.NotiCtrl(origin), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
		}
		require.Equal(t, dead, regs.LevelDescriptors.Of(r.reg(0, regs.Level(origin))))
		sent := len(r.net.departed)
		for i := range uint64(2) {
			r.set(0, regs.NotiRP(target), i+1)
			r.settle()
		}
		require.Equal(t, dead, r.reg(0, regs.RMAPurged))
		require.EqualValues(t, 0, regs.LevelDescriptors.Of(r.reg(0, regs.Level(origin))))
		require.Zero(t, regs.LevelFragments.Of(r.reg(0, regs.Level(origin))))
		require.True(t, r.stop.Idle)
		left := len(r.net.departed) - sent // fragments that were begun leave
		require.LessOrEqual(t, uint64(left), begun+1)
		if again { // and the window works
			r.describe(0, origin, ping, 1, 0)
			r.idle()
			require.Len(t, r.net.departed, sent+left+1)
		}
	}
}

// RMA: a descriptor is discarded with SLVERR when its window is off, it has no domain, or reserved
// bits are set.
func TestRefusedDescriptors(t *testing.T) {
	good := uint64(ping.Pack())
	for _, tc := range []struct {
		name   string
		off    uint32
		w0     uint64
		reason regs.DropReason
		wrong  uint64
	}{
		{"reserved bit of the descriptor", regs.Descriptors(origin), good | 1<<47, regs.DropReasonBadLength, 1},
		{"reserved bit of the address", regs.Descriptors(origin) | 1<<20, good, regs.DropReasonBadLength, 1},
		{"window off", regs.Descriptors(9), good, regs.DropReasonWindowOff, 0},
		{"no domain", regs.Descriptors(10), good, regs.DropReasonDomain, 0},
		{"leaves its line", regs.Descriptors(origin) + 48, good, regs.DropReasonBadLength, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			r.openRing(0, 10, 4)
			r.PostPIO(0, r.Now(), tc.off, quadwords(tc.w0, 1, 0))
			var bus *drivers.BusError
			require.ErrorAs(t, r.lost(), &bus)
			require.Equal(t, drivers.RespSLVERR, bus.Resp)
			require.EqualValues(t, 1, r.reg(0, regs.RMARefused))
			require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(r.reg(0, regs.ErrorInfo)))
			vpid := regs.RMAPio(tc.off).SrcVPID()
			require.Equal(t, tc.wrong, regs.VELOWindowWrong.Of(r.reg(0, regs.RMAWindow(vpid))))
			require.Empty(t, r.net.departed)
		})
	}
}

// Sending, RMA: a process has RMA_DEPTH entries; a descriptor that finds none is refused, with
// those behind it.
func TestFullDescriptorWindow(t *testing.T) {
	r := newRMA(t)
	r.smallRing(0, target, 1)
	for range 2 {
		r.describe(0, target, ping, 1, 0)
	}
	r.settle()
	for range 30 {
		r.describe(0, origin, ping, 1, 0)
		r.settle()
	}
	v := r.reg(0, regs.RMAWindow(origin))
	require.EqualValues(t, regs.RMADepth, regs.RMAWindowWaiting.Of(v))
	taken, refused := regs.RMAWindowTaken.Of(v), regs.RMAWindowRefused.Of(v)
	require.EqualValues(t, 30, taken+refused)
	require.NotZero(t, refused)
	require.NotZero(t, v&regs.RMAWindowRetry)
	r.set(0, regs.RMAWindow(origin), 0)
	v = r.reg(0, regs.RMAWindow(origin))
	require.Zero(t, regs.RMAWindowRefused.Of(v))
	require.Zero(t, v&regs.RMAWindowRetry)
	require.Equal(t, taken, regs.RMAWindowTaken.Of(v), "software sends again from this number on")
}

// RMA: a descriptor may come in pieces.
func TestDescriptorInPieces(t *testing.T) {
	r := newRMA(t)
	words := quadwords(uint64(ping.Pack()), 1, 0)
	for _, q := range []int{2, 0} {
		r.PostPIO(0, r.Now(), regs.Descriptors(origin)+uint32(8*q), words[8*q:8*q+8])
		r.settle()
		require.Empty(t, r.net.departed)
		require.NotZero(t, r.reg(0, regs.RMAWindow(origin))&regs.RMAWindowBegun)
	}
	r.PostPIO(0, r.Now(), regs.Descriptors(origin)+8, words[8:16])
	r.idle()
	require.Len(t, r.net.departed, 1)
}

// Domains and lives: domain 0 is none: nothing reaches a process of it, not even a request without
// a domain.
func TestRequestWithoutDomain(t *testing.T) {
	r := newRMA(t)
	r.set(1, regs.PDID(target), 0)
	r.openRing(1, target, 16)
	before := bytes.Clone(r.page(1, 0, 64))
	ext := regs.RMAExtFields{NLA: nla(0)}.Pack()
	h := regs.HeaderFields{Type: regs.PacketTypeRMAPut, Op: uint8(regs.RMAOpFields{Last: true}.Pack()), Length: 16,
		SrcVPID: origin, DstVPID: target, DstNode: 1}
	r.forge(1, SourceRequest.Class(), h, 0, uint64(ext), 0x1122334455667788)
	r.settle()
	require.Equal(t, before, r.page(1, 0, 64))
	require.EqualValues(t, 1, r.reg(1, regs.DomainRefused))
	require.EqualValues(t, 1, r.reg(1, regs.RMAErrors))
}

// A packet that is inspected about when its process gets another domain is written, dropped for the
// mailbox that went off, or refused for its domain: in this order, each counted once and in the
// counter of what happened to it.
func TestPacketAtADomainChange(t *testing.T) {
	const written, off, refused = 0, 1, 2
	last, seen := refused, map[int]int{}
	for wait := range drivers.Cycle(120) { // a later change meets the packet in a later state
		r := newPair(t)
		r.send(0, 3, 1, 5, []byte("old domain"))
		r.PostReg(1, r.Now()+wait, regs.PDID(5), 2)
		r.idle()
		strangers := r.reg(1, regs.DomainRefused)
		dropped := r.reg(1, regs.RXDropped)
		reason := regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo))
		outcome := written
		switch {
		case strangers == 1:
			outcome = refused
			require.EqualValues(t, regs.DropReasonDomain, reason, "wait %d", wait)
		case dropped == 1:
			outcome = off
			require.EqualValues(t, regs.DropReasonMailboxOff, reason, "wait %d", wait)
		}
		require.LessOrEqual(t, strangers, dropped, "wait %d", wait)
		require.LessOrEqual(t, dropped, uint64(1), "wait %d", wait)
		require.LessOrEqual(t, outcome, last, "wait %d", wait)
		last, seen[outcome] = outcome, seen[outcome]+1
	}
	require.Len(t, seen, 3, "the packet was in every state when the domain changed")
}
