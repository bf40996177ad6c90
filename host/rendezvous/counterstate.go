package rendezvous

import (
	"encoding/binary"
	"slices"
)

// Copying and encoding of the speculation state; see state.go.

// clonePairs copies the pairs of another core, with references to this core's ends.
func (c *Core) clonePairs(from []*pair) []*pair {
	list := make([]*pair, len(from))
	for i, p := range from {
		if p == nil {
			continue
		}
		n := *p
		n.counters = slices.Clone(p.counters)
		for k := range n.counters {
			l := &n.counters[k]
			l.rtrs, l.offers = slices.Clone(l.rtrs), slices.Clone(l.offers)
			for j, e := range l.offers {
				l.offers[j] = c.ends[e.ref]
			}
		}
		list[i] = &n
	}
	return list
}

func (e *End) appendSpeculation(b []byte) []byte {
	b = append(b, bits(e.offer, e.try, e.dissolved), e.ahead, byte(e.env.Tag), byte(e.env.Comm))
	for _, v := range [...]uint64{e.number, uint64(e.seen), uint64(e.rtr.id), e.rtr.address, uint64(e.rtr.room)} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func (c *Core) appendPairs(b []byte) []byte {
	number := func(v uint64) { b = binary.AppendUvarint(b, v) }
	for i, p := range c.pairs {
		if p == nil {
			continue
		}
		number(uint64(i))
		b = append(b, bits(p.fate.stopped), byte(p.fate.used), byte(p.fate.of), byte(p.fate.pause), byte(p.fate.left))
		for k := range p.counters {
			l := &p.counters[k]
			b = append(b, bits(l.revoking), byte(l.last.Tag), byte(l.last.Comm), byte(len(l.rtrs)), byte(len(l.offers)))
			number(l.sent)
			number(l.run)
			number(l.seen)
			for _, r := range l.rtrs {
				number(r.number)
				number(uint64(r.id))
				number(r.address)
				number(uint64(r.room))
				b = append(b, byte(r.env.Tag), byte(r.env.Comm))
			}
			for _, e := range l.offers {
				number(uint64(e.ref))
			}
		}
	}
	return b
}

// Other is the peer's ID of the transfer; 0: not known.
func (e *End) Other() ID { return e.other }
