package nic

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	origin = 3 // the process on node 0 that starts operations
	target = 5 // and the one on node 1 that they concern
)

// newRMA is a pair whose origin and target have 16 pages each, filled with different bytes.
func newRMA(t *testing.T, change ...func(*Config)) *rig {
	r := newPair(t, change...)
	r.openPages(0, origin)
	r.openPages(1, target)
	for i := range 16 << 12 {
		r.memory(0)[pages0+i] = byte(i*7 + i>>8)
		r.memory(1)[pages0+i] = byte(i*13 + i>>7 + 1)
	}
	return r
}

// toTarget is a descriptor of the origin that asks for all notifications.
func toTarget(c regs.RMACommand, bytes int) regs.RMADescFields {
	return regs.RMADescFields{Command: c, DstVPID: target, DstNode: 1, BytesMinus1: uint32(bytes - 1), Tag: 0xabcd,
		NotiRequester: true, NotiResponder: true, NotiCompleter: true}
}

func extOf(offset uint64) uint64 {
	return uint64(regs.RMAExtFields{NLA: nla(offset), Tag: 0xabcd}.Pack())
}

func (r *rig) page(node int, offset, n int) []byte { return r.memory(node)[pages0+offset:][:n] }

// notifications checks that a process has got so many.
func (r *rig) notifications(node int, vpid uint8, want uint64) {
	r.t.Helper()
	require.Equal(r.t, want, r.reg(node, regs.NotiWP(vpid)))
}

// rtl/README.md, RMA: a put writes what it has read, and notifies at both ends.
func TestPut(t *testing.T) {
	for _, tc := range []struct {
		name      string
		bytes     int
		from, to  uint64
		fragments int
	}{
		{"a byte", 1, 0x10, 0x20, 1},
		{"a whole fragment", 256, 0, 0, 1},
		{"not aligned", 100, 0x13, 0x2d, 1},
		{"two fragments", 257, 0x100, 0x200, 2},
		{"a page boundary at the origin", 128, 0xfc0, 0x200, 2},
		{"a page boundary at the target", 128, 0x200, 0xfff, 2},
		{"both, at different bytes", 300, 0xf80, 0xfc0, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			want := bytes.Clone(r.page(0, int(tc.from), tc.bytes))
			before, behind := r.page(1, int(tc.to)-min(1, int(tc.to)), 1)[0], r.page(1, int(tc.to)+tc.bytes, 1)[0]
			r.describe(0, origin, toTarget(regs.RMACommandPut, tc.bytes), nla(tc.from), nla(tc.to))
			r.idle()
			require.Equal(t, want, r.page(1, int(tc.to), tc.bytes))
			require.Equal(t, behind, r.page(1, int(tc.to)+tc.bytes, 1)[0], "not a byte behind it")
			if tc.to > 0 {
				require.Equal(t, before, r.page(1, int(tc.to)-1, 1)[0], "nor before it")
			}
			require.Len(t, r.net.departed, tc.fragments)
			require.EqualValues(t, tc.fragments, r.reg(0, regs.RMATXPackets))
			require.EqualValues(t, tc.fragments, r.reg(1, regs.RMARXPackets))
			r.notifications(0, origin, 1)
			r.notifications(1, target, 1)
			_, at0 := r.notification(0, origin, 0)
			require.Equal(t, regs.RMAUnitRequester, at0.Unit)
			require.True(t, at0.Last)
			require.EqualValues(t, 1, at0.Seq)
			_, at1 := r.notification(1, target, 0)
			require.Equal(t, regs.RMANotiFields{Unit: regs.RMAUnitCompleter, Command: regs.RMACommandPut, Last: true,
				BytesMinus1: at0.BytesMinus1, PeerVPID: origin, PeerNode: 0, Seq: 1}, at1)
		})
	}
}

