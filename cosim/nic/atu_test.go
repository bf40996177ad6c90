package nic

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// putAt lets the origin put 8 bytes to a page of the target, and reports the cycles from the
// descriptor until the target has counted them.
func (r *rig) putAt(from, to uint64) drivers.Cycle {
	d := toTarget(regs.RMACommandPut, 8)
	d.NotiRequester, d.NotiCompleter = false, false
	start := r.Now()
	id, err := r.Watch(1, pages0+to, 8)
	require.NoError(r.t, err)
	r.Arm(id)
	r.describe(0, origin, d, nla(from), nla(to))
	r.run(drivers.Forever)
	require.Len(r.t, r.stop.Fired, 1)
	took := r.stop.Now - start
	r.idle()
	return took
}

// rtl/README.md, RMA: a translation costs 1 + HOST_RD_LATENCY more when it misses the TLB.
func TestMissCost(t *testing.T) {
	for _, latency := range []drivers.Cycle{8, 30} {
		r := newRMA(t, func(c *Config) { c.Timing.HostRead = latency })
		r.putAt(0, 0) // the completer keeps the write channel from now on
		r.command(0, regs.ATUOpFlushAll, 0, 0, 0)
		r.command(1, regs.ATUOpFlushAll, 0, 0, 0)
		twoMisses := r.putAt(0, 0) // at the origin and at the target
		noMiss := r.putAt(0, 0)
		oneMiss := r.putAt(0, 0x1000)
		require.Equal(t, 1+latency, oneMiss-noMiss)
		require.Equal(t, 2*(1+latency), twoMisses-noMiss)
		require.EqualValues(t, 2, r.reg(0, regs.ATUHits))
		require.EqualValues(t, 2, r.reg(0, regs.ATUMisses))
		require.EqualValues(t, 1, r.reg(1, regs.ATUHits))
		require.EqualValues(t, 3, r.reg(1, regs.ATUMisses))
	}
}

// RMA: the TLB has 32 entries, direct mapped: two pages 32 apart replace each other, neighbours do
// not.
func TestTLBIsDirectMapped(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pages  [2]uint64
		misses uint64
	}{
		{"neighbours", [2]uint64{4, 5}, 2},
		{"32 apart", [2]uint64{4, 36}, 6},
		{"31 apart", [2]uint64{4, 35}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			r.set(1, regs.ATUPages(0), 40)
			for _, p := range tc.pages {
				r.mapPage(1, p, target, regs.ATURightsRw)
			}
			for range 3 {
				for _, p := range tc.pages {
					r.putAt(0, p<<12)
				}
			}
			require.Equal(t, tc.misses, r.reg(1, regs.ATUMisses))
			require.Equal(t, 6-tc.misses, r.reg(1, regs.ATUHits))
		})
	}
}

// RMA: entries without rights are not cached, so mapping a page needs no flush; taking one away
// does.
func TestMappingNeedsNoFlush(t *testing.T) {
	r := newRMA(t)
	r.mapPage(1, 2, target, regs.ATURightsNone)
	fault := func() regs.RMAError {
		wp := r.reg(0, regs.NotiWP(origin))
		d := toTarget(regs.RMACommandPut, 8)
		d.NotiCompleter = false
		d.NotiRequester = false
		r.describe(0, origin, d, nla(0), nla(0x2000))
		r.idle()
		if r.reg(0, regs.NotiWP(origin)) == wp {
			return regs.RMAErrorNone
		}
		_, n := r.notification(0, origin, wp)
		return n.Error
	}
	require.Equal(t, regs.RMAErrorTranslation, fault())
	r.mapPage(1, 2, target, regs.ATURightsRw)
	require.Equal(t, regs.RMAErrorNone, fault())
	r.mapPage(1, 2, target, regs.ATURightsNone)
	require.Equal(t, regs.RMAErrorNone, fault(), "software that forgets to flush sees the old page")
	r.command(1, regs.ATUOpFlushPage, 0, 0, 2)
	require.Equal(t, regs.RMAErrorTranslation, fault())
}

// command queues a command of a node's translation unit and waits until it is done.
func (r *rig) command(node int, op regs.ATUOp, table, vpid, page uint64) {
	r.set(node, regs.ATUCommand, commandWord(op, table, vpid, page))
	r.idle()
}

