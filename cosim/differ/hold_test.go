package differ

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// mixedHolds make all rings and mailboxes small, read now and then, and let them hold others for
// some cycles, which are given anew now and then; in the end for none.
func mixedHolds(seed uint64, gap, each int) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 8))
	on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	for node := range mixedNodes {
		set := func(off uint32, v uint64) { list = append(list, mixedCommand{at: start, node: node, off: off, v: v}) }
		set(regs.MboxCtrl(0), 0)
		set(regs.MboxSlots(0), uint64(1+rng.IntN(8)))
		set(regs.MboxCtrl(0), on)
		for v := range uint8(mixedProcs) {
			set(regs.NotiCtrl(v), 0)
			set(regs.NotiSlots(v), uint64(1+rng.IntN(8)))
			set(regs.NotiCtrl(v), on)
			set(regs.Hold(v), uint64(rng.IntN(500))<<regs.HoldRing.LSB()|uint64(rng.IntN(500)))
		}
	}
	last := start
	read := [mixedNodes][3]uint64{}
	mixedTimes(rng, gap, each, func(node int, at drivers.Cycle) {
		last = max(last, at)
		c := mixedCommand{at: at, node: node}
		which := rng.IntN(4)
		if which == 3 {
			c.off, c.v = regs.Hold(uint8(rng.IntN(mixedProcs))), uint64(rng.IntN(300))<<regs.HoldRing.LSB()|uint64(rng.IntN(300))
		} else {
			c.off = [...]uint32{regs.MboxRP(0), regs.NotiRP(0), regs.NotiRP(1)}[which]
			read[node][which] += uint64(rng.IntN(3))
			c.v = read[node][which]
		}
		list = append(list, c)
	})
	for node := range mixedNodes {
		for v := range uint8(mixedProcs) {
			list = append(list, mixedCommand{at: last + 20000, node: node, off: regs.Hold(v)})
		}
	}
	return list
}

// Full mailboxes and rings that hold others for some time and then lose what comes: as much, in the
// same cycles, as in the RTL.
func TestHold(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		gap  int
		keys string
	}{{400, ""}, {100, ""}, {20, ""}, {100, "?host_wr_latency=60"}} {
		gap := c.gap
		list := mixedTraffic(*seed, gap)
		commands := mixedHolds(*seed, gap, mixedEach)
		rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:"+c.keys, list, 0, commands...)
		model, modelMemory, modelCounters := runMixed(t, "model:"+c.keys, list, 0, commands...)
		t.Logf("a line per node every %d cycles: counters %v", gap, rtlCounters)
		require.Empty(t, firstApart(rtl, model))
		require.Equal(t, rtlCounters, modelCounters)
		for n := range rtlMemory {
			require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
		}
	}
}
