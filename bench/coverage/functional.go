package coverage

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A class is a range of packet sizes.
type class struct {
	name        string
	least, most int
}

// classes lists the sizes that a packet type can have; packets of words have one size.
func classes(t regs.PacketType) []class {
	switch t {
	case regs.PacketTypeVELO:
		return []class{{"0 bytes", 0, 0}, {"1 to 8", 1, 8}, {"9 to 55", 9, regs.VELOPayload - 1}, {"56", regs.VELOPayload, regs.VELOPayload}}
	case regs.PacketTypeRMAPut, regs.PacketTypeRMAGetRsp:
		const ext = 8 // precedes the bytes
		return []class{{"1 to 8 bytes", ext + 1, ext + 8}, {"9 to 64", ext + 9, ext + 64}, {"65 to 255", ext + 65, ext + regs.RMAMTU - 1}, {"256", ext + regs.RMAMTU, ext + regs.RMAMTU}}
	}
	return []class{{"a word", 0, 1 << 10}}
}

// Groups of functional points.
const (
	packets  = "packets"
	refusals = "refusals"
)

// functionalPoints lists all points, derived from the description: every packet type in every size
// class on every virtual channel that it can use, stalled or not; every drop reason; and the
// borders of RMA.
func functionalPoints() (list []Point) {
	for t := regs.PacketType(1); !strings.HasPrefix(t.String(), "PacketType("); t++ {
		for _, c := range classes(t) {
			for _, stalled := range []bool{false, true} {
				list = append(list, packetPoint(t, c, channelOf(t), stalled))
			}
		}
	}
	for r := regs.DropReason(1); !strings.HasPrefix(r.String(), "DropReason("); r++ {
		if r != regs.DropReasonLate && r != regs.DropReasonOverflow { // caused by RMA and full rings, which the trace does not show
			list = append(list, refusalPoint(r))
		}
	}
	return append(list, borderPoints()...)
}

// channelOf is the virtual channel on which a packet type enters the network: its traffic class.
func channelOf(t regs.PacketType) uint8 {
	switch t {
	case regs.PacketTypeRMAGetRsp, regs.PacketTypeRMALockRsp, regs.PacketTypeRMAError:
		return 2
	case regs.PacketTypeVELO:
		return 0
	}
	return 1
}

func packetPoint(t regs.PacketType, c class, vc uint8, stalled bool) Point {
	how := "at once"
	if stalled {
		how = "held up"
	}
	return Point{Kind: Functional, File: packets, Name: fmt.Sprintf("%v, %s, VC %d, %s", t, c.name, vc, how)}
}

func refusalPoint(r regs.DropReason) Point {
	return Point{Kind: Functional, File: refusals, Name: r.String()}
}

// A FunctionalSink records the functional points of a test.
type FunctionalSink struct {
	mu   sync.Mutex
	seen map[Point]uint64
}

// entering is a packet that is entering the network flit by flit.
type entering struct {
	header regs.Header
	last   drivers.Cycle
	held   bool
}

// systemSink is the trace sink of one system.
type systemSink struct {
	*FunctionalSink
	next drivers.TraceSink
	at   map[[2]uint16]*entering // by node and channel
	*borderSink
}

// Open is registry.Open with the trace connected to the sink.
func (f *FunctionalSink) Open(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
	opt.Trace = &systemSink{f, opt.Trace, map[[2]uint16]*entering{}, newBorderSink()}
	return registry.Open(ctx, uri, opt)
}

// Trace implements drivers.TraceSink.
func (s *systemSink) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		s.trace(s.FunctionalSink, &events[i])
		switch e := &events[i]; e.Point {
		case drivers.PointInject:
			s.enters(e)
		case drivers.PointDropped:
			s.add(refusalPoint(regs.DropReason(e.Data >> 32 & 0x7f)))
		}
	}
	if s.next == nil {
		return nil
	}
	return s.next.Trace(events)
}

func (s *systemSink) enters(e *drivers.TraceEvent) {
	key := [2]uint16{e.Node, uint16(e.VC)}
	p := s.at[key]
	if e.Flags&drivers.TraceHead != 0 {
		p = &entering{header: regs.Header(e.Data), last: e.Cycle}
		s.at[key] = p
	}
	if p == nil {
		return
	}
	p.held = p.held || e.Cycle > p.last+1
	p.last = e.Cycle
	if e.Flags&drivers.TraceTail == 0 {
		return
	}
	delete(s.at, key)
	for _, c := range classes(p.header.Type()) {
		if n := int(p.header.Length()); n >= c.least && n <= c.most {
			s.add(packetPoint(p.header.Type(), c, e.VC, p.held))
		}
	}
}

func (f *FunctionalSink) add(p Point) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[Point]uint64{}
	}
	f.seen[p]++
}

func (f *FunctionalSink) points() map[Point]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}
