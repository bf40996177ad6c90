package lockstep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// lines is a node that consists of memory only, and linesSystem a system with one of it.
type lines struct {
	drivers.Device
	mem []byte
}

func (l *lines) Memory() []byte { return l.mem }

type linesSystem struct {
	drivers.Timed
	node *lines
}

func (s linesSystem) Device(int) drivers.Device { return s.node }

// TestBeyondMemory: a read outside memory ends the comparison. Later events are ignored, earlier
// ones count.
func TestBeyondMemory(t *testing.T) {
	for _, c := range []struct {
		addr  uint64
		parts bool
	}{{1 << 42, false}, {4088, true}} {
		p := New(Cycles, "left", "right")
		for i, s := range p.sides {
			s.info.Backend, s.stop.at = "rtl", 100
			s.current = &system{Timed: linesSystem{node: &lines{mem: make([]byte, 4096)}}, side: p.sides[i]}
		}
		p.sides[0].seen = []drivers.TraceEvent{{Cycle: 50, Point: drivers.PointReadAddr, Data: c.addr}}
		p.compare()
		require.Equal(t, c.parts, p.parted)
		require.Equal(t, !c.parts, p.sides[0].stopped() && p.astray)
	}
}

// TestBuffersUsedAgain: if a line is written repeatedly and one side is slightly behind, only the
// newest write counts. Once it has landed on both sides, a difference is reported.
func TestBuffersUsedAgain(t *testing.T) {
	p := New(Cycles, "left", "right")
	var nodes [2]*lines
	for i, s := range p.sides {
		nodes[i] = &lines{mem: make([]byte, 4096)}
		s.current = &system{Timed: linesSystem{node: nodes[i]}, side: s}
	}
	put := func(at drivers.Cycle) {
		e := drivers.TraceEvent{Cycle: at, Point: drivers.PointWriteAddr, Data: 0x240}
		p.noteWrite(&e, &e)
	}
	look := func(at drivers.Cycle, left, right byte) bool {
		nodes[0].mem[0x245], nodes[1].mem[0x245] = left, right
		p.sides[0].stop.at, p.sides[1].stop.at = at, at
		p.checkWrites(false)
		return p.parted
	}
	for round := range byte(20) { // landed on the left side, but not on the right
		begun := 1000 * drivers.Cycle(round)
		put(begun)
		require.False(t, look(begun+600, round, round-1), "round %d", round)
	}
	require.False(t, look(21000, 19, 19))
	require.Empty(t, p.writes)
	// The side that is further has written the line again: not a difference.
	put(21500)
	nodes[0].mem[0x245], nodes[1].mem[0x245] = 19, 20
	p.sides[0].stop.at, p.sides[1].stop.at = 21520, 21540
	p.sides[1].seen = []drivers.TraceEvent{{Cycle: 21530, Point: drivers.PointWriteAddr, Data: 0x250}}
	p.checkWrites(true)
	require.False(t, p.parted)
	p.sides[1].seen = nil
	put(22000)
	require.False(t, look(23000, 20, 21), "it may be late")
	require.True(t, look(24000, 20, 21))
	require.Equal(t, drivers.Cycle(22000), p.stops[0].at)
}
