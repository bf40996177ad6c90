package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const slowBase = mailboxes + 5*mailboxStride // the range is the mailbox of process 5

// newSlowMailbox limits the writes to the mailbox of process 5 on node 1. Rate is in 1/65536 of
// line rate.
func newSlowMailbox(t *testing.T, rate, depth uint64) (*rig, *traceLog) {
	log := &traceLog{}
	r := newPair(t, func(c *Config) { c.Trace = log })
	r.set(1, regs.NVMRate(2), rate)
	r.set(1, regs.NVMDepth(2), depth)
	r.set(1, regs.NVMEnd(2), slowBase+mailboxStride)
	r.set(1, regs.NVMBase(2), slowBase)
	return r, log
}

// slotWrites lists when the addresses of slots went to memory.
func (l *traceLog) slotWrites(node uint16) (at []drivers.Cycle) {
	for _, e := range l.events {
		if e.Node == node && e.Point == drivers.PointWriteAddr {
			at = append(at, e.Cycle)
		}
	}
	return at
}

// rtl/README.md, RMA: while any range is in use every burst passes a cycle later; NVM_STALL counts
// from the second.
func TestLimiterCostsOneCycle(t *testing.T) {
	gap := func(prepare func(r *rig)) drivers.Cycle {
		log := &traceLog{}
		r := newPair(t, func(c *Config) { c.Trace = log })
		prepare(r)
		start := r.Now()
		r.send(0, 3, 1, 5, []byte("x"))
		r.idle()
		require.Zero(t, r.reg(1, regs.NVMStall(0)))
		return log.slotWrites(1)[0] - start
	}
	off := gap(func(*rig) {})
	elsewhere := gap(func(r *rig) { r.set(1, regs.NVMEnd(0), 64) })
	empty := gap(func(r *rig) { r.set(1, regs.NVMBase(0), 64); r.set(1, regs.NVMEnd(0), 64) })
	require.Equal(t, off+1, elsewhere)
	require.Equal(t, off, empty, "NVM_END not above NVM_BASE: the range is off")
}

// A burst of 64 bytes that does not fit waits: with a buffer of two bursts the third one, and those
// behind it, leave at the rate of the memory.
func TestLimiterRate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rate  uint64
		every drivers.Cycle // cycles for 64 bytes
	}{
		{"an eighth: 1 byte per cycle", nvmFullRate / 8, 64},
		{"a quarter", nvmFullRate / 4, 32},
		{"a sixteenth", nvmFullRate / 16, 128},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, log := newSlowMailbox(t, tc.rate, 2*regs.SlotBytes)
			for range 8 {
				r.send(0, 3, 1, 5, make([]byte, 56))
			}
			r.idle()
			at := log.slotWrites(1)
			require.Len(t, at, 8)
			for i := 4; i < 8; i++ {
				require.Equal(t, tc.every, at[i]-at[i-1], "burst %d", i)
			}
			require.EqualValues(t, 8*regs.SlotBytes, r.reg(1, regs.NVMBytes(2)))
			require.NotZero(t, r.reg(1, regs.NVMStall(2)))
			require.Zero(t, r.reg(1, regs.NVMStall(1)), "another range")
			require.Zero(t, r.reg(1, regs.NVMLevel(2)), "an idle machine has drained its buffers")
		})
	}
}

// A depth below two bursts (128 bytes) rounds the rate down: a burst waits for the end of the one
// before.
func TestShallowBufferIsSlower(t *testing.T) {
	r, log := newSlowMailbox(t, nvmFullRate/8, regs.SlotBytes)
	for range 4 {
		r.send(0, 3, 1, 5, make([]byte, 56))
	}
	r.idle()
	at := log.slotWrites(1)
	require.Greater(t, at[3]-at[2], drivers.Cycle(64))
	require.LessOrEqual(t, at[3]-at[2], drivers.Cycle(68))
}

// The two cycles behind a burst to a range no other one enters it, whatever room there is. A burst
// of a slot takes 8 cycles, so only bursts of notifications could; the state machine itself shows
// it.
func TestTwoCyclesBehindABurst(t *testing.T) {
	r := nvmRange{nvmState: nvmState{first: 0, behind: 1 << 20, rate: nvmFullRate, depth: 1 << 20}}
	r.enter(100, 16)
	require.EqualValues(t, 103, r.fits(101, 64, 16))
	require.EqualValues(t, 101, r.fits(101, 1<<20, 16), "an address behind the range")
}