// RMA: a notification names the NLA on the side of the process that is told.
func TestNotificationsOfSingleOperations(t *testing.T) {
	lock := uint64(regs.RMALockFields{Add: 5, Compare: ^uint32(0)}.Pack())
	for _, tc := range []struct {
		command                   regs.RMACommand
		bytes                     int
		w1, w2                    uint64
		requester, completer      uint64 // first quadwords; the completer's at the process that it tells
		responder                 uint64
		atOrigin, atTarget, units int // notifications
	}{
		{regs.RMACommandPut, 64, nla(0x40), nla(0x80), extOf(0x40), extOf(0x80), 0, 1, 1, 2},
		{regs.RMACommandGet, 64, nla(0x40), nla(0x80), extOf(0x80), extOf(0x80), extOf(0x40), 2, 1, 3},
		{regs.RMACommandImmPut, 8, 0x1122334455667788, nla(0x80), extOf(0x80), extOf(0x80), 0, 1, 1, 2},
		{regs.RMACommandNotiPut, 8, 0x1122334455667788, 0, extOf(0), 0x1122334455667788, 0, 1, 1, 2},
		{regs.RMACommandFCAA, 4, lock, nla(0x84), extOf(0x84), 0, extOf(0x84), 2, 1, 3},
	} {
		t.Run(tc.command.String(), func(t *testing.T) {
			r := newRMA(t)
			r.describe(0, origin, toTarget(tc.command, tc.bytes), tc.w1, tc.w2)
			r.idle()
			r.notifications(0, origin, uint64(tc.atOrigin))
			r.notifications(1, target, uint64(tc.atTarget))
			w0, n := r.notification(0, origin, 0)
			require.Equal(t, tc.requester, w0)
			require.Equal(t, regs.RMANotiFields{Unit: regs.RMAUnitRequester, Command: tc.command,
				BytesMinus1: uint32(tc.bytes - 1), Last: true, PeerVPID: target, PeerNode: 1, Seq: 1}, n)
			w0, n = r.notification(1, target, 0)
			require.Equal(t, tc.command, n.Command)
			require.EqualValues(t, origin, n.PeerVPID)
			if tc.atOrigin == 1 {
				require.Equal(t, tc.completer, w0)
				require.Equal(t, regs.RMAUnitCompleter, n.Unit)
				return
			}
			require.Equal(t, tc.responder, w0)
			require.Equal(t, regs.RMAUnitResponder, n.Unit)
			w0, n = r.notification(0, origin, 1)
			require.Equal(t, regs.RMAUnitCompleter, n.Unit)
			require.EqualValues(t, 2, n.Seq)
			if tc.command == regs.RMACommandGet {
				require.Equal(t, tc.completer, w0)
			}
		})
	}
}

func TestGetMovesBytes(t *testing.T) {
	r := newRMA(t)
	want := bytes.Clone(r.page(1, 0xf23, 777))
	r.describe(0, origin, toTarget(regs.RMACommandGet, 777), nla(0xf23), nla(0x2e41))
	r.idle()
	require.Equal(t, want, r.page(0, 0x2e41, 777))
	r.notifications(0, origin, 2) // requester and completer, of the last fragment
	r.notifications(1, target, 1)
}

func TestImmediatePut(t *testing.T) {
	for _, tc := range []struct{ bytes, fragments int }{{1, 1}, {5, 2}, {8, 2}} { // across a page boundary at the target
		r := newRMA(t)
		r.describe(0, origin, toTarget(regs.RMACommandImmPut, tc.bytes), 0x8877665544332211, nla(0xffd))
		r.idle()
		require.Equal(t, []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}[:tc.bytes], r.page(1, 0xffd, tc.bytes))
		require.Len(t, r.net.departed, tc.fragments)
	}
}

