package coverage

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// borders is the group of functional points for page and table ends, where RMA splits operations.
const borders = "borders"

const pageBytes = 4096

// splitTypes lists the packets with an NLA and a length, whose fragments may end at a page end.
func splitTypes() []regs.PacketType {
	return []regs.PacketType{regs.PacketTypeRMAPut, regs.PacketTypeRMAImmPut, regs.PacketTypeRMAGetReq, regs.PacketTypeRMAGetRsp}
}

// overrunCommands lists the operations that can exceed the end of their table.
func overrunCommands() []regs.RMACommand {
	return []regs.RMACommand{regs.RMACommandPut, regs.RMACommandImmPut, regs.RMACommandGet}
}

// borderPoints lists all points: operations that cross a page end, or end there, by alignment of
// their fragment; the next page adjacent in memory or in another segment; and operations that
// exceed the end of their table.
func borderPoints() (list []Point) {
	for _, t := range splitTypes() {
		for align := range 8 {
			// An immediate put of at most 8 bytes that starts 8 bytes before a page end does not
			// cross it.
			if t != regs.PacketTypeRMAImmPut || align != 0 {
				list = append(list, pagePoint(t, true, align))
			}
			list = append(list, pagePoint(t, false, align))
		}
		if t != regs.PacketTypeRMAGetReq { // it writes no memory
			list = append(list, segmentPoint(t, true), segmentPoint(t, false))
		}
	}
	for _, c := range overrunCommands() {
		list = append(list, tablePoint(c))
	}
	return list
}

func borderPoint(format string, args ...any) Point {
	return Point{Kind: Functional, File: borders, Name: fmt.Sprintf(format, args...)}
}

func pagePoint(t regs.PacketType, crosses bool, align int) Point {
	how := "ends with"
	if crosses {
		how = "crosses"
	}
	return borderPoint("%v %s a page, alignment %d", t, how, align)
}

func segmentPoint(t regs.PacketType, adjacent bool) Point {
	where := "in another segment of memory"
	if adjacent {
		where = "behind it in memory"
	}
	return borderPoint("%v crosses a page, the next one %s", t, where)
}

func tablePoint(c regs.RMACommand) Point { return borderPoint("%v crosses the end of its table", c) }

// An rmaPacket is the part of a packet that determines the position of its fragment.
type rmaPacket struct {
	header regs.Header
	ext    regs.RMAExt
	quad   uint64 // the word after ext
	flits  int
}

// take records the packet's next flit.
func (p *rmaPacket) take(e *drivers.TraceEvent) {
	switch p.flits++; p.flits {
	case 2:
		p.ext = regs.RMAExt(e.Data)
	case 3:
		p.quad = e.Data
	}
}

// bytes is the length of its fragment.
func (p *rmaPacket) bytes() uint64 {
	if p.header.Type() == regs.PacketTypeRMAGetReq {
		return uint64(regs.RMAGet(p.quad).BytesMinus1()) + 1
	}
	return uint64(p.header.Length()) - 8
}

// split reports whether the fragment ends at a page end, and whether the operation continues on the
// next page.
func (p *rmaPacket) split() (ends, crosses bool) {
	switch p.header.Type() {
	case regs.PacketTypeRMAPut, regs.PacketTypeRMAImmPut, regs.PacketTypeRMAGetReq, regs.PacketTypeRMAGetRsp:
		ends = (p.ext.NLA()+p.bytes())%pageBytes == 0
		return ends, ends && !regs.RMAOp(p.header.Op()).Last()
	}
	return false, false
}

// A crossing identifies an operation whose fragment ended at a page end.
type crossing struct {
	node uint16 // origin
	vpid uint8
	tag  uint16
}

// A pageWrite is an arrived fragment that ends at a page end and has a successor: its write is
// followed by one at the start of the next page.
type pageWrite struct {
	kind  regs.PacketType
	begin uint64 // offset in the page
	page  uint64 // page address, if observed
	seen  bool
}

// borderSink detects border points in the trace of one system.
type borderSink struct {
	leaving, arriving map[[2]uint16]*rmaPacket // by node and channel
	ends              map[crossing]uint64      // NLAs at which operations crossed a page end
	writes            map[uint16][]pageWrite   // by node
}

func newBorderSink() *borderSink {
	return &borderSink{map[[2]uint16]*rmaPacket{}, map[[2]uint16]*rmaPacket{}, map[crossing]uint64{}, map[uint16][]pageWrite{}}
}

// whole returns a packet when its last flit arrives.
func whole(list map[[2]uint16]*rmaPacket, e *drivers.TraceEvent) *rmaPacket {
	key := [2]uint16{e.Node, uint16(e.VC)}
	if e.Flags&drivers.TraceHead != 0 {
		list[key] = &rmaPacket{header: regs.Header(e.Data)}
	}
	p := list[key]
	if p == nil {
		return nil
	}
	p.take(e)
	if e.Flags&drivers.TraceTail == 0 {
		return nil
	}
	delete(list, key)
	return p
}

func (s *borderSink) trace(f *FunctionalSink, e *drivers.TraceEvent) {
	switch e.Point {
	case drivers.PointInject:
		if p := whole(s.leaving, e); p != nil {
			s.leaves(f, p)
		}
	case drivers.PointEject:
		if p := whole(s.arriving, e); p != nil {
			if _, crosses := p.split(); crosses && p.header.Type() != regs.PacketTypeRMAGetReq {
				w := pageWrite{kind: p.header.Type(), begin: p.ext.NLA() % pageBytes &^ 7}
				s.writes[e.Node] = append(s.writes[e.Node], w)
			}
		}
	case drivers.PointWriteAddr:
		s.written(f, e.Node, e.Data)
	}
}

func (s *borderSink) leaves(f *FunctionalSink, p *rmaPacket) {
	h := p.header
	ends, crosses := p.split()
	if ends {
		f.add(pagePoint(h.Type(), crosses, int(p.ext.NLA()%8)))
	}
	if crosses && h.Type() != regs.PacketTypeRMAGetRsp {
		s.ends[crossing{h.SrcNode(), h.SrcVPID(), p.ext.Tag()}] = p.ext.NLA() + p.bytes()
	}
	if noti := regs.RMANoti(p.quad).Fields(); h.Type() == regs.PacketTypeRMAError && noti.Error == regs.RMAErrorBounds {
		if end, ok := s.ends[crossing{h.DstNode(), h.DstVPID(), p.ext.Tag()}]; ok && end == p.ext.NLA() {
			f.add(tablePoint(noti.Command))
		}
	}
}

// written records the address of a node's next write.
func (s *borderSink) written(f *FunctionalSink, node uint16, addr uint64) {
	list := s.writes[node]
	if len(list) == 0 {
		return
	}
	switch w := &list[0]; {
	case !w.seen && addr%pageBytes&^7 == w.begin:
		w.page, w.seen = addr/pageBytes, true
	case w.seen && addr%pageBytes == 0:
		f.add(segmentPoint(w.kind, addr/pageBytes == w.page+1))
		s.writes[node] = list[1:]
	case len(list) > 16: // the fragment was refused: no write follows
		s.writes[node] = list[1:]
	}
}
