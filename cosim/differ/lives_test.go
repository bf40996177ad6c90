package differ

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// mixedLives are processes that end in the middle of everything: windows and rings that go off and
// on again within a few cycles, and domains that change.
func mixedLives(seed uint64, gap, each int) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 7))
	on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	mixedTimes(rng, gap, each, func(node int, at drivers.Cycle) {
		v := uint8(rng.IntN(mixedProcs))
		next := func(off uint32, value uint64) {
			list = append(list, mixedCommand{at: at, node: node, off: off, v: value})
			at += drivers.Cycle(rng.IntN(30))
		}
		switch rng.IntN(4) {
		case 0:
			next(regs.NotiCtrl(v), regs.NotiCtrlEnable)
		case 1:
			next(regs.NotiCtrl(v), 0)
		case 2:
			next(regs.PDID(v), uint64(1+rng.IntN(2)))
		default: // to none, which it leaves at once
			next(regs.PDID(v), 0)
			next(regs.NotiCtrl(v), on)
			next(regs.MboxCtrl(0), on)
			next(regs.PDID(v), 1)
		}
		next(regs.NotiCtrl(v), on)
		next(regs.MboxCtrl(0), on)
	})
	return list
}

// firstApart names the first packet that two runs do not have in the same cycle.
func firstApart(rtl, model *arrived) (text string) {
	first := drivers.Forever
	for _, pair := range [][2]*arrived{{rtl, model}, {model, rtl}} {
		for p, at := range pair[0].at {
			if other, ok := pair[1].at[p]; (!ok || at != other) && min(at, other) < first {
				first, text = min(at, max(other, 1)), fmt.Sprintf("%s %d from %d to %d: cycle %d, model %d", p.kind, p.k, p.src, p.dst, rtl.at[p], model.at[p])
			}
		}
	}
	return text
}

// Processes that live and die beside mixed traffic: what is purged, refused and late is so in the
// RTL's cycle.
func TestLives(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, gap := range []int{400, 100, 20} {
		list := mixedTraffic(*seed, gap)
		commands := append(mixedLives(*seed, 8*gap, mixedEach/8), mixedCommands(*seed, 8*gap, 20)...)
		rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:", list, 0, commands...)
		model, modelMemory, modelCounters := runMixed(t, "model:", list, 0, commands...)
		t.Logf("a line per node every %d cycles: counters %v", gap, rtlCounters)
		require.Equal(t, rtl.told, model.told)
		require.Equal(t, rtlCounters, modelCounters)
		require.Empty(t, firstApart(rtl, model))
		for n := range rtlMemory {
			require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
		}
	}
}
