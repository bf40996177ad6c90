package portals

import (
	"encoding/binary"
	"slices"
)

// Clone copies the interface; m is the memory of the copy. No packet may wait in Next, since its
// payload would be memory of the original.
func (n *NI) Clone(m Memory) *NI {
	if n.out.n > 0 {
		panic("portals: Clone of an interface with packets to send")
	}
	c := *n
	c.memory, c.out, c.firing = m, packetQueue{}, nil
	c.pts = slices.Clone(n.pts)
	for i := range c.pts {
		p := &c.pts[i]
		p.unexpected = p.unexpected.clone()
		for j := range p.lists {
			p.lists[j] = p.lists[j].clone()
		}
	}
	c.eqs, c.cts, c.mds, c.entries = n.eqs.clone(), n.cts.clone(), n.mds.clone(), n.entries.clone()
	c.headers, c.ops, c.triggers = n.headers.clone(), n.ops.clone(), n.triggers.clone()
	for i := range c.eqs.slots {
		q := &c.eqs.slots[i].value
		q.ring, q.disabled = slices.Clone(q.ring), slices.Clone(q.disabled)
	}
	return &c
}

// AppendState appends an encoding of what can matter to later calls, but for the memory. Two
// interfaces with one encoding behave alike. Status registers are not part of it: they are output.
func (n *NI) AppendState(b []byte) []byte {
	for i := range n.pts {
		if p := &n.pts[i]; p.allocated {
			b = append(b, byte(i), bit(p.enabled), byte(p.options))
			b = appendNumbers(b, uint64(p.eq))
			for _, l := range [...]*matchList{&p.lists[0], &p.lists[1], &p.unexpected} {
				b = l.appendState(b)
			}
		}
	}
	b = appendPool(b, &n.eqs, func(b []byte, q *eventQueue) []byte {
		b = append(b, byte(q.n), bit(q.lost), byte(len(q.disabled)))
		b = append(b, q.disabled...)
		for i := range q.n {
			b = q.ring[(q.head+i)%len(q.ring)].appendState(b)
		}
		return b
	})
	b = appendPool(b, &n.cts, func(b []byte, c *counter) []byte {
		return appendNumbers(b, c.Success, c.Failure, uint64(c.first))
	})
	b = appendPool(b, &n.mds, func(b []byte, d *descriptor) []byte {
		return appendNumbers(b, d.Start, d.Length, uint64(d.Options), uint64(d.EQ), uint64(d.CT), uint64(d.pending))
	})
	b = appendPool(b, &n.entries, func(b []byte, e *entry) []byte {
		return appendNumbers(b, e.Start, e.Length, uint64(e.CT), uint64(e.UID), uint64(e.Options), e.MinFree, e.UserPtr,
			uint64(e.list)<<9|uint64(e.pt)<<1|uint64(bit(e.linked)), e.offset, uint64(e.pendingHeaders))
	})
	b = appendPool(b, &n.headers, func(b []byte, h *header) []byte {
		b = append(b, byte(h.kind), byte(h.op), byte(h.datatype))
		return appendNumbers(b, uint64(h.uid), sourceKey(h.source), uint64(h.entry), h.bits, h.hdrData, h.rlength,
			h.mlength, h.roffset, h.start)
	})
	b = appendPool(b, &n.ops, func(b []byte, o *operation) []byte {
		b = append(b, byte(o.kind), bit(o.sent)|bit(o.answered)<<1|bit(o.armed)<<2)
		b = append(b, byte(o.Ack), byte(o.Op), byte(o.Datatype), o.PT)
		b = append(b, o.Operand[:]...)
		return appendNumbers(b, uint64(o.MD), o.LocalOffset, uint64(o.GetMD), o.GetOffset, o.Length, sourceKey(o.Target),
			o.MatchBits, o.RemoteOffset, o.UserPtr, o.HdrData)
	})
	return appendPool(b, &n.triggers, func(b []byte, t *trigger) []byte {
		return appendNumbers(b, uint64(t.next), t.threshold, uint64(t.op), uint64(t.ct), uint64(bit(t.set)),
			t.value.Success, t.value.Failure)
	})
}

func (l *matchList) appendState(b []byte) []byte {
	b = appendNumbers(b, uint64(l.live))
	for _, k := range l.keys {
		if k.item != 0 {
			b = appendNumbers(b, k.bits, k.compared, k.source, k.comparedSource, uint64(k.item))
		}
	}
	return b
}

func (e *Event) appendState(b []byte) []byte {
	b = append(b, byte(e.Kind), e.PT, byte(e.List), byte(e.Fail), byte(e.Op), byte(e.Datatype))
	return appendNumbers(b, uint64(e.UID), sourceKey(e.Initiator), e.MatchBits, e.RLength, e.MLength, e.RemoteOffset,
		e.Start, e.UserPtr, e.HdrData)
}

// appendPool encodes the objects in use with their handles, and the order in which places are used
// again.
func appendPool[T any](b []byte, p *pool[T], one func([]byte, *T) []byte) []byte {
	b = appendNumbers(b, uint64(len(p.slots)), uint64(len(p.free)))
	for _, at := range p.free {
		b = appendNumbers(b, uint64(at))
	}
	for i := range p.slots {
		if s := &p.slots[i]; s.gen&1 != 0 {
			b = one(appendNumbers(b, uint64(i), uint64(s.gen)), &s.value)
		}
	}
	return b
}

func appendNumbers(b []byte, list ...uint64) []byte {
	for _, v := range list {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func bit(on bool) byte {
	if on {
		return 1
	}
	return 0
}
