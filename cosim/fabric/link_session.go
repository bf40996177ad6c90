package fabric

// A session is rtl/core/link_session.sv: both ends agree that what they number starts anew,
// whichever of them was reset.
type session struct {
	up, upWas     bool
	number, heard uint64 // its own, and that of the other end
	echoes        bool   // it has heard one
	greets        bool   // a hello is to be sent
	period        uint64 // until one that nobody has asked for
	restart       uint64 // the cycle in which the end is reset, or Forever
}

// helloPeriod is PERIOD.
const helloPeriod = 32

// agreed is a session that has begun long ago.
func agreed() session {
	return session{up: true, upWas: true, echoes: true, period: helloPeriod - 1, restart: Forever}
}

func (w *word) greets() bool { return w.valid && !w.bad && w.hello }

// judge tells whether a session starts or ends in this cycle.
func (s *session) judge(w *word, restart bool) (start, stop bool) {
	meant := w.greets() && w.echoes && w.ack == s.number
	known := s.echoes && w.number == s.heard
	return meant && !s.up && !s.upWas && !restart, s.up && (restart || w.greets() && !(meant && known))
}

// agree does a cycle of the session; sent: a hello has left.
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

// rest lets so many cycles pass in which nothing comes and no hello goes.
func (s *session) rest(cycles uint64, carrier bool) {
	if s.up || s.greets || !carrier {
		s.period = helloPeriod - 1
	} else {
		s.period -= cycles
	}
}

// hello is the word that says what this end knows.
func (e *end) hello(b *before) word {
	return word{valid: true, hello: true, up: b.up, echoes: e.echoes, number: e.number, ack: e.heard,
		heads: b.gotHeads, words: b.gotWords, freed: b.here}
}

// begin starts a session with what the other end says. What was kept is not sent again; of it, lost
// are the packets that the other end has not begun to take, and no word that it did not take comes
// any more.
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
	e.nacked, e.nackDue, e.anchorOut = false, false, false
	e.there, e.given = w.freed, [maxVCs]uint64{}
	user.opens(id)
}
