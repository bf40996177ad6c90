package lockstep

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Divergence is the first difference between two sides.
type Divergence struct {
	Devices [2]string     `json:"devices"`
	System  int           `json:"system"` // number of the opened system, from 1 on
	Cycle   drivers.Cycle `json:"at_cycles"`
	Node    int           `json:"node"`
	// Block is the instance path in waves below the node; Source is its file, relative to the RTL
	// directory.
	Block  string `json:"block"`
	Source string `json:"source"`
	// Kind is packet, access, register, counter, memory or stop.
	Kind   string    `json:"kind"`
	What   string    `json:"what"`
	Values [2]string `json:"values"` // by device
	Before string    `json:"before,omitempty"`
	Agreed uint64    `json:"events_agreed"`
	// Waves are of the first device, around the cycle; Gtkw is a GTKWave save file that shows the
	// block.
	Waves string `json:"waves,omitempty"`
	Gtkw  string `json:"gtkw,omitempty"`
	// Drawing is what report.html and nicloop serve draw of it.
	Drawing *Drawing `json:"drawing,omitempty"`

	point uint8
}

// Module is the name of the block's module.
func (d *Divergence) Module() string {
	name := d.Source[strings.LastIndex(d.Source, "/")+1:]
	return strings.TrimSuffix(name, ".sv")
}

// Signature is equal for divergences with the same cause.
func (d *Divergence) Signature() string { return d.Kind + " at " + d.Module() }

func (d *Divergence) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "first divergence: cycle %d, node %d, block %s (%s): %s\n", d.Cycle, d.Node, d.Block, d.Source, d.What)
	width := max(len(d.Devices[0]), len(d.Devices[1]))
	for i, device := range d.Devices {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, device, d.Values[i])
	}
	if d.Before != "" {
		fmt.Fprintf(&b, "  %s\n", d.Before)
	}
	fmt.Fprintf(&b, "  %d events were the same before", d.Agreed)
	if d.Waves != "" {
		fmt.Fprintf(&b, "\n  waves: gtkwave %s %s", d.Waves, d.Gtkw)
	}
	return b.String()
}

// finish determines the divergence after both sides have ended.
func (p *Pair) finish() {
	l, r := p.sides[0], p.sides[1]
	if p.mode == Packets {
		p.finishPackets()
		return
	}
	if !p.parted {
		return
	}
	before := min(l.stop.at, r.stop.at)
	for _, s := range p.sides {
		s.seen = p.sorted(s.seen)
	}
	d := p.history.firstDifference(l.seen, r.seen, before)
	p.found = &Divergence{Devices: p.names, System: min(l.opened, r.opened), Agreed: p.agreed}
	if d == nil || p.stops != nil && p.stops.at() < d.at {
		p.tellStops()
		p.draw(nil)
		return
	}
	d.moved = d.elsewhere(l.seen, r.seen)
	d.slow = l.isSlow(d) || r.isSlow(d)
	p.describe(d)
	p.draw(d)
}

func (s *stopPair) at() drivers.Cycle { return min(s[0].at, s[1].at) }

// tellStops describes a divergence in the result of a call.
func (p *Pair) tellStops() {
	a, b := p.stops[0], p.stops[1]
	if a.block == "" {
		a.block = b.block
	}
	if a.node < 0 {
		a.node = b.node
	}
	f := p.found
	f.Cycle, f.Node, f.Block, f.What, f.Kind = p.stops.at(), max(a.node, 0), a.block, a.what, "stop"
	switch {
	case a.counter:
		f.Kind = "counter"
	case a.memory:
		f.Kind, f.Block = "memory", a.block
	case a.register || b.register:
		f.Kind = "register"
		if a.value == b.value { // but later
			f.Block = blockRegfile
		}
	case f.Block == "":
		f.Block = blockHost
	}
	f.Source = source(f.Block)
	for i, s := range p.stops {
		f.Values[i] = fmt.Sprintf("cycle %d: %s", s.at, s.value)
	}
}

// describe describes a difference of events.
func (p *Pair) describe(d *difference) {
	f := p.found
	f.Cycle, f.Node, f.Block, f.Kind = d.at, int(d.node), d.block(), "packet"
	f.Source = source(f.Block)
	f.point = d.point
	f.What = d.what()
	if !isPacket(d.point) && d.point != drivers.PointPIO && d.point != drivers.PointSlot && d.point != drivers.PointDropped {
		f.Kind = "access"
	}
	for i, e := range []*drivers.TraceEvent{d.left, d.right} {
		if f.Values[i] = d.value(e); e == nil {
			f.Values[i] += fmt.Sprintf(" up to cycle %d", min(p.sides[0].stop.at, p.sides[1].stop.at))
		}
	}
	f.Before = p.history.seenLast(d)
}

