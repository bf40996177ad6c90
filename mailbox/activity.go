package mailbox

// This file is the activity control module (FC paper, section 6.5.2) and its counterpart for
// piggybacking (section 6.6).

// controlActivity returns credits to sender i if its current threshold is reached the regular way:
// by the retrieved packets alone. The caller has just freed a slot or taken credits back.
func (d *dynamic) controlActivity(i int) {
	s := &d.senders[i]
	head := *d.threshold(i, 0)
	// available is 0 only after a response whose own slot was spent on the blocked flow; the next
	// packet of this sender, which has its static slots, comes here again.
	if s.retrieved < head || d.available == 0 {
		return
	}
	if s.blocked {
		d.controlBlocked(i)
		return
	}
	d.monitor(i)
	granted := min(d.newThreshold(i), d.available)
	s.retrieved -= head
	d.replace(i, granted)
	d.returnCredits(i, granted)
}

// controlBlocked is the blocked flow: the sender is losing credits, so it gets none beyond its
// static slots. Its reached threshold stays where it is until it has fallen below them.
func (d *dynamic) controlBlocked(i int) {
	s := &d.senders[i]
	if s.current >= d.static {
		return
	}
	s.retrieved -= *d.threshold(i, 0)
	d.replace(i, 1)
	d.returnCredits(i, 1)
	d.stats.BlockedReturns++
}

// piggyback decides how many credits a data packet to peer i takes along.
func (d *dynamic) piggyback(i int) int32 {
	s := &d.senders[i]
	switch {
	case s.blocked:
		// Not in the paper: its blocked flag is to keep the sender at the minimum (section 6.2).
		return 0
	case s.retrieved+s.piggybacked >= *d.threshold(i, 0):
		return d.crossPiggybacked(i)
	}
	// Others may hold the slots that this sender's packets freed: available is the limit.
	n := min(s.retrieved, d.available, MaxCredits)
	s.retrieved -= n
	s.piggybacked += n
	d.grant(s, n)
	return n
}

// crossPiggybacked handles a threshold reached or overtaken in the piggybacked way (section
// 6.6.2). The packets beyond the threshold are carried over: each stands for a slot whose credit is
// still to be returned.
func (d *dynamic) crossPiggybacked(i int) int32 {
	s := &d.senders[i]
	most := s.piggybacked + d.available
	if most == 0 {
		return 0 // nothing to return now, and a threshold of 0 would be reached for ever
	}
	d.monitor(i)
	done := s.piggybacked
	t := min(d.newThreshold(i), most)
	s.retrieved += done - *d.threshold(i, 0)
	d.replace(i, t)
	if t < done { // adjustment by excess
		d.stats.Excesses++
		*d.threshold(i, 0) += done - t
		return 0
	}
	d.stats.Deficits++ // adjustment by deficit
	d.grant(s, t-done)
	return t - done
}

// newThreshold is Eq. 1 with the intended credit quota.
func (d *dynamic) newThreshold(i int) int32 {
	t := d.formula.Threshold(int(d.senders[i].intended), d.cfg.CreditSlots)
	return int32(min(t, MaxCredits))
}

// replace removes the current threshold and inserts t as the last one: the head's position in the
// ring is the end of the FIFO once the head has moved on.
func (d *dynamic) replace(i int, t int32) {
	s := &d.senders[i]
	s.piggybacked = 0
	*d.threshold(i, 0) = t
	if s.head++; int(s.head) == d.fifo {
		s.head = 0
	}
}

// grant moves n slots from the available ones to the sender.
func (d *dynamic) grant(s *sender, n int32) {
	s.current += n
	d.available -= n
}

func (d *dynamic) returnCredits(i int, n int32) {
	d.grant(&d.senders[i], n)
	d.stats.CreditPackets++
	d.stats.CreditsReturned += uint64(n)
	d.push(Control{To: d.cfg.rank(i), Kind: Credit, Credits: uint16(n)})
}

// monitor is called at every crossing of sender i's threshold, before the FIFO moves. Every
// CreditSlots+1 crossings, which is once around the FIFO, are a monitoring point (section 6.4).
func (d *dynamic) monitor(i int) {
	if int(d.senders[i].head) != d.fifo-1 {
		return
	}
	d.stats.MonitoringPoints++
	who := int32(i)
	switch d.lists.level(who) {
	case low:
		d.lists.move(who, medium)
		return
	case medium:
		d.lists.move(who, high)
		return
	}
	// High, or null: that one needs its credits back quickly and is treated the same.
	if d.lists.empty(low) {
		d.lists.shift()
		d.stats.ListShifts++
	}
	d.lists.move(who, high)
	d.steal(i)
}

// steal moves intended quota to sender i from the sender with the oldest activity (Figure 13). The
// victim is never i itself, which is in the high list by now.
func (d *dynamic) steal(i int) {
	v := d.lists.last(low)
	if v == none {
		return
	}
	s, victim := &d.senders[i], &d.senders[v]
	n := max(int32(d.fifo), abs(s.intended-victim.intended)/2) // Eq. 6
	n = min(n, victim.intended-d.static)
	s.intended += n
	victim.intended -= n
	if n > 0 {
		d.stats.Steals++
		d.stats.StolenCredits += uint64(n)
	}
	if victim.intended > d.static {
		d.lists.move(v, medium) // so that the other low senders are asked before it
		return
	}
	// It cannot be blocked already: a blocked sender has no monitoring points, so it stays null.
	if victim.current > victim.intended {
		victim.blocked = true
		d.ask(int(v))
	}
	d.lists.move(v, null)
}

func abs(x int32) int32 {
	if x < 0 {
		return -x
	}
	return x
}