// A burst that waits for its range blocks all writes of the node behind it, until its rate has made
// room or is raised.
func TestSlowRangeBlocksOtherWrites(t *testing.T) {
	r, _ := newSlowMailbox(t, 1, regs.SlotBytes)
	for range 2 {
		r.send(0, 3, 1, 5, make([]byte, 56))
	}
	r.send(0, 3, 1, 3, []byte("behind"))
	r.run(r.Now() + 2000)
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(5)), "the first filled the buffer")
	require.Zero(t, r.reg(1, regs.MboxWP(3)))
	require.EqualValues(t, regs.SlotBytes, r.reg(1, regs.NVMLevel(2)))
	r.set(1, regs.NVMRate(2), nvmFullRate)
	r.idle()
	require.EqualValues(t, 2, r.reg(1, regs.MboxWP(5)))
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(3)))
}

// A burst counts in the ranges of its first address, in full.
func TestBurstBelongsToTheRangeOfItsFirstAddress(t *testing.T) {
	r, _ := newSlowMailbox(t, nvmFullRate, 256)
	r.set(1, regs.NVMEnd(2), slowBase+8) // one quadword of the first slot
	for range 2 {
		r.send(0, 3, 1, 5, nil)
	}
	r.idle()
	require.EqualValues(t, regs.SlotBytes, r.reg(1, regs.NVMBytes(2)))
}

// When a range gets faster, the machine is quiet as soon as its buffer is empty, not when it would
// have been with the old rate.
func TestFasterRangeEndsTheWait(t *testing.T) {
	r, _ := newSlowMailbox(t, 1, regs.SlotBytes)
	for range 2 {
		r.send(0, 3, 1, 5, make([]byte, 56))
	}
	r.run(r.Now() + 2000)
	r.set(1, regs.NVMRate(2), nvmFullRate)
	from := r.Now()
	r.settle()
	require.Less(t, r.Now()-from, drivers.Cycle(1000))
	require.EqualValues(t, 2, r.reg(1, regs.MboxWP(5)))
}

// NVM_LEVEL is a cycle old and drains by 8 bytes per cycle at full rate.
func TestLevelDrains(t *testing.T) {
	s := nvmState{rate: nvmFullRate / 2, level: 64 << nvmFraction, at: 10}
	for _, tc := range []struct {
		at    drivers.Cycle
		bytes uint64
	}{{5, 64}, {10, 64}, {11, 60}, {25, 4}, {26, 0}, {1000, 0}} {
		require.Equal(t, tc.bytes<<nvmFraction, s.drained(tc.at), "cycle %d", tc.at)
	}
}

// A range with rate 0 would hold all DMA of its node for good: writes of other processes, and the
// fences by which software learns that a page is free. It is taken as rate 1.
func TestRateZeroDoesNotBlockFences(t *testing.T) {
	const line = 64 * nvmFullRate / 8 // cycles in which rate 1 drains a line
	r := newRMA(t)
	r.set(1, regs.NVMRate(0), 0)
	r.set(1, regs.NVMDepth(0), 64)
	r.set(1, regs.NVMEnd(0), slowBase+mailboxStride)
	r.set(1, regs.NVMBase(0), slowBase)
	r.set(1, regs.ATUDone, completions)
	for range 2 { // the second waits for the first
		r.send(0, origin, 1, 5, nil)
	}
	r.run(r.Now() + 500)
	r.PostReg(1, r.Now(), regs.ATUCommand, commandWord(regs.ATUOpFence, 0, 0, 0))
	r.run(r.Now() + line + 500)
	require.EqualValues(t, 1, r.completion(1).Done, "the fence has ended")
	require.EqualValues(t, 1, r.reg(1, regs.NVMRate(0)))
}

// The machine is quiet when its write buffers are empty, which registers then show.
func TestQuietWaitsForTheBuffer(t *testing.T) {
	r, _ := newSlowMailbox(t, 1, 1<<16)
	r.send(0, 3, 1, 5, nil)
	r.idle()
	require.Greater(t, r.Now(), drivers.Cycle(64*nvmFullRate/8))
	require.Zero(t, r.reg(1, regs.NVMLevel(2)))
}

func TestLimiterRegisters(t *testing.T) {
	r := newRig(t, 1)
	for range 2 {
		require.EqualValues(t, nvmFullRate, r.reg(0, regs.NVMRate(3)), "full rate after reset")
	}
	r.set(0, regs.NVMRate(3), 1<<17-1)
	require.EqualValues(t, nvmFullRate, r.reg(0, regs.NVMRate(3)), "no faster than the line")
	r.set(0, regs.NVMBase(3), 0x1000)
	r.set(0, regs.NVMEnd(3), 0x2000)
	r.set(0, regs.NVMDepth(3), 1<<24+77)
	require.EqualValues(t, 0x1000, r.reg(0, regs.NVMBase(3)))
	require.EqualValues(t, 0x2000, r.reg(0, regs.NVMEnd(3)))
	require.EqualValues(t, 77, r.reg(0, regs.NVMDepth(3)))
}
