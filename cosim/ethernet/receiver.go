package ethernet

import (
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// ackEvery is the number of segments with payload that one acknowledgement may answer (RFC 9293,
// section 3.8.6.3).
const ackEvery = 2

// receiver is the state of the direction from the peer.
type receiver struct {
	in       byteQueue // to read
	expected uint32    // sequence number of the next byte
	edge     uint32    // the first byte behind the window that the peer knows
	early    []segment // behind a hole, in ascending order
	stored   int       // bytes of early
	eof      bool
	awake    bool // the program has not yet read everything since it was woken

	unanswered int // segments with payload since the last acknowledgement
	ackNow     bool
	ackAt      drivers.Time
}

// freeWindow is the space of the receive buffer. Segments behind a hole are part of it.
func (s *Stream) freeWindow() int {
	return max(0, s.largestWindow()-s.in.len()) &^ (1<<windowShift - 1)
}

func (s *Stream) largestWindow() int { return min(s.host.network.config.ReceiveBuffer, maxWindow) }

// advertise returns the window for the next segment. Its end never moves back.
func (s *Stream) advertise() int {
	window := max(s.freeWindow(), distance(s.expected, s.edge)) &^ (1<<windowShift - 1)
	s.edge = later(s.edge, s.expected+uint32(window))
	return window
}

// store takes the payload of a segment that is in the window.
func (s *Stream) store(g *segment) {
	if len(g.payload) == 0 && g.flags&flagFIN == 0 {
		return
	}
	s.unanswered++
	if distance(s.expected, g.end()) <= 0 || distance(g.end(), s.limit()) < 0 {
		s.ackNow = true // a repetition, or a probe of a closed window
		return
	}
	if distance(s.expected, g.seq) > 0 {
		s.ackNow = true // a hole
		s.storeEarly(g)
		return
	}
	s.take(g)
	for len(s.early) > 0 && distance(s.expected, s.early[0].seq) <= 0 {
		s.take(&s.early[0])
		s.stored -= len(s.early[0].payload)
		s.early = s.early[1:]
		s.ackNow = true // a hole is filled
	}
}

// limit is the end of the window. A FIN behind a full window is accepted.
func (s *Stream) limit() uint32 { return s.edge + 1 }

// take appends the new part of a segment to the bytes to read.
func (s *Stream) take(g *segment) {
	skip := distance(g.seq, s.expected)
	if skip > len(g.payload) || s.eof {
		return
	}
	s.in.add(g.payload[skip:])
	s.expected += uint32(len(g.payload) - skip)
	if g.flags&flagFIN != 0 {
		s.eof, s.ackNow = true, true
		s.expected++
	}
}

// storeEarly stores a segment behind a hole. Segments that overlap may exceed the receive buffer;
// the peer repeats what is not stored.
func (s *Stream) storeEarly(g *segment) {
	at, found := slices.BinarySearchFunc(s.early, g, func(a segment, b *segment) int { return distance(b.seq, a.seq) })
	if found || s.stored+len(g.payload) > s.host.network.config.ReceiveBuffer {
		return
	}
	s.early = slices.Insert(s.early, at, *g)
	s.stored += len(g.payload)
}

// acknowledge sends an acknowledgement that is due, or starts its timer.
func (s *Stream) acknowledge() {
	switch {
	case s.ackNow || s.unanswered >= ackEvery:
		s.sendAck()
	case s.unanswered > 0 && s.ackAt == drivers.Never:
		s.ackAt = s.host.network.now + s.host.network.config.AckDelay
		s.schedule()
	}
}

func (s *Stream) sendAck() {
	s.ackNow = false
	s.send(&segment{seq: s.next, flags: flagACK})
}

// updateWindow tells the peer when a reader has made room: half of the buffer, or two segments for
// a peer that can send less than one.
func (s *Stream) updateWindow() {
	if s.state != streamOpen || s.eof {
		return
	}
	known, half, segment := distance(s.expected, s.edge), s.largestWindow()/2, s.SegmentBytes()
	gain := s.freeWindow() - known
	if gain >= half || known < segment && gain >= min(2*segment, half) {
		s.sendAck()
	}
}
