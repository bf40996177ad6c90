package fabric

// A session is rtl/core/link_session.sv: both ends agree to restart their numbering after either of
// them was reset.
type session struct {
	up, upWas     bool
	number, heard uint64 // its own, and the peer's
	echoes        bool   // it has received one
	greets        bool   // a hello must be sent
	period        uint64 // time until an unsolicited hello
	restart       uint64 // cycle in which the end is reset, or Forever
}

// helloPeriod is the parameter PERIOD.
const helloPeriod = 32

// agreed is a session that began long ago.
func agreed() session {
	return session{up: true, upWas: true, echoes: true, period: helloPeriod - 1, restart: Forever}
}

func (w *word) greets() bool { return w.valid && !w.bad && w.hello }

// judge reports whether a session starts or ends in this cycle.
func (s *session) judge(w *word, restart bool) (start, stop bool) {
	meant := w.greets() && w.echoes && w.ack == s.number
	known := s.echoes && w.number == s.heard
	return meant && !s.up && !s.upWas && !restart, s.up && (restart || w.greets() && !(meant && known))
}

// agree executes a cycle of the session; sent: a hello has left.
func (s *session) agree(w *word, restart, start, stop, sent, carrier bool) {
	greets := w.greets()
	asks := greets && !(s.up && w.up && w.echoes && w.ack == s.number && s.echoes && w.number == s.heard)
	due, over := s.greets, s.period == 0
	if s.up || due || !carrier || over {
		s.period = helloPeriod - 1
	} else {
		s.period--
	}
	s.greets = restart || asks || !sent && (due || !s.up && carrier && over)
	if greets {
		s.echoes, s.heard = true, w.number
	}
	if restart {
		s.number, s.echoes, s.restart = s.number+1, false, Forever
	}
	s.upWas = s.up
	s.up = (s.up || start) && !stop
}

// rest advances by cycles without arrivals or hellos.
func (s *session) rest(cycles uint64, carrier bool) {
	if s.up || s.greets || !carrier {
		s.period = helloPeriod - 1
	} else {
		s.period -= cycles
	}
}

// hello returns the hello word with the state of this end.
func (e *end) hello(b *before) word {
	return word{valid: true, hello: true, up: b.up, echoes: e.echoes, number: e.number, ack: e.heard,
		heads: b.gotHeads, words: b.gotWords, freed: b.freedLocal}
}

// begin starts a session with the state of the peer. Unacknowledged words are dropped, not
// retransmitted. Packets whose head the peer has not accepted are lost; words that it did not
// accept will not arrive any more.
func (e *end) begin(id int, user linkUser) {
	w := &e.in
	if e.base != e.last {
		e.lostThen = e.heads - w.heads
	}
	for number := max(e.base, w.words-e.from); number < e.last; number++ {
		if k := e.keep(number); k.flits {
			user.discarded(id, k.flit)
		}
	}
	e.base, e.next, e.high, e.last, e.expected = 0, 0, 0, 0, 0
	e.heads, e.from = w.heads, w.words
	e.nacked, e.nackPending, e.anchorInFlight = false, false, false
	e.freedByPeer, e.creditsGiven = w.freed, [maxVCs]uint64{}
	user.opens(id)
}
