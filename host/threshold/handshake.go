package threshold

// A step is how far a change of a channel is.
type step uint8

// The steps. doc.go draws them.
const (
	calm        step = iota
	asked            // initiator: Request told
	offered          // initiator: NewRequest told
	closing          // initiator: Established told, the peer's is awaited
	acked            // initiator: Acknowledged told, the peer's is awaited
	agreed           // peer: Reply told
	linked           // peer: NewReply told
	established      // peer: Established told
	parting          // partial, initiator: Reconnect told
	outside          // partial, initiator: OutRequest told
	parted           // partial, peer: Reconnected told
)

// want begins a change of the channel to a peer, if there is none and there may be memory for it
// here.
func (c *Core) want(peer, threshold int) {
	p := c.pair(peer)
	if p.step != calm || p.refused || threshold <= p.threshold {
		return
	}
	if _, ok := c.allocate(threshold, c.cfg.First); !ok {
		return
	}
	c.stats.Begun++
	p.step, p.wanted, p.asked, p.since = asked, threshold, true, c.now
	c.tell(peer, Message{Kind: Request, Generation: p.generation, Bytes: threshold})
}

// Hear takes a message.
func (c *Core) Hear(peer int, m Message) {
	p := c.pair(peer)
	switch m.Kind {
	case Request:
		c.requested(peer, p, m.Bytes)
	case Reply:
		c.replied(peer, p, m.Bytes)
	case Grant:
		if m.Generation == p.generation && !p.moved() {
			p.there = append(p.there, m.list()...)
		}
	case Empty:
		if m.Generation == p.using() {
			p.there = append(p.there, peerBuffer{m.Address, m.Bytes})
		}
	case Recall:
		c.recalledBy(peer, p, m)
	case Return:
		p.recalled = 0
		if m.Address != 0 && p.find(m.Address) != nil {
			c.drop(p, m.Address)
			c.stats.Shrunk++
		}
	default:
		c.change(peer, p, m)
	}
}

// moved: what is sent uses the next generation, what is received does not yet.
func (p *pair) moved() bool { return p.step == closing }

// using is the generation of the buffers that messages take now.
func (p *pair) using() uint16 {
	if p.moved() {
		return p.generation + 1
	}
	return p.generation
}

// requested: a peer wants another threshold. If this rank wants one too, the lower one is the
// initiator.
func (c *Core) requested(peer int, p *pair, theirs int) {
	if p.step == asked && c.cfg.Self < peer {
		return // its Request is on the way, and answered
	}
	own := 0
	if p.step == asked {
		own = p.wanted
	}
	p.step, p.asked, p.wanted = agreed, false, 0
	p.agreed = max(theirs, own, c.wish(p))
	if !c.reserve(p) {
		// What the peer asked for may still be possible.
		if p.agreed = theirs; !c.reserve(p) {
			p.step = calm
			c.tell(peer, Message{Kind: Reply, Generation: p.generation, Bytes: Refused})
			return
		}
	}
	c.tell(peer, Message{Kind: Reply, Generation: p.generation, Bytes: p.agreed})
}

// reserve takes the memory of the next generation.
func (c *Core) reserve(p *pair) bool {
	bytes := p.agreed
	if n := max(p.longest, p.received.longest); n > 0 {
		bytes = c.cut(n, p.agreed)
	}
	at, ok := c.allocate(bytes, c.cfg.First)
	if ok {
		c.adopt(p, at, bytes, c.cfg.First, p.generation+1)
	}
	return ok
}

// replied: the peer has answered.
func (c *Core) replied(peer int, p *pair, bytes int) {
	if p.step != asked {
		return
	}
	if bytes == Refused {
		p.step, p.refused = calm, true
		c.stats.Refused++
		return
	}
	if p.agreed = bytes; !c.reserve(p) {
		// The peer wants more than there is here: it has to give its memory back.
		p.step = calm
		c.tell(peer, Message{Kind: NewRequest, Generation: p.generation, Bytes: Refused})
		return
	}
	if c.cfg.Handshake == Partial {
		c.stop(peer, p, parting, Reconnect)
		return
	}
	p.step = offered
	c.tellBuffers(peer, p, NewRequest, false)
}

// tellBuffers tells of the buffers of the next generation.
func (c *Core) tellBuffers(peer int, p *pair, kind Kind, outside bool) {
	m := Message{Kind: kind, Generation: p.generation + 1}
	for _, b := range p.here {
		if b.generation == p.generation+1 {
			if m.Count++; m.Count == 1 {
				m.Address, m.Bytes = b.at, b.bytes
			}
		}
	}
	c.actions = append(c.actions, Action{Peer: peer, Message: m, Outside: outside})
}

