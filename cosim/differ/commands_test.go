package differ

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// mixedDone is where commands of the translation unit tell that they are done.
const mixedDone = mixedMemory

// A mixedCommand is one for a node's translation unit, or another register that is written.
type mixedCommand struct {
	at   drivers.Cycle
	node int
	off  uint32
	v    uint64
	late bool // not posted before it is to be done, nor is anything behind it
}

// mixedTimes calls f each times per node, every gap cycles on average.
func mixedTimes(rng *rand.Rand, gap, each int, f func(node int, at drivers.Cycle)) {
	for node := range mixedNodes {
		at := start
		for range each {
			at += drivers.Cycle(rng.IntN(2*gap + 1))
			f(node, at)
		}
	}
}

// mixedCommands are fences and flushes of all nodes, one per node every gap cycles on average; now
// and then more come at once than the queue takes.
func mixedCommands(seed uint64, gap, each int) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 5))
	mixedTimes(rng, gap, each, func(node int, at drivers.Cycle) {
		n := 1
		if rng.IntN(10) == 0 {
			n = 40
		}
		for range n {
			op := regs.ATUOpFence
			if rng.IntN(4) == 0 {
				op = regs.ATUOpFlushAll
			}
			list = append(list, mixedCommand{at: at, node: node, off: regs.ATUCommand, v: uint64(op) << regs.ATUCommandCommand.LSB()})
		}
	})
	return list
}

// mixedSwitches are mailboxes that are switched off and on while slots are written, and read
// pointers, many of them impossible.
func mixedSwitches(seed uint64, gap, each int) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 6))
	mixedTimes(rng, gap, each, func(node int, at drivers.Cycle) {
		c := mixedCommand{at: at, node: node, off: regs.MboxRP(0), v: uint64(rng.IntN(mixedEach / 4))}
		switch rng.IntN(4) {
		case 0:
			c.off = regs.NotiRP(uint8(rng.IntN(mixedProcs)))
		case 1:
			c.off, c.v = regs.MboxCtrl(0), regs.MboxCtrlWindow
			list = append(list, c)
			c.at += drivers.Cycle(rng.IntN(20))
			c.v |= regs.MboxCtrlEnable
		}
		list = append(list, c)
	})
	return list
}

// follow posts commands and notes in which cycle each tells that it is done, and what.
func (a *arrived) follow(t *testing.T, m drivers.Timed, commands []mixedCommand) {
	if len(commands) == 0 {
		return
	}
	watches := make([]drivers.WatchID, mixedNodes)
	for n := range mixedNodes {
		var err error
		watches[n], err = m.Watch(n, mixedDone, 8)
		require.NoError(t, err)
		m.PostReg(n, m.Now(), regs.ATUDone, mixedDone)
	}
	var stop drivers.Stop
	for _, c := range commands {
		if c.late {
			require.NoError(t, m.Run(c.at-2, &stop))
		}
		m.PostReg(c.node, c.at, c.off, c.v)
	}
	for goesOn := true; goesOn; {
		for _, w := range watches {
			m.Arm(w)
		}
		refused := runOn(t, m, &stop)
		for _, f := range stop.Fired {
			c := regs.ATUCompletion(binary.LittleEndian.Uint64(m.Device(f.Node).Memory()[mixedDone:]))
			a.told = append(a.told, fmt.Sprintf("cycle %d: node %d: %d done, %d refused", stop.Now, f.Node, c.Done(), c.Refused()))
		}
		goesOn = len(stop.Fired) > 0 || refused
	}
}

// runOn lets time pass until something fires, or a line is refused.
func runOn(t *testing.T, m drivers.Timed, stop *drivers.Stop) (refused bool) {
	err := m.Run(drivers.Forever, stop)
	var bus *drivers.BusError
	if refused = errors.As(err, &bus); !refused {
		require.NoError(t, err)
	}
	return refused
}

// Fences, flushes, switches and read pointers beside mixed traffic: each command is done in the
// RTL's cycle, and as much is refused and lost.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		gap  int
		slow uint64
	}{{1000, 0}, {200, 0}, {20, 0}, {100, 1 << 12}} {
		list, commands := mixedTraffic(*seed, c.gap), mixedCommands(*seed, 4*c.gap, 40)
		commands = append(commands, mixedSwitches(*seed, c.gap, mixedEach)...)
		rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:", list, c.slow, commands...)
		model, modelMemory, modelCounters := runMixed(t, "model:", list, c.slow, commands...)
		t.Logf("a line per node every %d cycles: %d commands told", c.gap, len(rtl.told))
		for i, told := range rtl.told[:min(len(rtl.told), len(model.told))] {
			require.Equal(t, told, model.told[i])
		}
		require.Len(t, model.told, len(rtl.told))
		require.Equal(t, rtlCounters, modelCounters)
		require.Equal(t, rtl.at, model.at)
		for n := range rtlMemory {
			require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
		}
	}
}
