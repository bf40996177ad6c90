package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const clock = 10 // ps: times below are ten times the cycles

// bus returns an event without a flit.
func bus(node uint16, point uint8, at drivers.Cycle, data uint64) drivers.TraceEvent {
	return drivers.TraceEvent{Node: node, Point: point, Cycle: at, Data: data}
}

// putTrip is a hand-written trace of a put of 100 bytes from node 0 through node 1 to node 2. The
// read of the bytes ends at readEnd, 40 cycles of stages later.
func putTrip(readEnd drivers.Cycle) ([]drivers.TraceEvent, Trip) {
	h := regs.HeaderFields{Type: regs.PacketTypeRMAPut, Length: 108, DstNode: 2}.Pack()
	arrive := drivers.TraceEvent{Point: drivers.PointArrive1 + 1, Data: uint64(h), Flags: drivers.TraceHead}
	first, second := arrive, arrive
	first.Node, first.Cycle = 1, 167
	second.Node, second.Cycle = 2, 176
	list := []drivers.TraceEvent{
		bus(0, drivers.PointPIOAddr, 105, 0), // an unrelated VELO packet
		bus(0, drivers.PointPIOAddr, 107, uint64(regs.Descriptors(0))),
		bus(0, drivers.PointPIOLast, 110, 0),
		bus(0, drivers.PointReadAddr, 112, 0x9000), // a translation
		bus(0, drivers.PointReadLast, 120, 0),
		bus(0, drivers.PointReadAddr, 125, 0x2000),
		bus(0, drivers.PointReadAddr, 126, 0x2040), // in flight together
		bus(0, drivers.PointReadLast, 140, 0),
		bus(0, drivers.PointReadLast, readEnd, 0),
	}
	body := make([]byte, 108)
	list = append(list, flits(0, drivers.PointInject, 160, h, body)...)
	list = append(list, flits(0, drivers.PointLink1, 162, h, body)...)
	list = append(list, first)
	list = append(list, flits(1, drivers.PointLink1, 170, h, body)...)
	list = append(list, second)
	list = append(list, flits(2, drivers.PointEject, 178, h, body)...)
	list = append(list,
		bus(2, drivers.PointWriteAddr, 200, 0x3000), bus(2, drivers.PointWriteAddr, 201, 0x3040),
		bus(2, drivers.PointWriteLast, 208, 0), bus(2, drivers.PointWriteDone, 209, 0),
		bus(2, drivers.PointWriteLast, 216, 0), bus(2, drivers.PointWriteDone, 220, 0),
		bus(2, drivers.PointWriteAddr, 223, 0x4010), bus(2, drivers.PointWriteLast, 225, 0), bus(2, drivers.PointWriteDone, 229, 0))
	return list, Trip{RMA: true, Src: 0, Dst: 2, Start: 1000, End: 2318, ClockPS: clock,
		Source: Range{0x2000, 256}, Target: Range{0x3000, 256}, Ring: Range{0x4000, 256}}
}

func stages(t *testing.T, events []drivers.TraceEvent, trip Trip) []Stage {
	t.Helper()
	var f Flight
	f.Keep()
	require.NoError(t, f.Trace(events))
	list, err := f.Stages(trip)
	require.NoError(t, err)
	sum := drivers.Time(0)
	for _, s := range list {
		require.GreaterOrEqual(t, s.Time, drivers.Time(0), s.Name)
		sum += s.Time
	}
	require.Equal(t, trip.End-trip.Start, sum)
	return list
}

func TestStagesOfAPut(t *testing.T) {
	events, trip := putTrip(150)
	require.Equal(t, []Stage{
		{"call, store reaches the bus", Host, 70},
		{"burst to the send window", Bus, 30},
		{"RMA requester, translation", NIC, 150},
		{"DMA read of the bytes", Bus, 250},
		{"RMA sender", NIC, 100},
		{"router of node 0", Network, 20},
		{"link node0.x+", Network, 50},
		{"router of node 1", Network, 30},
		{"link node1.x+", Network, 60},
		{"router of node 2", Network, 20},
		{"the other 15 flits", Network, 150},
		{"RMA completer, translation", NIC, 70},
		{"DMA write of the bytes", Bus, 160},
		{"acknowledgement of the write", Bus, 40},
		{"RMA notifier", NIC, 30},
		{"DMA write of the notification", Bus, 20},
		{"poll, take the notification", Host, 68},
	}, stages(t, events, trip))
}

// A sender that starts while memory is still being read hides the rest of the read.
func TestStagesThatOverlap(t *testing.T) {
	events, trip := putTrip(165)
	list := stages(t, events, trip)
	require.Equal(t, Stage{"DMA read of the bytes", Bus, 350}, list[3])
	require.Equal(t, Stage{"RMA sender", NIC, 0}, list[4])
}

// Events before Keep are not attributed to the packet, but their bursts are tracked.
func TestStagesFromTheMiddle(t *testing.T) {
	events, trip := putTrip(150)
	before := []drivers.TraceEvent{bus(0, drivers.PointPIOAddr, 1, uint64(regs.Descriptors(0))), bus(2, drivers.PointWriteAddr, 2, 0x4000)}
	after := append([]drivers.TraceEvent{bus(2, drivers.PointWriteLast, 101, 0), bus(2, drivers.PointWriteDone, 102, 0)}, events...)
	var f Flight
	require.NoError(t, f.Trace(before))
	f.Keep()
	require.NoError(t, f.Trace(after))
	list, err := f.Stages(trip)
	require.NoError(t, err)
	require.Equal(t, stages(t, events, trip), list)
}

func TestStagesMissing(t *testing.T) {
	events, trip := putTrip(150)
	for cut, missing := range map[int]string{
		len(events) - 3: "RMA notifier", 1: "call, store reaches the bus", 9: "the packet's arrival",
	} {
		var f Flight
		f.Keep()
		require.NoError(t, f.Trace(events[:cut]))
		_, err := f.Stages(trip)
		require.ErrorIs(t, err, drivers.ErrNotSupported)
		require.ErrorContains(t, err, missing)
	}
}
