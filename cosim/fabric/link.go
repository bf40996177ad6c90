package fabric

// The two ends of a link as rtl/core/link.sv has them, register by register: go-back-N with
// numbers, acknowledgements and counts of freed entries. Names are those of link_tx, link_rx and
// link where a thing is the same.

// What link.sv is built with.
const (
	linkTimeout    = 64
	linkTimeoutMax = 512
	linkDeadAfter  = 8
)

// LinkState is what the registers of a link's end show.
type LinkState struct {
	Carrier, Dead, Agreed, Drains                       bool
	CRCErrors, Retransmissions, Timeouts, Failures, Cut uint64
	Drained, Resets, Lost                               uint64
}

// LinkSettings are what software has chosen for a link's end.
type LinkSettings struct {
	Patience uint64
	Drain    bool
}

// An end is one end of a link, in the state of a cycle that is to come.
type end struct {
	vcs, depth int
	inputs

	// link_tx
	base, next, high, last uint64 // oldest kept; next to send; behind all sent; behind all kept
	kept                   []kept // a ring, by number
	out                    word
	measuring              bool
	elapsed, roundTrip     uint64
	probe                  uint64
	timer, tries           uint64
	due, nackDue, dirty    bool
	anchorOut              bool
	anchor                 uint64
	here, there, given     [maxVCs]uint64

	heads, from uint64 // packets begun; words that the other end had accepted when the session began

	// link_rx
	expected           uint64
	nacked             bool
	in                 word // that arrives
	peer               word // that came in the cycle before, if it was good
	channels           [maxVCs]channel
	parts, orphans     int    // channels of which only a part of a packet has come; whose packet lost its session
	gotHeads, gotWords uint64 // accepted since the beginning

	// link
	session
	came                                                word // that is in its register
	carries, carrierWas                                 bool // the carrier in its register, and in the cycle before
	patience, waited, failedFor                         uint64
	drain, drains                                       bool
	endedThen                                           bool   // a session, in the cycle before
	lostThen                                            uint64 // packets that one took with it, told in the cycle before
	crcErrors, retransmissions, timeouts, failures, cut uint64
	drained, resets, lost                               uint64
}

// kept is a numbered word until it is acknowledged.
type kept struct {
	flit  Flit
	flits bool // not an anchor
	vc    uint8
}

// channel is what link_rx knows of a VC.
type channel struct {
	held                          int // entries taken behind the link
	open, ended, withheld, orphan bool
	packet                        uint32 // that is open
}

// inputs are what the router does, by cycle.
type inputs struct {
	flits   fifo[sentFlits]
	credits [maxVCs]fifo[pulses]
	losses  fifo[loss]
}

// loss is what the router's output did to a packet in the cycle before: it discarded it, or the
// rest of it.
type loss struct {
	at   uint64
	rest bool
}

// sentFlits is a run that comes from the router, one per cycle from a cycle on.
type sentFlits struct {
	at, n uint64
	vc    uint8
	flit  Flit
}

// pulses are credits from the router, one per cycle from a cycle on.
type pulses struct{ at, n uint64 }

// A linkUser is told what comes out of a link, by end. Cycles are those of the fabric: from which
// on a router can send the flit on, or use the entry. What closes and drains, does so from the next
// cycle on.
type linkUser interface {
	arrive(end int, vc uint8, flit Flit, at uint64)
	credit(end int, vc uint8, at uint64)
	failed(end int, at uint64)
	isCut(end int, tail Flit)
	discarded(end int, flit Flit) // also one that was lost with its session
	drains(end int, on bool)
	closes(end int) // the output has no credits
	opens(end int)  // and will have them again; what had to do with sessions before is over
}

func newEnd(vcs, depth int, set LinkSettings) end {
	e := end{vcs: vcs, depth: depth, roundTrip: linkTimeoutMax, patience: set.Patience, drain: set.Drain, carries: true, session: agreed()}
	size := 1
	for size < vcs*depth+2 {
		size *= 2
	}
	e.kept = make([]kept, size)
	e.flits.reserve(depth)
	for v := range vcs {
		e.credits[v].reserve(depth)
	}
	e.losses.reserve(1)
	return e
}