// change is the rest of both handshakes.
func (c *Core) change(peer int, p *pair, m Message) {
	switch {
	case m.Kind == NewRequest && m.Bytes == Refused && p.step == agreed:
		c.giveUp(p)
	case m.Kind == NewRequest && p.step == agreed:
		p.next, p.step = m.list(), linked
		c.tellBuffers(peer, p, NewReply, false)
	case m.Kind == NewReply && p.step == offered:
		p.next, p.step = m.list(), closing
		c.useNext(p)
		c.tellInOrder(peer, Message{Kind: Established, Generation: p.generation})
	case m.Kind == Established && p.step == linked:
		c.useNext(p)
		c.tellInOrder(peer, Message{Kind: Established, Generation: p.generation})
		c.retire(p)
		p.step = established
	case m.Kind == Established && p.step == closing:
		c.retire(p)
		p.step = acked
		c.tell(peer, Message{Kind: Acknowledged, Generation: p.generation})
	case m.Kind == Acknowledged && p.step == established:
		c.tell(peer, Message{Kind: Acknowledged, Generation: p.generation})
		c.over(p)
	case m.Kind == Acknowledged && p.step == acked:
		c.over(p)
	default:
		c.partial(peer, p, m)
	}
}

// partial is what the handshake has that stops the channel.
func (c *Core) partial(peer int, p *pair, m Message) {
	switch {
	case m.Kind == Reconnect && p.step == agreed:
		c.stop(peer, p, parted, Reconnected)
	case m.Kind == Reconnected && p.step == parting:
		p.step = outside
		c.tellBuffers(peer, p, OutRequest, true)
	case m.Kind == OutRequest && p.step == parted:
		p.next = m.list()
		c.tellBuffers(peer, p, OutReply, true)
		c.resume(peer, p)
	case m.Kind == OutReply && p.step == outside:
		p.next = m.list()
		c.resume(peer, p)
	}
}

func (c *Core) stop(peer int, p *pair, at step, kind Kind) {
	p.step, p.stopped = at, true
	c.actions = append(c.actions, Action{Peer: peer, Message: Message{Kind: kind, Generation: p.generation}, InOrder: true, Last: true})
}

// resume ends a partial handshake: both have stopped, so nothing names an old buffer any more.
func (c *Core) resume(peer int, p *pair) {
	c.useNext(p)
	c.retire(p)
	p.stopped = false
	c.actions = append(c.actions, Action{Peer: peer, Resume: true})
	c.over(p)
}

// useNext has messages take the buffers of the next generation.
func (c *Core) useNext(p *pair) {
	p.threshold, p.there, p.next = p.agreed, p.next, nil
	c.stats.Greatest = max(c.stats.Greatest, p.threshold)
}

// retire gives back what the peer does not use any more; what holds a message stays until that is
// read.
func (c *Core) retire(p *pair) {
	p.generation++
	p.recalled = 0
	var gone []uint64
	for i := range p.here {
		switch b := &p.here[i]; {
		case b.generation == p.generation:
			b.used = c.now
		case b.full:
			b.old = true
		case !b.old:
			gone = append(gone, b.at)
		}
	}
	for _, at := range gone {
		c.drop(p, at)
	}
}

// giveUp ends a change that has come to nothing.
func (c *Core) giveUp(p *pair) {
	var gone []uint64
	for _, b := range p.here {
		if b.generation == p.generation+1 {
			gone = append(gone, b.at)
		}
	}
	for _, at := range gone {
		c.drop(p, at)
	}
	p.step, p.agreed = calm, 0
}

func (c *Core) over(p *pair) {
	if p.asked {
		took := c.now - p.since
		c.stats.Time += took
		c.stats.LongestTime = max(c.stats.LongestTime, took)
	}
	p.step, p.asked, p.wanted, p.agreed = calm, false, 0, 0
	p.profile = profile{}
	c.stats.Switched++
}

// recalledBy gives a buffer back to its owner, if it is empty.
func (c *Core) recalledBy(peer int, p *pair, m Message) {
	back := Message{Kind: Return, Generation: m.Generation}
	if m.Generation == p.using() {
		for i, s := range p.there {
			if s.at == m.Address {
				p.there = append(p.there[:i:i], p.there[i+1:]...)
				back.Address = s.at
				break
			}
		}
	}
	c.tellInOrder(peer, back)
}
