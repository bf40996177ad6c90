package differ

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a node under mixed traffic: mailbox 0, the rings and tables of two processes, and
// pages: the first is read and counted in, the others have a target for each operation.
const (
	mixedNodes  = 4
	mixedProcs  = 2
	mixedEach   = 240 // operations of a node
	targetBytes = 1024
	mixedBox    = 0
	mixedSlots  = 1024
	mixedRings  = mixedBox + mixedSlots*regs.SlotBytes
	mixedNotis  = 1024
	mixedTables = mixedRings + mixedProcs*mixedNotis*regs.NotiBytes
	mixedData   = mixedTables + mixedProcs<<12
	mixedPages  = 1 + mixedNodes*mixedEach*targetBytes>>12
	mixedMemory = mixedData + mixedPages<<12
)

// A mixedSend is one line: a packet of VELO, or a descriptor.
type mixedSend struct {
	at   drivers.Cycle
	node int
	off  uint32
	line []byte
}

// mixedTraffic is random lines of all nodes, one per node every gap cycles on
// average. An operation has up to some fragments, and writes to a target of its own.
func mixedTraffic(seed uint64, gap int) (list []mixedSend) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for node := range mixedNodes {
		at := start
		for i := range mixedEach {
			at += drivers.Cycle(rng.IntN(2*gap + 1))
			s, dst := mixedSend{at: at, node: node}, rng.IntN(mixedNodes)
			target := uint64(1<<12 + (node*mixedEach+i)*targetBytes)
			if rng.IntN(2) == 0 {
				s.velo(rng, dst)
			} else {
				s.operation(rng, dst, target)
			}
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b mixedSend) int { return int(a.at) - int(b.at) })
	return list
}

func (s *mixedSend) velo(rng *rand.Rand, dst int) {
	n := rng.IntN(regs.VELOPayload + 1)
	s.off = uint32(regs.PioFields{DstNode: uint8(dst), Length: uint8(n)}.Pack())
	s.line = randomBytes(rng, n)
}

// operation is a random command; of the pages, those before target are only read.
func (s *mixedSend) operation(rng *rand.Rand, dst int, target uint64) {
	n := 1 + rng.IntN(targetBytes)
	vpid := rng.IntN(mixedProcs)
	table := uint64(regs.NLAFields{Table: uint8(vpid)}.Pack()) // whose pages are the process's
	target, source := target|table, uint64(rng.IntN(1<<12-targetBytes))|table
	d := regs.RMADescFields{NotiRequester: rng.IntN(2) == 0, NotiResponder: rng.IntN(2) == 0, NotiCompleter: rng.IntN(2) == 0,
		DstNode: uint16(dst), DstVPID: uint8(vpid), BytesMinus1: uint32(n - 1)}
	var w1, w2 uint64
	switch rng.IntN(5) {
	case 0:
		d.Command, w1, w2 = regs.RMACommandPut, source, target
	case 1:
		d.Command, w1, w2 = regs.RMACommandGet, source, target
	case 2:
		d.Command, d.BytesMinus1, w1, w2 = regs.RMACommandImmPut, uint32(rng.IntN(8)), rng.Uint64(), target
	case 3:
		d.Command, w1 = regs.RMACommandNotiPut, rng.Uint64()>>8
	default:
		d.Command, w1, w2 = regs.RMACommandFCAA, 3<<32|uint64(rng.IntN(9)), 8*uint64(s.node)|table
	}
	s.off = regs.Descriptors(uint8(vpid))
	s.line = binary.LittleEndian.AppendUint64(nil, uint64(d.Pack()))
	s.line = binary.LittleEndian.AppendUint64(s.line, w1)
	s.line = binary.LittleEndian.AppendUint64(s.line, w2)
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// A mixedPacket is the k-th packet of its type between two nodes.
type mixedPacket struct {
	kind     regs.PacketType
	src, dst uint16
	k        int
}

// arrived is when each packet left the network, and how many there were.
type arrived struct {
	at    map[mixedPacket]drivers.Cycle
	count map[mixedPacket]int // by packet with k = 0
	told  []string            // commands done, and when
}

// Trace implements drivers.TraceSink.
func (a *arrived) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		if e.Point != drivers.PointEject || e.Flags&drivers.TraceHead == 0 {
			continue
		}
		h := regs.Header(e.Data)
		a.note(mixedPacket{kind: h.Type(), src: h.SrcNode(), dst: h.DstNode()}, e.Cycle)
	}
	return nil
}

func (a *arrived) note(p mixedPacket, at drivers.Cycle) {
	a.count[p]++
	p.k = a.count[p]
	a.at[p] = at
}

func newArrived() *arrived {
	return &arrived{at: map[mixedPacket]drivers.Cycle{}, count: map[mixedPacket]int{}}
}

// A counter is a register as it is in the end.
type counter struct {
	node  int
	name  string
	value uint64
}