func (e *end) keep(number uint64) *kept { return &e.kept[number&uint64(len(e.kept)-1)] }

func (e *end) dead() bool { return e.tries == linkDeadAfter }

func (e *end) limit() uint64 {
	switch {
	case e.roundTrip <= linkTimeout/2:
		return linkTimeout
	case e.roundTrip >= linkTimeoutMax-linkTimeout/2:
		return linkTimeoutMax
	}
	return e.roundTrip + linkTimeout/2
}

// takeFlit is the flit that comes from the router in a cycle.
func (i *inputs) takeFlit(now uint64, to *kept) bool {
	if i.flits.n == 0 || i.flits.first().at != now {
		return false
	}
	r := i.flits.first()
	*to = kept{flit: r.flit, flits: true, vc: r.vc}
	if r.at, r.n = r.at+1, r.n-1; r.n > 0 {
		to.flit &^= Tail
		r.flit &^= Head
	} else {
		i.flits.drop()
	}
	return true
}

// takeCredits are the pulses of a cycle, a bit per VC.
func (i *inputs) takeCredits(now uint64, vcs int) (set uint8) {
	for v := range vcs {
		q := &i.credits[v]
		if q.n == 0 || q.first().at != now {
			continue
		}
		set |= 1 << v
		p := q.first()
		if p.at, p.n = p.at+1, p.n-1; p.n == 0 {
			q.drop()
		}
	}
	return set
}

// next is the first cycle in which the router does anything.
func (i *inputs) next(vcs int) uint64 {
	at := Forever
	if i.flits.n > 0 {
		at = i.flits.first().at
	}
	if i.losses.n > 0 {
		at = min(at, i.losses.first().at)
	}
	for v := range vcs {
		if i.credits[v].n > 0 {
			at = min(at, i.credits[v].first().at)
		}
	}
	return at
}

// before is what an end was at the beginning of a cycle, where that counts after something of it
// has changed.
type before struct {
	up, dead           bool
	greets, start      bool // a hello is sent if the wire carries one; a session starts
	expected           uint64
	gotHeads, gotWords uint64
	here               [maxVCs]uint64
}

// take puts what is at the wire's end into the registers, and what stood there before it into e.in.
func (e *end) take(w *wire, now uint64, carrier bool) (carries bool) {
	if e.in.valid = false; e.came.valid {
		e.in = e.came
	}
	w.arrived(now, &e.came)
	carries, e.carries = e.carries, carrier
	return carries
}

// step carries out a cycle. The word that has come stands in e.in.
func (e *end) step(now uint64, carrier bool, id int, user linkUser) {
	restart := e.restart <= now
	start, stop := e.judge(&e.in, restart)
	b := before{up: e.up, dead: e.dead(), greets: e.greets && (e.up || !e.upWas), start: start, expected: e.expected,
		gotHeads: e.gotHeads, gotWords: e.gotWords, here: e.here}
	broken := b.dead || !carrier
	var t told
	e.receive(now, broken, id, user, &t)
	peer := e.peer
	if e.peer.valid = e.in.valid && !e.in.bad && !e.in.hello && b.up; e.peer.valid {
		e.peer = e.in
	}
	dies := e.send(now, carrier, &b, &peer, &t)
	fails := e.carrierWas && !carrier || dies
	if fails {
		e.failures++
	}
	if fails || e.endedThen || e.lostThen != 0 {
		user.failed(id, now)
	}
	e.carrierWas = carrier
	e.count(now, stop)
	e.wait(broken || !b.up, id, user)
	if start {
		e.begin(id, user)
	} else if peer.valid {
		e.there = peer.freed
	}
	e.agree(&e.in, restart, start, stop, carrier && b.greets, carrier)
	if stop {
		user.closes(id)
	}
	if !e.up {
		return
	}
	for v := range e.vcs {
		if e.there[v] > e.given[v] {
			e.given[v]++
			user.credit(id, uint8(v), now+2)
		}
	}
}

