package rendezvous

import "slices"

// An Envelope is what the messages of a pair are matched by.
type Envelope struct {
	Tag  int32
	Comm uint16
}

// A pair is what a rank that speculates knows of its messages to a peer and from it.
type pair struct {
	counters []counter
	offers   int // of this rank, out to the peer
	fate     fate
}

// A counter counts the messages of some envelopes, at both ends alike: so an RTR can say which
// message it is for, and neither a message that crosses it nor an eager one leaves a doubt.
type counter struct {
	sent uint64   // messages to the peer that were begun
	last Envelope // of the latest of them
	run  uint64   // the first one since which all have had that
	rtrs []rtr    // from the peer, for messages that have not been started

	seen     uint64 // messages from the peer
	offers   []*End // receives whose RTRs are out, the oldest first, all of one envelope
	revoking bool   // those RTRs were asked back
}

// An rtr is where a message may be put.
type rtr struct {
	number  uint64 // of the message in its counter
	env     Envelope
	id      ID
	address uint64
	room    int
}

// pair gives what is known of a peer.
func (c *Core) pair(peer int) *pair {
	for peer >= len(c.pairs) {
		c.pairs = append(c.pairs, nil)
	}
	if c.pairs[peer] == nil {
		c.pairs[peer] = &pair{counters: make([]counter, c.spec.Counters)}
	}
	return c.pairs[peer]
}

// counter is where messages with an envelope are counted. Neighbouring tags have counters of their
// own.
func (p *pair) counter(env Envelope) *counter {
	return &p.counters[(uint32(env.Tag)+uint32(env.Comm)*0x9e37)%uint32(len(p.counters))]
}

// Sent counts a message to a peer that carries its own bytes, when it takes its position.
func (c *Core) Sent(peer int, env Envelope) {
	if c.spec == nil {
		return
	}
	c.pair(peer).counter(env).take(c.count(peer, env)) // a mispredicted RTR
}

// Came counts a message from a peer, before it is matched: an RTS, a claim, or one that carries its
// own bytes.
func (c *Core) Came(peer int, env Envelope) {
	if c.spec != nil {
		c.pair(peer).counter(env).seen++
	}
}

// count gives a message to a peer its number. An RTR is for a message behind others of the same
// envelope: one of another envelope in their counter makes the numbers wrong that RTRs have for
// those behind it.
func (c *Core) count(peer int, env Envelope) uint64 {
	l := c.pair(peer).counter(env)
	n := l.sent
	l.sent++
	if l.last != env {
		l.last, l.run = env, n
	}
	l.rtrs = slices.DeleteFunc(l.rtrs, func(r rtr) bool { return r.env != env && r.number >= n })
	return n
}

// uncount takes back a message that will not come: its peer counts those behind it as if it had
// never been. They all wait for names, too, or carry their own bytes.
func (c *Core) uncount(e *End) {
	l := c.pair(e.peer).counter(e.env)
	l.sent--
	if l.run > e.number {
		l.run--
	}
	l.run = min(l.run, l.sent)
	l.rtrs = slices.DeleteFunc(l.rtrs, func(r rtr) bool { return r.number >= e.number })
	for _, x := range c.unnamed[0].all() {
		if c.pair(x.peer).counter(x.env) == l && x.number > e.number {
			x.number--
		}
	}
}

// take gives the RTR for a message, which nobody else can use.
func (l *counter) take(number uint64) (r rtr) {
	for i := range l.rtrs {
		if l.rtrs[i].number == number {
			r = l.rtrs[i]
			l.rtrs = append(l.rtrs[:i], l.rtrs[i+1:]...)
			return r
		}
	}
	return r
}

// offered keeps an RTR for its message, if that has not been started and the number is right: the
// receiver had seen so many messages, and those since then must all have been of this envelope.
func (c *Core) offered(from int, m Control) {
	if c.spec == nil {
		c.stats.Stale++
		return
	}
	l := c.pair(from).counter(m.Envelope)
	seen := l.sent + uint64(int64(int32(uint32(m.To)-uint32(l.sent))))
	number := seen + uint64(m.Detail)
	switch {
	case seen > l.sent, seen < l.sent && (l.last != m.Envelope || seen < l.run):
		c.stats.Stale++
	case number < l.sent && !c.waits(from, m.Envelope, number):
		c.stats.Crossed++
	default:
		l.rtrs = append(l.rtrs, rtr{number, m.Envelope, m.From, m.Address, int(m.Bytes)})
	}
}

// waits tells whether a message that was begun has no name yet, and so can still be put.
func (c *Core) waits(peer int, env Envelope, number uint64) bool {
	for _, e := range c.unnamed[0].all() {
		if e.peer == peer && e.env == env && e.number == number {
			return true
		}
	}
	return false
}

// giveBackRTRs answers a Revoke. Claims are in front of the answer.
func (c *Core) giveBackRTRs(from int, m Control) {
	if c.spec != nil {
		l := c.pair(from).counter(m.Envelope)
		l.rtrs = l.rtrs[:0]
	}
	c.do(Action{Do: Tell, Peer: from, Control: Control{Kind: Revoked, To: m.From, Envelope: m.Envelope}})
}
