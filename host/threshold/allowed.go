package threshold

import (
	"slices"

	"github.com/nicloop/nicloop/drivers/peererror"
)

// addressEnd is the end of the NLA address space (48 bits).
const addressEnd = 1 << 48

// refuse returns the error for an invalid message of a peer.
func (m Message) refuse(peer int, field string, value any, expected string, args ...any) error {
	return peererror.BadField(peer, field+" of a "+m.Kind.String()+" message", value, expected, args...)
}

// Allowed validates a message from a peer before Hear, which relies on it.
func (c *Core) Allowed(peer int, m Message) error {
	p := c.pair(peer)
	switch m.Kind {
	case Request:
		if p.step != calm && p.step != asked {
			return m.refuse(peer, "kind", m.Kind, "no request while a change is under way")
		}
		if m.Bytes <= c.cfg.Least {
			return m.refuse(peer, "bytes", m.Bytes, "a threshold above %d", c.cfg.Least)
		}
	case Reply:
		if p.step != asked {
			return m.refuse(peer, "kind", m.Kind, "a request before its reply")
		}
		if m.Bytes != Refused && m.Bytes < p.wanted {
			return m.refuse(peer, "bytes", m.Bytes, "%d or a threshold of at least %d", Refused, p.wanted)
		}
	case NewRequest, NewReply, OutRequest, OutReply, Grant, Empty:
		if m.Kind == NewRequest && m.Bytes == Refused {
			return nil
		}
		return c.allowedBuffers(peer, p, m)
	case Return:
		if b := p.find(m.Address); b != nil && b.full {
			return m.refuse(peer, "address", m.Address, "a buffer that no message is in")
		}
	case Established, Acknowledged, Reconnect, Reconnected, Recall:
	default:
		return m.refuse(peer, "kind", m.Kind, "%v to %v: this channel has buffers", Request, Return)
	}
	return nil
}

// allowedBuffers validates buffers offered by a peer: their addresses must exist, and they must fit
// into Config.Cap, which is the same for all ranks.
func (c *Core) allowedBuffers(peer int, p *pair, m Message) error {
	count := int(m.Count)
	switch m.Kind {
	case Empty:
		count = 1
	case NewRequest, NewReply, OutRequest, OutReply:
		if count == 0 && m.Bytes == 0 && m.Address == 0 {
			return nil // no buffers yet
		}
	}
	switch {
	case m.Bytes < 1 || m.Bytes > c.cfg.Cap:
		return m.refuse(peer, "bytes", m.Bytes, "1..%d", c.cfg.Cap)
	case count < 1 || count*roundUp(m.Bytes) > c.cfg.Cap || m.Kind == Grant && count != 1:
		return m.refuse(peer, "count", m.Count, "buffers of %d bytes in at most %d, and one in a grant", m.Bytes, c.cfg.Cap)
	case m.Address == 0 || m.Address > addressEnd-uint64(count*roundUp(m.Bytes)):
		return m.refuse(peer, "address", m.Address, "memory of the peer")
	}
	used := m.Kind == Grant && m.Generation == p.generation && !p.moved() || m.Kind == Empty && m.Generation == p.using()
	if !used {
		return nil
	}
	room := roundUp(m.Bytes)
	for _, s := range p.peerBuffers {
		if s.at == m.Address {
			return m.refuse(peer, "address", m.Address, "a buffer that is not empty already")
		}
		room += roundUp(s.bytes)
	}
	if room > c.cfg.Cap {
		return m.refuse(peer, "bytes", m.Bytes, "empty buffers of at most %d bytes together", c.cfg.Cap)
	}
	return nil
}

// Allowed validates a message from a peer before Hear, which relies on it.
func (c *Streams) Allowed(peer int, m Message) error {
	l := Stream{Peer: peer, Tag: m.Tag, Comm: m.Comm}
	o, n := c.outOf(l), c.inOf(l)
	if m.Address >= addressEnd {
		return m.refuse(peer, "address", m.Address, "memory of the peer")
	}
	unexpected := false
	switch m.Kind {
	case StreamRequest:
		if m.Bytes <= c.cfg.Least {
			return m.refuse(peer, "bytes", m.Bytes, "more than %d", c.cfg.Least)
		}
		unexpected = n != nil
	case StreamReply:
		unexpected = o == nil || !o.asked || o.open || o.refused || m.Address == 0 && len(o.addresses) > 0
	case StreamOpened:
		unexpected = n == nil || n.opened
	case Landed:
		unexpected = n == nil || n.gate(m.Count).state != gateFilling || n.gate(m.Count).number != m.Count
	case Passed:
		if o == nil || !o.mayPass(m.Count) {
			return m.refuse(peer, "message number", m.Count, "one of a stream that has been sent and is not over")
		}
		if m.Address == 0 {
			return m.refuse(peer, "address", m.Address, "memory of the peer")
		}
	case Close:
		unexpected = o == nil || !o.open
	case Closed:
		unexpected = n == nil || !n.revoked
	case Reopened:
		unexpected = o == nil || !o.held
	default:
		return m.refuse(peer, "kind", m.Kind, "%v to %v: this channel has streams", StreamRequest, Reopened)
	}
	if unexpected {
		return m.refuse(peer, "kind", m.Kind, "another message in this state of the stream of tag %d", m.Tag)
	}
	return nil
}

// mayPass reports whether the receiver can have finished a message: it was sent and, if it is put,
// it has landed.
func (o *outStream) mayPass(number uint16) bool {
	return o.open && slices.ContainsFunc(o.unfinished, func(t numbered) bool {
		return t.number == number && !t.over && (!t.inside || t.landed)
	})
}

// Longest is the maximum message length of a stream from a peer; 0: no such stream.
func (c *Streams) Longest(l Stream) int {
	if n := c.inOf(l); n != nil {
		return n.bytes
	}
	return 0
}
