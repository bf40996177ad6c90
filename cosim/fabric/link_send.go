package fabric

// The sending half of a link: rtl/core/link_tx.sv.

// send executes a cycle of the sending half, and reports whether the link is declared dead in it.
func (e *end) send(now uint64, carrier bool, b *before, peer *word, t *receiveInfo) (dies bool) {
	var comes kept
	valid := e.takeFlit(now, &comes)
	free := carrier && b.up && !b.greets
	stored := free && e.next != e.last && (!b.dead || e.next == e.base)
	direct := free && e.next == e.last && valid && !b.dead
	status := free && !stored && !direct && (e.statusPending || e.freedUnsent && !e.anchorInFlight)
	anchor := status && e.freedUnsent && !e.anchorInFlight && e.next == e.last && !valid
	sends := stored || direct || anchor
	first := sends && e.next == e.high

	switch e.out.valid = sends || status; {
	case carrier && b.greets:
		e.out = e.hello(b)
	case e.out.valid:
		k := &comes
		if stored {
			k = e.keep(e.next)
		}
		e.out = word{valid: true, nack: e.nackPending, numbered: sends, flits: sends && k.flits, vc: k.vc, flit: k.flit,
			number: e.next, ack: b.expected, freed: b.freedLocal}
	}
	if valid || anchor {
		*e.keep(e.last) = comes
	}
	if valid && comes.flit.Head() {
		e.heads++
	}
	if sends && !first {
		e.retransmissions++
	}

	acked := peer.ack - e.base
	progress := peer.valid && acked != 0 && acked <= e.high-e.base
	timeout := carrier && b.up && e.timer >= e.limit()
	again := peer.valid && peer.nack || timeout || carrier && !e.carrierWas
	dies = timeout && e.tries == linkDeadAfter-1 && !progress
	e.measure(carrier && !b.start, first, progress, acked)
	e.time(carrier && b.up, progress, timeout, again)
	e.owe(t, sends || status, first)
	switch {
	case anchor:
		e.anchorInFlight, e.anchor = true, e.next
	case progress && e.anchor-e.base < acked:
		e.anchorInFlight = false
	}
	e.advance(peer.ack, valid || anchor, sends, first, progress, again || !b.up, acked)
	return dies
}

// advance updates the pointers.
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

// measure records the round trip: the shortest time between a word and its acknowledgement since
// the carrier appeared, or the session began.
func (e *end) measure(carried, first, progress bool, acked uint64) {
	was := e.measuring
	switch {
	case !carried:
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

// time counts cycles without progress, and the number of timeouts. Without carrier or session it is
// stopped.
func (e *end) time(runs, progress, timeout, again bool) {
	if timeout {
		e.timeouts++
	}
	switch {
	case progress || !runs:
		e.tries = 0
	case timeout && !e.dead():
		e.tries++
	}
	if e.base == e.high || progress || again || !runs {
		e.timer = 0
	} else {
		e.timer++
	}
}

// owe records control information to send to the peer.
func (e *end) owe(t *receiveInfo, said, first bool) {
	e.statusPending = t.ack || t.nack || t.changed || e.statusPending && !said
	e.nackPending = t.nack || e.nackPending && !said
	e.freedUnsent = t.changed || e.freedUnsent && !first
}
