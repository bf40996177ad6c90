package fabric

import "math/bits"

// Forever is a cycle that never comes.
const Forever = ^uint64(0)

// NextEvent is the first cycle to come in which anything can happen without
// Inject or Release, or Forever.
func (f *Fabric) NextEvent() uint64 {
	if f.movable > 0 {
		return f.now + 1
	}
	next := Forever
	if at, ok := f.arrivals.first(f.now); ok {
		next = at
	}
	if at, ok := f.credits.first(f.now); ok {
		next = min(next, at)
	}
	return next
}

// SkipTo lets time pass to the cycle at, or to NextEvent if that comes first.
func (f *Fabric) SkipTo(at uint64) {
	at = min(at, f.NextEvent())
	if at <= f.now {
		return
	}
	if f.movable == 0 {
		f.now = at - 1
	}
	f.Step()
}

// Step carries out one cycle: every output that can sends a flit. Then the next
// cycle begins, with what arrives in it.
func (f *Fabric) Step() {
	f.ejected = f.ejected[:0]
	f.dropped = f.dropped[:0]
	for i, word := range f.active {
		for ; word != 0; word &= word - 1 {
			f.send(uint32(i<<6 + bits.TrailingZeros64(word)))
		}
	}
	f.now++
	for _, e := range f.arrivals.take(f.now) {
		f.arrive(uint32(e>>32), uint32(e))
	}
	for _, e := range f.credits.take(f.now) {
		f.giveBack(uint32(e))
	}
}

// send lets one flit leave by an output that has a lane ready.
func (f *Fabric) send(out uint32) {
	o := &f.outs[out]
	pick := o.ready & o.after
	if pick == 0 {
		pick = o.ready
	}
	if o.ready&(o.ready-1) != 0 {
		o.waited += uint64(bits.OnesCount8(o.ready)) - 1
	}
	vc := uint32(bits.TrailingZeros8(pick))
	o.after = ^uint8(0) << (vc + 1)
	l := &f.lanes[out<<f.laneBits+vc]
	source, ref := f.pop(l)
	l.sent++
	l.credit--
	if l.credit == 0 || !l.wants() {
		if l.credit == 0 {
			l.since = f.now + 1
		}
		f.block(out, o, vc)
	}
	if l.to&toNIC == 0 {
		f.arrivals.add(f.now+f.hop, uint64(l.to)<<32|uint64(ref))
	} else {
		slot := ref >> refShift
		f.ejected = append(f.ejected, Ejection{Node: int32(l.to &^ toNIC), VC: uint8(vc), Flit: f.flits[slot]})
		f.freeSlot(slot)
	}
	f.freePlace(source)
}

// pop takes the next flit out of a lane's queues: of the packet that has the
// output, or of the first queue in turn.
func (f *Fabric) pop(l *lane) (source, ref uint32) {
	turn := l.owner
	if turn == none {
		pick := l.req & l.after
		if pick == 0 {
			pick = l.req
		}
		turn = int8(bits.TrailingZeros64(pick))
		l.after = ^uint64(0) << (uint(turn) + 1)
		l.owner = turn
	}
	q := &f.queues[l.first+uint32(turn)]
	ref = q.head
	if ref == q.tail {
		l.req &^= 1 << uint(turn)
	} else {
		q.head = f.next[ref>>refShift]
	}
	if ref&refTail != 0 {
		l.owner = none
	}
	return q.source, ref
}

// wants tells whether a flit could go if there is a credit.
func (l *lane) wants() bool {
	if l.owner == none {
		return l.req != 0
	}
	return l.req>>uint(l.owner)&1 != 0
}

func (f *Fabric) block(out uint32, o *output, vc uint32) {
	o.ready &^= 1 << vc
	if o.ready == 0 {
		f.active[out>>6] &^= 1 << (out & 63)
		f.movable--
	}
}

func (f *Fabric) unblock(lane uint32) {
	out, vc := lane>>f.laneBits, lane&(1<<f.laneBits-1)
	o := &f.outs[out]
	if o.ready == 0 {
		f.active[out>>6] |= 1 << (out & 63)
		f.movable++
	}
	o.ready |= 1 << vc
}

// freePlace tells the sender of a flit that its place is free.
func (f *Fabric) freePlace(source uint32) {
	delay := f.creditDelay
	if source >= f.firstNIC {
		delay = f.localDelay
	}
	f.credits.add(f.now+delay, uint64(source))
}

func (f *Fabric) giveBack(lane uint32) {
	l := &f.lanes[lane]
	l.credit++
	if l.credit == 1 && l.wants() {
		l.starved += f.now - l.since
		f.unblock(lane)
	}
}

// arrive puts a flit into its queue, where outputs see it in this cycle.
func (f *Fabric) arrive(pool, ref uint32) {
	p := &f.pools[pool]
	if ref&refHead != 0 {
		p.current = f.route(p, ref)
	}
	if p.current == 0 {
		f.discard(p, ref)
		return
	}
	q := &f.queues[p.current]
	l := &f.lanes[q.lane]
	turn := p.current - l.first
	if l.req>>turn&1 != 0 {
		f.next[q.tail>>refShift] = ref
		q.tail = ref
		return
	}
	q.head, q.tail = ref, ref
	had := l.wants()
	l.req |= 1 << turn
	if had || !l.wants() {
		return
	}
	if l.credit > 0 {
		f.unblock(q.lane)
	} else {
		l.since = f.now
	}
}

// route gives the queue for the packet whose head has come, or 0 to discard it.
func (f *Fabric) route(p *pool, ref uint32) uint32 {
	flit := f.flits[ref>>refShift]
	if flit.Dst() >= len(f.where) {
		return 0
	}
	r := &f.routers[p.router]
	port := f.routes[r.firstRoute+uint32(flit.Dst())]
	if f.cfg.Chooser != nil {
		chosen, onward := f.cfg.Chooser.Choose(f, int(p.router), int(p.in), p.vc, flit)
		f.flits[ref>>refShift] = onward
		port = uint8(chosen)
	}
	if uint32(port) >= r.ports {
		return 0
	}
	return f.byPort[p.queues+uint32(port)]
}

func (f *Fabric) discard(p *pool, ref uint32) {
	slot := ref >> refShift
	if ref&refHead != 0 {
		f.routers[p.router].errors++
	}
	f.dropped = append(f.dropped, Ejection{Node: int32(p.router), VC: p.vc, Flit: f.flits[slot]})
	f.freeSlot(slot)
	f.freePlace(p.source)
}

func (f *Fabric) freeSlot(slot uint32) {
	f.next[slot] = f.free
	f.free = slot
	f.inside--
}
