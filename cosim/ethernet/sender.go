package ethernet

import "github.com/nicloop/nicloop/drivers"

// duplicateAcks is the number of repeated acknowledgements that show a loss (RFC 5681, section
// 3.2).
const duplicateAcks = 3

// sender is the state of the direction to the peer.
type sender struct {
	out      byteQueue // from unacked
	unacked  uint32
	next     uint32 // behind everything that was sent
	window   int    // of the peer, from unacked
	closed   bool   // a FIN follows out
	finished bool   // the FIN is acknowledged

	repeats    int  // of the same acknowledgement
	recovering bool // from a loss, until everything before recoverTo is acknowledged (RFC 6582)
	recoverTo  uint32

	attempts int          // transmissions without an answer
	repeatAt drivers.Time // of the retransmission timer
	timerAt  drivers.Time // of the pending event, which may be too early for the timers
}

// transmit sends what the window of the peer allows. There is no congestion window.
func (s *Stream) transmit() {
	if s.state != streamOpen {
		return
	}
	limit := s.host.network.config.segmentBytes()
	for {
		from := distance(s.unacked, s.next)
		size := min(s.out.len()-from, limit, s.window-from)
		// What the window cuts short waits for an acknowledgement of what is in flight: otherwise
		// every acknowledgement would release a short segment (RFC 9293, section 3.8.6.2.1).
		isCut := size < limit && size < s.out.len()-from && s.isInFlight()
		if size <= 0 || isCut {
			break
		}
		s.sendPayload(s.next, size)
	}
	if s.closed && !s.finished && distance(s.unacked, s.next) == s.out.len() {
		s.send(&segment{seq: s.next, flags: flagFIN | flagACK})
		s.next++
	}
	if s.repeatAt == drivers.Never && (s.isInFlight() || s.out.len() > 0) {
		s.startTimer()
	}
}

// isInFlight reports whether anything is not acknowledged.
func (s *sender) isInFlight() bool { return s.next != s.unacked }

func later(a, b uint32) uint32 {
	if distance(a, b) > 0 {
		return b
	}
	return a
}

// sendPayload sends bytes of the send buffer, for the first time or again.
func (s *Stream) sendPayload(seq uint32, size int) {
	from := distance(s.unacked, seq)
	g := segment{seq: seq, flags: flagACK, payload: s.out.bytes()[from : from+size]}
	if from+size == s.out.len() {
		g.flags |= flagPSH
	}
	if distance(seq, s.next) > 0 {
		s.host.network.counters.Retransmitted++
	}
	s.next = later(s.next, g.end())
	s.send(&g)
}

// send sends a segment that acknowledges everything that has arrived.
func (s *Stream) send(g *segment) {
	g.ack, g.window = s.expected, s.advertise()
	s.unanswered, s.ackAt = 0, drivers.Never
	s.host.sendSegment(s.key(), g)
}

// acknowledged processes the acknowledgement of a segment.
func (s *Stream) acknowledged(g *segment) {
	count := distance(s.unacked, g.ack)
	if count < 0 || distance(g.ack, s.next) < 0 {
		return // old, or of bytes that were never sent
	}
	isRepeated := s.isInFlight() && len(g.payload) == 0 && g.flags&flagFIN == 0 && g.window == s.window
	s.window = g.window
	if count == 0 {
		if isRepeated {
			s.repeated()
		}
		return
	}
	s.finished = count > s.out.len()
	s.out.remove(min(count, s.out.len()))
	s.unacked = g.ack
	s.repeats, s.attempts, s.repeatAt = 0, 0, drivers.Never
	if s.recovering {
		if s.recovering = distance(s.unacked, s.recoverTo) > 0; s.recovering {
			s.retransmit() // the next hole
		}
	}
}

// repeated counts acknowledgements that ask for the same byte.
func (s *Stream) repeated() {
	s.repeats++
	if s.repeats == duplicateAcks && !s.recovering {
		s.retransmit()
	}
}

// retransmit sends the first segment that is not acknowledged. The acknowledgement of a part of
// what was in flight then repeats the segment behind that part.
func (s *Stream) retransmit() {
	if !s.recovering {
		s.recovering, s.recoverTo = true, s.next
	}
	if size := min(s.out.len(), distance(s.unacked, s.next), s.host.network.config.segmentBytes()); size > 0 {
		s.sendPayload(s.unacked, size)
	} else {
		s.send(&segment{seq: s.unacked, flags: flagFIN | flagACK})
	}
	s.startTimer()
}

// startTimer starts the retransmission timer anew.
func (s *Stream) startTimer() {
	n := s.host.network
	s.repeatAt = n.now + n.config.RetransmitTime<<min(s.attempts, maxBackoff)
	s.schedule()
}

// schedule makes sure that there is an event at the first of the timers, or earlier.
func (s *Stream) schedule() {
	if at := min(s.repeatAt, s.ackAt); at < s.timerAt {
		s.timerAt = at
		s.host.network.schedule(at, event{kind: streamTimer, stream: s})
	}
}

// expire handles the event of a timer. An event whose timer has moved schedules the next one.
func (s *Stream) expire() {
	now := s.host.network.now
	if now != s.timerAt {
		return // a later event than the one of the timers
	}
	s.timerAt = drivers.Never
	if s.ackAt <= now {
		s.sendAck()
	}
	if s.repeatAt <= now {
		s.timeout()
	}
	s.schedule()
}

// timeout repeats the first segment. With a closed window it sends one byte, whose acknowledgement
// has the window.
func (s *Stream) timeout() {
	s.repeatAt = drivers.Never
	s.attempts++
	switch {
	case s.attempts >= maxAttempts:
		s.fail(ErrLost)
	case s.state != streamOpen:
		s.sendSYN()
	case s.isInFlight():
		s.recovering, s.repeats = false, 0
		s.retransmit()
	default:
		s.sendPayload(s.unacked, 1)
		s.startTimer()
	}
}