// count counts what happened a cycle ago, and a session that ends now.
func (e *end) count(now uint64, stop bool) {
	e.lost += e.lostThen
	e.endedThen, e.lostThen = stop, 0
	if stop {
		e.resets++
	}
	if e.losses.n == 0 || e.losses.first().at != now {
		return
	}
	if e.losses.first().rest {
		e.cut++
	} else {
		e.drained++
	}
	e.losses.drop()
}

// wait counts how long the link has failed, and has the router discard what is for it when that was
// too long.
func (e *end) wait(failing bool, id int, user linkUser) {
	drains := e.gaveUp(failing)
	switch {
	case !e.drain || !failing:
		e.failedFor = 0
	case e.patience != 0 && !drains:
		e.failedFor++
	}
	if drains != e.drains {
		e.drains = drains
		user.drains(id, drains)
	}
}

// gaveUp tells whether what is for the link is discarded from the next cycle on.
func (e *end) gaveUp(failing bool) bool {
	return failing && e.drain && e.patience != 0 && e.failedFor >= e.patience
}

// control obeys LINK_CTRL.
func (e *end) control(o order) {
	e.drain = o.v&LinkDrain != 0
	if o.v&LinkReset != 0 {
		e.restart = o.at
	}
}

// ---- sleeping ----

// rests tells for how many cycles nothing but timers would move, if nothing comes; Forever if they
// stand, too.
func (e *end) rests(carrier bool) uint64 {
	if e.out.valid || e.came.valid || e.peer.valid || carrier != e.carries || carrier != e.carrierWas ||
		e.up != e.upWas || e.restart != Forever || e.endedThen || e.lostThen != 0 {
		return 0
	}
	failing := e.dead() || !carrier || !e.up
	if e.gaveUp(failing) != e.drains || e.orphans > 0 && e.endable(true) {
		return 0
	}
	cycles := e.restsToSend(carrier)
	if e.parts > 0 && (e.dead() || !carrier) && e.patience != 0 {
		if e.waited < e.patience {
			cycles = min(cycles, e.patience-e.waited)
		} else if e.endable(false) {
			return 0
		}
	}
	if e.drain && failing && e.failedFor < e.patience {
		cycles = min(cycles, e.patience-e.failedFor)
	}
	return cycles
}

// restsToSend is rests for the sending half and the session.
func (e *end) restsToSend(carrier bool) uint64 {
	if e.up {
		for v := range e.vcs {
			if e.there[v] != e.given[v] {
				return 0
			}
		}
	}
	switch {
	case !carrier:
		return Forever
	case e.greets:
		return 0
	case !e.up:
		return e.period
	case e.due || e.dirty && !e.anchorOut || e.next != e.last && (!e.dead() || e.next == e.base):
		return 0
	case e.base != e.high:
		limit := e.limit()
		return max(e.timer, limit) - e.timer
	}
	return Forever
}

// endable tells whether there is room for the end of a packet of which only a part has come, or
// that has lost its session.
func (e *end) endable(orphans bool) bool {
	for v := range e.vcs {
		if c := &e.channels[v]; c.held < e.depth && (orphans && c.orphan || !orphans && c.open) {
			return true
		}
	}
	return false
}

// rest lets so many cycles pass, in which it rests.
func (e *end) rest(cycles uint64, carrier bool) {
	if e.up && carrier && e.base != e.high {
		e.timer += cycles
	}
	if e.measuring {
		e.elapsed = min(e.elapsed+cycles, linkTimeoutMax)
	}
	if e.session.rest(cycles, carrier); e.drain && e.failedFor < e.patience && (e.dead() || !carrier || !e.up) {
		e.failedFor += cycles
	} else if !e.drain {
		e.failedFor = 0
	}
	switch waits := e.parts > 0 && (e.dead() || !carrier); {
	case !waits:
		e.waited = 0
	case e.patience != 0 && e.waited < e.patience:
		e.waited += cycles
	}
}