func runMixed(t *testing.T, uri string, list []mixedSend, slow uint64, commands ...mixedCommand) (a *arrived, memory [][]byte, counters []counter) {
	t.Helper()
	a = newArrived()
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: mixedNodes, MemoryBytes: mixedMemory + 1<<12, Trace: a})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	m := pacing.NewSystem(sys.(drivers.Timed))
	for n := range mixedNodes {
		mem := m.Device(n).Memory()
		for i := range mem[mixedData:] {
			mem[mixedData+i] = byte(i*7 + n)
		}
		set := func(off uint32, v uint64) { m.PostReg(n, 0, off, v) }
		if slow > 0 { // half of the targets
			set(regs.NVMBase(0), mixedData+mixedPages<<11)
			set(regs.NVMEnd(0), mixedData+mixedPages<<12)
			set(regs.NVMRate(0), slow)
			set(regs.NVMDepth(0), 512)
		}
		for v := range uint8(mixedProcs) {
			set(regs.PDID(v), 1)
		}
		set(regs.MboxBase(0), mixedBox)
		set(regs.MboxSlots(0), mixedSlots)
		set(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		for v := range uint8(mixedProcs) {
			table := mixedTables + uint64(v)<<12
			for p := range uint64(mixedPages) {
				e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: v, Page: mixedData>>12 + p}
				binary.LittleEndian.PutUint64(mem[table+8*p:], uint64(e.Pack()))
			}
			set(regs.NotiBase(v), mixedRings+uint64(v)*mixedNotis*regs.NotiBytes)
			set(regs.NotiSlots(v), mixedNotis)
			set(regs.NotiCtrl(v), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
			set(regs.ATUBase(v), table)
			set(regs.ATUPages(v), mixedPages)
		}
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(start-1, &stop))
	for _, s := range list {
		m.PostPIO(s.node, s.at, s.off, s.line)
	}
	a.follow(t, m, commands)
	for runOn(t, m, &stop) {
	}
	require.True(t, stop.Idle, "%s: packets are left", uri)
	for n := range mixedNodes {
		memory = append(memory, slices.Clone(m.Device(n).Memory()))
		for _, off := range append(linkRegisters(), []uint32{regs.TXPackets, regs.TXStall, regs.RXPackets, regs.RXStall, regs.RMATXPackets, regs.RMARXPackets,
			regs.RMANotis, regs.RMAErrors, regs.ATUHits, regs.ATUMisses, regs.NotiWP(0), regs.NotiWP(1), regs.NotiStall(0), regs.NotiStall(1), regs.MboxStall(0), regs.NVMBytes(0), regs.NVMStall(0),
			regs.ATUStatus, regs.ATURefused, regs.ATUDoneErrors, regs.RPRefused, regs.RMANotiOff, regs.RXDropped,
			regs.MboxWP(0), regs.MboxRP(0), regs.NotiRP(0), regs.RXCRCErrors, regs.RMARXDropped, regs.ErrorInfo, regs.IRQStatus,
			regs.TXDropped, regs.RMARefused, regs.RMALate, regs.RMAPurged, regs.DomainRefused, regs.DomainLast, regs.Life(0), regs.Life(1),
			regs.PDID(0), regs.ATUFaults, regs.Overflow(0), regs.Overflow(1), regs.Hold(0), regs.Hold(1), regs.RMAStallVPID,
			regs.VELOWindow(0), regs.VELOWindow(1), regs.RMAWindow(0), regs.RMAWindow(1)}...) {
			v, err := m.Device(n).ReadReg(off)
			require.NoError(t, err)
			counters = append(counters, counter{n, regs.Describe(off), v})
		}
	}
	require.NoError(t, sys.Close())
	return a, memory, counters
}

// VELO and every RMA command from two processes of all nodes to all at once, from idle to
// saturated: the same packets, the same bytes of memory, the same counters, and every packet
// arrives in the very cycle.
func TestMixedTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	const late = "?host_wr_latency=150&host_rd_latency=150"
	for _, c := range []struct {
		gap  int
		slow uint64 // NVM_RATE of half of the memory; 0: none is slow
		keys string
	}{{1000, 0, ""}, {400, 0, ""}, {200, 0, ""}, {100, 0, ""}, {20, 0, ""}, {400, 1 << 13, ""}, {100, 1 << 12, ""}, {400, 0, late}, {20, 0, late}, {100, 1 << 12, late}} {
		list := mixedTraffic(*seed, c.gap)
		rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:"+c.keys, list, c.slow)
		model, modelMemory, modelCounters := runMixed(t, "model:"+c.keys, list, c.slow)
		require.Equal(t, rtl.count, model.count)
		require.Equal(t, rtlCounters, modelCounters)
		for n := range rtlMemory {
			require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
		}
		histogram := map[int]int{}
		for p, at := range rtl.at {
			histogram[bucket(abs(float64(model.at[p])-float64(at)))]++
		}
		t.Logf("rtl:%s, a line per node every %d cycles, slow memory at %d of 65536: %d packets, by cycles off (up to): %s",
			c.keys, c.gap, c.slow, len(rtl.at), describe(histogram))
		require.Equal(t, len(rtl.at), histogram[0], "rerun: go test ./cosim/differ -run TestMixedTraffic -v -seed %d", *seed)
	}
}

func abs(x float64) float64 { return max(x, -x) }

// bucket is the power of two that holds a difference.
func bucket(off float64) int {
	b := 0
	for off > float64(b) {
		b = max(1, 2*b)
	}
	return b
}

func describe(histogram map[int]int) (s string) {
	for _, b := range slices.Sorted(maps.Keys(histogram)) {
		s += fmt.Sprintf(" %d: %d", b, histogram[b])
	}
	return s
}