func commandWord(op regs.ATUOp, table, vpid, page uint64) uint64 {
	return uint64(op)<<regs.ATUCommandCommand.LSB() | table<<regs.ATUCommandTable.LSB() |
		vpid<<regs.ATUCommandVPID.LSB() | page<<regs.ATUCommandPage.LSB()
}

// Which translations a command forgets.
func TestFlushes(t *testing.T) {
	for _, tc := range []struct {
		name                string
		op                  regs.ATUOp
		table, vpid, page   uint64
		forgotten, forget36 bool // page 4 of process target; page 5
	}{
		{"its page", regs.ATUOpFlushPage, 0, 0, 4, true, false},
		{"another page", regs.ATUOpFlushPage, 0, 0, 6, false, false},
		{"whatever stands in the page's place", regs.ATUOpFlushPage, 0, 0, 36, true, false},
		{"the same page of another table", regs.ATUOpFlushPage, 1, 0, 4, false, true}, // 4 ^ 1 is the place of page 5
		{"its process", regs.ATUOpFlushVPID, 0, target, 0, true, true},
		{"another process", regs.ATUOpFlushVPID, 0, origin, 0, false, false},
		{"all", regs.ATUOpFlushAll, 0, 0, 0, true, true},
		{"a fence flushes nothing", regs.ATUOpFence, 0, 0, 4, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRMA(t)
			r.putAt(0, 0x4000)
			r.putAt(0, 0x5000)
			r.command(1, tc.op, tc.table, tc.vpid, tc.page)
			for _, p := range []struct {
				at     uint64
				missed bool
			}{{0x4000, tc.forgotten}, {0x5000, tc.forget36}} {
				misses := r.reg(1, regs.ATUMisses)
				r.putAt(0, p.at)
				require.Equal(t, p.missed, r.reg(1, regs.ATUMisses) == misses+1, "page at 0x%x", p.at)
			}
		})
	}
}

// RMA: writing ATU_BASE or ATU_PAGES forgets all.
func TestTableRegistersFlushAll(t *testing.T) {
	for _, tc := range []struct {
		off uint32
		v   uint64
	}{{regs.ATUBase(0), table0}, {regs.ATUPages(0), 16}, {regs.ATUPages(9), 1}} {
		r := newRMA(t)
		r.putAt(0, 0x4000)
		r.set(1, tc.off, tc.v)
		r.putAt(0, 0x4000)
		require.EqualValues(t, 2, r.reg(1, regs.ATUMisses), regs.Describe(tc.off))
	}
}

// Format atu_entry: the page size decides which address bits an entry gives; those below it count
// as 0.
func TestPageSizes(t *testing.T) {
	for _, tc := range []struct {
		size   regs.ATUPageSize
		bytes  uint64
		offset uint64
	}{
		{regs.ATUPageSizeK4, 4 << 10, 0xff8},
		{regs.ATUPageSizeK64, 64 << 10, 0xfff8},
		{regs.ATUPageSizeM2, 2 << 20, 0x1ffff8},
	} {
		r := newRMA(t, func(c *Config) { c.Memory = 8 << 20 })
		const page = 4<<20>>12 + 1 // the 1 is a bit below the larger sizes
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: target, Page: page}.Pack()
		base := uint64(4<<20 + 1<<12)
		if tc.size != regs.ATUPageSizeK4 {
			base = 4 << 20
		}
		binary.LittleEndian.PutUint64(r.memory(1)[table0+8:], uint64(e))
		r.set(1, regs.ATUPages(0), 2|uint64(tc.size)<<regs.ATUPagesSize.LSB())
		d := toTarget(regs.RMACommandImmPut, 8)
		r.describe(0, origin, d, 0x1234567890abcdef, nla(tc.bytes+tc.offset))
		r.idle()
		require.EqualValues(t, 0x1234567890abcdef, r.word(1, base+tc.offset), "%v", tc.size)
	}
}

// completion is what commands have written to ATU_DONE.
func (r *rig) completion(node int) regs.ATUCompletionFields {
	return regs.ATUCompletion(r.word(node, completions)).Fields()
}

