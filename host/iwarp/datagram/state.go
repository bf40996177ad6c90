package datagram

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"
)

// Clone returns an endpoint in the same state that delivers elsewhere. Clones share the parts of
// messages in flight, which do not change.
func (r *Reliable) Clone(deliver func(from netip.AddrPort, segment []byte) bool) *Reliable {
	c := *r
	c.config.Deliver = deliver
	c.peers, c.order = maps.Clone(r.peers), slices.Clone(r.order)
	c.spare, c.done = make([][]byte, len(r.spare)), slices.Clone(r.done)
	for i, p := range r.order {
		q := *p
		for k, b := range p.early {
			if b != nil {
				q.early[k] = append([]byte{}, b...)
			}
		}
		c.peers[q.address], c.order[i] = &q, &q
	}
	return &c
}

// AppendState encodes the state for a caller whose clock stands still, or jumps beyond all
// deadlines at once: times are left out. So is the number of timeouts until a peer is given up,
// unless the configured number is at most 8.
func (r *Reliable) AppendState(b []byte) []byte {
	number := func(list ...uint32) {
		for _, v := range list {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	number(r.config.Epoch, uint32(len(r.spare)), uint32(len(r.order)), uint32(len(r.done)))
	if len(r.order) > 0 {
		number(uint32(r.turn % len(r.order)))
	}
	for _, d := range r.done {
		number(uint32(d.ID), flag(d.Err != nil))
	}
	for _, p := range r.order {
		b = append(b, p.address.String()...)
		number(p.first, p.n, flag(p.failed), flag(p.known), p.epoch, p.expected, flag(p.ackDue), flag(p.ackNow),
			uint32(min(p.unacked, r.config.AckEvery)))
		if r.config.Attempts <= 8 {
			number(uint32(p.silent))
		}
		for i := range p.n {
			o := p.inFlight(i)
			number(uint32(o.id), flag(o.acked), uint32(min(o.sent, 2)), uint32(min(o.overtook, reorderLimit)), p.rank(o))
		}
		for i, e := range p.early {
			if e != nil {
				number(uint32(i), uint32(len(e)))
				b = append(b, e...)
			}
		}
	}
	return b
}

func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// rank is the number of messages in flight whose last transmission was earlier. Only the order of
// transmissions matters later, not their numbers.
func (p *peer) rank(o *outgoing) (n uint32) {
	for i := range p.n {
		if x := p.inFlight(i); x.sent > 0 && o.sent > 0 && int32(x.order-o.order) < 0 {
			n++
		}
	}
	return n
}
