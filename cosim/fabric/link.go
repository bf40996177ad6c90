package fabric

// The two ends of a link as rtl/core/link.sv has them, register by register: go-back-N with numbers, acknowledgements and
// counts of freed entries. Names are those of link_tx, link_rx and link where a thing is the same.

// What link.sv is built with.
const (
	linkTimeout    = 64
	linkTimeoutMax = 512
	linkDeadAfter  = 8
)

// LinkState is what the registers of a link's end show.
type LinkState struct {
	Carrier, Dead                                       bool
	CRCErrors, Retransmissions, Timeouts, Failures, Cut uint64
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

	// link_rx
	expected uint64
	nacked   bool
	in       word // that arrives
	peer     word // that came in the cycle before, if it was good
	channels [maxVCs]channel
	parts    int // channels of which only a part of a packet has come

	// link
	came                                                word // that is in its register
	carries, carrierWas                                 bool // the carrier in its register, and in the cycle before
	patience, waited                                    uint64
	crcErrors, retransmissions, timeouts, failures, cut uint64
}

// kept is a numbered word until it is acknowledged.
type kept struct {
	flit  Flit
	flits bool // not an anchor
	vc    uint8
}

// channel is what link_rx knows of a VC.
type channel struct {
	held                  int // entries taken behind the link
	open, ended, withheld bool
	packet                uint32 // that is open
}

// inputs are what the router does, by cycle.
type inputs struct {
	flits   fifo[sentFlits]
	credits [maxVCs]fifo[pulses]
}

// sentFlits is a run that comes from the router, one per cycle from a cycle on.
type sentFlits struct {
	at, n uint64
	vc    uint8
	flit  Flit
}

// pulses are credits from the router, one per cycle from a cycle on.
type pulses struct{ at, n uint64 }

// A linkUser is told what comes out of a link, by end. Cycles are those of the fabric: from which on a router can send the
// flit on, or use the entry.
type linkUser interface {
	arrive(end int, vc uint8, flit Flit, at uint64)
	credit(end int, vc uint8, at uint64)
	failed(end int, at uint64)
	isCut(end int, tail Flit)
	discarded(end int, flit Flit)
}

func newEnd(vcs, depth int, patience uint64) end {
	e := end{vcs: vcs, depth: depth, roundTrip: linkTimeoutMax, patience: patience, carries: true}
	size := 1
	for size < vcs*depth+2 {
		size *= 2
	}
	e.kept = make([]kept, size)
	e.flits.reserve(depth)
	for v := range vcs {
		e.credits[v].reserve(depth)
	}
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
	for v := range vcs {
		if i.credits[v].n > 0 {
			at = min(at, i.credits[v].first().at)
		}
	}
	return at
}

// told is what the receiving half has for the sending half.
type told struct {
	ack, nack bool
	changed   bool // entries were freed, or flits discarded
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
	failing := e.dead() || !carrier
	expected, here, wasDead := e.expected, e.here, e.dead()
	var t told
	e.receive(now, failing, id, user, &t)
	peer := e.peer
	if e.peer.valid = e.in.valid && !e.in.bad; e.peer.valid {
		e.peer = e.in
	}
	failed := e.send(now, carrier, wasDead, &peer, expected, &here, &t)
	if e.carrierWas && !carrier || failed {
		e.failures++
		user.failed(id, now)
	}
	e.carrierWas = carrier
	if peer.valid {
		e.there = peer.freed
	}
	for v := range e.vcs {
		if e.there[v] > e.given[v] {
			e.given[v]++
			user.credit(id, uint8(v), now+2)
		}
	}
}

// ---- receiving ----

