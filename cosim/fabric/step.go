package fabric

import "math/bits"

// Forever is a cycle that never comes.
const Forever = ^uint64(0)

// How it works. A flit is put into the queue of the next router as soon as it is
// sent, with the cycle in which it can be seen there, and a credit is noted as soon
// as the place is freed. While flits stream and credits last nobody needs to be
// told. Only a queue whose first flit cannot be seen yet and a lane that has run out
// of credit stand on an agenda.

// NextEvent is the first cycle to come in which a flit can move, come out or be
// discarded, or in which a NIC that had no credit has one, without Inject or
// Release; Forever if there is none.
func (f *Fabric) NextEvent() uint64 {
	for _, word := range f.active {
		if word != 0 {
			return f.now + 1
		}
	}
	return min(f.shows.next(f.now), f.wakes.next(f.now), f.drops.next(f.now))
}

// SkipTo lets time pass to the cycle at, or to NextEvent if that comes first.
func (f *Fabric) SkipTo(at uint64) {
	next := f.NextEvent()
	at = min(at, next)
	if at == Forever || at <= f.now {
		return
	}
	if next > f.now+1 {
		f.now = at - 1
	}
	f.Step()
}

// Step carries out one cycle: every output that can sends a flit. Then the next
// cycle begins.
func (f *Fabric) Step() {
	f.ejected = f.ejected[:0]
	f.dropped = f.dropped[:0]
	then := f.now + f.hop
	for i, word := range f.active[:f.exits] {
		for ; word != 0; word &= word - 1 {
			l, c := f.depart(uint32(i<<6 + bits.TrailingZeros64(word)))
			f.enter(l.to, c, then)
		}
	}
	for i, word := range f.active[f.exits:] {
		for ; word != 0; word &= word - 1 {
			l, c := f.depart(uint32((f.exits+i)<<6 + bits.TrailingZeros64(word)))
			f.ejected = append(f.ejected, Ejection{Node: int32(l.to.router), VC: l.vc, Flit: c.flit})
			f.recycle(c)
		}
	}
	f.now++
	for _, d := range f.drops.take(f.now) {
		f.discard(d)
	}
	for _, q := range f.shows.take(f.now) {
		f.show(q)
	}
	for _, l := range f.wakes.take(f.now) {
		f.wake(l)
	}
}

// depart takes the next flit of an output that can send.
func (f *Fabric) depart(id uint32) (*lane, *cell) {
	o := &f.outs[id]
	pick := o.ready
	if pick&(pick-1) != 0 {
		f.waited[id] += uint64(bits.OnesCount8(pick)) - 1
		if behind := pick & o.after; behind != 0 {
			pick = behind
		}
	}
	vc := uint(bits.TrailingZeros8(pick)) & 7
	o.after = 0xfe << vc
	l := &o.lanes[vc]
	q := l.owner
	if q == nil {
		q = l.grant()
	}
	c := q.head
	more := true
	if c.at > f.now+1 {
		more = false
		f.hide(l, q, c)
	}
	q.head = c.next // of no meaning when that was the last
	c.at = Forever
	if c.flit&Tail != 0 {
		l.owner = nil
		more = l.req != 0
	}
	l.credit--
	if l.credit == 0 && !f.refresh(l) {
		more = false
	}
	if !more {
		o.ready &^= 1 << vc
		if o.ready == 0 {
			f.active[id>>6] &^= 1 << (id & 63)
		}
	}
	f.vacate(q.in, f.now)
	return l, c
}

// hide takes note that no flit of a queue can be seen behind c, which is leaving.
func (f *Fabric) hide(l *lane, q *queue, c *cell) {
	l.req &^= q.bit
	if c.at == Forever {
		q.tail = nil
	} else {
		f.shows.add(c.at, q)
	}
}

// refresh looks for credit that can be used in the next cycle, and sees to it that
// the lane is woken if there is none.
func (f *Fabric) refresh(l *lane) bool {
	l.settle(f.now + 1)
	if l.credit > 0 {
		return true
	}
	l.since = f.now + 1
	f.await(l)
	return false
}

func (f *Fabric) await(l *lane) {
	if at, coming := l.nextCredit(); coming {
		f.wakes.add(at, l)
	} else {
		l.to.hungry = true
	}
}

// vacate starts a credit for a place that is free from now on. A VC has one
// credit wire: what becomes free together is told in one cycle after the other.
func (f *Fabric) vacate(p *pool, now uint64) {
	start := max(now, p.told)
	p.told = start + 1
	p.log[p.freed&uint64(len(p.log)-1)] = start
	p.freed++
	if p.hungry {
		p.hungry = false
		f.wakes.add(start+uint64(p.delay), p.sender)
	}
}

// enter puts a flit into its queue, where outputs see it from the cycle at on.
func (f *Fabric) enter(p *pool, c *cell, at uint64) {
	if c.flit&Head != 0 {
		p.packet = f.route(p, c)
	}
	q := p.packet
	if q == nil {
		f.drops.add(at, drop{p, c})
		return
	}
	if tail := q.tail; tail != nil {
		tail.next, tail.at = c, at
	} else {
		q.head = c
		f.shows.add(at, q)
	}
	q.tail = c
}

// show makes the first flit of a queue visible to its output.
func (f *Fabric) show(q *queue) {
	l := q.lane
	had := l.wants()
	l.req |= q.bit
	switch {
	case had || !l.wants():
	case l.credit > 0:
		f.setReady(l)
	default:
		l.since = f.now
	}
}

// wake tells a lane that had no credit that there is one.
func (f *Fabric) wake(l *lane) {
	l.settle(f.now)
	if l.wants() {
		l.starved += f.now - l.since
		f.setReady(l)
	}
}

func (f *Fabric) setReady(l *lane) {
	f.outs[l.out].ready |= 1 << (l.vc & 7)
	f.active[l.out>>6] |= 1 << (l.out & 63)
}

// route finds the queue for a packet by its head, or nil.
func (f *Fabric) route(p *pool, c *cell) *queue {
	if c.flit.Dst() >= len(f.where) {
		return nil
	}
	port := uint(f.routes[f.routers[p.router].firstRoute+uint32(c.flit.Dst())])
	if f.cfg.Chooser != nil {
		var chosen int
		chosen, c.flit = f.cfg.Chooser.Choose(f, int(p.router), int(p.port), p.vc, c.flit)
		port = uint(chosen)
	}
	if port >= uint(len(p.ways)) {
		return nil
	}
	return p.ways[port]
}

func (f *Fabric) discard(d drop) {
	if d.cell.flit.Head() {
		f.routers[d.from.router].errors++
	}
	f.dropped = append(f.dropped, Ejection{Node: int32(d.from.router), VC: d.from.vc, Flit: d.cell.flit})
	f.recycle(d.cell)
	f.vacate(d.from, f.now-1) // on arrival, one cycle before it could leave
}

func (f *Fabric) recycle(c *cell) {
	c.next, f.free = f.free, c
	f.inside--
}
