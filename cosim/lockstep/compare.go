package lockstep

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// slack: some events are reported a few cycles late, so the newest ones are compared at the next
// meeting.
const slack = 4

// A channel is a sequence of events in order: a trace point of a node.
type channel struct {
	node  uint16
	point uint8
}

func channelOf(e *drivers.TraceEvent) channel { return channel{e.Node, e.Point} }

// A passage is a virtual channel of a channel, in which packets are not interleaved.
type passage struct {
	channel
	vc uint8
}

// recentEvents is the number of matching events to remember, to report where a packet was last the
// same and to draw its path.
const recentEvents = 8192

// history is the state derived from matching events.
type history struct {
	heads  map[passage]regs.Header // of the packets that are passing
	counts map[channel]uint64      // packets that have passed
	recent []drivers.TraceEvent    // in a ring
	next   int
}

// add records an event of both sides.
func (h *history) add(e *drivers.TraceEvent) {
	if h.heads == nil {
		h.heads, h.counts = map[passage]regs.Header{}, map[channel]uint64{}
	}
	h.remember(e)
	if !isPacket(e.Point) {
		if e.Point == drivers.PointPIO || e.Point == drivers.PointSlot || e.Point == drivers.PointDropped {
			h.counts[channelOf(e)]++
		}
		return
	}
	if e.Flags&drivers.TraceHead == 0 {
		return
	}
	h.counts[channelOf(e)]++
	h.heads[passage{channelOf(e), e.VC}] = regs.Header(e.Data)
}

// remember adds an event to the ring.
func (h *history) remember(e *drivers.TraceEvent) {
	if len(h.recent) < recentEvents {
		h.recent = append(h.recent, *e)
		return
	}
	h.recent[h.next] = *e
	h.next = (h.next + 1) % recentEvents
}

// isPacket reports whether a point traces flits or heads.
func isPacket(point uint8) bool {
	return point <= drivers.PointEject || point >= drivers.PointArrive1 && point < drivers.PointTLPDown
}

// common reports whether both sides trace a point.
func (p *Pair) common(point uint8) bool {
	all := true
	for _, s := range p.sides {
		all = all && traces(s.info.Backend, point)
	}
	return all
}

func traces(backend string, point uint8) bool {
	switch point {
	case drivers.PointPIOAddr, drivers.PointPIOLast, drivers.PointReadLast, drivers.PointWriteDone:
		return backend == "rtl"
	case drivers.PointReadAddr, drivers.PointWriteAddr, drivers.PointWriteLast:
		return backend == "rtl" || backend == "model"
	}
	return true
}

func inOrder(a, b drivers.TraceEvent) int {
	return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Point, b.Point))
}

// same compares events. At the buses the model reports the requester in Flags, which the RTL does
// not, and the offset of the bytes in the first word.
func same(a, b *drivers.TraceEvent) bool {
	if a.Cycle != b.Cycle || a.Node != b.Node || a.Point != b.Point {
		return false
	}
	switch a.Point {
	case drivers.PointReadAddr, drivers.PointWriteAddr:
		return a.Data>>3 == b.Data>>3
	}
	return a.Data == b.Data && (!isPacket(a.Point) || a.Flags == b.Flags && a.VC == b.VC) || madeUp(a, b)
}

// madeUp: the tail with which a link terminates a truncated packet is zero in the RTL; the model
// shows the flit that it replaces.
func madeUp(a, b *drivers.TraceEvent) bool {
	made := func(e *drivers.TraceEvent) bool { return e.Flags == drivers.TraceTail && e.Data == 0 }
	return isPacket(a.Point) && a.VC == b.VC && (made(a) || made(b))
}

// compare compares the events of both sides, which are stopped.
func (p *Pair) compare() {
	l, r := p.sides[0], p.sides[1]
	now := min(l.stop.at, r.stop.at)
	if p.astray = p.astray || l.beyond() || r.beyond(); p.astray {
		return
	}
	p.match(now - min(now, slack))
	p.checkWrites(false)
	switch {
	case p.parted:
	case !(&stopPair{l.stop, r.stop}).same():
		if p.checkWrites(true); !p.parted { // software may have seen it in memory
			p.part(now)
			p.stops = &stopPair{l.stop, r.stop}
		}
	case l.closing && r.closing:
		p.match(drivers.Forever)
		if !p.parted {
			p.compareFinal()
		}
		l.closing, r.closing, l.seen, r.seen = false, false, nil, nil
		p.writes, p.newest, p.history = nil, nil, history{}
	}
}