func (e *end) receive(now uint64, failing bool, id int, user linkUser, t *told) {
	w := &e.in
	credits := e.takeCredits(now, e.vcs)
	good := w.valid && !w.bad
	accept := good && w.numbered && w.number == e.expected
	t.ack = good && w.numbered && w.number <= e.expected
	t.nack = w.valid && w.bad || good && w.numbered && w.number > e.expected && !e.nacked
	if w.valid && w.bad {
		e.crcErrors++
	}
	cut := e.giveUp(failing, accept, w.valid)
	comes := -1
	if accept && w.flits {
		comes = int(w.vc)
	}
	for set := credits; set != 0 || comes >= 0 || cut >= 0; {
		v := e.pick(set, comes, cut)
		e.channel(v, set>>v&1 != 0, v == comes, v == cut, now, id, user, t)
		set &^= 1 << v
		if v == comes {
			comes = -1
		}
		if v == cut {
			cut = -1
		}
	}
	if accept {
		e.expected++
	}
	if accept || t.nack {
		e.nacked = t.nack
	}
}

// pick is a VC of which there is something to do.
func (e *end) pick(credits uint8, comes, cut int) int {
	switch {
	case comes >= 0:
		return comes
	case cut >= 0:
		return cut
	}
	v := 0
	for credits>>v&1 == 0 {
		v++
	}
	return v
}

// giveUp counts how long a part of a packet has waited for the rest on a link that fails, and gives the VC
// whose packet is ended now, or -1: no word has come.
func (e *end) giveUp(failing, fresh, word bool) int {
	waits := e.parts > 0 && failing
	gaveUp := waits && e.patience != 0 && e.waited >= e.patience
	switch {
	case !waits || fresh:
		e.waited = 0
	case e.patience != 0 && !gaveUp:
		e.waited++
	}
	if gaveUp && !word {
		for v := range e.vcs {
			if c := &e.channels[v]; c.open && c.held < e.depth {
				return v
			}
		}
	}
	return -1
}

// channel does what a cycle brings a VC: a credit from the router, a flit, or the end of its packet.
func (e *end) channel(v int, credit, comes, cut bool, now uint64, id int, user linkUser, t *told) {
	c := &e.channels[v]
	tail := comes && e.in.flit.Tail()
	freed := credit && !c.withheld
	discards := comes && c.ended && !(tail && c.withheld && !credit)
	if freed {
		e.here[v]++
	}
	if discards {
		e.here[v]++
	}
	t.changed = t.changed || freed || discards
	takes, open := comes && !c.ended, c.open
	if takes || cut {
		c.held++
	}
	if credit {
		c.held--
	}
	switch {
	case cut:
		e.cut++
		c.open, c.ended, c.withheld = false, true, true
		tail := NewFlit(c.packet, 0, Tail)
		user.isCut(id, tail)
		user.arrive(id, uint8(v), tail, now+2)
	case takes:
		c.open, c.packet = !tail, e.in.flit.Packet()
		user.arrive(id, uint8(v), e.in.flit, now+2)
	case comes:
		c.ended = !tail
		user.discarded(id, e.in.flit)
	}
	if !cut && (credit || tail) {
		c.withheld = false
	}
	switch {
	case c.open && !open:
		e.parts++
	case open && !c.open:
		e.parts--
	}
}

// ---- sending ----

// send does a cycle of the sending half, and tells whether the link is found dead in it.
func (e *end) send(now uint64, carrier, dead bool, peer *word, expected uint64, here *[maxVCs]uint64, t *told) (failed bool) {
	var comes kept
	valid := e.takeFlit(now, &comes)
	stored := carrier && e.next != e.last && (!dead || e.next == e.base)
	direct := carrier && e.next == e.last && valid && !dead
	status := carrier && !stored && !direct && (e.due || e.dirty && !e.anchorOut)
	anchor := status && e.dirty && !e.anchorOut && e.next == e.last && !valid
	sends := stored || direct || anchor
	first := sends && e.next == e.high

	e.out.valid = sends || status
	if e.out.valid {
		k := &comes
		if stored {
			k = e.keep(e.next)
		}
		e.out = word{valid: true, nack: e.nackDue, numbered: sends, flits: sends && k.flits, vc: k.vc, flit: k.flit,
			number: e.next, ack: expected, freed: *here}
	}
	if valid || anchor {
		*e.keep(e.last) = comes
	}
	if sends && !first {
		e.retransmissions++
	}

	acked := peer.ack - e.base
	progress := peer.valid && acked != 0 && acked <= e.high-e.base
	timeout := carrier && e.timer >= e.limit()
	again := peer.valid && peer.nack || timeout || carrier && !e.carrierWas
	failed = timeout && e.tries == linkDeadAfter-1 && !progress
	e.measure(carrier, first, progress, acked)
	e.time(carrier, progress, timeout, again)
	e.owe(t, sends || status, first)
	switch {
	case anchor:
		e.anchorOut, e.anchor = true, e.next
	case progress && e.anchor-e.base < acked:
		e.anchorOut = false
	}
	e.advance(peer.ack, valid || anchor, sends, first, progress, again, acked)
	return failed
}