// what names the point and the packet.
func (d *difference) what() string {
	switch p := d.point; {
	case p == drivers.PointInject:
		return d.packet() + " enters the network"
	case p == drivers.PointEject:
		return d.packet() + " leaves the network"
	case p < drivers.PointEject:
		return d.packet() + " leaves the router for link " + linkNames[p-drivers.PointLink1]
	case p >= drivers.PointArrive1:
		return d.packet() + " arrives from link " + linkNames[p-drivers.PointArrive1]
	case p == drivers.PointPIO:
		return fmt.Sprintf("line %d of the send window is taken", d.number)
	case p == drivers.PointSlot:
		return fmt.Sprintf("slot %d is written", d.number)
	case p == drivers.PointDropped:
		return fmt.Sprintf("packet %d is refused or discarded", d.number)
	}
	return busNames[d.point]
}

var busNames = map[uint8]string{
	drivers.PointPIOAddr: "address of a burst to the send windows", drivers.PointPIOLast: "its last beat", drivers.PointReadAddr: "address of a read from memory",
	drivers.PointReadLast: "last beat of a read from memory", drivers.PointWriteAddr: "address of a write to memory",
	drivers.PointWriteLast: "last beat of a write to memory", drivers.PointWriteDone: "acknowledgement of a write to memory",
}

func (d *difference) packet() string {
	h := d.header
	return fmt.Sprintf("packet %d there, %v from %d.%d to %d.%d, %d bytes", d.number, h.Type(), h.SrcNode(), h.SrcVPID(), h.DstNode(), h.DstVPID(), h.Length())
}

// value describes an event.
func (d *difference) value(e *drivers.TraceEvent) string {
	if e == nil {
		return "nothing more there"
	}
	text := fmt.Sprintf("cycle %d: ", e.Cycle)
	switch {
	case isPacket(e.Point) && e.Flags&drivers.TraceHead != 0:
		h := regs.Header(e.Data)
		text += fmt.Sprintf("head 0x%016x (%v from %d.%d to %d.%d), VC %d", e.Data, h.Type(), h.SrcNode(), h.SrcVPID(), h.DstNode(), h.DstVPID(), e.VC)
	case isPacket(e.Point) && e.Flags&drivers.TraceTail != 0:
		text += fmt.Sprintf("tail 0x%016x, VC %d", e.Data, e.VC)
	case isPacket(e.Point):
		text += fmt.Sprintf("flit 0x%016x, VC %d", e.Data, e.VC)
	case e.Point == drivers.PointDropped:
		text += fmt.Sprintf("%v, from %d.%d to %d.%d", regs.DropReason(e.Data>>32&0x7f), e.Data>>20&0xfff, e.Data>>16&0xf, e.Data>>4&0xfff, e.Data&0xf)
	case e.Point == drivers.PointSlot:
		s := regs.Slot(e.Data)
		text += fmt.Sprintf("header 0x%016x (from %d.%d, %d bytes, number %d)", e.Data, s.SrcNode(), s.SrcVPID(), s.Length(), s.Seq())
	default:
		text += fmt.Sprintf("0x%x", e.Data)
	}
	return text
}

// isHeadOf reports whether an event is the passage of the head of a packet with this header.
func isHeadOf(e *drivers.TraceEvent, h regs.Header) bool {
	return isPacket(e.Point) && e.Flags&drivers.TraceHead != 0 && regs.Header(e.Data) == h
}

// seenLast describes where the packet was last the same.
func (h *history) seenLast(d *difference) string {
	if d.header == 0 || !isPacket(d.point) {
		return ""
	}
	for i := range h.recent {
		e := &h.recent[(h.next+2*len(h.recent)-1-i)%len(h.recent)]
		if !isHeadOf(e, d.header) || e.Cycle > d.at {
			continue
		}
		if e.Node != d.node || e.Point != d.point {
			where := difference{channel: channelOf(e), header: d.header, number: h.counts[channelOf(e)]}
			return fmt.Sprintf("its head was the same at node %d in cycle %d: %s", e.Node, e.Cycle, where.what())
		}
	}
	return ""
}
