package fabric

import "math/bits"

// Forever is later than any cycle.
const Forever = ^uint64(0)

// Principle. A flit is put into the queue of the next router as soon as it is sent, together with
// the cycle in which it becomes visible there. Likewise, an entry of the buffer is promised to its
// sender, with the cycle of the credit, as soon as it is freed. For every output VC it is therefore
// known when it can send next, or whether it waits for a flit or a credit, whose arrival triggers
// an examination. The calendar holds the outputs by cycle.
//
// A run is several flits sent by one decision (doc.go has a worked example). It relies on certain
// facts only: the flits are in the queue or arrive in known cycles, credits in flight are not
// revoked, the packet holds the output to its tail, and no other VC needs the wire (Config.Run).
// The next router thus learns of flits before they arrive, and the previous one of entries before
// they are free.

// NextEvent is the first upcoming cycle in which a flit may be ejected or discarded, or a NIC gets
// credits, without Inject or Release; Forever if there is none.
func (p *Part) NextEvent() uint64 {
	at := p.calendar.Next(p.now)
	if at != Forever {
		at++ // flits sent in a cycle are ejected in the next
	}
	at = min(at, p.drops.Next(p.now+1))
	if p.joints != nil {
		at = min(at, p.wake.Next(p.now))
	}
	return at
}

// SkipTo advances time to cycle at, or to NextEvent if that is earlier.
func (p *Part) SkipTo(at uint64) {
	next := min(at, p.NextEvent())
	if next == Forever || at <= p.now {
		return
	}
	p.now = max(next, p.now+1) - 1 // exposed links may act in this cycle
	p.Step()
}

// Step executes one cycle: every output that can sends a flit. Then the next cycle begins.
func (p *Part) Step() {
	p.ejected = p.ejected[:0]
	p.dropped = p.dropped[:0]
	p.credited = p.credited[:0]
	exposed := p.joints != nil
	if exposed {
		p.hear()
	}
	send := (*Part).sendOne
	if p.run > 1 {
		send = (*Part).sendRun
	}
	words := p.calendar.Take(p.now)
	for i, word := range words {
		for words[i] = 0; word != 0; word &= word - 1 {
			send(p, uint32(i<<6+bits.TrailingZeros64(word)))
		}
	}
	p.now++
	for _, d := range p.drops.take(p.now) {
		p.discard(d)
	}
	if exposed {
		p.runLinks()
	}
}

// sendRun sends the longest run for which there are flits and entries, on VC 0, which is the only
// one in use.
func (p *Part) sendRun(id uint32) {
	if l := &p.outputVCs[int(id)*p.vcs]; l.next <= p.now {
		p.depart(l)
	}
}

// sendOne sends from the first VC behind the last one served, of those that can.
func (p *Part) sendOne(id uint32) {
	list := p.outputVCs[int(id)*p.vcs:][:p.vcs]
	can := uint8(0)
	for v := range list {
		if list[v].next <= p.now {
			can |= 1 << v
		}
	}
	if can == 0 {
		return
	}
	o := &p.arbiters[id]
	pick := can
	if can&(can-1) != 0 {
		o.waited += uint64(bits.OnesCount8(can)) - 1
		p.calendar.Add(p.now+1, id)
		if behind := can & o.after; behind != 0 {
			pick = behind
		}
	}
	vc := uint(bits.TrailingZeros8(pick)) & 7
	o.after = 0xfe << vc
	p.depart(&list[vc])
}

// depart sends the next flits of an output VC that can send.
func (p *Part) depart(l *outputVC) {
	if l.part == exactly && p.divert(l) {
		return
	}
	now := p.now
	q := l.owner
	if q == nil {
		q = l.grant(now)
	}
	n := l.lasts(now, q.first(now, p.run))
	flit := p.shorten(q, n)
	if flit&Tail != 0 {
		l.owner = nil
	}
	l.starved += l.next - l.want
	if p.remembers {
		l.departs(flit, now)
	}
	l.sent += n
	l.free = now + n
	p.look(l)
	p.vacate(q.in, now, n)
	switch to := l.to; {
	case int(l.out) >= p.exits:
		p.ejected = append(p.ejected, Ejection{Node: int32(to.router), VC: l.vc, Flit: flit, Run: int32(n)})
		p.inside -= int(n)
	case l.part != p.id:
		p.sendArrival(l, flit, n)
	default:
		p.enter(to, flit, n, now+p.hop)
	}
	if p.watch != nil && int(l.out) < p.exits {
		p.watch(int(l.to.router), int(l.to.port), l.vc, flit)
	}
}