// advance moves the pointers.
func (e *end) advance(ack uint64, more, sends, first, progress, again bool, acked uint64) {
	then, base := e.next, e.base
	if sends {
		then++
	}
	if more {
		e.last++
	}
	if first {
		e.high = then
	}
	if progress {
		e.base = ack
	}
	switch {
	case again:
		e.next = e.base
	case progress && then-base < acked:
		e.next = ack
	default:
		e.next = then
	}
}

// measure keeps the round trip: the shortest time between a word and its acknowledgement since the carrier came.
func (e *end) measure(carrier, first, progress bool, acked uint64) {
	was := e.measuring
	switch {
	case !carrier:
		e.measuring, e.roundTrip = false, linkTimeoutMax
	case was && progress && e.probe-e.base < acked:
		e.measuring = false
		e.roundTrip = min(e.roundTrip, e.elapsed)
	case !was && first:
		e.measuring = true
	}
	if !was {
		e.probe, e.elapsed = e.next, 0
	} else {
		e.elapsed = min(e.elapsed+1, linkTimeoutMax)
	}
}

// time counts cycles without progress, and how often there were too many.
func (e *end) time(carrier, progress, timeout, again bool) {
	if timeout {
		e.timeouts++
	}
	switch {
	case progress || !carrier:
		e.tries = 0
	case timeout && !e.dead():
		e.tries++
	}
	if e.base == e.high || progress || again || !carrier {
		e.timer = 0
	} else {
		e.timer++
	}
}

// owe notes what the other end must hear.
func (e *end) owe(t *told, said, first bool) {
	e.due = t.ack || t.nack || t.changed || e.due && !said
	e.nackDue = t.nack || e.nackDue && !said
	e.dirty = t.changed || e.dirty && !first
}

// ---- sleeping ----

// rests tells for how many cycles nothing but timers would move, if nothing comes; Forever if they stand, too.
func (e *end) rests(carrier bool) uint64 {
	if e.out.valid || e.came.valid || e.peer.valid || carrier != e.carries || carrier != e.carrierWas {
		return 0
	}
	for v := range e.vcs {
		if e.there[v] != e.given[v] {
			return 0
		}
	}
	cycles := Forever
	if carrier {
		if e.due || e.dirty && !e.anchorOut || e.next != e.last && (!e.dead() || e.next == e.base) {
			return 0
		}
		if e.base != e.high {
			limit := e.limit()
			cycles = max(e.timer, limit) - e.timer
		}
	}
	if e.parts > 0 && (e.dead() || !carrier) && e.patience != 0 {
		if e.waited < e.patience {
			return min(cycles, e.patience-e.waited)
		}
		for v := range e.vcs {
			if c := &e.channels[v]; c.open && c.held < e.depth {
				return 0
			}
		}
	}
	return cycles
}

// rest lets so many cycles pass, in which it rests.
func (e *end) rest(cycles uint64, carrier bool) {
	if carrier && e.base != e.high {
		e.timer += cycles
	}
	if e.measuring {
		e.elapsed = min(e.elapsed+cycles, linkTimeoutMax)
	}
	switch waits := e.parts > 0 && (e.dead() || !carrier); {
	case !waits:
		e.waited = 0
	case e.patience != 0 && e.waited < e.patience:
		e.waited += cycles
	}
}
