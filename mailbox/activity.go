package mailbox

// This file is the activity control module (FC paper, section 6.5.2) and its counterpart for
// piggybacking (section 6.6).

// controlActivity returns credits to sender i if the retrieved packets alone have reached its
// current threshold. The caller has just freed a slot or recovered credits.
func (d *dynamic) controlActivity(i int) {
	s := &d.senders[i]
	head := *d.threshold(i, 0)
	// available is 0 only after a response whose own slot was spent in controlBlocked. The next
	// packet of this sender, which still has its static slots, calls controlActivity again.
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

// controlBlocked handles a reached threshold of a blocked sender. The sender is giving credits
// back, so it gets none beyond its static slots: the reached threshold stays until current falls
// below them.
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

// piggyback returns the number of credits that a data packet to peer i carries.
func (d *dynamic) piggyback(i int) int32 {
	s := &d.senders[i]
	switch {
	case s.blocked:
		// Not in the paper: the blocked flag keeps the sender at the minimum (section 6.2).
		return 0
	case s.retrieved+s.piggybacked >= *d.threshold(i, 0):
		return d.crossPiggybacked(i)
	}
	// Slots that this sender's packets freed may have been granted to others: available is the
	// limit.
	n := min(s.retrieved, d.available, MaxCredits)
	s.retrieved -= n
	s.piggybacked += n
	d.grant(s, n)
	return n
}

// crossPiggybacked handles a threshold that piggybacked credits have reached or exceeded (section
// 6.6.2). Packets beyond the threshold are carried over: each stands for a slot whose credit has
// not been returned yet.
func (d *dynamic) crossPiggybacked(i int) int32 {
	s := &d.senders[i]
	most := s.piggybacked + d.available
	if most == 0 {
		return 0 // there is nothing to return, and a threshold of 0 would always be reached
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

// newThreshold computes Eq. 1 with the intended credit quota.
func (d *dynamic) newThreshold(i int) int32 {
	t := d.formula.Threshold(int(d.senders[i].intended), d.cfg.CreditSlots)
	return int32(min(t, MaxCredits))
}

// replace removes the current threshold and appends t. The slot of the old head becomes the tail of
// the FIFO when the head index advances.
func (d *dynamic) replace(i int, t int32) {
	s := &d.senders[i]
	s.piggybacked = 0
	*d.threshold(i, 0) = t
	if s.head++; int(s.head) == d.fifo {
		s.head = 0
	}
}

// grant moves n slots from the available ones to sender s.
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

// monitor is called whenever sender i crosses its threshold, before the FIFO advances. Every
// CreditSlots+1 crossings, one revolution of the FIFO, are a monitoring point (section 6.4).
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
	// High or null. A null sender needs its credits back quickly and is treated like a high one.
	if d.lists.empty(low) {
		d.lists.shift()
		d.stats.ListShifts++
	}
	d.lists.move(who, high)
	d.steal(i)
}

// steal moves intended quota to sender i from the least recently active sender (Figure 13). The
// victim is never i itself, which is already in the high list.
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
		d.lists.move(v, medium) // the other low senders are the next victims
		return
	}
	// The victim cannot be blocked already: blocked senders have no monitoring points and stay in
	// the null list.
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
