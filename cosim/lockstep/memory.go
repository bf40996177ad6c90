package lockstep

import (
	"bytes"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

const lineBytes = 64 // a write of the NIC does not cross a line

// lands is the cycle in which a write, given the cycle of its address, is in memory on both sides.
func (w *write) lands() drivers.Cycle { return w.at + 16 }

// A write is a write of the NIC that both sides have traced: memory must be equal afterwards.
type write struct {
	at    drivers.Cycle // cycle of its address, or of the first comparison
	begun drivers.Cycle
	line
	who string
	bad bool // compared, and different: another write may be in flight
}

// A line is a line of a node's memory.
type line struct {
	node int
	addr uint64
}

func lineOf(e *drivers.TraceEvent) line { return line{int(e.Node), e.Data &^ (lineBytes - 1)} }

// noteWrite records a write; one of the two sides reports its requester. Earlier writes to the line
// are no longer compared: where software reuses a buffer repeatedly, another write may always be in
// flight.
func (p *Pair) noteWrite(l, r *drivers.TraceEvent) {
	if l.Point != drivers.PointWriteAddr {
		return
	}
	if p.newest == nil {
		p.newest = map[line]drivers.Cycle{}
	}
	d := difference{channel: channelOf(l), left: l, right: r}
	w := write{at: l.Cycle, begun: l.Cycle, line: lineOf(l), who: d.served(writers[:], blockMemory)}
	p.writes, p.newest[w.line] = append(p.writes, w), w.begun
}

// checkWrites compares the written lines of memory while both sides are stopped. A line that
// differs is compared once more later, unless the sides have diverged.
func (p *Pair) checkWrites(parts bool) {
	l, r := p.sides[0], p.sides[1]
	now := min(l.stop.at, r.stop.at)
	if p.parted || l.stop.at != r.stop.at && !parts {
		return
	}
	kept := p.writes[:0]
	for _, w := range p.writes {
		if p.newest[w.line] != w.begun || parts && p.rewritten(w.line) {
			continue
		}
		if w.lands() > now && !parts {
			kept = append(kept, w)
			continue
		}
		a, b := l.bytesOf(&w), r.bytesOf(&w)
		switch {
		case bytes.Equal(a, b):
			delete(p.newest, w.line)
		case !w.bad && !parts:
			w.bad, w.at = true, now
			kept = append(kept, w)
		case !p.parted:
			p.part(now)
			p.stops = w.stops(a, b)
		}
	}
	p.writes = kept
}

// rewritten: one side has written a line again, and may be further than the other.
func (p *Pair) rewritten(at line) bool {
	for _, s := range p.sides {
		for i := range s.seen {
			if e := &s.seen[i]; e.Point == drivers.PointWriteAddr && lineOf(e) == at {
				return true
			}
		}
	}
	return false
}

// stops describes the first bytes that differ.
func (w *write) stops(a, b []byte) *stopPair {
	i := 0
	for i < len(a)-8 && bytes.Equal(a[i:i+8], b[i:i+8]) {
		i += 8
	}
	what := stop{what: fmt.Sprintf("memory at 0x%x", w.addr+uint64(i)), at: w.begun, node: w.node, block: w.who, memory: true}
	pair := &stopPair{what, what}
	pair[0].value, pair[1].value = fmt.Sprintf("% x", a[i:i+8]), fmt.Sprintf("% x", b[i:i+8])
	return pair
}

// bytesOf returns the bytes of a write.
func (s *Side) bytesOf(w *write) []byte {
	mem := s.current.Timed.Device(w.node).Memory()
	if w.addr+lineBytes > uint64(len(mem)) {
		return nil
	}
	return mem[w.addr : w.addr+lineBytes]
}
