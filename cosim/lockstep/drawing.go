package lockstep

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Drawing contains what a page draws of a divergence: signals and events around its cycle, and
// the path of the packet. It is part of the record of a test, so pages need no other file.
type Drawing struct {
	From drivers.Cycle `json:"from_cycles"`
	To   drivers.Cycle `json:"to_cycles"`
	// Lanes are trace points of the node, the one with the divergence first.
	Lanes []Lane `json:"lanes,omitempty"`
	// Signals are of the block.
	Signals []Waveform `json:"signals,omitempty"`
	Packet  *Packet    `json:"packet,omitempty"`
	// Path is the trace points that the packet passed, in order of time.
	Path []Hop `json:"path,omitempty"`
}

// A Lane is the events of a trace point.
type Lane struct {
	Name   string     `json:"name"`
	Events [2][]Event `json:"events"` // by device
}

// An Event is a flit, or an access.
type Event struct {
	Cycle drivers.Cycle `json:"at_cycles"`
	Data  string        `json:"data"`
	What  string        `json:"what,omitempty"` // head, tail, flit; "" for an access
	VC    uint8         `json:"vc,omitempty"`
}

// A Waveform is a signal of the block.
type Waveform struct {
	Name  string `json:"name"`
	Width int    `json:"bits"`
	// Values are the changes by device. The first is the value at the start of the drawing; a device
	// without waveforms has none.
	Values [2][]Value `json:"values"`
}

// A Value is what a signal has from a cycle on: a digit for one bit, else hexadecimal.
type Value struct {
	Cycle drivers.Cycle `json:"at_cycles"`
	Value string        `json:"value"`
}

// A Packet is the packet of a divergence.
type Packet struct {
	Type   string `json:"type"`
	Bytes  int    `json:"bytes"`
	Source [2]int `json:"source"`      // node and process
	Target [2]int `json:"destination"` // node and process
}

// A Hop is a trace point on the path of a packet. Link is the port, such as "+X"; it is empty where
// the packet enters or leaves the network.
type Hop struct {
	Node int    `json:"node"`
	What string `json:"what"` // enters, departs, arrives or leaves
	Link string `json:"link,omitempty"`
	// Heads tell when its head passed, by device; null: it did not.
	Heads [2]*Head `json:"heads"`
	// Diverges marks the trace point of the divergence.
	Diverges bool `json:"diverges,omitempty"`
}

// What a hop is.
const (
	HopEnters  = "enters"
	HopDeparts = "departs"
	HopArrives = "arrives"
	HopLeaves  = "leaves"
)

// A Head is the passage of a packet's head.
type Head struct {
	Cycle drivers.Cycle `json:"at_cycles"`
	VC    uint8         `json:"vc"`
}

// Cycles around a divergence that are drawn, and the limits of a drawing.
const (
	drawnBefore = 60
	drawnBehind = 60
	maxLanes    = 4
	maxSignals  = 10
	maxHops     = 64
)

// draw adds the drawing; signals follow when there are waves. diff is nil for a divergence in the
// result of a call.
func (p *Pair) draw(diff *difference) {
	f := p.found
	at := f.Cycle
	f.Drawing = &Drawing{From: at - min(at, drawnBefore), To: at + drawnBehind}
	var events [2][]drivers.TraceEvent
	for i, s := range p.sides {
		events[i] = append(p.history.inTime(), s.seen...)
	}
	f.Drawing.Lanes = lanesOf(f, diff, &events)
	if diff != nil {
		f.Drawing.addPath(diff, &events)
	}
}

// inTime returns the events that both sides had, in order of time.
func (h *history) inTime() []drivers.TraceEvent {
	list := make([]drivers.TraceEvent, 0, len(h.recent))
	for i := range h.recent {
		list = append(list, h.recent[(h.next+i)%len(h.recent)])
	}
	return list
}

