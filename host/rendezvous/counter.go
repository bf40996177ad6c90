package rendezvous

import "slices"

// An Envelope holds the matching fields of the messages of a pair.
type Envelope struct {
	Tag  int32
	Comm uint16
}

// A pair is the speculation state of a rank for one peer, in both directions.
type pair struct {
	counters []counter
	offers   int // of this rank, outstanding at the peer
	fate     fate
}

// A counter numbers the messages of some envelopes identically at both ends. An RTR names a message
// by its number, so it is unambiguous even if a message crosses it or is sent eagerly.
type counter struct {
	sent uint64   // messages to the peer that were started
	last Envelope // envelope of the latest of them
	run  uint64   // number of the first message of the current run with that envelope
	rtrs []rtr    // from the peer, for messages not yet started

	seen     uint64 // messages from the peer
	offers   []*End // receives with outstanding RTRs, oldest first, all with one envelope
	revoking bool   // a Revoke is outstanding
}

// An rtr is an address to which a message may be put.
type rtr struct {
	number  uint64 // number of the message in its counter
	env     Envelope
	id      ID
	address uint64
	room    int
}

// pair returns the state for a peer, created on first use.
func (c *Core) pair(peer int) *pair {
	for peer >= len(c.pairs) {
		c.pairs = append(c.pairs, nil)
	}
	if c.pairs[peer] == nil {
		c.pairs[peer] = &pair{counters: make([]counter, c.spec.Counters)}
	}
	return c.pairs[peer]
}

// counter selects the counter of an envelope. Adjacent tags use different counters.
func (p *pair) counter(env Envelope) *counter {
	return &p.counters[(uint32(env.Tag)+uint32(env.Comm)*0x9e37)%uint32(len(p.counters))]
}

// Sent counts an eager message to a peer when it takes its position.
func (c *Core) Sent(peer int, env Envelope) {
	if c.spec == nil {
		return
	}
	c.pair(peer).counter(env).take(c.count(peer, env)) // an RTR for it is mispredicted
}

// Came counts a message from a peer before matching: an RTS, a claim or an eager message.
func (c *Core) Came(peer int, env Envelope) {
	if c.spec != nil {
		c.pair(peer).counter(env).seen++
	}
}

// count numbers a message to a peer. RTRs assume that the messages before theirs have the same
// envelope; a message with another envelope in the same counter invalidates the numbers of RTRs for
// later messages.
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

// uncount removes a cancelled message from the numbering, because its peer will never count it. All
// later messages of the counter are either waiting for names, too, or eager.
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

// take removes and returns the RTR of a message.
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

// offered stores an RTR for its message. It is discarded if the message has been announced already,
// or if the number is not reliable: since the SEEN messages that the receiver had counted, all
// messages of the counter must have the same envelope.
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

// waits reports whether a message that was started has no name yet, so that it can still use an
// RTR.
func (c *Core) waits(peer int, env Envelope, number uint64) bool {
	for _, e := range c.unnamed[0].all() {
		if e.peer == peer && e.env == env && e.number == number {
			return true
		}
	}
	return false
}

// giveBackRTRs answers a Revoke. The answer follows all claims made before.
func (c *Core) giveBackRTRs(from int, m Control) {
	if c.spec != nil {
		l := c.pair(from).counter(m.Envelope)
		l.rtrs = l.rtrs[:0]
	}
	c.do(Action{Do: Tell, Peer: from, Control: Control{Kind: Revoked, To: m.From, Envelope: m.Envelope}})
}
