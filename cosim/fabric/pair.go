package fabric

// A link is a pair of ends with the wires between them. It is stepped by the owners of its ends;
// the actions of its routers and writes to its registers must be known for the cycles that are
// stepped.
type link struct {
	cycle   uint64 // next cycle of at least one end
	emitted bool   // its words have been sent
	carrier bool
	done    [2]bool // the end has executed it
	ends    [2]end
	wires   [2]wire // from the end of the same number
	user    linkUser
	awake   bool // skip no cycles; for tests
}

// A socket is a router's port that a link connects to.
type socket struct{ router, port int }

func newLink(at [2]socket, vcs, depth int, latency uint64, set [2]LinkSettings, user linkUser) *link {
	l := &link{carrier: true, user: user}
	for i := range l.ends {
		l.ends[i] = newEnd(vcs, depth, set[i])
		l.wires[i] = newWire(at[i].router, at[i].port-1, latency)
		l.wires[i].flight.reserve(int(latency) + 1)
	}
	return l
}

// run steps each end up to and including a cycle, as far as there is activity.
func (l *link) run(to [2]uint64) {
	for l.cycle <= max(to[0], to[1]) {
		if !l.emitted {
			if next := l.next(); next > l.cycle && !l.awake {
				if next = min(next, min(to[0], to[1])+1); next <= l.cycle {
					return
				}
				l.skip(next)
				continue
			}
			l.emit()
		}
		for i := range l.ends {
			if !l.done[i] && l.cycle <= to[i] {
				e := &l.ends[i]
				e.step(l.cycle, e.take(&l.wires[1-i], l.cycle, l.carrier), i, l.user)
				l.done[i] = true
			}
		}
		if !l.done[0] || !l.done[1] {
			return
		}
		l.cycle++
		l.done, l.emitted = [2]bool{}, false
	}
}

// skip skips cycles in which only timers advance.
func (l *link) skip(to uint64) {
	for i := range l.ends {
		l.ends[i].rest(to-l.cycle, l.carrier)
	}
	l.cycle = to
}

// obey executes register writes up to a cycle, before which no further word leaves.
func (l *link) obey(now uint64) {
	for i := range l.wires {
		for q := &l.wires[i].orders; q.n > 0 && q.first().at <= now; q.drop() {
			o := *q.first()
			switch o.to {
			case LinkPatience:
				l.ends[i].patience = o.v
			case LinkCtrl:
				l.ends[i].control(o)
			default:
				l.wires[i].obey(o)
			}
		}
	}
	l.carrier = !l.wires[0].Down && !l.wires[1].Down
}

// emit sends the words of a cycle, with the carrier that both ends see in it.
func (l *link) emit() {
	l.obey(l.cycle)
	for i := range l.wires {
		if !l.carrier {
			l.wires[i].flight.clear()
		}
		l.wires[i].emit(l.cycle, &l.ends[i].out, l.carrier)
	}
	l.emitted = true
}

// next is the first cycle with activity other than timers, as far as known, or Forever.
func (l *link) next() uint64 {
	if l.emitted {
		return l.cycle
	}
	at := Forever
	for i := range l.ends {
		e, w := &l.ends[i], &l.wires[i]
		rests := e.rests(l.carrier)
		if rests == 0 {
			return l.cycle
		}
		if rests != Forever {
			at = min(at, l.cycle+rests)
		}
		at = min(at, e.inputs.next(e.vcs))
		if w.flight.n > 0 {
			at = min(at, w.flight.first().at)
		}
		if w.orders.n > 0 {
			at = min(at, w.orders.first().at)
		}
	}
	return max(at, l.cycle)
}

// order schedules a write to a register of a wire, or of the end where it begins.
func (l *link) order(end int, o order) { *l.wires[end].orders.push() = o }

// state returns the registers of an end in the upcoming cycle.
func (l *link) state(i int) LinkState {
	e := &l.ends[i]
	return LinkState{
		Carrier: l.carrier, Dead: e.dead(), CRCErrors: e.crcErrors, Retransmissions: e.retransmissions, Timeouts: e.timeouts,
		Failures: e.failures, Cut: e.cut, Agreed: e.up, Drains: e.drains, Drained: e.drained, Resets: e.resets, Lost: e.lost,
	}
}
