package differ

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// TestWireRegisters: what registers of links and wires, built and not built, answer, and how long
// each access takes.
func TestWireRegisters(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	var logs [2][]string
	for i, scheme := range []string{"rtl:", "model:"} {
		sys, err := registry.Open(context.Background(), scheme+"?wire_latency=2", drivers.Options{Nodes: 4, MemoryBytes: 4096})
		if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
			t.Skipf("no simulator here: %v", err)
		}
		require.NoError(t, err)
		defer func() { require.NoError(t, sys.Close()) }()
		m := sys.(drivers.Timed)
		var stop drivers.Stop
		note := func(format string, args ...any) {
			logs[i] = append(logs[i], fmt.Sprintf("cycle %d: ", m.Now())+fmt.Sprintf(format, args...))
		}
		answer := func(err error) string {
			var bus *drivers.BusError
			if errors.As(err, &bus) {
				return fmt.Sprintf("response %d of 0x%x", bus.Resp, bus.Off)
			}
			return fmt.Sprint(err)
		}
		read := func(node int, off uint32) {
			v, err := m.Device(node).ReadReg(off)
			note("node %d 0x%x is 0x%x, %s", node, off, v, answer(err))
		}
		write := func(node int, off uint32, v uint64) {
			m.PostReg(node, m.Now(), off, v)
			var err error
			for end := m.Now() + 10; m.Now() < end; { // rtl: tells a cycle later that the NIC refused
				err = errors.Join(err, m.Run(end, &stop))
			}
			note("node %d 0x%x = 0x%x, %s", node, off, v, answer(err))
		}
		require.NoError(t, m.Run(start, &stop))
		for _, l := range []uint8{0, 1, 3, 5} {
			for _, off := range []uint32{regs.WireErrors(l), regs.WireLosses(l), regs.WireSeed(l), regs.WireCtrl(l), regs.LinkPatience(l), regs.LinkStatus(l)} {
				read(1, off)
				write(1, off, 0x1234_5678_9abc_def7)
				read(1, off)
				read(0, off)
			}
			for off := regs.LinkStatus(l); off <= regs.LinkPatience(l); off += 8 {
				read(0, off)
				read(1, off)
			}
			write(1, regs.WireFaults(l), 1)
			read(1, regs.WireFaults(l))
			read(1, regs.WireFaults(l)+8)
			write(1, regs.WireFaults(l)+8, 1)
			write(1, regs.WireCtrl(l), 0)
			read(1, regs.WireErrors(l)+4)
			read(0, regs.IRQStatus)
			write(0, regs.IRQStatus, regs.IRQStatusError)
		}
		read(1, regs.WireErrors(5)+1<<12)
		read(1, regs.BadAccess)
		// The line of an interrupt is up in the cycle in which the carrier is lost, at both ends.
		for _, node := range []int{0, 1} {
			write(node, regs.IRQStatus, regs.IRQStatusError)
			write(node, regs.IRQMask, regs.IRQStatusError)
			m.ArmIRQ(node)
		}
		m.PostReg(0, m.Now()+5, regs.WireSeed(0), 7)
		m.PostReg(0, m.Now()+5, regs.WireCtrl(0), regs.WireCtrlDown)
		for range 2 {
			require.NoError(t, m.Run(m.Now()+100, &stop))
			note("%v", stop.Fired)
		}
	}
	for i, line := range logs[0] {
		require.Equal(t, line, logs[1][i])
	}
	require.Len(t, logs[1], len(logs[0]))
}

// TestDescriptorsThatWait: the registers that count a process's descriptors, read in every cycle
// around one that comes and goes.
func TestDescriptorsThatWait(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	descriptors := []regs.RMADescFields{
		{Command: regs.RMACommandNotiPut, NotiRequester: true}, {Command: regs.RMACommandPut, BytesMinus1: 7}, {Command: regs.RMACommandPut, BytesMinus1: 599},
		{Command: regs.RMACommandGet, BytesMinus1: 299}, {Command: 0}, {Command: regs.RMACommandPut, DstNode: 3},
	}
	run := func(uri string) (seen []string) {
		a := &arrivals{}
		sys, m, _ := openRMA(t, uri, a)
		var stop drivers.Stop
		for _, d := range descriptors {
			for late := range drivers.Cycle(60) {
				for _, off := range []uint32{regs.RMAWindow(0), regs.RMALevel, regs.Level(0)} {
					wp, err := m.Device(0).ReadReg(regs.NotiWP(0))
					require.NoError(t, err)
					require.NoError(t, m.Device(0).WriteReg(regs.NotiRP(0), wp))
					postRMA(m, d, 0x1000, 0x2000)
					require.NoError(t, m.Run(m.Now()+late, &stop))
					v, err := m.Device(0).ReadReg(off)
					require.NoError(t, err)
					seen = append(seen, fmt.Sprintf("%v of %d bytes, %d cycles late: cycle %d: %s is 0x%x", d.Command, d.BytesMinus1+1, late, m.Now(), regs.Describe(off), v))
					require.NoError(t, m.Run(m.Now()+400, &stop))
				}
			}
		}
		require.NoError(t, sys.Close())
		return seen
	}
	rtl, model := run("rtl:"), run("model:")
	for i := range rtl {
		require.Equal(t, rtl[i], model[i])
	}
}
