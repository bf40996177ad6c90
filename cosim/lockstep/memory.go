package lockstep

import (
	"bytes"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

const lineBytes = 64 // a write of the NIC stays in one line

// lands is how long after its address a write is in memory on both sides: the model writes a fragment of RMA when its last burst
// has left.
func (w *write) lands() drivers.Cycle {
	if w.who == blockRMACompleter || w.who == blockRMAAnswers {
		return w.at + 512
	}
	return w.at + 16
}

// A write is one of the NIC that both sides have shown: what it left in memory must be the same.
type write struct {
	at    drivers.Cycle // its address, or when it was looked at first
	begun drivers.Cycle
	node  int
	addr  uint64
	who   string
	bad   bool // looked at, and it was not: perhaps another one is on its way there
}

// noteWrite remembers a write; who does it, one of the two sides tells.
func (p *Pair) noteWrite(l, r *drivers.TraceEvent) {
	if l.Point != drivers.PointWriteAddr {
		return
	}
	d := difference{channel: channelOf(l), left: l, right: r}
	p.writes = append(p.writes, write{at: l.Cycle, begun: l.Cycle, node: int(l.Node), addr: l.Data &^ (lineBytes - 1), who: d.served(writers[:], blockMemory)})
}

// checkWrites compares the lines of memory that were written; both sides stand still. A line that differs is looked at once
// more, later, unless the sides part now.
func (p *Pair) checkWrites(parts bool) {
	l, r := p.sides[0], p.sides[1]
	now := min(l.stop.at, r.stop.at)
	if p.parted || l.stop.at != r.stop.at && !parts {
		return
	}
	kept := p.writes[:0]
	for _, w := range p.writes {
		if w.lands() > now && !parts {
			kept = append(kept, w)
			continue
		}
		a, b := l.line(&w), r.line(&w)
		switch {
		case bytes.Equal(a, b):
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

// stops tells the first bytes that are not the same.
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

// line is what a write left.
func (s *Side) line(w *write) []byte {
	mem := s.current.Timed.Device(w.node).Memory()
	if w.addr+lineBytes > uint64(len(mem)) {
		return nil
	}
	return mem[w.addr : w.addr+lineBytes]
}
