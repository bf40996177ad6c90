package rendezvous

import (
	"github.com/nicloop/nicloop/drivers/peererror"
)

// addressEnd is the end of the NLA address space (48 bits).
const addressEnd = 1 << 48

// mostRTRs limits the RTRs held in one counter. A peer has at most maxOffers outstanding; RTRs that
// it sent earlier and that missed can still be queued here.
const mostRTRs = 4 * (maxOffers + 1)

// Allowed validates a control message from a peer before Hear, Receive or Matched, which rely on
// it. announces is true if the message's header announces an application message. Messages about
// finished transfers are allowed, because they may cross the message that ended it.
func (c *Core) Allowed(from int, m Control, announces bool) error {
	bad := func(field string, value any, expected string, args ...any) error {
		return peererror.BadField(from, field+" of "+article(m.Kind), value, expected, args...)
	}
	if isAnnouncement := m.Kind == RTS || m.Kind == Claim; isAnnouncement != announces {
		return bad("kind", m.Kind, "an RTS or a claim if and only if the header announces a message")
	}
	if m.Address >= addressEnd || uint64(m.Bytes) > addressEnd-m.Address {
		return bad("address", m.Address, "0..%#x for %d bytes", uint64(addressEnd)-uint64(m.Bytes), m.Bytes)
	}
	switch m.Kind {
	case RTS:
		// speculative transfers are announced by a Claim, or as RGET
		if m.Protocol == numberSpec || !c.follow(new(End), m.Protocol) {
			return bad("protocol", m.Protocol, "one that a receiver can follow")
		}
	case CTS, Ready, RTR:
		switch {
		case m.Address == 0:
			return bad("address", m.Address, "that of registered memory")
		case m.Bytes == 0:
			return bad("bytes", m.Bytes, "at least 1")
		}
	}
	if m.Kind == RTR && c.spec != nil && len(c.pair(from).counter(m.Envelope).rtrs) >= mostRTRs {
		return bad("number", mostRTRs+1, "at most %d that no message has taken", mostRTRs)
	}
	return nil
}

func article(k Kind) string {
	if k == RTS || k == RTR {
		return "an " + k.String()
	}
	return "a " + k.String()
}