// Format rma_lock: if the 32-bit word is at most compare (unsigned), add is added to it.
func TestFetchCompareAndAdd(t *testing.T) {
	for _, tc := range []struct {
		name              string
		word, compare     uint32
		add, after        uint32
		success           bool
		offsetInQuad, pos uint64
	}{
		{"below", 7, 8, 5, 12, true, 0, 0},
		{"equal", 8, 8, 5, 13, true, 4, 0},
		{"above", 9, 8, 5, 9, false, 0, 0},
		{"unsigned", 0x80000000, 0x7fffffff, 1, 0x80000000, false, 4, 0},
		{"wraps around", ^uint32(0), ^uint32(0), 2, 1, true, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			at := 0x100 + tc.offsetInQuad
			binary.LittleEndian.PutUint32(r.page(1, int(at), 4), tc.word)
			around := bytes.Clone(r.page(1, 0xf8, 24))
			lock := uint64(regs.RMALockFields{Add: tc.add, Compare: tc.compare}.Pack())
			r.describe(0, origin, toTarget(regs.RMACommandFCAA, 4), lock, nla(at))
			r.idle()
			binary.LittleEndian.PutUint32(around[at-0xf8:], tc.after)
			require.Equal(t, around, r.page(1, 0xf8, 24))
			w0, _ := r.notification(0, origin, 1)
			require.Equal(t, regs.RMAResultFields{Old: tc.word, Success: tc.success, Tag: 0xabcd}, regs.RMAResult(w0).Fields())
		})
	}
}

// RMA: FCAA is alone in its responder, so it is atomic against all requests: of many at once none
// is lost.
func TestFetchCompareAndAddIsAtomic(t *testing.T) {
	r := newRMA(t)
	binary.LittleEndian.PutUint64(r.page(1, 0x100, 8), 0)
	lock := uint64(regs.RMALockFields{Add: 1, Compare: ^uint32(0)}.Pack())
	d := toTarget(regs.RMACommandFCAA, 4)
	d.NotiRequester, d.NotiResponder = false, false
	for range regs.RMADepth {
		r.describe(0, origin, d, lock, nla(0x100))
	}
	r.idle()
	require.EqualValues(t, regs.RMADepth, r.word(1, pages0+0x100))
	for i := range uint64(regs.RMADepth) {
		w0, _ := r.notification(0, origin, i)
		require.EqualValues(t, i, regs.RMAResult(w0).Fields().Old)
	}
}

// rma_desc: each notifies of every fragment, otherwise of the last alone; no bit, no notification.
func TestNotifyBits(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		requester, completer bool
		each                 bool
		atOrigin, atTarget   uint64
	}{
		{"none", false, false, true, 0, 0},
		{"last", true, true, false, 1, 1},
		{"each", true, true, true, 3, 3},
		{"completer alone", false, true, true, 0, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			d := toTarget(regs.RMACommandPut, 600)
			d.NotiRequester, d.NotiCompleter, d.Each = tc.requester, tc.completer, tc.each
			r.describe(0, origin, d, nla(0), nla(0))
			r.idle()
			r.notifications(0, origin, tc.atOrigin)
			r.notifications(1, target, tc.atTarget)
			for i := range tc.atTarget {
				w0, n := r.notification(1, target, i)
				require.Equal(t, i == tc.atTarget-1, n.Last)
				if tc.each {
					require.Equal(t, extOf(256*i), w0)
					require.EqualValues(t, []uint32{255, 255, 87}[i], n.BytesMinus1)
				}
			}
		})
	}
}

