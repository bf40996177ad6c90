package fabric

import "slices"

// The effect of an exposed link on the output that leads to it: rtl/core/router_output.sv, drain
// and closed. A link that has failed for too long makes the output discard its packets. A link
// whose session ended withdraws the credits, and the rest of a partly sent packet is discarded. All
// other outputs are handled by step.go.

// A gate is the state of such an output. Sets have a bit per VC.
type gate struct {
	drains, closed bool
	losing         uint8 // the packet that holds the VC has lost a flit, and loses all that follow
	owed           uint8 // the other end must receive the end of a packet before anything else
	torn           uint8 // of the packet being lost, a part was sent in a session that has ended
	packet         [maxVCs]uint32
	waiting        []uint32 // packets whose tail is gone, but of which the other end may have a part, until it reports them
	level          [maxVCs]int
	closedAt       uint64 // when credits were withdrawn, which is visible a cycle later; of level
}

// lookExact is look for an output that leads to an exposed link.
func (p *Part) lookExact(l *outputVC) {
	g := p.joints[l.out].gate(l)
	l.want = Forever
	if seen := l.seen(); seen != Forever {
		l.want = max(seen, l.free)
	}
	next := l.want
	if !g.loses(l) {
		next = max(next, l.opens())
	}
	if g.owed>>l.vc&1 != 0 {
		next = min(next, max(l.opens(), l.free))
	}
	if next != Forever {
		p.calendar.Add(max(next, p.now), l.out) // it may have waited for another VC, or for the link's word
	}
	l.next = next
}

func (j *joint) gate(l *outputVC) *gate { return &j.gates[j.end(l)] }

// loses reports whether the next flit of a VC is discarded.
func (g *gate) loses(l *outputVC) bool { return g.drains || g.losing>>l.vc&1 != 0 }

// divert performs the alternative action of an output VC instead of sending its next flit, if there
// is one.
func (p *Part) divert(l *outputVC) bool {
	j := p.joints[l.out]
	g, bit := j.gate(l), uint8(1)<<l.vc
	switch {
	case g.owed&bit != 0 && l.opens() <= p.now:
		g.owed &^= bit
		p.inside++
		tail := NewFlit(g.packet[l.vc], 0, Tail)
		p.toLink(l, tail, 1)
		l.sent++
		if p.watch != nil {
			p.watch(int(l.to.router), int(l.to.port), l.vc, tail)
		}
	case g.loses(l):
		p.lose(l, j, g)
	default:
		return false
	}
	l.free = p.now + 1
	p.look(l)
	return true
}

// lose discards the next flit of an output VC.
func (p *Part) lose(l *outputVC, j *joint, g *gate) {
	q, bit, begins := l.owner, uint8(1)<<l.vc, false
	if q == nil {
		q, begins = l.grant(p.now), true
	}
	flit := p.shorten(q, 1)
	p.vacate(q.in, p.now, 1)
	p.inside--
	if g.losing&bit == 0 {
		*j.ends[j.end(l)].losses.push() = loss{at: p.now + 1, rest: !begins}
		p.wake.Add(p.now, j.outs[0])
		if g.losing |= bit; !begins {
			g.owed |= bit
			g.packet[l.vc] = flit.Packet()
			p.ended = append(p.ended, Ended{flit.Packet(), true})
		}
	}
	if !flit.Tail() {
		return
	}
	l.owner = nil
	if g.torn&bit != 0 && g.closed {
		g.waiting = append(g.waiting, flit.Packet())
	} else {
		p.ended = append(p.ended, Ended{flit.Packet(), false})
	}
	g.losing &^= bit
	g.torn &^= bit
}

// Effects of a link on its router, from this cycle on.

func (j *joint) drains(end int, on bool) {
	if j.own[end] {
		j.gates[end].drains = on
		j.look(end)
	}
}

func (j *joint) look(end int) {
	for v := range j.p.vcs {
		j.p.look(j.p.outputOf(j, end, v))
	}
}

func (j *joint) closes(end int) {
	if !j.own[end] {
		return
	}
	p, g := j.p, &j.gates[end]
	g.closed, g.closedAt = true, p.now
	for v := range p.vcs {
		l, bit := p.outputOf(j, end, v), uint8(1)<<v
		g.level[v] = l.credits(p.now)
		l.known = l.sent
		if l.owner != nil && g.losing&bit == 0 {
			g.losing |= bit
			g.torn |= bit
		}
		if g.owed&bit != 0 {
			g.waiting = append(g.waiting, g.packet[v])
		}
	}
	g.owed = 0
	j.look(end)
}

// opens: the other end has terminated the packets of which it had a part.
func (j *joint) opens(end int) {
	if !j.own[end] {
		return
	}
	g := &j.gates[end]
	g.closed = false
	for _, packet := range g.waiting {
		j.p.ended = append(j.p.ended, Ended{packet, false})
	}
	g.waiting = slices.Delete(g.waiting, 0, len(g.waiting))
}

// creditsAt returns the credits of an output VC; in registers their withdrawal is visible a cycle
// later.
func (p *Part) creditsAt(l *outputVC) int {
	if l.part == exactly {
		if g := p.joints[l.out].gate(l); g.closed && g.closedAt == p.now {
			return g.level[l.vc]
		}
	}
	return l.credits(p.now)
}
