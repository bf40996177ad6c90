package fabric

import "math/bits"

// Forever is a cycle that never comes.
const Forever = ^uint64(0)

// NextEvent is the first cycle to come in which anything can happen without
// Inject or Release, or Forever.
func (f *Fabric) NextEvent() uint64 {
	if f.canMove() {
		return f.now + 1
	}
	return min(f.injected.next(f.now), f.sent.next(f.now), f.credits.next(f.now))
}

func (f *Fabric) canMove() bool {
	var any uint64
	for _, word := range f.active {
		any |= word
	}
	return any != 0
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
// cycle begins, with what arrives in it.
func (f *Fabric) Step() {
	f.ejected = f.ejected[:0]
	f.dropped = f.dropped[:0]
	f.send()
	f.now++
	f.arrive(f.sent.take(f.now))
	f.arrive(f.injected.take(f.now))
	f.giveBack(f.credits.take(f.now))
}

// The three loops below take nearly all the time, and what would decide their
// branches is random under load. So they compute instead: a condition becomes a
// 0 or 1 (bit), and a list entry is written first and counted if it is one.

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// send lets a flit leave by every output that has a lane ready.
func (f *Fabric) send() {
	outs, lanes, queues, next := f.outs, f.lanes, f.queues, f.next
	lb, now := f.laneBits, f.now
	links, nLinks := f.sent.open(f.now)
	out := f.leaving
	nOut := 0
	for w, word := range f.active {
		still := word
		for ; word != 0; word &= word - 1 {
			b := bits.TrailingZeros64(word)
			port := uint32(w<<6 + b)
			o := &outs[port]
			ready := o.ready
			pick := ready & o.after
			if pick == 0 {
				pick = ready
			}
			vc := uint32(bits.TrailingZeros8(pick))
			o.after = 0xfe << (vc & 7)
			o.waited += uint64(bits.OnesCount8(ready)) - 1

			l := &lanes[port<<(lb&31)+vc]
			source, ref := l.pop(queues, next)
			c := l.credit - 1
			l.credit = c
			l.sent++
			if c == 0 {
				l.since = now + 1
			}
			ready = ready&^(1<<(vc&7)) | uint8(bit(c != 0)&bit(l.req&l.may != 0))<<(vc&7)
			o.ready = ready
			still ^= bit(ready == 0) << (b & 63)

			e := uint64(l.to)<<32 | uint64(ref)
			nic := int(l.to >> 31)
			links[nLinks], out[nOut] = e, e
			nLinks += 1 - nic
			nOut += nic
			f.credits.put(now, f.creditDelay(source), source)
		}
		f.active[w] = still
	}
	f.sent.fill(f.now, nLinks)
	f.eject(out[:nOut])
}

// pop takes out the next flit: of the packet that has the output, which is then the
// only one that may, or of the first queue in turn.
func (l *lane) pop(queues []queue, next []uint32) (source, ref uint32) {
	can := l.req & l.may
	pick := can & l.after
	if pick == 0 {
		pick = can
	}
	turn := pick & -pick
	l.after = -(turn << 1) // no change while a packet has the output: it was served last
	q := &queues[l.first+uint32(bits.TrailingZeros64(pick))]
	ref = q.head
	l.req &^= turn & -bit(ref == q.tail)
	q.head = next[ref>>refShift] // of no meaning when that was the last
	l.may = turn | -uint64(ref>>1&1)
	return q.source, ref
}

func (f *Fabric) eject(list []uint64) {
	for _, e := range list {
		slot := uint32(e) >> refShift
		to := uint32(e>>32) &^ toNIC
		f.ejected = append(f.ejected, Ejection{Node: int32(to >> nicShift), VC: uint8(to & nicVCs), Flit: f.flits[slot]})
		f.freeSlot(slot)
	}
}

// arrive puts flits into their queues, where outputs see them in this cycle.
func (f *Fabric) arrive(list []uint64) {
	pools, outs, lanes, queues, next, active := f.pools, f.outs, f.lanes, f.queues, f.next, f.active
	lb, now := f.laneBits, f.now
	for _, e := range list {
		p, ref := &pools[e>>32], uint32(e)
		if ref&refHead != 0 {
			f.route(p, ref)
		}
		if p.queue == noQueue {
			f.discard(p, ref)
			continue
		}
		q, l := &queues[p.queue], &lanes[p.lane]
		before, head := q.tail>>refShift, q.head
		if l.req&p.turn == 0 { // the queue was empty: slot 0 takes what would link it
			before, head = 0, ref
		}
		next[before] = ref
		q.head, q.tail = head, ref
		if l.req&l.may == 0 {
			l.since = now
		}
		l.req |= p.turn
		r := bit(l.credit != 0) & bit(l.req&l.may != 0)
		port, vc := p.lane>>(lb&31), p.lane&(1<<(lb&31)-1)
		outs[port].ready |= uint8(r << (vc & 7))
		active[port>>6] |= r << (port & 63)
	}
}

// giveBack hands places that became free to their senders.
func (f *Fabric) giveBack(list []uint32) {
	outs, lanes, active := f.outs, f.lanes, f.active
	lb, now := f.laneBits, f.now
	for _, e := range list {
		l := &lanes[e]
		wants := bit(l.req&l.may != 0)
		l.starved += (now - l.since) & -(wants & bit(l.credit == 0))
		l.credit++
		port, vc := e>>(lb&31), e&(1<<(lb&31)-1)
		outs[port].ready |= uint8(wants << (vc & 7))
		active[port>>6] |= wants << (port & 63)
	}
}

// route finds the queue for the packet whose head has come, or noQueue.
func (f *Fabric) route(p *pool, ref uint32) {
	p.queue = noQueue
	flit := f.flits[ref>>refShift]
	if flit.Dst() >= len(f.where) {
		return
	}
	r := &f.routers[p.router]
	port := f.routes[r.firstRoute+uint32(flit.Dst())]
	if f.cfg.Chooser != nil {
		chosen, onward := f.cfg.Chooser.Choose(f, int(p.router), int(p.in), p.vc, flit)
		f.flits[ref>>refShift] = onward
		port = uint8(chosen)
	}
	if uint32(port) >= r.ports {
		return
	}
	if q := f.byPort[p.queues+uint32(port)]; q != noQueue {
		p.queue, p.lane = q, f.queues[q].lane
		p.turn = 1 << (q - f.lanes[p.lane].first)
	}
}

func (f *Fabric) discard(p *pool, ref uint32) {
	slot := ref >> refShift
	if ref&refHead != 0 {
		f.routers[p.router].errors++
	}
	f.dropped = append(f.dropped, Ejection{Node: int32(p.router), VC: p.vc, Flit: f.flits[slot]})
	f.freeSlot(slot)
	// One that is discarded frees its place when it comes, one cycle before it could leave.
	f.credits.put(f.now-1, f.creditDelay(p.source), p.source)
}

func (f *Fabric) creditDelay(lane uint32) uint64 {
	if lane >= f.firstNIC {
		return f.localDelay
	}
	return f.linkDelay
}

func (f *Fabric) freeSlot(slot uint32) {
	f.next[slot] = f.free
	f.free = slot
	f.inside--
}