// RMA: everything that is wrong with a descriptor is told by an error notification to the origin,
// whatever the notify bits say; an error at the requester ends the descriptor.
func TestRequesterErrors(t *testing.T) {
	const behindTable = 16 << 12
	lastByte := uint64(1<<44 - 1)
	for _, tc := range []struct {
		name   string
		change func(d *regs.RMADescFields)
		w1, w2 uint64
		err    regs.RMAError
		faults uint64
	}{
		{"no such command", func(d *regs.RMADescFields) { d.Command = 9 }, nla(0), nla(0), regs.RMAErrorBadCommand, 0},
		{"command 0", func(d *regs.RMADescFields) { d.Command = 0 }, nla(0), nla(0), regs.RMAErrorBadCommand, 0},
		{"immediate put of 9 bytes", func(d *regs.RMADescFields) {
			d.Command, d.BytesMinus1 = regs.RMACommandImmPut, 8
		}, 0, nla(0), regs.RMAErrorBadCommand, 0},
		{"lock that is not aligned", func(d *regs.RMADescFields) {
			d.Command = regs.RMACommandFCAA
		}, 0, nla(2), regs.RMAErrorBadCommand, 0},
		{"no such node", func(d *regs.RMADescFields) { d.DstNode = 2 }, nla(0), nla(0), regs.RMAErrorNoSuchNode, 0},
		{"read beyond the table's address space", nil, nla(lastByte), nla(0), regs.RMAErrorBounds, 0},
		{"write beyond the table's address space", nil, nla(0), nla(lastByte), regs.RMAErrorBounds, 0},
		{"address of more than 48 bits", nil, 1 << 48, nla(0), regs.RMAErrorBounds, 0},
		{"page behind the table", nil, nla(behindTable), nla(0), regs.RMAErrorBounds, 1},
		{"no table", nil, uint64(regs.NLAFields{Table: 7}.Pack()), nla(0), regs.RMAErrorTranslation, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			d := toTarget(regs.RMACommandPut, 64)
			d.NotiRequester, d.NotiCompleter, d.NotiResponder = false, false, false
			if tc.change != nil {
				tc.change(&d)
			}
			r.describe(0, origin, d, tc.w1, tc.w2)
			r.describe(0, origin, toTarget(regs.RMACommandNotiPut, 8), 1, 0) // and the next goes on
			r.idle()
			_, n := r.notification(0, origin, 0)
			require.Equal(t, tc.err, n.Error)
			require.Equal(t, regs.RMAUnitRequester, n.Unit)
			require.True(t, n.Last)
			require.EqualValues(t, 1, r.reg(0, regs.RMAErrors))
			require.Equal(t, tc.faults, r.reg(0, regs.ATUFaults))
			r.notifications(0, origin, 2)
			require.Len(t, r.net.departed, 1)
		})
	}
}

