package differ

import (
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
	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a node under mixed traffic: mailbox 0, a ring, a table, and pages: the
// first is read and counted in, the others have a cell for each operation.
const (
	mixedNodes  = 4
	mixedEach   = 240 // operations of a node
	cellBytes   = 256
	mixedBox    = 0
	mixedSlots  = 1024
	mixedRing   = mixedBox + mixedSlots*regs.SlotBytes
	mixedNotis  = 1024
	mixedTable  = mixedRing + mixedNotis*regs.NotiBytes
	mixedData   = mixedTable + 1<<12
	mixedPages  = 1 + mixedNodes*mixedEach*cellBytes>>12
	mixedMemory = mixedData + mixedPages<<12
)

// A mixedSend is one line: a packet of VELO, or a descriptor.
type mixedSend struct {
	at   drivers.Cycle
	node int
	off  uint32
	line []byte
	// The packets that come of it: one to dst, and an answer unless that is 0.
	dst          int
	kind, answer regs.PacketType
}

// mixedTraffic is random lines of all nodes, one per node every gap cycles on
// average. An operation is one fragment, and writes to a cell of its own.
func mixedTraffic(seed uint64, gap int) (list []mixedSend) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for node := range mixedNodes {
		at := start
		for i := range mixedEach {
			at += drivers.Cycle(rng.IntN(2*gap + 1))
			s := mixedSend{at: at, node: node, dst: rng.IntN(mixedNodes)}
			cell := uint64(1<<12 + (node*mixedEach+i)*cellBytes)
			if rng.IntN(2) == 0 {
				s.velo(rng)
			} else {
				s.operation(rng, cell)
			}
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b mixedSend) int { return int(a.at) - int(b.at) })
	return list
}

func (s *mixedSend) velo(rng *rand.Rand) {
	n := rng.IntN(regs.VELOPayload + 1)
	s.kind = regs.PacketTypeVELO
	s.off = uint32(regs.PioFields{DstNode: uint8(s.dst), Length: uint8(n)}.Pack())
	s.line = randomBytes(rng, n)
}

