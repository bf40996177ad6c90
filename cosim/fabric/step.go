package fabric

import "math/bits"

// Forever is a cycle that never comes.
const Forever = ^uint64(0)

// How it works. A flit is put into the queue of the next router as soon as it is
// sent, with the cycle in which it can be seen there, and a credit is noted as soon
// as the place is freed. While flits stream and credits last nobody needs to be
// told. Only a queue whose first flit cannot be seen yet, a lane that has run out
// of credit and the end of a run stand on an agenda.
//
// A run is several flits sent by one decision. What it relies on is certain: the flits
// are in the queue or come in known cycles, credits that are on their way are not taken
// back, the packet keeps the output to its tail, and no other VC asks for the wire
// (Config.Run). So the next router learns of flits before they are there, and the one
// before of places before they are free.

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
	f.credited = f.credited[:0]
	then := f.now + f.hop
	for i, word := range f.active[:f.exits] {
		for ; word != 0; word &= word - 1 {
			l, flit, n := f.depart(uint32(i<<6 + bits.TrailingZeros64(word)))
			f.enter(l.to, flit, n, then)
			if f.watch != nil {
				f.watch(int(l.to.router), int(l.to.port), l.vc, flit)
			}
		}
	}
	for i, word := range f.active[f.exits:] {
		for ; word != 0; word &= word - 1 {
			l, flit, n := f.depart(uint32((f.exits+i)<<6 + bits.TrailingZeros64(word)))
			f.ejected = append(f.ejected, Ejection{Node: int32(l.to.router), VC: l.vc, Flit: flit, Run: int32(n)})
			f.inside -= int(n)
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

// depart takes the next flits of an output that can send: one, or as long a run as is
// there, has credits and can have no rival.
func (f *Fabric) depart(id uint32) (*lane, Flit, uint32) {
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
	n := uint32(l.lasts(f.now, q.first(f.now, f.run)))
	flit := f.shorten(q, n)
	if flit&Tail != 0 {
		l.owner = nil
	}
	l.credit -= int32(n)
	l.free = f.now + uint64(n)
	l.sent += uint64(n)
	if n > 1 {
		f.rest(o, id, vc)
		f.goOn(l)
	} else if more := l.wants(); !f.refresh(l) || !more {
		f.rest(o, id, vc)
	}
	f.vacate(q.in, f.now, n)
	return l, flit, n
}

// goOn has a lane looked at again when its run is over, if it can send more then.
func (f *Fabric) goOn(l *lane) {
	l.since = l.free
	if int(l.credit)+l.to.until(l.free) <= 0 {
		f.await(l)
	} else if l.wants() {
		f.wakes.add(l.free, l)
	}
}

func (f *Fabric) rest(o *output, id uint32, vc uint) {
	o.ready &^= 1 << vc
	if o.ready == 0 {
		f.active[id>>6] &^= 1 << (id & 63)
	}
}

// first counts the flits at the front of a queue, at most most, that are of one packet
// and can go one per cycle from now on.
func (q *queue) first(now uint64, most int) int {
	c := q.head
	n := int(c.n)
	for n < most && c != q.tail && c.next.flit&Head == 0 && c.next.at <= now+uint64(n) {
		c = c.next
		n += int(c.n)
	}
	return min(n, most)
}

// shorten takes n flits off the front of a queue; l.req says what can be seen then.
func (f *Fabric) shorten(q *queue, n uint32) Flit {
	c, behind := q.head, f.now+uint64(n)
	flit := c.flit &^ Tail
	for c.n < n {
		n -= c.n
		next := c.next
		c.next, f.free = f.free, c
		c = next
	}
	if c.n > n {
		q.head = c
		c.n -= n
		c.at = behind // not behind the cycle in which the next flit may go
		c.flit &^= Head
		return flit
	}
	flit |= c.flit & Tail
	switch {
	case c == q.tail:
		q.tail = nil
		q.lane.req &^= q.bit
	case c.next.at > behind:
		q.lane.req &^= q.bit
		f.shows.add(c.next.at, q)
	}
	q.head = c.next // of no meaning when that was the last
	c.next, f.free = f.free, c
	return flit
}

// refresh looks for credit that can be used in the next cycle, and sees to it that
// the lane is woken if there is none.
func (f *Fabric) refresh(l *lane) bool {
	if l.credit > 0 || l.to.arrives(f.now+1) {
		return true
	}
	if l.settle(f.now); l.credit > 0 {
		return true
	}
	l.since = f.now + 1
	f.await(l)
	return false
}

// await has a lane looked at again when a credit comes. Those that come before the end
// of its run are spent.
func (f *Fabric) await(l *lane) {
	at := l.to.next(l.free + 1)
	if l.to.wakeAt = at; at != Forever {
		f.wakes.add(at, l)
	}
}

// vacate starts credits for n places, one of which is free from a cycle on and the
// others from those that follow. A VC has one credit wire: what becomes free together is
// told in one cycle after the other.
func (f *Fabric) vacate(p *pool, now uint64, n uint32) {
	at := now + uint64(p.delay)
	if p.coming > 0 && at-p.behind > f.reach {
		p.sender.settle(f.now)
	}
	if at = p.add(at, uint64(n)); at < p.wakeAt {
		at = max(at, p.sender.free)
		p.wakeAt = at
		f.wakes.add(at, p.sender)
	}
}

// enter puts a run of flits into its queue, where outputs see the first from the cycle
// at on.
func (f *Fabric) enter(p *pool, flit Flit, n uint32, at uint64) {
	if flit&Head != 0 {
		p.packet, flit = f.route(p, flit)
	}
	q := p.packet
	if q == nil {
		f.dropRun(p, flit, n, at)
		return
	}
	tail := q.tail
	if tail != nil && flit&Head == 0 && at <= tail.at+uint64(tail.n) { // not before those ahead of it
		tail.n += n
		tail.flit |= flit & Tail
		return
	}
	c := f.free
	f.free = c.next
	c.flit, c.n, c.at = flit, n, at
	if tail != nil {
		tail.next = c
	} else {
		q.head = c
		f.shows.add(at, q)
	}
	q.tail = c
}

// dropRun has flits without a way discarded as they arrive.
func (f *Fabric) dropRun(p *pool, flit Flit, n uint32, at uint64) {
	for i := range n {
		one := flit
		if i > 0 {
			one &^= Head
		}
		if i < n-1 {
			one &^= Tail
		}
		f.drops.add(at+uint64(i), drop{p, one})
	}
}

// show makes the first flit of a queue visible to its output.
func (f *Fabric) show(q *queue) {
	l := q.lane
	had := l.wants()
	l.req |= q.bit
	if had || !l.wants() {
		return
	}
	if l.free > f.now {
		if l.to.wakeAt == 0 {
			f.wakes.add(l.free, l)
		}
		return
	}
	if l.credit <= 0 {
		l.settle(f.now)
	}
	if l.credit > 0 {
		f.setReady(l)
	} else {
		l.since = f.now
	}
}

// wake looks at a lane that had no credit, or whose run is over.
func (f *Fabric) wake(l *lane) {
	if l.free > f.now {
		return // told of again
	}
	if l.credit <= 0 {
		if l.settle(f.now); l.credit <= 0 {
			f.await(l)
			return
		}
	}
	l.to.wakeAt = 0
	switch {
	case l.wire:
		f.credited = append(f.credited, int32(l.out))
	case l.wants() && f.outs[l.out].ready>>l.vc&1 == 0:
		l.starved += f.now - l.since
		f.setReady(l)
	}
}

func (f *Fabric) setReady(l *lane) {
	f.outs[l.out].ready |= 1 << (l.vc & 7)
	f.active[l.out>>6] |= 1 << (l.out & 63)
}

// route finds the queue for a packet by its head, or nil.
func (f *Fabric) route(p *pool, head Flit) (*queue, Flit) {
	if head.Dst() >= len(f.where) {
		return nil, head
	}
	port := uint(f.routes[f.routers[p.router].firstRoute+uint32(head.Dst())])
	if f.cfg.Chooser != nil {
		var chosen int
		chosen, head = f.cfg.Chooser.Choose(f, int(p.router), int(p.port), p.vc, head)
		port = uint(chosen)
	}
	if port >= uint(len(p.ways)) {
		return nil, head
	}
	return p.ways[port], head
}

func (f *Fabric) discard(d drop) {
	if d.flit.Head() {
		f.routers[d.from.router].errors++
	}
	f.dropped = append(f.dropped, Ejection{Node: int32(d.from.router), VC: d.from.vc, Flit: d.flit, Run: 1})
	f.inside--
	f.vacate(d.from, f.now-1, 1) // on arrival, one cycle before it could leave
}
