package fabric

import (
	"cmp"
	"slices"
)

// Exposing a link during traffic. Recent actions of the routers are recorded: the last flits of
// every output VC with their cycles, and the cycles of the last credits. A new link replays them
// from a time at which it is assumed to have been idle. Flits and credits that it has not delivered
// by now are removed from queues and output VCs. The rings exceed the possible number of
// unacknowledged words, so the state is complete, with one exception: for a link that was never
// idle within the recorded time, the assignment of words without a flit (anchors of link_tx) is one
// of several possible ones.

// history is the recorded actions of the routers at both ends of a link.
type history struct {
	from, now uint64
	sent      [2][]sentFlits // by end
	freed     [2][maxVCs][]uint64
	channels  [2][maxVCs]channel
	measured  [2]bool // the round trip has been measured
}

// Remember starts recording the actions of the routers on links, for Expose. It costs some percent
// of the time of a loaded network. Otherwise the first Expose starts it.
func (f *Fabric) Remember() {
	for _, p := range f.parts {
		p.remember()
	}
}

func (p *Part) remember() {
	if !p.remembers && p.run == 1 {
		p.remembers, p.since = true, max(p.now, p.mixed)
	}
}

// recent is the age limit of records: many round trips, but few enough that a record cannot be
// mistaken for a newer one.
const recent = 1 << 14

const (
	departedTail  = 1 << 31
	departedCycle = departedTail - 1
)

// departs records the next flit sent in the ring behind avail: its packet, whether it is a tail,
// and the cycle.
func (l *outputVC) departs(flit Flit, now uint64) {
	went := l.avail[:cap(l.avail)]
	went[len(l.avail)+int(l.sent&uint64(len(l.avail)-1))] = uint64(flit)<<32 | uint64(flit&Tail)>>31 | now&departedCycle
}

// departed returns the record of a flit by number.
func (l *outputVC) departed(i, now uint64) (packet uint32, tail bool, at uint64) {
	went := l.avail[len(l.avail):cap(l.avail)]
	note := went[i&uint64(len(went)-1)]
	return uint32(note >> 32), note&departedTail != 0, now - (now-note)&departedCycle
}

// recall determines the actions of the routers on a link, and revokes what they know too early. All
// parts are stopped.
func (f *Fabric) recall(at [2]socket) *history {
	h := &history{now: f.parts[f.routers[at[0].router].part].now}
	h.from = h.now
	if from := f.reach(at); from < h.now {
		h.from = from
	}
	for i, s := range at {
		for v := range f.vcs {
			to, from := f.outputVC(s.router, s.port, v), f.outputVC(at[1-i].router, at[1-i].port, v)
			freed := int(from.known) - f.cfg.VCDepth
			f.recallCredits(h, i, from)
			f.recallFlits(h, i, to)
			h.measured[i] = h.measured[i] || freed > len(h.freed[i][v])
			h.channels[i][v].held -= freed
		}
	}
	for i := range at {
		slices.SortFunc(h.sent[i], func(a, b sentFlits) int { return cmp.Compare(a.at, b.at) })
	}
	return h
}

// reach is the first cycle from which on all actions on a link are recorded.
func (f *Fabric) reach(at [2]socket) (from uint64) {
	for _, s := range at {
		p := f.parts[f.routers[s.router].part]
		if !p.remembers {
			return Forever
		}
		from = max(from, p.since, max(p.now, recent)-recent)
		for v := range f.vcs {
			l := f.outputVC(s.router, s.port, v)
			ring := uint64(len(l.avail))
			if l.sent > ring {
				_, _, at := l.departed(l.sent-ring, p.now)
				from = max(from, at)
			}
			if l.known > ring+uint64(f.cfg.VCDepth) {
				from = max(from, *l.from(l.known - ring)+1-l.to.delay)
			}
		}
	}
	return from
}

// recallCredits collects the recent credits of an end's router for an output VC, and revokes those
// that the link has yet to deliver.
func (f *Fabric) recallCredits(h *history, end int, l *outputVC) {
	if h.from == h.now {
		return
	}
	ring, depth := uint64(len(l.avail)), uint64(f.cfg.VCDepth)
	for i := max(depth, max(l.known, ring)-ring); i < l.known; i++ {
		if at := *l.from(i) + 1 - l.to.delay; at >= h.from {
			h.freed[end][l.vc] = append(h.freed[end][l.vc], at)
			if at >= h.now {
				h.channels[end][l.vc].held++
			}
		}
	}
	known := l.known
	for l.known > l.sent && *l.from(l.known - 1) > max(h.now+1, h.from+l.to.delay-2) {
		l.known--
	}
	if l.known < known {
		f.parts[l.to.from].look(l)
	}
}

