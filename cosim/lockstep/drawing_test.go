package lockstep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// TestDrawnPath: links of another latency delay the packet at its first link, and later at all
// hops.
func TestDrawnPath(t *testing.T) {
	pair, _ := both(t, Cycles, "model:", "model:?wire_latency=1", [2]int{200, 200})
	d := pair.Parted()
	require.NotNil(t, d)
	w := d.Drawing
	require.NotNil(t, w)
	require.Equal(t, "VELO", w.Packet.Type)

	first, last := w.Path[0], w.Path[len(w.Path)-1]
	require.Equal(t, HopEnters, first.What)
	require.Equal(t, w.Packet.Source[0], first.Node)
	require.Equal(t, first.Heads[0], first.Heads[1], "it enters in the same cycle")
	require.Equal(t, HopLeaves, last.What)
	require.Equal(t, w.Packet.Target[0], last.Node)
	require.NotEqual(t, last.Heads[0], last.Heads[1])

	marked := 0
	for i, h := range w.Path {
		for side := range h.Heads {
			require.NotNil(t, h.Heads[side], "hop %d", i)
			require.True(t, i == 0 || w.Path[i-1].Heads[side].Cycle < h.Heads[side].Cycle, "hops are in order of time")
		}
		if h.Diverges {
			marked++
			require.Equal(t, d.Node, h.Node)
			require.Equal(t, HopArrives, h.What)
			require.Equal(t, d.Cycle, min(h.Heads[0].Cycle, h.Heads[1].Cycle))
		}
	}
	require.Equal(t, 1, marked)

	require.NotEmpty(t, w.Lanes)
	require.LessOrEqual(t, len(w.Lanes), maxLanes)
	require.Contains(t, w.Lanes[0].Name, "arrives on ")
	for _, l := range w.Lanes {
		for _, list := range l.Events {
			for _, e := range list {
				require.True(t, e.Cycle >= w.From && e.Cycle <= w.To)
			}
		}
	}
}

// TestEqualPackets: of packets with equal headers, the path is that of the one that differs.
func TestEqualPackets(t *testing.T) {
	head := func(cycle drivers.Cycle, node uint16, point uint8) drivers.TraceEvent {
		return drivers.TraceEvent{Cycle: cycle, Node: node, Point: point, Data: 0x0030000000001802, Flags: drivers.TraceHead}
	}
	// The link of the second packet departs late on the right; the third has entered already.
	both := []drivers.TraceEvent{
		head(10, 0, drivers.PointInject), head(13, 0, drivers.PointLink1), head(14, 0, drivers.PointInject),
		head(16, 1, drivers.PointArrive1), head(16, 0, drivers.PointInject),
	}
	left := append(both[:len(both):len(both)], head(17, 0, drivers.PointLink1), head(20, 1, drivers.PointArrive1))
	right := append(both[:len(both):len(both)], head(19, 0, drivers.PointLink1), head(22, 1, drivers.PointArrive1))
	diff := (&history{}).firstDifference(left, right, 100)
	require.Equal(t, drivers.Cycle(17), diff.at)
	var w Drawing
	w.addPath(diff, &[2][]drivers.TraceEvent{left, right})
	require.Equal(t, []Hop{
		{Node: 0, What: HopEnters, Heads: [2]*Head{{14, 0}, {14, 0}}},
		{Node: 0, What: HopDeparts, Link: "+X", Heads: [2]*Head{{17, 0}, {19, 0}}, Diverges: true},
		{Node: 1, What: HopArrives, Link: "+X", Heads: [2]*Head{{20, 0}, {22, 0}}},
	}, w.Path)
}

// TestLostPacket: a packet that does not depart on one side has no head there.
func TestLostPacket(t *testing.T) {
	head := func(cycle drivers.Cycle, point uint8) drivers.TraceEvent {
		return drivers.TraceEvent{Cycle: cycle, Point: point, Data: 0x0030000000001802, Flags: drivers.TraceHead}
	}
	left := []drivers.TraceEvent{head(10, drivers.PointInject)}
	right := append(left[:1:1], head(13, drivers.PointLink1))
	diff := (&history{}).firstDifference(left, right, 100)
	var w Drawing
	w.addPath(diff, &[2][]drivers.TraceEvent{left, right})
	require.Len(t, w.Path, 2)
	require.Nil(t, w.Path[1].Heads[0])
	require.Equal(t, &Head{13, 0}, w.Path[1].Heads[1])
}

func names(list []Waveform) (all []string) {
	for _, w := range list {
		all = append(all, w.Name)
	}
	return all
}

// TestDrawnSignals: the signals of the block that change near the divergence, without clock, reset,
// parameters, copies and inner blocks. testdata/reference.fst is testdata/device.fst with out_valid
// a cycle later from cycle 100 on.
func TestDrawnSignals(t *testing.T) {
	d := &Divergence{Cycle: 100, Node: 2, Block: blockCompleter}
	require.NoError(t, d.DrawSignals([2]string{"testdata/device.fst"}))
	list := d.Drawing.Signals
	require.Len(t, list, maxSignals)
	require.Equal(t, []string{"in_valid", "in_data[63:0]", "out_valid", "quiet0[3:0]", "quiet1[3:0]", "quiet2[3:0]", "quiet3[3:0]", "quiet4[3:0]"}, names(list)[:8])
	require.Nil(t, list[0].Values[1])
	require.Equal(t, []Value{{40, "0"}, {90, "1"}, {92, "0"}, {95, "1"}, {96, "0"}, {99, "1"}, {101, "0"}}, list[0].Values[0])
	require.Equal(t, []Value{{40, "0"}, {120, "1"}}, list[3].Values[0], "of two values in cycle 120, the settled one")
	require.Equal(t, []Value{{40, "0"}, {90, "5a"}, {91, "5b"}}, list[1].Values[0][:3])

	require.NoError(t, d.DrawSignals([2]string{"testdata/device.fst", "testdata/reference.fst"}))
	list = d.Drawing.Signals
	require.Equal(t, "out_valid", list[2].Name)
	require.Equal(t, drivers.Cycle(100), firstDifferent(&list[2].Values))
	require.Equal(t, drivers.Forever, firstDifferent(&list[0].Values))
	require.Equal(t, []Value{{40, "0"}, {92, "1"}, {94, "0"}, {97, "1"}, {98, "0"}, {101, "1"}, {102, "0"}, {104, "1"}, {105, "0"}}, list[2].Values[1])
}

// TestNoSignals: a damaged waveform file is an error.
func TestNoSignals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.fst")
	text, err := os.ReadFile("testdata/device.fst")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text[:len(text)/2], 0o644))
	d := &Divergence{Cycle: 100, Node: 2, Block: blockCompleter}
	require.ErrorContains(t, d.DrawSignals([2]string{file}), "w.fst: ")
}