// beyond: a NIC read an address outside memory. The model reports that during translation and sends
// nothing; from there on its cycles differ from the RTL's.
func (s *Side) beyond() bool {
	if s.current == nil {
		return false
	}
	for i := range s.seen {
		if e := &s.seen[i]; e.Point == drivers.PointReadAddr && e.Data >= uint64(len(s.current.Timed.Device(int(e.Node)).Memory())) {
			return true
		}
	}
	return false
}

// match compares the events before a cycle and removes those that are equal.
func (p *Pair) match(before drivers.Cycle) {
	l, r := p.sides[0], p.sides[1]
	for _, s := range p.sides {
		s.seen = p.sorted(s.seen)
	}
	n := 0
	for n < len(l.seen) && n < len(r.seen) && l.seen[n].Cycle < before && same(&l.seen[n], &r.seen[n]) {
		p.history.add(&l.seen[n])
		p.noteWrite(&l.seen[n], &r.seen[n])
		n++
	}
	p.agreed += uint64(n)
	l.seen, r.seen = l.seen[:copy(l.seen, l.seen[n:])], r.seen[:copy(r.seen, r.seen[n:])]
	at := drivers.Forever
	for _, s := range p.sides {
		if len(s.seen) > 0 && s.seen[0].Cycle < before {
			at = min(at, s.seen[0].Cycle)
		}
	}
	if at != drivers.Forever {
		p.part(at)
	}
}

// sorted returns the events that both sides can show, in order of time.
func (p *Pair) sorted(events []drivers.TraceEvent) []drivers.TraceEvent {
	events = slices.DeleteFunc(events, func(e drivers.TraceEvent) bool { return !p.common(e.Point) })
	slices.SortStableFunc(events, inOrder)
	return events
}

// A final is a register at the end of a run.
type final struct {
	node  int
	off   uint32
	value string
}

// compareFinal compares registers and memory of two systems whose software has ended.
func (p *Pair) compareFinal() {
	l, r := p.sides[0], p.sides[1]
	now := l.stop.at
	for i := range min(len(l.finals), len(r.finals)) {
		if a, b := l.finals[i], r.finals[i]; a != b {
			p.part(now)
			p.stops = &stopPair{finalStop(a, now), finalStop(b, now)}
			return
		}
	}
	for n := range l.info.Nodes {
		a, b := l.current.Timed.Device(n).Memory(), r.current.Timed.Device(n).Memory()
		if bytes.Equal(a, b) {
			continue
		}
		at := 0
		for at < len(a)-8 && bytes.Equal(a[at:at+8], b[at:at+8]) {
			at += 8
		}
		p.part(now)
		what := stop{what: fmt.Sprintf("memory at 0x%x, in the end", at), at: now, node: n, block: blockMemory, memory: true}
		p.stops = &stopPair{what, what}
		p.stops[0].value, p.stops[1].value = fmt.Sprintf("% x", a[at:min(at+8, len(a))]), fmt.Sprintf("% x", b[at:min(at+8, len(b))])
		return
	}
}

func finalStop(f final, at drivers.Cycle) stop {
	return stop{what: regs.Describe(f.off) + ", in the end", at: at, node: f.node, value: f.value, block: blockOfRegister(f.off), counter: true}
}

// A difference is the first one of a channel.
type difference struct {
	channel
	at          drivers.Cycle
	left, right *drivers.TraceEvent // nil: no further event
	swapped     bool                // each side also has the other's event soon after
	moved       int                 // on one side the head passes this other point of the node; -1: none
	refused     regs.RMAError       // by one side only, according to its packet
	slow        bool                // memory behind a write limiter
	header      regs.Header         // of the flit's packet
	number      uint64              // number of its packet in the channel
}

// firstDifference finds the channel in which two sorted lists of events differ first. Both are
// complete up to before.
func (h *history) firstDifference(left, right []drivers.TraceEvent, before drivers.Cycle) (first *difference) {
	lists := [2]map[channel][]*drivers.TraceEvent{{}, {}}
	for i, list := range [][]drivers.TraceEvent{left, right} {
		for k := range list {
			lists[i][channelOf(&list[k])] = append(lists[i][channelOf(&list[k])], &list[k])
		}
	}
	for i := range lists {
		for c := range lists[i] {
			if d := h.difference(c, lists[0][c], lists[1][c]); d != nil && d.at < before && d.before(first) {
				first = d
			}
		}
	}
	return first
}