// RMA: a fragment that is refused at the target moves no byte and comes back as an error; the
// others go on.
func TestErrorsAtTheTarget(t *testing.T) {
	mapped := func(owner uint8, rights regs.ATURights) func(r *rig) {
		return func(r *rig) { r.mapPage(1, 1, owner, rights) }
	}
	for _, tc := range []struct {
		name    string
		prepare func(r *rig)
		err     regs.RMAError
		fault   bool
		command regs.RMACommand
	}{
		{"page without rights", mapped(target, regs.ATURightsNone), regs.RMAErrorTranslation, true, regs.RMACommandPut},
		{"read-only page", mapped(target, regs.ATURightsRo), regs.RMAErrorRights, true, regs.RMACommandPut},
		{"page of a higher process", mapped(target+1, regs.ATURightsRw), regs.RMAErrorOwner, true, regs.RMACommandPut},
		{"page of a lower process", mapped(target-1, regs.ATURightsRw), regs.RMAErrorOwner, true, regs.RMACommandPut},
		{"write-only page", mapped(target, regs.ATURightsWo), regs.RMAErrorRights, true, regs.RMACommandGet},
		{"table of one page", func(r *rig) { r.set(1, regs.ATUPages(0), 1) }, regs.RMAErrorBounds, true, regs.RMACommandGet},
		{"ring off", func(r *rig) { r.set(1, regs.NotiCtrl(target), 0) }, regs.RMAErrorWindowOff, false, regs.RMACommandGet},
		{"another domain", func(r *rig) {
			r.set(1, regs.PDID(target), 2)
			r.openRing(1, target, 16)
		}, regs.RMAErrorDomain, false, regs.RMACommandPut},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			tc.prepare(r)
			before := bytes.Clone(r.memory(1)[pages0:])
			d := toTarget(tc.command, 64)
			d.NotiRequester, d.NotiResponder, d.NotiCompleter = false, false, false
			r.describe(0, origin, d, nla(0x1000), nla(0x1000))
			r.idle()
			require.Equal(t, before, r.memory(1)[pages0:])
			r.notifications(0, origin, 1)
			w0, n := r.notification(0, origin, 0)
			unit := regs.RMAUnitCompleter
			if tc.command == regs.RMACommandGet {
				unit = regs.RMAUnitResponder
			}
			require.Equal(t, regs.RMANotiFields{Unit: unit, Command: tc.command, Error: tc.err, BytesMinus1: 63, Last: true,
				PeerVPID: target, PeerNode: 1, Seq: 1}, n)
			require.Equal(t, extOf(0x1000), w0)
			require.EqualValues(t, 1, r.reg(1, regs.RMAErrors))
			faults := r.reg(1, regs.ATUFaults)
			require.Equal(t, tc.fault, faults == 1)
			if tc.fault {
				f := r.reg(1, regs.ATUFault)
				require.EqualValues(t, tc.err, regs.ATUFaultError.Of(f))
				require.EqualValues(t, target, regs.ATUFaultVPID.Of(f))
				require.Equal(t, nla(0x1000), regs.ATUFaultNLA.Of(f))
				require.Equal(t, tc.command == regs.RMACommandPut, f&regs.ATUFaultWrite != 0)
			}
			if tc.err == regs.RMAErrorDomain {
				require.EqualValues(t, 1, r.reg(1, regs.DomainRefused))
				last := r.reg(1, regs.DomainLast)
				require.EqualValues(t, origin, regs.DomainLastSrc.Of(last))
				require.EqualValues(t, 1, regs.DomainLastPDID.Of(last))
			}
		})
	}
}

// RMA: an error found at the target concerns its fragment, the others go on.
func TestOneFragmentFails(t *testing.T) {
	r := newRMA(t)
	r.mapPage(1, 1, target, regs.ATURightsNone)
	want := bytes.Clone(r.page(0, 0x800, 0x2000))
	untouched := bytes.Clone(r.page(1, 0x1000, 0x1000))
	d := toTarget(regs.RMACommandPut, 0x2000)
	d.NotiCompleter = false
	r.describe(0, origin, d, nla(0x800), nla(0x800))
	for !r.stop.Idle || r.reg(0, regs.NotiWP(origin)) < 17 { // a ring of 16 takes 16 errors and one more
		r.settle()
		r.set(0, regs.NotiRP(origin), r.reg(0, regs.NotiWP(origin)))
	}
	require.Equal(t, want[:0x800], r.page(1, 0x800, 0x800))
	require.Equal(t, untouched, r.page(1, 0x1000, 0x1000))
	require.Equal(t, want[0x1800:], r.page(1, 0x2000, 0x800))
	require.EqualValues(t, 16, r.reg(1, regs.RMAErrors))
}

// RMA: memory that the memory refuses is error DMA, and Run reports the access.
func TestRMAOutsideMemory(t *testing.T) {
	r := newRMA(t)
	e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: target, Page: rigMemory >> 12}.Pack()
	binary.LittleEndian.PutUint64(r.memory(1)[table0+8:], uint64(e))
	r.describe(0, origin, toTarget(regs.RMACommandPut, 64), nla(0), nla(0x1000))
	var dma *drivers.DMAError
	require.ErrorAs(t, r.lost(), &dma)
	require.Equal(t, drivers.DMAError{Node: 1, Addr: rigMemory, Bytes: 64, Memory: rigMemory}, *dma)
	_, n := r.notification(0, origin, 1)
	require.Equal(t, regs.RMAErrorDMA, n.Error)

	r = newRMA(t)
	r.set(1, regs.ATUBase(0), rigMemory) // the table itself
	r.describe(0, origin, toTarget(regs.RMACommandPut, 64), nla(0), nla(0x1000))
	require.ErrorAs(t, r.lost(), &dma)
	require.EqualValues(t, 8, dma.Bytes)
	_, n = r.notification(0, origin, 1)
	require.Equal(t, regs.RMAErrorDMA, n.Error)
}

