package fabric

// The receiving half of a link: rtl/core/link_rx.sv.

// receiveInfo is the information from the receiving half to the sending half.
type receiveInfo struct {
	ack, nack bool
	changed   bool // entries were freed, or flits discarded
}

func (e *end) receive(now uint64, broken bool, id int, user linkUser, t *receiveInfo) {
	w := &e.in
	credits := e.takeCredits(now, e.vcs)
	numbered := e.up && w.valid && !w.bad && w.numbered
	cut := e.orphaned()
	late := cut >= 0
	accept := numbered && w.number == e.expected && !late
	t.ack = accept || numbered && w.number < e.expected
	t.nack = e.up && w.valid && w.bad || numbered && (w.number > e.expected && !e.nacked || w.number == e.expected && late)
	if w.valid && w.bad {
		e.crcErrors++
	}
	if v := e.giveUp(broken, accept, w.valid); !late {
		cut = v
	}
	if !e.up {
		e.stand(credits, cut, now, id, user, t)
		return
	}
	comes := -1
	if accept && w.flits {
		comes = int(w.vc)
	}
	for set := credits; set != 0 || comes >= 0 || cut >= 0; {
		v := e.pick(set, comes, cut)
		e.channel(v, set>>v&1 != 0, v == comes, v == cut, late, now, id, user, t)
		set &^= 1 << v
		if v == comes {
			comes = -1
		}
		if v == cut {
			cut = -1
		}
	}
	if accept {
		e.expected, e.gotWords = e.expected+1, e.gotWords+1
		if w.flits && w.flit.Head() {
			e.gotHeads++
		}
	}
	if accept || t.nack {
		e.nacked = t.nack
	}
}

// pick selects a VC with work to do.
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

// orphaned returns the VC whose packet is terminated now because it has lost its session, or -1.
func (e *end) orphaned() int {
	if e.orphans > 0 {
		for v := range e.vcs {
			if c := &e.channels[v]; c.orphan && c.held < e.depth {
				return v
			}
		}
	}
	return -1
}

// giveUp counts how long a partial packet has waited for its rest on a broken link, and returns the
// VC whose packet is terminated now, or -1: no word has arrived.
func (e *end) giveUp(broken, fresh, word bool) int {
	waits := e.parts > 0 && broken
	gaveUp := waits && e.patience != 0 && e.waited >= e.patience
	switch {
	case !waits || fresh:
		e.waited = 0
	case e.patience != 0 && !gaveUp:
		e.waited++
	}
	if gaveUp && !word && e.up {
		for v := range e.vcs {
			if c := &e.channels[v]; c.open && c.held < e.depth {
				return v
			}
		}
	}
	return -1
}

// channel performs the events of a VC in a cycle: a credit from the router, a flit, or the
// termination of its packet.
func (e *end) channel(v int, credit, comes, cut, late bool, now uint64, id int, user linkUser, t *receiveInfo) {
	c := &e.channels[v]
	tail := comes && e.in.flit.Tail()
	freed := credit && !c.withheld
	discards := comes && c.ended && !(tail && c.withheld && !credit)
	if freed {
		e.freedLocal[v]++
	}
	if discards {
		e.freedLocal[v]++
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
	case cut && late:
		e.endOrphan(v, now, id, user)
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
	if (!cut || late) && (credit || tail) {
		c.withheld = false
	}
	switch {
	case c.open && !open:
		e.parts++
	case open && !c.open:
		e.parts--
	}
}

// stand executes a cycle without session: words are ignored, and partial packets lose their rest.
func (e *end) stand(credits uint8, cut int, now uint64, id int, user linkUser, t *receiveInfo) {
	for v := range e.vcs {
		c := &e.channels[v]
		credit := credits>>v&1 != 0
		t.changed = t.changed || credit && !c.withheld
		if c.open {
			c.open, c.orphan = false, true
			e.parts, e.orphans = e.parts-1, e.orphans+1
			user.isCut(id, NewFlit(c.packet, 0, Tail))
		}
		taken := c.held
		if c.orphan {
			taken++
		}
		if credit {
			c.held, taken = c.held-1, taken-1
		}
		e.freedLocal[v] = uint64(max(e.depth, taken) - taken)
		c.ended, c.withheld = false, taken > e.depth
		if v == cut {
			c.held++
			e.endOrphan(v, now, id, user)
		}
	}
}

// endOrphan terminates a packet that has lost its session.
func (e *end) endOrphan(v int, now uint64, id int, user linkUser) {
	c := &e.channels[v]
	c.orphan = false
	e.orphans--
	e.cut++
	user.arrive(id, uint8(v), NewFlit(c.packet, 0, Tail), now+2)
}