// operation is a random command; of the pages, those before cell are only read.
func (s *mixedSend) operation(rng *rand.Rand, cell uint64) {
	n := 1 + rng.IntN(cellBytes)
	source := uint64(rng.IntN(1<<12 - cellBytes))
	d := regs.RMADescFields{NotiRequester: rng.IntN(2) == 0, NotiResponder: rng.IntN(2) == 0, NotiCompleter: rng.IntN(2) == 0,
		DstNode: uint16(s.dst), BytesMinus1: uint32(n - 1)}
	var w1, w2 uint64
	switch rng.IntN(5) {
	case 0:
		d.Command, s.kind, w1, w2 = regs.RMACommandPut, regs.PacketTypeRMAPut, source, cell
	case 1:
		d.Command, s.kind, s.answer, w1, w2 = regs.RMACommandGet, regs.PacketTypeRMAGetReq, regs.PacketTypeRMAGetRsp, source, cell
	case 2:
		d.Command, d.BytesMinus1, s.kind, w1, w2 = regs.RMACommandImmPut, uint32(rng.IntN(8)), regs.PacketTypeRMAImmPut, rng.Uint64(), cell
	case 3:
		d.Command, s.kind, w1 = regs.RMACommandNotiPut, regs.PacketTypeRMANoti, rng.Uint64()>>8
	default:
		d.Command, s.kind, s.answer, w1, w2 = regs.RMACommandFCAA, regs.PacketTypeRMALockReq, regs.PacketTypeRMALockRsp, 3<<32|uint64(rng.IntN(9)), 8*uint64(s.node)
	}
	s.off = uint32(regs.RMAPioFields{RMA: true}.Pack())
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

// begun is when the lines of all packets were posted.
func begun(list []mixedSend) *arrived {
	a := newArrived()
	for _, s := range list {
		a.note(mixedPacket{kind: s.kind, src: uint16(s.node), dst: uint16(s.dst)}, s.at)
		if s.answer != 0 {
			a.note(mixedPacket{kind: s.answer, src: uint16(s.dst), dst: uint16(s.node)}, s.at)
		}
	}
	return a
}

func runMixed(t *testing.T, uri string, list []mixedSend) (*arrived, [][]byte) {
	t.Helper()
	a := newArrived()
	sys, err := drivers.Open(context.Background(), uri, drivers.Options{Nodes: mixedNodes, MemoryBytes: mixedMemory, Trace: a})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	m := sys.(drivers.Timed)
	for n := range mixedNodes {
		mem := m.Device(n).Memory()
		for i := range mem[mixedData:] {
			mem[mixedData+i] = byte(i*7 + n)
		}
		for p := range uint64(mixedPages) {
			e := regs.ATUEntryFields{Rights: regs.ATURightsRw, Page: mixedData>>12 + p}
			binary.LittleEndian.PutUint64(mem[mixedTable+8*p:], uint64(e.Pack()))
		}
		for _, r := range [][2]uint64{
			{uint64(regs.MboxBase(0)), mixedBox}, {uint64(regs.MboxSlots(0)), mixedSlots},
			{uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow},
			{uint64(regs.NotiBase(0)), mixedRing}, {uint64(regs.NotiSlots(0)), mixedNotis},
			{uint64(regs.NotiCtrl(0)), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
			{uint64(regs.ATUBase(0)), mixedTable}, {uint64(regs.ATUPages(0)), mixedPages}} {
			m.PostReg(n, 0, uint32(r[0]), r[1])
		}
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(start-1, &stop))
	for _, s := range list {
		m.PostPIO(s.node, s.at, s.off, s.line)
	}
	require.NoError(t, m.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle, "%s: packets are left", uri)
	var memory [][]byte
	for n := range mixedNodes {
		memory = append(memory, slices.Clone(m.Device(n).Memory()))
	}
	require.NoError(t, sys.Close())
	return a, memory
}

// VELO and every RMA command from all nodes to all at once: the same packets, the same
// bytes in every page, and the time from the line to the packet's arrival. VELO alone
// is exact (TestRandomTraffic). What is not, is RMA units that want the port to memory, the
// notifier or the ATU in the same few cycles: the model grants whole accesses in the
// order in which they are asked for, the RTL an address at a time.
func TestMixedTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		gap        int
		near, mean float64 // at least so many within the bounds, at most so far off
	}{{400, 0.99, 0.005}, {150, 0.99, 0.005}, {60, 0.95, 0.015}} {
		list := mixedTraffic(*seed, c.gap)
		rtl, rtlMemory := runMixed(t, "rtl:", list)
		model, modelMemory := runMixed(t, "model:", list)
		posted := begun(list)
		require.Equal(t, posted.count, rtl.count)
		require.Equal(t, rtl.count, model.count)
		for n := range rtlMemory {
			require.Equal(t, rtlMemory[n][mixedData:], modelMemory[n][mixedData:], "pages of node %d", n)
		}
		near, mean, histogram := 0, 0., map[int]int{}
		for p, at := range rtl.at {
			took, off := float64(at-posted.at[p]), float64(model.at[p])-float64(at)
			mean += off / took / float64(len(rtl.at))
			if off = abs(off); off <= max(4, 0.02*took) {
				near++
			}
			histogram[bucket(off)]++
		}
		all := float64(len(rtl.at))
		t.Logf("a line per node every %d cycles: %.0f packets, %.1f %% within 2 %% or 4 cycles, mean error %+.2f %%; packets by cycles off (up to): %s",
			c.gap, all, 100*float64(near)/all, 100*mean, describe(histogram))
		again := fmt.Sprintf("rerun: go test ./cosim/differ -run TestMixedTraffic -v -seed %d", *seed)
		require.GreaterOrEqual(t, float64(near)/all, c.near, again)
		require.LessOrEqual(t, abs(mean), c.mean, again)
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
