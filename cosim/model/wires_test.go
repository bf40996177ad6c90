package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	nodes   = 16
	slots   = 2048
	packets = 120
)

// inRun runs a process on every node that sends to all others and meanwhile injects faults into the
// wires selected by may. It returns the complete visible state at the end.
func inRun(t *testing.T, threads int, may func(node, link int) bool) (list []string, err error) {
	m, err := model.New(model.Defaults([3]int{4, 4, 1}), drivers.Options{Threads: threads, MemoryBytes: slots * regs.SlotBytes})
	require.NoError(t, err)
	require.Len(t, m.Partitions(), threads)
	for n := range nodes {
		m.PostReg(n, 0, regs.PDID(0), process.DefaultDomain)
		m.PostReg(n, 0, regs.MboxSlots(0), slots)
		m.PostReg(n, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(100, &stop)) // all mailboxes are enabled
	k := vtime.New(m, vtime.Config{PIOWrite: 20 * drivers.Nanosecond, RegWrite: 10 * drivers.Nanosecond, PIODepth: 4})
	procs := make([]*vtime.Proc, nodes)
	for n := range procs {
		procs[n] = k.Add(n, 0)
	}
	err = k.Run(func(i int) error {
		rng, dev := rand.New(rand.NewPCG(7, uint64(i))), procs[i].Device()
		for k := range packets {
			procs[i].Spend(drivers.Time(rng.IntN(400)) * drivers.Nanosecond)
			if err := dev.WritePIO(uint32(regs.PioFields{DstNode: uint8(rng.IntN(nodes)), Length: 16}.Pack()), make([]byte, 16)); err != nil {
				return err
			}
			link := uint8(rng.IntN(4))
			if k%6 > 0 || !may(i, int(link)) {
				continue
			}
			off, v := regs.WireLosses(link), uint64(rng.Uint32())>>3
			if rng.IntN(2) == 0 {
				off, v = regs.WireCtrl(link), regs.WireCtrlDown
			}
			for _, v := range []uint64{v, 0} {
				if err := dev.WriteReg(off, v); err != nil {
					return err
				}
				procs[i].Spend(drivers.Time(rng.IntN(3000)) * drivers.Nanosecond)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for !stop.Quiet {
		require.NoError(t, m.Run(drivers.Forever, &stop))
	}
	require.True(t, stop.Idle, "packets are left")
	list = append(list, fmt.Sprint(stop.Now))
	for n := range nodes {
		offs := []uint32{regs.TXStall, regs.RXPackets, regs.RXStall, regs.IRQStatus}
		for l := range uint8(4) {
			offs = append(offs, regs.LinkRetransmissions(l), regs.LinkFailures(l), regs.LinkTimeouts(l), regs.WireFaults(l))
		}
		for _, off := range offs {
			v, err := m.Device(n).ReadReg(off)
			require.NoError(t, err)
			list = append(list, fmt.Sprintf("node %d %s: %d", n, regs.Describe(off), v))
		}
		list = append(list, fmt.Sprintf("node %d: %x", n, m.Device(n).Memory()))
	}
	return list, nil
}

// TestWiresInRun: processes may inject faults while they run. With two threads, wires between the
// parts must have been written to before.
func TestWiresInRun(t *testing.T) {
	// Nodes 0 to 7 form one part, so the +y links of nodes 4 to 7 lead to the other part, and the
	// -y links of nodes 8 to 11 back.
	inside := func(node, link int) bool {
		return !(link == 2 && node/4 == 1) && !(link == 3 && node/4 == 2)
	}
	one, err := inRun(t, 1, inside)
	require.NoError(t, err)
	two, err := inRun(t, 2, inside)
	require.NoError(t, err)
	for i := range one {
		require.Equal(t, one[i], two[i])
	}
	require.True(t, slices.ContainsFunc(one, func(s string) bool {
		return strings.Contains(s, "FAILURES") && !strings.HasSuffix(s, ": 0")
	}), "no link failed: the scenario lost its point")
	all := func(int, int) bool { return true }
	_, err = inRun(t, 1, all)
	require.NoError(t, err)
	_, err = inRun(t, 2, all)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
}
