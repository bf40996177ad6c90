package capture

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests")

// way is a packet's time at every trace point.
type way struct {
	src, dst uint16
	line     drivers.Cycle
	inject   drivers.Cycle
	links    []drivers.Cycle // first flit leaves the router
	via      []uint16        // nodes whose routers forward it
	eject    drivers.Cycle
	slot     drivers.Cycle
	drop     regs.DropReason
}

func (w *way) events() []drivers.TraceEvent {
	h := velo(regs.HeaderFields{Length: 16, SrcNode: w.src, SrcVPID: 3, DstNode: w.dst, DstVPID: 2})
	payload := make([]byte, 16)
	list := []drivers.TraceEvent{{Cycle: w.line, Node: w.src, Point: drivers.PointPIO}}
	list = append(list, flits(w.src, drivers.PointInject, w.inject, h, payload)...)
	for i, at := range w.links {
		list = append(list, flits(w.via[i], drivers.PointLink1, at, h, payload)...)
	}
	list = append(list, flits(w.dst, drivers.PointEject, w.eject, h, payload)...)
	end := drivers.TraceEvent{Cycle: w.slot, Node: w.dst, Point: drivers.PointSlot,
		Data: uint64(regs.SlotFields{SrcNode: w.src, SrcVPID: 3, Length: 16}.Pack())}
	if w.drop != 0 {
		end.Point = drivers.PointDropped
		end.Data = uint64(h)>>48 | uint64(h)>>32&0xffff<<16 | uint64(w.drop)<<32
	}
	return append(list, end)
}

func inOrder(packets ...way) []drivers.TraceEvent {
	var all []drivers.TraceEvent
	for i := range packets {
		all = append(all, packets[i].events()...)
	}
	slices.SortStableFunc(all, func(a, b drivers.TraceEvent) int { return int(a.Cycle) - int(b.Cycle) })
	return all
}

func TestLatencyByHand(t *testing.T) {
	l := NewLatency()
	require.NoError(t, l.Trace(inOrder(
		way{src: 0, dst: 2, line: 100, inject: 103, links: []drivers.Cycle{110, 121}, via: []uint16{0, 1}, eject: 140, slot: 160},
		way{src: 0, dst: 2, line: 104, inject: 109, links: []drivers.Cycle{116, 129}, via: []uint16{0, 1}, eject: 146, slot: 180},
		way{src: 1, dst: 1, line: 100, inject: 101, eject: 102, slot: 110}, // to its own node: no link
	)))
	require.Equal(t, []Block{
		{"requester (line to first flit)", 3, 1, 3, 5},
		{"first router", 2, 7, 7, 7},
		{"link and router, hop 2", 2, 11, 12, 13},
		{"link and last router", 3, 1, 37. / 3, 19},
		{"serialization", 3, 3, 3, 3},
		{"completer and DMA", 3, 5, 53. / 3, 31},
		{"line to slot", 3, 10, 146. / 3, 76},
	}, l.Summary())

	l.Reset()
	for _, b := range l.Summary() {
		require.Equal(t, Block{Name: b.Name}, b)
	}
}

// TestLatencyWithDrops: a discarded packet is not mistaken for the next one of its pair, and a
// packet refused by the requester is not counted.
func TestLatencyWithDrops(t *testing.T) {
	l := NewLatency()
	all := inOrder(
		way{src: 0, dst: 1, line: 0, inject: 1, eject: 10, slot: 50, drop: regs.DropReasonMailboxOff},
		way{src: 0, dst: 1, line: 100, inject: 101, eject: 110, slot: 150},
		way{src: 0, dst: 1, line: 200, inject: 201, eject: 210, slot: 250},
	)
	// refused between the last flit and the slot of the second packet
	refused := drivers.TraceEvent{Cycle: 130, Point: drivers.PointDropped, Data: uint64(regs.DropReasonWindowOff)<<32 | 1<<4}
	at := slices.IndexFunc(all, func(e drivers.TraceEvent) bool { return e.Cycle > 130 })
	require.NoError(t, l.Trace(slices.Insert(all, at, refused)))
	total := l.Summary()[len(l.Summary())-1]
	require.Equal(t, Block{"line to slot", 2, 50, 50, 50}, total)
}

