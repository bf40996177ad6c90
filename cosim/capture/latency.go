package capture

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Block is a part of the path of packets, with the cycles spent in it.
type Block struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"`
	Min   uint64  `json:"min_cycles"`
	Mean  float64 `json:"mean_cycles"`
	Max   uint64  `json:"max_cycles"`
}

// Latency is a drivers.TraceSink that attributes the time of VELO packets to blocks. Packets of a
// pair of nodes stay in order and take one route, so the n-th header of a pair at any trace point
// belongs to its n-th packet.
type Latency struct {
	nodes    []nodeState
	pairs    map[uint32]*route // used for lookups only, because iteration is not deterministic
	waiting  stat              // line taken to first flit
	hops     []stat            // first flit out of one router to first flit out of the next, by number of hops
	eject    stat              // first flit onto the last link to first flit out of the last router
	stream   stat              // first to last flit of the packet at its destination
	complete stat              // last flit to slot written
	total    stat
}

type stat struct{ count, sum, min, max uint64 }

// NewLatency returns an empty sink.
func NewLatency() *Latency {
	return &Latency{pairs: map[uint32]*route{}}
}

// Reset starts a new measurement. Packets in flight count for it when they arrive.
func (l *Latency) Reset() {
	l.waiting, l.eject, l.stream, l.complete, l.total = stat{}, stat{}, stat{}, stat{}, stat{}
	clear(l.hops)
}

// Summary lists the blocks in the order of a packet's path, then the total.
func (l *Latency) Summary() []Block {
	list := make([]Block, 0, len(l.hops)+5)
	list = append(list, l.waiting.block("requester (line to first flit)"))
	for i := range l.hops {
		name := fmt.Sprintf("link and router, hop %d", i+1)
		if i == 0 {
			name = "first router"
		}
		list = append(list, l.hops[i].block(name))
	}
	return append(list,
		l.eject.block("link and last router"),
		l.stream.block("serialization"),
		l.complete.block("completer and DMA"),
		l.total.block("line to slot"))
}

func (s *stat) block(name string) Block {
	b := Block{Name: name, Count: s.count, Min: s.min, Max: s.max}
	if s.count > 0 {
		b.Mean = float64(s.sum) / float64(s.count)
	}
	return b
}

func (s *stat) add(v drivers.Cycle) {
	c := uint64(v)
	if s.count == 0 || c < s.min {
		s.min = c
	}
	s.count, s.sum, s.max = s.count+1, s.sum+c, max(s.max, c)
}

// Trace implements drivers.TraceSink.
func (l *Latency) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		e := &events[i]
		switch {
		case e.Point == drivers.PointPIO:
			if !regs.ForDescriptors(uint32(e.Data)) {
				l.node(e.Node).lines.push(mark{e.Cycle, e.Cycle})
			}
		case e.Point == drivers.PointSlot:
			l.slot(e)
		case e.Point == drivers.PointDropped:
			l.dropped(e)
		case e.Point < linkPoints && e.Flags&drivers.TraceHead != 0:
			if h := regs.Header(e.Data); h.Type() == regs.PacketTypeVELO {
				l.header(e, h)
			} else if e.Point == drivers.PointEject {
				l.node(e.Node).leaving[e.VC%regs.TorusVCs] = nil // its tail belongs to another packet type
			}
		case e.Point == drivers.PointEject && e.Flags&drivers.TraceTail != 0:
			l.tail(e)
		}
	}
	return nil
}
