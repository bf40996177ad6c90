package threshold

// A step is the state of a channel change.
type step uint8

// The steps; see the diagrams in doc.go.
const (
	calm        step = iota
	asked            // initiator: Request sent
	offered          // initiator: NewRequest sent
	closing          // initiator: Established sent, waiting for the peer's
	acked            // initiator: Acknowledged sent, waiting for the peer's
	agreed           // peer: Reply sent
	linked           // peer: NewReply sent
	established      // peer: Established sent
	parting          // partial, initiator: Reconnect sent
	outside          // partial, initiator: OutRequest sent
	parted           // partial, peer: Reconnected sent
)

// want starts a change of the channel to a peer, unless one is in progress or this rank lacks
// memory for it.
func (c *Core) want(peer, threshold int) {
	p := c.pair(peer)
	if p.step != calm || p.refused || threshold <= p.threshold {
		return
	}
	if _, ok := c.allocate(threshold, c.initial(p, threshold)); !ok {
		return
	}
	c.stats.Begun++
	p.step, p.wanted, p.asked, p.since = asked, threshold, true, c.now
	c.enqueue(peer, Message{Kind: Request, Generation: p.generation, Bytes: threshold})
}

// Hear processes a message.
func (c *Core) Hear(peer int, m Message) {
	p := c.pair(peer)
	switch m.Kind {
	case Request:
		c.requested(peer, p, m.Bytes)
	case Reply:
		c.replied(peer, p, m.Bytes)
	case Grant:
		if m.Generation == p.generation && !p.moved() {
			p.peerBuffers = append(p.peerBuffers, m.list()...)
		}
	case Empty:
		if m.Generation == p.using() {
			p.peerBuffers = append(p.peerBuffers, peerBuffer{m.Address, m.Bytes})
		}
	case Recall:
		c.recalledBy(peer, p, m)
	case Return:
		p.recalled = 0
		if b := p.find(m.Address); m.Address != 0 && b != nil {
			p.weight = min(2*b.weight, max(c.cfg.Weights, 1))
			c.drop(p, m.Address)
			c.stats.Shrunk++
		}
	default:
		c.change(peer, p, m)
	}
}

// moved reports whether sends use the next generation of buffers while receives still use the
// current one.
func (p *pair) moved() bool { return p.step == closing }

// using is the generation of the buffers that new messages use.
func (p *pair) using() uint16 {
	if p.moved() {
		return p.generation + 1
	}
	return p.generation
}

// requested handles a peer's request for a new threshold. If both ranks request a change, the lower
// rank is the initiator.
func (c *Core) requested(peer int, p *pair, theirs int) {
	if p.step == asked && c.cfg.Self < peer {
		return // this rank's Request will be answered
	}
	own := 0
	if p.step == asked {
		own = p.wanted
	}
	p.step, p.asked, p.wanted = agreed, false, 0
	p.agreed = max(theirs, own, c.wish(p))
	if !c.reserve(p) {
		// The peer's own request may still fit.
		if p.agreed = theirs; !c.reserve(p) {
			p.step = calm
			c.enqueue(peer, Message{Kind: Reply, Generation: p.generation, Bytes: Refused})
			return
		}
	}
	c.enqueue(peer, Message{Kind: Reply, Generation: p.generation, Bytes: p.agreed})
}

// reserve allocates the buffers of the next generation.
func (c *Core) reserve(p *pair) bool {
	bytes := p.agreed
	if n := max(p.longest, p.received.longest); n > 0 {
		bytes = c.cut(n, p.agreed)
	}
	count := c.initial(p, bytes)
	at, ok := c.allocate(bytes, count)
	if ok {
		c.adopt(p, at, bytes, count, p.generation+1)
	}
	return ok
}

// replied handles the peer's answer to a Request.
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
		// The peer agreed to more than this rank has memory for, so it must free its own buffers.
		p.step = calm
		c.enqueue(peer, Message{Kind: NewRequest, Generation: p.generation, Bytes: Refused})
		return
	}
	if c.cfg.Handshake == Partial {
		c.stop(peer, p, parting, Reconnect)
		return
	}
	p.step = offered
	c.tellBuffers(peer, p, NewRequest, false)
}

// tellBuffers sends the buffers of the next generation; Count and Bytes are 0 if there are none.
func (c *Core) tellBuffers(peer int, p *pair, kind Kind, outside bool) {
	m := Message{Kind: kind, Generation: p.generation + 1}
	for _, b := range p.recvBuffers {
		if b.generation == p.generation+1 {
			if m.Count++; m.Count == 1 {
				m.Address, m.Bytes = b.at, b.bytes
			}
		}
	}
	c.actions = append(c.actions, Action{Peer: peer, Message: m, Outside: outside})
}

// change handles the remaining steps of both handshakes.
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
		c.enqueue(peer, Message{Kind: Acknowledged, Generation: p.generation})
	case m.Kind == Acknowledged && p.step == established:
		c.enqueue(peer, Message{Kind: Acknowledged, Generation: p.generation})
		c.over(p)
	case m.Kind == Acknowledged && p.step == acked:
		c.over(p)
	default:
		c.partial(peer, p, m)
	}
}

// partial handles the steps of the handshake that stops the channel.
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

// resume completes a partial handshake. Both sides have stopped, so no message names an old buffer.
func (c *Core) resume(peer int, p *pair) {
	c.useNext(p)
	c.retire(p)
	p.stopped = false
	c.actions = append(c.actions, Action{Peer: peer, Resume: true})
	c.over(p)
}

// useNext switches sends to the buffers of the next generation.
func (c *Core) useNext(p *pair) {
	p.threshold, p.peerBuffers, p.next = p.agreed, p.next, nil
	c.stats.Greatest = max(c.stats.Greatest, p.threshold)
}

// retire frees the buffers that the peer no longer uses. A buffer that holds a message stays until
// it is read.
func (c *Core) retire(p *pair) {
	p.generation++
	p.recalled = 0
	var gone []uint64
	for i := range p.recvBuffers {
		switch b := &p.recvBuffers[i]; {
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

// giveUp aborts a change.
func (c *Core) giveUp(p *pair) {
	var gone []uint64
	for _, b := range p.recvBuffers {
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

// recalledBy returns a buffer to its owner if it is empty.
func (c *Core) recalledBy(peer int, p *pair, m Message) {
	back := Message{Kind: Return, Generation: m.Generation}
	if m.Generation == p.using() {
		for i, s := range p.peerBuffers {
			if s.at == m.Address {
				p.peerBuffers = append(p.peerBuffers[:i:i], p.peerBuffers[i+1:]...)
				back.Address = s.at
				break
			}
		}
	}
	c.tellInOrder(peer, back)
}