// before orders differences by time, and within a cycle along the path of a packet.
func (d *difference) before(o *difference) bool {
	return o == nil || cmp.Or(cmp.Compare(d.at, o.at), cmp.Compare(along[d.point], along[o.point]), cmp.Compare(d.node, o.node)) < 0
}

// along is the position of trace points on the path of a packet.
var along = func() (order [24]int) {
	way := []uint8{drivers.PointPIOAddr, drivers.PointPIOLast, drivers.PointPIO, drivers.PointReadAddr, drivers.PointReadLast, drivers.PointInject}
	for l := range uint8(6) {
		way = append(way, drivers.PointLink1+l)
	}
	for l := range uint8(6) {
		way = append(way, drivers.PointArrive1+l)
	}
	for i, point := range append(way, drivers.PointEject, drivers.PointWriteAddr, drivers.PointWriteLast, drivers.PointWriteDone, drivers.PointSlot, drivers.PointDropped) {
		order[point] = i
	}
	return order
}()

func (h *history) difference(c channel, left, right []*drivers.TraceEvent) *difference {
	d := &difference{channel: c, at: drivers.Forever}
	heads := map[uint8]regs.Header{}
	header := func(e *drivers.TraceEvent) regs.Header {
		switch {
		case !isPacket(c.point):
			return 0
		case e.Flags&drivers.TraceHead != 0:
			return regs.Header(e.Data)
		case heads[e.VC] != 0:
			return heads[e.VC]
		}
		return h.heads[passage{c, e.VC}]
	}
	d.number = h.counts[c]
	for i := range max(len(left), len(right)) {
		d.left, d.right = nth(left, i), nth(right, i)
		if d.left != nil && d.right != nil && same(d.left, d.right) {
			if !isPacket(c.point) || d.left.Flags&drivers.TraceHead != 0 {
				heads[d.left.VC] = regs.Header(d.left.Data)
				d.number++
			}
			continue
		}
		earlier := d.left
		if d.left != nil {
			d.at = d.left.Cycle
		}
		if d.right != nil && d.right.Cycle < d.at {
			d.at, earlier = d.right.Cycle, d.right
		}
		d.header = header(earlier)
		if !isPacket(c.point) || earlier.Flags&drivers.TraceHead != 0 {
			d.number++
		}
		d.refused = refusal(nthFrom(left, i), nthFrom(right, i), d.at)
		d.swapped = d.left != nil && d.right != nil && followsSoon(right[i:], d.left) && followsSoon(left[i:], d.right)
		return d
	}
	return nil
}

// Maximum distance of swapped events: flits of a channel, and memory accesses, where a requester
// may starve.
const (
	soon  = 8
	later = 64
)

// followsSoon reports whether an equal event follows soon, but not first.
func followsSoon(list []*drivers.TraceEvent, e *drivers.TraceEvent) bool {
	most := soon
	if !isPacket(e.Point) {
		most = later
	}
	for i := 1; i < min(len(list), most); i++ {
		if alike(list[i], e) {
			return !alike(list[0], e)
		}
	}
	return false
}

// alike reports whether events are equal except for their time.
func alike(a, b *drivers.TraceEvent) bool {
	if !isPacket(a.Point) {
		return a.Data>>3 == b.Data>>3
	}
	return a.Data == b.Data && a.Flags == b.Flags
}

func nth(list []*drivers.TraceEvent, i int) *drivers.TraceEvent {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func nthFrom(list []*drivers.TraceEvent, i int) []*drivers.TraceEvent {
	return list[min(i, len(list)):]
}

// refusal is the error of an error packet that enters the network in a cycle on one side only.
func refusal(left, right []*drivers.TraceEvent, at drivers.Cycle) regs.RMAError {
	for _, list := range [][]*drivers.TraceEvent{left, right} {
		const word = 2 // after header and extension
		if len(list) > word && list[0].Cycle == at && list[0].Point == drivers.PointInject && list[0].Flags&drivers.TraceHead != 0 &&
			regs.Header(list[0].Data).Type() == regs.PacketTypeRMAError {
			return regs.RMANoti(list[word].Data).Fields().Error
		}
	}
	return regs.RMAErrorNone
}