// recallFlits collects the recent flits of an end's router, and revokes those that the link has yet
// to deliver.
func (f *Fabric) recallFlits(h *history, end int, l *outputVC) {
	c := &h.channels[1-end][l.vc]
	c.held += int(l.sent)
	c.open, c.packet = l.opened()
	if l.sent > 0 && h.from < h.now {
		if packet, tail, at := l.departed(l.sent-1, h.now); at >= h.from {
			c.open, c.packet = !tail, packet
		}
	}
	first := max(l.sent, uint64(len(l.avail))) - uint64(len(l.avail))
	var late []sentFlits
	for i := l.sent; i > first && h.from < h.now; i-- {
		packet, _, at := l.departed(i-1, h.now)
		if at < h.from {
			break
		}
		s := sentFlits{at: at + 1, n: 1, vc: l.vc, flit: NewFlit(packet, 0, 0)}
		if at+f.hop > h.now+1 {
			s.flit, l.to.packet = f.parts[l.to.part].takeBack(l.to, packet, at+f.hop)
			c.held--
			c.open, c.packet = !s.flit.Head(), packet
		}
		late = append(late, s)
	}
	h.sent[end] = append(h.sent[end], late...)
	h.measured[end] = h.measured[end] || uint64(len(late)) < l.sent
}

// opened returns whether a packet has started but not finished to leave, and its number. That is
// unknown while its complete rest is still in the NIC.
func (l *outputVC) opened() (open bool, packet uint32) {
	for ; l.owner != nil; l = l.owner.in.sender {
		if l.owner.tail != nil {
			return true, l.owner.head.flit.Packet()
		}
	}
	return false, 0
}

// takeBack removes the last flit that arrived at an input VC, of a packet that is visible from a
// cycle on, and returns the queue in which it was; nil if it was to be discarded.
func (p *Part) takeBack(in *inputVC, packet uint32, at uint64) (Flit, *voq) {
	p.inside--
	for port := range p.routers[in.router].outs {
		q := p.voqs[int(in.voqs)+port]
		if q != nil && q.tail != nil && q.tail.flit.Packet() == packet {
			return p.shortenBack(q), q
		}
	}
	index := p.drops.index(at)
	list := p.drops.lists[index]
	i := slices.IndexFunc(list, func(d drop) bool { return d.from == in })
	flit := list[i].flit
	if p.drops.lists[index] = slices.Delete(list, i, i+1); len(list) == 1 {
		p.drops.empty(index)
	}
	return flit, nil
}

// shortenBack removes a flit from the end of a queue.
func (p *Part) shortenBack(q *voq) Flit {
	c := q.tail
	flit := c.flit
	if c.n > 1 {
		c.n--
		c.flit &^= Tail
		return flit &^ Head
	}
	if c == q.head {
		q.tail = nil
		q.out.held &^= q.bit
	} else {
		for q.tail = q.head; q.tail.next != c; q.tail = q.tail.next {
		}
	}
	p.drop(c)
	if l := q.out; l.owner == nil || l.owner == q {
		p.look(l)
	}
	return flit
}

// ignoreOutput ignores the output of a link during the replay.
type ignoreOutput struct{}

func (ignoreOutput) arrive(int, uint8, Flit, uint64) {}
func (ignoreOutput) credit(int, uint8, uint64)       {}
func (ignoreOutput) failed(int, uint64)              {}
func (ignoreOutput) isCut(int, Flit)                 {}
func (ignoreOutput) discarded(int, Flit)             {}
func (ignoreOutput) drains(int, bool)                {}
func (ignoreOutput) closes(int)                      {}
func (ignoreOutput) opens(int)                       {}

// link creates a new link and replays a history.
func (h *history) link(p *Part, at [2]socket, set [2]LinkSettings) *link {
	l := newLink(at, p.vcs, p.cfg.VCDepth, uint64(p.cfg.LinkCycles-DefaultLinkCycles), set, ignoreOutput{})
	l.cycle = h.from
	for i := range l.ends {
		e := &l.ends[i]
		e.carrierWas = true
		if h.measured[i] {
			e.roundTrip = 5 + 2*l.wires[i].latency
		}
		for _, s := range h.sent[i] {
			*e.flits.push() = s
		}
		for v := range p.vcs {
			for _, at := range h.freed[i][v] {
				*e.credits[v].push() = pulses{at, 1}
			}
		}
	}
	if h.from < h.now {
		l.run([2]uint64{h.now - 1, h.now - 1})
	}
	for i := range l.ends {
		e := &l.ends[i]
		e.channels, e.parts = h.channels[i], 0
		for v := range p.vcs {
			if e.channels[v].open {
				e.parts++
			}
		}
	}
	return l
}