// lanesOf returns the lanes of the node: that of the difference, and others with events nearby.
func lanesOf(f *Divergence, diff *difference, events *[2][]drivers.TraceEvent) []Lane {
	lanes, nearest := map[uint8]*Lane{}, map[uint8]drivers.Cycle{}
	for side, list := range events {
		for i := range list {
			e := &list[i]
			if int(e.Node) != f.Node || e.Cycle < f.Drawing.From || e.Cycle > f.Drawing.To {
				continue
			}
			l, ok := lanes[e.Point]
			if !ok {
				l = &Lane{Name: pointName(e.Point)}
				lanes[e.Point], nearest[e.Point] = l, drivers.Forever
			}
			l.Events[side] = append(l.Events[side], eventOf(e))
			nearest[e.Point] = min(nearest[e.Point], max(e.Cycle, f.Cycle)-min(e.Cycle, f.Cycle))
		}
	}
	rank := func(point uint8) drivers.Cycle {
		if diff != nil && point == diff.point {
			return 0
		}
		return 1 + nearest[point]
	}
	var points []uint8
	for point := range lanes {
		points = append(points, point)
	}
	slices.SortFunc(points, func(a, b uint8) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	var all []Lane
	for _, point := range points[:min(len(points), maxLanes)] {
		all = append(all, *lanes[point])
	}
	return all
}

func eventOf(e *drivers.TraceEvent) Event {
	ev := Event{Cycle: e.Cycle, Data: fmt.Sprintf("0x%x", e.Data)}
	if !isPacket(e.Point) {
		return ev
	}
	ev.What, ev.VC = "flit", e.VC
	switch {
	case e.Flags&drivers.TraceHead != 0:
		ev.What = "head"
	case e.Flags&drivers.TraceTail != 0:
		ev.What = "tail"
	}
	return ev
}

// pointName names a trace point.
func pointName(point uint8) string {
	switch {
	case point == drivers.PointInject:
		return "enters the network"
	case point == drivers.PointEject:
		return "leaves the network"
	case point < drivers.PointEject:
		return "departs on " + linkNames[point-drivers.PointLink1]
	case point >= drivers.PointArrive1 && point < drivers.PointTLPDown:
		return "arrives on " + linkNames[point-drivers.PointArrive1]
	}
	if name, ok := accessNames[point]; ok {
		return name
	}
	return fmt.Sprintf("trace point %d", point)
}

var accessNames = map[uint8]string{
	drivers.PointPIO: "send window line", drivers.PointSlot: "slot written", drivers.PointDropped: "packet dropped",
	drivers.PointPIOAddr: "send window AW", drivers.PointPIOLast: "send window W last",
	drivers.PointReadAddr: "DMA AR", drivers.PointReadLast: "DMA R last",
	drivers.PointWriteAddr: "DMA AW", drivers.PointWriteLast: "DMA W last", drivers.PointWriteDone: "DMA B",
}

// addPath adds the path of the packet whose flit differs. For a difference in a memory access or
// slot, that is the packet that reached the node last.
func (w *Drawing) addPath(diff *difference, events *[2][]drivers.TraceEvent) {
	side := 0
	if diff.either() == diff.right {
		side = 1
	}
	at, header := diff.channel, diff.header
	if !isPacket(diff.point) {
		at = channel{diff.node, drivers.PointEject}
	}
	var heads [2]map[channel][]*drivers.TraceEvent
	if header == 0 {
		header = lastHead(events[side], at, diff.at)
	}
	if header == 0 {
		return
	}
	for i := range events {
		heads[i] = headsOf(events[i], header)
	}
	n := 0
	for n < len(heads[side][at]) && heads[side][at][n].Cycle <= diff.at {
		n++
	}
	if n == 0 {
		return
	}
	w.Packet = &Packet{Type: header.Type().String(), Bytes: int(header.Length()),
		Source: [2]int{int(header.SrcNode()), int(header.SrcVPID())},
		Target: [2]int{int(header.DstNode()), int(header.DstVPID())}}
	w.Path = hops(&heads, n-1, diff.channel)
}

// lastHead is the header of the packet whose head passed a channel last.
func lastHead(events []drivers.TraceEvent, c channel, until drivers.Cycle) (h regs.Header) {
	for i := range events {
		if e := &events[i]; channelOf(e) == c && e.Cycle <= until && e.Flags&drivers.TraceHead != 0 {
			h = regs.Header(e.Data)
		}
	}
	return h
}

// headsOf returns the heads with a header by channel, from the first that entered the network.
// Packets with equal headers take the same route and stay in order, so the n-th in one channel is
// the n-th in all of them.
func headsOf(events []drivers.TraceEvent, h regs.Header) map[channel][]*drivers.TraceEvent {
	heads, hasEntered := map[channel][]*drivers.TraceEvent{}, false
	for i := range events {
		e := &events[i]
		if !isHeadOf(e, h) {
			continue
		}
		if hasEntered = hasEntered || e.Point == drivers.PointInject; hasEntered {
			heads[channelOf(e)] = append(heads[channelOf(e)], e)
		}
	}
	return heads
}

// hops returns the path of the n-th packet. It marks the channel of the divergence.
func hops(heads *[2]map[channel][]*drivers.TraceEvent, n int, diverges channel) (path []Hop) {
	at := map[channel]int{}
	points := []uint8{}
	for side := range heads {
		for c, list := range heads[side] {
			if n >= len(list) {
				continue
			}
			i, ok := at[c]
			if !ok {
				i = len(path)
				at[c] = i
				path, points = append(path, hopOf(c)), append(points, c.point)
				path[i].Diverges = c == diverges
			}
			path[i].Heads[side] = &Head{list[n].Cycle, list[n].VC}
		}
	}
	order := make([]int, len(path))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(path[a].earliest(), path[b].earliest()), cmp.Compare(along[points[a]], along[points[b]]),
			cmp.Compare(path[a].Node, path[b].Node))
	})
	sorted := make([]Hop, 0, len(path))
	for _, i := range order[:min(len(order), maxHops)] {
		sorted = append(sorted, path[i])
	}
	return sorted
}

func (h *Hop) earliest() drivers.Cycle {
	at := drivers.Forever
	for _, head := range h.Heads {
		if head != nil {
			at = min(at, head.Cycle)
		}
	}
	return at
}

func hopOf(c channel) Hop {
	h := Hop{Node: int(c.node)}
	switch {
	case c.point == drivers.PointInject:
		h.What = HopEnters
	case c.point == drivers.PointEject:
		h.What = HopLeaves
	case c.point < drivers.PointEject:
		h.What, h.Link = HopDeparts, linkNames[c.point-drivers.PointLink1]
	default:
		h.What, h.Link = HopArrives, linkNames[c.point-drivers.PointArrive1]
	}
	return h
}
