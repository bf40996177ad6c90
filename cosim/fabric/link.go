package fabric

// The two ends of a link as in rtl/core/link.sv, register by register: go-back-N with sequence
// numbers, acknowledgements and counts of freed entries. Names follow link_tx, link_rx and link
// where possible.

// Parameters of link.sv.
const (
	linkTimeout    = 64
	linkTimeoutMax = 512
	linkDeadAfter  = 8
)

// LinkState is the contents of the registers of a link's end.
type LinkState struct {
	Carrier, Dead, Agreed, Drains                       bool
	CRCErrors, Retransmissions, Timeouts, Failures, Cut uint64
	Drained, Resets, Lost                               uint64
}

// LinkSettings are the settings of a link's end by software.
type LinkSettings struct {
	Patience uint64
	Drain    bool
}

// An end is one end of a link, in the state of an upcoming cycle.
type end struct {
	vcs, depth int
	inputs

	// link_tx
	base, next, high, last                  uint64 // oldest kept; next to send; end of those sent; end of those kept
	kept                                    []kept // a ring, by number
	out                                     word
	measuring                               bool
	elapsed, roundTrip                      uint64
	probe                                   uint64
	timer, tries                            uint64
	statusPending, nackPending, freedUnsent bool
	anchorInFlight                          bool
	anchor                                  uint64
	freedLocal, freedByPeer, creditsGiven   [maxVCs]uint64

	heads, from uint64 // packets started; words accepted by the other end when the session began

	// link_rx
	expected           uint64
	nacked             bool
	in                 word // arriving word
	peer               word // good word that arrived in the previous cycle
	channels           [maxVCs]channel
	parts, orphans     int    // number of VCs of which only a part of a packet has arrived; whose packet lost its session
	gotHeads, gotWords uint64 // accepted since the beginning

	// link
	session
	came                                                word // word in its register
	carries, carrierWas                                 bool // the registered carrier, now and in the previous cycle
	patience, waited, failedFor                         uint64
	drain, drains                                       bool
	endedThen                                           bool   // a session ended in the previous cycle
	lostThen                                            uint64 // packets lost with it, counted in the previous cycle
	crcErrors, retransmissions, timeouts, failures, cut uint64
	drained, resets, lost                               uint64
}

// kept is a numbered word that has not been acknowledged.
type kept struct {
	flit  Flit
	flits bool // not an anchor
	vc    uint8
}

// channel is the state of a VC in link_rx.
type channel struct {
	held                          int // occupied entries behind the link
	open, ended, withheld, orphan bool
	packet                        uint32 // the open packet
}

// inputs are the actions of the router, by cycle.
type inputs struct {
	flits   fifo[sentFlits]
	credits [maxVCs]fifo[pulses]
	losses  fifo[loss]
}

// loss is the action of the router's output on a packet in the previous cycle: it discarded the
// packet, or the rest of it.
type loss struct {
	at   uint64
	rest bool
}

// sentFlits is a run from the router, one flit per cycle from a cycle on.
type sentFlits struct {
	at, n uint64
	vc    uint8
	flit  Flit
}

// pulses are credits from the router, one per cycle from a cycle on.
type pulses struct{ at, n uint64 }

// A linkUser receives the output of a link, by end. Cycles are those of the fabric, from which on a
// router can forward the flit or use the entry. closes and drains take effect in the next cycle.
type linkUser interface {
	arrive(end int, vc uint8, flit Flit, at uint64)
	credit(end int, vc uint8, at uint64)
	failed(end int, at uint64)
	isCut(end int, tail Flit)
	discarded(end int, flit Flit) // including those lost with their session
	drains(end int, on bool)
	closes(end int) // the output loses its credits
	opens(end int)  // and gets them again; everything about earlier sessions has been settled
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

// takeFlit takes the flit from the router in a cycle.
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

// takeCredits takes the pulses of a cycle, a bit per VC.
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

// next is the first cycle in which the router acts.
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

// before is the state of an end at the beginning of a cycle, for values that are used after they
// have changed.
type before struct {
	up, dead           bool
	greets, start      bool // a hello is sent if the wire has a carrier; a session starts
	expected           uint64
	gotHeads, gotWords uint64
	freedLocal         [maxVCs]uint64
}

// take moves the word at the wire's end into the registers, and the previous one into e.in.
func (e *end) take(w *wire, now uint64, carrier bool) (carries bool) {
	if e.in.valid = false; e.came.valid {
		e.in = e.came
	}
	w.arrived(now, &e.came)
	carries, e.carries = e.carries, carrier
	return carries
}

// step executes a cycle. The arrived word is in e.in.
func (e *end) step(now uint64, carrier bool, id int, user linkUser) {
	restart := e.restart <= now
	start, stop := e.judge(&e.in, restart)
	b := before{up: e.up, dead: e.dead(), greets: e.greets && (e.up || !e.upWas), start: start, expected: e.expected,
		gotHeads: e.gotHeads, gotWords: e.gotWords, freedLocal: e.freedLocal}
	broken := b.dead || !carrier
	var t receiveInfo
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
		e.freedByPeer = peer.freed
	}
	e.agree(&e.in, restart, start, stop, carrier && b.greets, carrier)
	if stop {
		user.closes(id)
	}
	if !e.up {
		return
	}
	for v := range e.vcs {
		if e.freedByPeer[v] > e.creditsGiven[v] {
			e.creditsGiven[v]++
			user.credit(id, uint8(v), now+2)
		}
	}
}

// count counts events of the previous cycle, and a session that ends now.
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

// wait counts for how long the link has failed, and makes the router discard its packets if that
// exceeds the patience.
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

// gaveUp reports whether packets for the link are discarded from the next cycle on.
func (e *end) gaveUp(failing bool) bool {
	return failing && e.drain && e.patience != 0 && e.failedFor >= e.patience
}

// control executes a write to LINK_CTRL.
func (e *end) control(o order) {
	e.drain = o.v&LinkDrain != 0
	if o.v&LinkReset != 0 {
		e.restart = o.at
	}
}

// ---- sleeping ----

// rests is the number of cycles in which only timers would advance, without new input; Forever if
// they are stopped, too.
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
			if e.freedByPeer[v] != e.creditsGiven[v] {
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
	case e.statusPending || e.freedUnsent && !e.anchorInFlight || e.next != e.last && (!e.dead() || e.next == e.base):
		return 0
	case e.base != e.high:
		limit := e.limit()
		return max(e.timer, limit) - e.timer
	}
	return Forever
}

// endable reports whether there is room to terminate a packet of which only a part has arrived, or
// that has lost its session.
func (e *end) endable(orphans bool) bool {
	for v := range e.vcs {
		if c := &e.channels[v]; c.held < e.depth && (orphans && c.orphan || !orphans && c.open) {
			return true
		}
	}
	return false
}

// rest advances an idle end by a number of cycles.
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
