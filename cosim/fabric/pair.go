package fabric

// A link is a pair of ends and the wires between them. It is stepped by whoever has its ends; what
// its routers do and what is ordered of its wires must be known for the cycles that are stepped.
type link struct {
	cycle   uint64 // that comes next for at least one end
	emitted bool   // its words have left
	carrier bool
	done    [2]bool // the end has done it
	ends    [2]end
	wires   [2]wire // from the end of the same number
	user    linkUser
	awake   bool // no cycle is passed over, for tests
}

// Where a link leads to: a router's port.
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

// run steps each end up to and including a cycle, as far as anything moves.
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

// skip passes over cycles in which nothing but timers moves.
func (l *link) skip(to uint64) {
	for i := range l.ends {
		l.ends[i].rest(to-l.cycle, l.carrier)
	}
	l.cycle = to
}

// obey does what was ordered up to a cycle, before which no word leaves any more.
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

// emit lets the words of a cycle leave, with the carrier that both ends have in it.
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

// next is the first cycle in which more than timers move, as far as is known, or Forever.
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

// order has a register of a wire, or of the end where it begins, written from a cycle on.
func (l *link) order(end int, o order) { *l.wires[end].orders.push() = o }

// state is what the registers of an end show in the cycle that comes next.
func (l *link) state(i int) LinkState {
	e := &l.ends[i]
	return LinkState{
		Carrier: l.carrier, Dead: e.dead(), CRCErrors: e.crcErrors, Retransmissions: e.retransmissions, Timeouts: e.timeouts,
		Failures: e.failures, Cut: e.cut, Agreed: e.up, Drains: e.drains, Drained: e.drained, Resets: e.resets, Lost: e.lost,
	}
}