// look determines when an output VC can send next.
func (p *Part) look(l *outputVC) {
	if l.part == exactly {
		p.lookExact(l)
		return
	}
	seen := l.seen()
	if seen == Forever {
		l.want, l.next = Forever, Forever
		return
	}
	l.want = max(seen, l.free)
	next := max(l.want, l.opens())
	if next != l.next && next != Forever {
		p.calendar.Add(next, l.out)
	}
	l.next = next
}

// shorten removes n flits from the front of a queue.
func (p *Part) shorten(q *voq, n uint64) Flit {
	c, behind := q.head, p.now+n
	flit := c.flit &^ Tail
	for c.n < n {
		n -= c.n
		c = p.drop(c)
	}
	if c.n > n {
		q.head = c
		c.n -= n
		c.at = behind // not after the cycle in which the next flit may leave
		c.flit &^= Head
		return flit
	}
	flit |= c.flit & Tail
	if c == q.tail {
		q.tail = nil
		q.out.held &^= q.bit
	}
	q.head = p.drop(c) // meaningless if that was the last
	return flit
}

// drop frees a run and returns the next one.
func (p *Part) drop(c *flitRun) *flitRun {
	next := c.next
	c.next, p.freeRuns = p.freeRuns, c
	return next
}

// vacate promises n entries to their sender, of which one is free from a cycle on and the others in
// the following cycles. A VC has one credit wire, so entries that are freed together are reported
// in consecutive cycles. Entries freed meanwhile find the wire occupied up to the last of these.
func (p *Part) vacate(in *inputVC, from, n uint64) {
	at := max(from+in.delay, in.lastCreditAt+1)
	in.lastCreditAt = at + n - 1
	if in.from != p.id {
		p.sendCredits(in, at, n)
		return
	}
	p.credit(in.sender, at, n)
}

// credit gives n entries to an output VC, one per cycle from a cycle on.
func (p *Part) credit(l *outputVC, at, n uint64) {
	waits := l.sent == l.known
	for i := range n {
		*l.from(l.known + i) = at + i
	}
	l.known += n
	switch {
	case !waits:
	case l.wire:
		p.credited = append(p.credited, int32(l.out))
	case l.part == exactly:
		p.look(l)
	case l.want != Forever:
		l.next = max(l.want, at)
		p.calendar.Add(l.next, l.out)
	}
}

// enter puts a run of flits into its queue; outputs see the first one from cycle at on.
func (p *Part) enter(in *inputVC, flit Flit, n, at uint64) {
	if flit&Head != 0 {
		in.packet, flit = p.route(in, flit)
	}
	q := in.packet
	if q == nil {
		p.dropRun(in, flit, n, at)
		return
	}
	tail := q.tail
	if tail != nil && flit&Head == 0 && at <= tail.at+tail.n { // not before those ahead of it
		tail.n += n
		tail.flit |= flit & Tail
		return
	}
	c := p.freeRuns
	p.freeRuns = c.next
	c.flit, c.n, c.at = flit, n, at
	q.tail = c
	if tail != nil {
		tail.next = c
		return
	}
	q.head = c
	l := q.out
	l.held |= q.bit
	if l.owner == nil || l.owner == q {
		p.look(l)
	}
}

// route returns the queue of a packet according to its head, or nil.
func (p *Part) route(in *inputVC, head Flit) (*voq, Flit) {
	if head.Dst() >= len(p.where) {
		return nil, head
	}
	port := uint32(p.routes[int(in.routes)+head.Dst()])
	if p.cfg.Chooser != nil {
		var chosen int
		chosen, head = p.cfg.Chooser.Choose(p.Fabric, int(in.router), int(in.port), in.vc, head)
		port = uint32(chosen)
	}
	if port >= uint32(len(p.routers[in.router].outs)) {
		return nil, head
	}
	if p.cfg.HopMax != 0 {
		hops := head.Note()
		if hops >= p.cfg.HopMax {
			return nil, head
		}
		head = head.WithNote(hops + 1)
	}
	return p.voqs[in.voqs+port], head
}

// dropRun discards flits without a route as they arrive.
func (p *Part) dropRun(in *inputVC, flit Flit, n, at uint64) {
	for i := range n {
		one := flit
		if i > 0 {
			one &^= Head
		}
		if i < n-1 {
			one &^= Tail
		}
		if at+i == p.now { // from another part, and this cycle's have been taken
			p.discard(drop{in, one})
			continue
		}
		p.drops.add(at+i, drop{in, one})
	}
}

func (p *Part) discard(d drop) {
	if d.flit.Head() {
		p.routers[d.from.router].errors++
	}
	p.dropped = append(p.dropped, Ejection{Node: int32(d.from.router), VC: d.from.vc, Flit: d.flit, Run: 1})
	p.inside--
	p.vacate(d.from, p.now-1, 1) // on arrival, one cycle before it could leave
}
