package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// openTimed opens a device.
func openTimed(t *testing.T, uri string, opt drivers.Options) drivers.Timed {
	t.Helper()
	sys, err := registry.Open(context.Background(), uri, opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys.(drivers.Timed)
}

// storm makes every node send numbered packets of random length to random nodes, and returns the
// machine with its mailboxes.
func storm(t *testing.T, uri string, nodes, packets, peers, threads int) (m drivers.Timed, cycles drivers.Cycle) {
	t.Helper()
	slots := uint64(8 * packets)
	m = openTimed(t, uri, drivers.Options{Nodes: nodes, Threads: threads, MemoryBytes: int(slots) * regs.SlotBytes})
	for n := range nodes {
		m.PostReg(n, 0, regs.PDID(0), process.DefaultDomain)
		m.PostReg(n, 0, regs.MboxSlots(0), slots)
		m.PostReg(n, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(100, &stop)) // all mailboxes are enabled
	k := vtime.New(m, vtime.Config{PIOWrite: 20 * drivers.Nanosecond, PIODepth: 4})
	procs := make([]*vtime.Proc, nodes)
	for n := range procs {
		procs[n] = k.Add(n, 0)
	}
	require.NoError(t, k.Run(func(i int) error {
		rng, dev := rand.New(rand.NewPCG(7, uint64(i))), procs[i].Device()
		for n := range packets {
			var body [regs.VELOPayload]byte
			binary.LittleEndian.PutUint64(body[:], uint64(n)+1)
			length := 8 + rng.IntN(regs.VELOPayload-7)
			to := (i + 1 + rng.IntN(peers)*nodes/peers) % nodes // few peers, so that pairs have many packets in order
			f := regs.PioFields{Length: uint8(length)}
			if err := dev.WritePIO(f.Pack().To(to), body[:length]); err != nil {
				return err
			}
		}
		return nil
	}))
	for stop.Quiet = false; !stop.Quiet; {
		require.NoError(t, m.Run(drivers.Forever, &stop))
	}
	require.True(t, stop.Idle, "packets are left")
	return m, stop.Now
}

// inOrder reports packets with a wrong sender or out of order, and counts the others.
func inOrder(m drivers.Timed, nodes int) (came int, err error) {
	for n := range nodes {
		last, mem := map[uint16]uint64{}, m.Device(n).Memory()
		for ; len(mem) > 0; mem = mem[regs.SlotBytes:] {
			h := regs.Slot(binary.LittleEndian.Uint64(mem[regs.SlotHdrOff:]))
			if h.Seq() == 0 {
				break
			}
			number := binary.LittleEndian.Uint64(mem)
			if int(h.SrcNode()) >= nodes || number <= last[h.SrcNode()] {
				err = errors.Join(err, fmt.Errorf("node %d: packet %d of node %d after %d", n, number, h.SrcNode(), last[h.SrcNode()]))
			}
			last[h.SrcNode()] = number
			came++
		}
	}
	return came, err
}

// TestOrderOfPairs: packets of a pair arrive in order and with the right sender, on networks with
// more nodes than a mesh of the RTL may have.
func TestOrderOfPairs(t *testing.T) {
	const packets = 24
	for uri, nodes := range map[string]int{"model:?topology=dragonfly:4": 1056, "model:?topology=fattree:4,5": 1024, "model:?dims=16x16x4": 1024, "model:?dims=12x9&torus=1": 108} {
		t.Run(uri, func(t *testing.T) {
			m, _ := storm(t, uri, nodes, packets, 5, 1)
			came, err := inOrder(m, nodes)
			require.NoError(t, err)
			require.Equal(t, nodes*packets, came)
		})
	}
}

// TestPartsOfShared: two threads give the same bytes and cycles as one.
func TestPartsOfShared(t *testing.T) {
	for uri, nodes := range map[string]int{"model:?topology=dragonfly:2": 72, "model:?topology=fattree:3,3": 27, "model:?dims=10x10": 100} {
		t.Run(uri, func(t *testing.T) {
			one, end := storm(t, uri, nodes, 40, nodes, 1)
			two, same := storm(t, uri, nodes, 40, nodes, 2)
			require.Len(t, two.(drivers.Partitioned).Partitions(), 2)
			require.Equal(t, end, same)
			for n := range nodes {
				require.True(t, bytes.Equal(one.Device(n).Memory(), two.Device(n).Memory()), "node %d has other bytes", n)
			}
		})
	}
}

// TestLargest: the first and the last of 4096 nodes exchange packets; registers that do not exist
// without a router per node are refused by name.
func TestLargest(t *testing.T) {
	m := openTimed(t, "model:?topology=fattree:8,4", drivers.Options{MemoryBytes: 1 << 12})
	last := m.Info().Nodes - 1
	require.Equal(t, regs.HeaderNodes-1, last)
	for _, way := range [][2]int{{last, 0}, {0, last}, {last, last - 1}} {
		from, to := m.Device(way[0]), m.Device(way[1])
		for _, dev := range []drivers.Device{from, to} {
			require.NoError(t, dev.WriteReg(regs.PDID(0), process.DefaultDomain))
			require.NoError(t, dev.WriteReg(regs.MboxSlots(0), 4))
			require.NoError(t, dev.WriteReg(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow))
		}
		_, err := to.ReadReg(regs.MboxCtrl(0))
		require.NoError(t, err)
		before, err := to.ReadReg(regs.MboxWP(0))
		require.NoError(t, err)
		// In two pieces, the second one first.
		p := regs.PioFields{Length: 16}.Pack()
		require.NoError(t, from.WritePIO(p.To(way[1])+8, []byte("and back")))
		require.NoError(t, from.WritePIO(p.To(way[1]), []byte("there is")))
		var stop drivers.Stop
		for !stop.Quiet {
			require.NoError(t, m.Run(drivers.Forever, &stop))
		}
		slot := to.Memory()[before%4*regs.SlotBytes:]
		require.Equal(t, "there isand back", string(slot[:16]))
		require.EqualValues(t, way[0], regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).SrcNode())
	}
	for _, off := range []uint32{regs.Route(0), regs.LinkStatus(0), regs.WireErrors(0)} {
		_, err := m.Device(5).ReadReg(off)
		require.ErrorContains(t, err, regs.Describe(off))
	}
}

// TestNoSuchNetwork: errors describe what would be accepted.
func TestNoSuchNetwork(t *testing.T) {
	for uri, want := range map[string]string{
		"model:?topology=dragonfly:6":                    "expected at most 4096",
		"model:?topology=dragonfly:2,4":                  "expected one of dragonfly:P",
		"model:?topology=mesh:4x4":                       "a mesh is dims=4x4x4",
		"model:?topology=dragonfly:2&torus=1":            "leave one of the two out",
		"model:?topology=dragonfly:2&link_errors=1e-3":   "leave one of the two out",
		"model:?topology=dragonfly:1,40,1":               "expected at most 64",
		"model:?dims=65x64":                              "model: holds 1..4096 nodes",
		"model:?dims=64x64":                              "a packet would come to 127 routers",
		"model:?topology=fattree:4,3&wire_latency=65":    "wire_latency",
		"model:?topology=dragonfly:2&vc_depth=1":         "vc_depth",
		"model:?topology=dragonfly:1&dims=4x4":           "dims",
		"model:?topology=fattree:65,2&host_wr_latency=4": "has 4225 nodes",
	} {
		_, err := registry.Open(context.Background(), uri, drivers.Options{})
		require.ErrorIs(t, err, drivers.ErrConfig, uri)
		require.ErrorContains(t, err, want, uri)
	}
	_, err := registry.Open(context.Background(), "model:?topology=dragonfly:2", drivers.Options{Nodes: 73})
	require.ErrorContains(t, err, "give at most --nodes 72")
}
