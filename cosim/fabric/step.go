package fabric

import "math/bits"

// Forever is a cycle that never comes.
const Forever = ^uint64(0)

// How it works. A flit is put into the queue of the next router as soon as it is sent, with the
// cycle in which it can be seen there, and an entry of the buffer is promised to its sender, with
// the cycle of the credit, as soon as it is freed. So for every output VC the cycle is known in
// which it can send next, or what it waits for: a flit or a credit, which looks at the output VC
// when it is put there. The calendar has the outputs by cycle.
//
// A run is several flits sent by one decision (doc.go has a worked example). What it relies on is
// certain: the flits are in the queue or come in known cycles, credits that are on their way are
// not taken back, the packet keeps the output to its tail, and no other VC asks for the wire
// (Config.Run). So the next router learns of flits before they are there, and the one before of
// entries before they are free.

// NextEvent is the first cycle to come in which a flit may come out or be discarded,
// or a NIC be told of credits, without Inject or Release; Forever if there is none.
func (p *Part) NextEvent() uint64 {
	at := p.calendar.Next(p.now)
	if at != Forever {
		at++ // what is sent in a cycle comes out in the next
	}
	at = min(at, p.drops.Next(p.now+1))
	if p.joints != nil {
		at = min(at, p.wake.Next(p.now))
	}
	return at
}

// SkipTo lets time pass to the cycle at, or to NextEvent if that comes first.
func (p *Part) SkipTo(at uint64) {
	next := min(at, p.NextEvent())
	if next == Forever || at <= p.now {
		return
	}
	p.now = max(next, p.now+1) - 1 // exposed links may move in this cycle
	p.Step()
}

// Step carries out one cycle: every output that can sends a flit. Then the next
// cycle begins.
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

// sendRun lets an output send as long a run as is there and has entries to go to, on VC 0, which
// is alone.
func (p *Part) sendRun(id uint32) {
	if l := &p.outputVCs[int(id)*p.vcs]; l.next <= p.now {
		p.depart(l)
	}
}

// sendOne lets the first VC behind the one served last send, of those that can.
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

// look finds out when an output VC can send next.
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

// shorten takes n flits off the front of a queue.
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
		c.at = behind // not behind the cycle in which the next flit may go
		c.flit &^= Head
		return flit
	}
	flit |= c.flit & Tail
	if c == q.tail {
		q.tail = nil
		q.out.held &^= q.bit
	}
	q.head = p.drop(c) // of no meaning when that was the last
	return flit
}

// drop frees a run and gives the one behind it.
func (p *Part) drop(c *flitRun) *flitRun {
	next := c.next
	c.next, p.freeRuns = p.freeRuns, c
	return next
}

// vacate promises n entries to their sender, of which one is free from a cycle on and the
// others from those that follow. A VC has one credit wire: what becomes free together is
// told in one cycle after the other. Who freed an entry is of no interest, and whoever
// frees more meanwhile finds the wire taken up to the last of these.
func (p *Part) vacate(in *inputVC, from, n uint64) {
	at := max(from+in.delay, in.told+1)
	in.told = at + n - 1
	if in.from != p.id {
		p.sendCredits(in, at, n)
		return
	}
	p.credit(in.sender, at, n)
}

// credit tells an output VC of n entries, one per cycle from a cycle on.
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

// enter puts a run of flits into its queue, where outputs see the first from the cycle
// at on.
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

// route finds the queue for a packet by its head, or nil.
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

// dropRun has flits without a way discarded as they arrive.
func (p *Part) dropRun(in *inputVC, flit Flit, n, at uint64) {
	for i := range n {
		one := flit
		if i > 0 {
			one &^= Head
		}
		if i < n-1 {
			one &^= Tail
		}
		if at+i == p.now { // it comes from another part, and this cycle's have been taken
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