// RMA, commands: each writes how many are done and refused to ATU_DONE as it was when the command
// came. Before ATU_DONE is written, nothing is.
func TestCommandCompletion(t *testing.T) {
	r := newRMA(t)
	r.command(1, regs.ATUOpFence, 0, 0, 0)
	require.Zero(t, r.completion(1))
	require.EqualValues(t, 1, r.reg(1, regs.ATUStatus))
	r.set(1, regs.ATUDone, completions)
	r.command(1, regs.ATUOpFlushAll, 0, 0, 0)
	require.Equal(t, regs.ATUCompletionFields{Done: 2}, r.completion(1))
	r.PostReg(1, r.Now(), regs.ATUCommand, commandWord(regs.ATUOpFence, 0, 0, 0))
	r.PostReg(1, r.Now(), regs.ATUDone, completions+8)
	r.idle()
	require.Equal(t, regs.ATUCompletionFields{Done: 3}, r.completion(1), "at the address of its time")
	require.Zero(t, r.word(1, completions+8))
}

// RMA, commands: one that finds the queue of ATU_COMMANDS full is refused and counted, in
// ATU_REFUSED and in memory.
func TestRefusedCommands(t *testing.T) {
	r := newRMA(t, func(c *Config) { c.Timing.HostWrite = 2000 })
	r.set(1, regs.ATUDone, completions)
	for range 1 + regs.ATUCommands + 3 { // one is under way
		r.set(1, regs.ATUCommand, commandWord(regs.ATUOpFence, 0, 0, 0))
	}
	v := r.reg(1, regs.ATUStatus)
	require.EqualValues(t, regs.ATUCommands, regs.ATUStatusQueued.Of(v))
	require.NotZero(t, v&regs.ATUStatusBusy)
	require.EqualValues(t, 3, r.reg(1, regs.ATURefused))
	r.idle()
	require.Equal(t, regs.ATUCompletionFields{Done: 1 + regs.ATUCommands, Refused: 3}, r.completion(1))
	require.Zero(t, r.reg(1, regs.ATUStatus)&regs.ATUStatusBusy)
}

// RMA, commands: that memory refused the write of a command ATU_DONE_ERRORS counts.
func TestCommandOutsideMemory(t *testing.T) {
	r := newRMA(t)
	r.set(1, regs.ATUDone, rigMemory)
	r.PostReg(1, r.Now(), regs.ATUCommand, commandWord(regs.ATUOpFence, 0, 0, 0))
	var dma *drivers.DMAError
	require.ErrorAs(t, r.lost(), &dma)
	require.EqualValues(t, 1, r.reg(1, regs.ATUDoneErrors))
	require.EqualValues(t, 1, regs.ATUStatusDone.Of(r.reg(1, regs.ATUStatus)))
}

// RMA: a fence ends when the memory has answered the accesses that were under way when it began.
func TestFenceWaitsForAccesses(t *testing.T) {
	for _, tc := range []struct {
		name string
		node int // where accesses are under way
		d    regs.RMADescFields
		slow func(c *Config)
	}{
		{"a put that is read", 0, toTarget(regs.RMACommandPut, 8), func(c *Config) { c.Timing.HostRead = 400 }},
		{"a put that is written", 1, toTarget(regs.RMACommandPut, 8), func(c *Config) { c.Timing.HostWrite = 400 }},
		{"a get that is read", 1, toTarget(regs.RMACommandGet, 8), func(c *Config) { c.Timing.HostRead = 400 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fence := func(busy bool) drivers.Cycle {
				r := newRMA(t, tc.slow)
				r.putAt(0, 0) // translations hit from now on
				get := toTarget(regs.RMACommandGet, 8)
				get.NotiRequester, get.NotiResponder, get.NotiCompleter = false, false, false
				r.describe(0, origin, get, nla(0), nla(0))
				r.idle()
				tc.d.NotiRequester, tc.d.NotiResponder, tc.d.NotiCompleter = false, false, false
				if busy {
					r.describe(0, origin, tc.d, nla(0), nla(0))
					if tc.node == 1 && tc.d.Command == regs.RMACommandPut {
						r.run(r.Now() + 80)
					} else {
						r.run(r.Now() + 40)
					}
				}
				start := r.Now()
				r.set(tc.node, regs.ATUCommand, commandWord(regs.ATUOpFence, 0, 0, 0))
				for r.reg(tc.node, regs.ATUStatus)&regs.ATUStatusBusy != 0 {
				}
				return r.Now() - start
			}
			require.Less(t, fence(false), drivers.Cycle(40))
			require.Greater(t, fence(true), drivers.Cycle(300))
		})
	}
}