// Outstanding writes: 256 bytes take 35 cycles on the link, so fragments of a long put leave one in
// 35.
func TestLinkIsTheLimit(t *testing.T) {
	r := newRMA(t)
	r.describe(0, origin, toTarget(regs.RMACommandPut, 4096), nla(0), nla(0))
	r.idle()
	require.Len(t, r.net.departed, 16)
	for i := 2; i < 16; i++ {
		require.EqualValues(t, 35, r.net.departed[i].at-r.net.departed[i-1].at)
	}
}

// A descriptor of RMA is announced to the network when it is on the bus of the window.
func TestAnnounce(t *testing.T) {
	r := newRMA(t)
	r.send(0, origin, 1, target, nil)
	r.idle()
	require.Zero(t, r.net.announced)
	r.describe(0, origin, toTarget(regs.RMACommandNotiPut, 8), 1, 0)
	r.idle()
	require.Equal(t, 1, r.net.announced)
}

// RMA: bytes are read and written in bursts that end with their 64-byte line.
func TestBurstsEndWithTheirLine(t *testing.T) {
	log := &traceLog{}
	r := newRMA(t, func(c *Config) { c.Trace = log })
	d := toTarget(regs.RMACommandPut, 200)
	d.NotiRequester, d.NotiCompleter = false, false
	r.describe(0, origin, d, nla(0x13), nla(0x2d))
	r.idle()
	bursts := func(node uint16, point uint8) (at []uint64) {
		for _, e := range log.events {
			if e.Node == node && e.Point == point && e.Data >= pages0 {
				at = append(at, e.Data-pages0)
			}
		}
		return at
	}
	require.Equal(t, []uint64{0x13, 0x40, 0x80, 0xc0}, bursts(0, drivers.PointReadAddr))
	require.Equal(t, []uint64{0x2d, 0x40, 0x80, 0xc0}, bursts(1, drivers.PointWriteAddr))
}

// RMA: requests of one source take effect in order: a get behind an FCAA reads the word that it has
// written.
func TestGetBehindFetchCompareAndAdd(t *testing.T) {
	r := newRMA(t)
	binary.LittleEndian.PutUint64(r.page(1, 0x100, 8), 7)
	lock := toTarget(regs.RMACommandFCAA, 4)
	lock.NotiRequester, lock.NotiResponder = false, false
	get := toTarget(regs.RMACommandGet, 8)
	get.NotiRequester, get.NotiResponder = false, false
	r.describe(0, origin, lock, uint64(regs.RMALockFields{Add: 5, Compare: 100}.Pack()), nla(0x100))
	r.describe(0, origin, get, nla(0x100), nla(0x200))
	r.idle()
	require.EqualValues(t, 12, r.word(0, pages0+0x200))
	_, n := r.notification(0, origin, 0)
	require.Equal(t, regs.RMACommandFCAA, n.Command)
}

// Arbitration: the requester passes a process with descriptors by one fragment of each other
// process.
func TestRequesterServesProcessesInTurn(t *testing.T) {
	r := newRMA(t)
	r.mapPage(0, 8, target, regs.ATURightsRw)
	d := toTarget(regs.RMACommandPut, 2048)
	r.describe(0, origin, d, nla(0), nla(0))
	r.describe(0, target, d, nla(8<<12), nla(4096))
	r.idle()
	require.Len(t, r.net.departed, 16)
	for i := 4; i < 12; i++ {
		before, h := r.net.departed[i-1].header, r.net.departed[i].header
		require.NotEqual(t, before.SrcVPID(), h.SrcVPID(), "fragment %d", i)
	}
}