// Packets that were in flight when the trace began count for the blocks that they traverse
// completely.
func TestLatencyFromTheMiddle(t *testing.T) {
	all := inOrder(way{src: 0, dst: 2, line: 100, inject: 103, links: []drivers.Cycle{110}, via: []uint16{0}, eject: 140, slot: 160})
	for cut := range all {
		l := NewLatency()
		require.NoError(t, l.Trace(all[cut:]))
		s := l.Summary()
		if cut > 0 {
			require.Zero(t, s[len(s)-1].Count)
		}
	}
}

// One packet at a time through the ideal NIC: the blocks add up to the total.
func TestLatencyOfTheIdealNIC(t *testing.T) {
	l := NewLatency()
	var file bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	sys := machine(t, Tee(l, w))
	var stop drivers.Stop
	const n = 10
	for range n {
		sys.PostPIO(0, sys.Now(), uint32(regs.PioFields{Length: 56, DstNode: 1}.Pack()), make([]byte, 56))
		require.NoError(t, sys.Run(sys.Now()+200, &stop))
	}
	require.NoError(t, sys.Close())
	require.NoError(t, w.Close())
	s := l.Summary()
	sum := 0.0
	for _, b := range s[:len(s)-1] {
		require.EqualValues(t, n, b.Count, b.Name)
		sum += b.Mean
	}
	require.InDelta(t, s[len(s)-1].Mean, sum, 1e-9)
	require.Len(t, read(t, file.Bytes()), 2*n)
}

func machine(t testing.TB, sink drivers.TraceSink) *nic.Machine {
	sys, err := ideal.New(drivers.Options{Nodes: 4, MemoryBytes: 1 << 16, Trace: sink}, 20, 8)
	require.NoError(t, err)
	for n := range 4 {
		sys.PostReg(n, 0, regs.PDID(0), 1)
		sys.PostReg(n, 0, regs.MboxSlots(0), 1<<10)
		sys.PostReg(n, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	}
	var stop drivers.Stop
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	return sys
}

// Random traffic: identical runs give identical files, in which tshark finds no errors.
func TestIdenticalRuns(t *testing.T) {
	first, second := traffic(t), traffic(t)
	require.True(t, bytes.Equal(first, second), "seed %d", *seed)
	list := read(t, first)
	require.Len(t, list, 2*500)
	require.True(t, slices.IsSortedFunc(list, func(a, b packet) int { return int(a.ns - b.ns) }))
	require.Empty(t, fields(t, first, "_ws.malformed || _ws.expert || nicloop.crc.status != \"good\"", "frame.number"))
	for _, name := range []string{"linux", "Linux", "amd64"} {
		require.NotContains(t, string(first), name, "the file depends on the machine")
	}
}

func traffic(t *testing.T) []byte {
	rng := rand.New(rand.NewPCG(*seed, 2))
	var file bytes.Buffer
	w, err := NewWriter(&file)
	require.NoError(t, err)
	l := NewLatency()
	sys := machine(t, Tee(w, l))
	for range 500 {
		src, n := rng.IntN(4), rng.IntN(57)
		off := regs.PioFields{Length: uint8(n), DstNode: uint8(rng.IntN(4))}.Pack()
		sys.PostPIO(src, sys.Now()+drivers.Cycle(rng.IntN(10000)), uint32(off), make([]byte, n))
	}
	var stop drivers.Stop
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle)
	require.NoError(t, sys.Close())
	require.NoError(t, w.Close())
	for _, b := range l.Summary() {
		require.EqualValues(t, 500, b.Count, b.Name)
	}
	return file.Bytes()
}

func BenchmarkLatency(b *testing.B) {
	l := NewLatency()
	e := inOrder(way{src: 0, dst: 2, line: 100, inject: 103, links: []drivers.Cycle{110, 121}, via: []uint16{0, 1}, eject: 140, slot: 160})
	b.ReportAllocs()
	for range b.N {
		if err := l.Trace(e); err != nil {
			b.Fatal(err)
		}
	}
}
