package threshold

import (
	"encoding/binary"
	"slices"
)

// Clone copies a core between two calls, when there is nothing to do.
func (c *Core) Clone() *Core {
	n := *c
	n.pairs, n.actions = slices.Clone(c.pairs), slices.Clone(c.actions)
	for i, p := range n.pairs {
		if p == nil {
			continue
		}
		q := *p
		q.there, q.here, q.next = slices.Clone(p.there), slices.Clone(p.here), slices.Clone(p.next)
		n.pairs[i] = &q
	}
	return &n
}

// AppendState appends what the core's future depends on, but for the times at which buffers were
// used: who explores lets time pass by itself.
func (c *Core) AppendState(b []byte) []byte {
	number := func(v int) { b = binary.AppendVarint(b, int64(v)) }
	for _, p := range c.pairs {
		if p == nil {
			number(-2)
			continue
		}
		for _, v := range []int{int(p.step), int(p.generation), p.threshold, int(p.recalled), p.wanted, p.agreed, p.messages, p.losing,
			p.sent.messages, p.sent.bytes, p.received.messages, p.received.bytes, p.received.longest, p.longest, flag(p.refused), flag(p.asked), flag(p.stopped)} {
			number(v)
		}
		for _, list := range [][]peerBuffer{p.there, p.next} {
			number(len(list))
			for _, s := range list {
				number(int(s.at))
				number(s.bytes)
			}
		}
		number(len(p.here))
		for _, h := range p.here {
			number(int(h.at))
			number(h.bytes)
			number(int(h.generation)<<2 | flag(h.full)<<1 | flag(h.old))
		}
	}
	return b
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// A Buffer is one of those that a core has for a peer.
type Buffer struct {
	At         uint64
	Bytes      int
	Full, Gone bool // a message names it; the peer does not use it again
}

// Here lists the buffers for what a peer sends, There the addresses of those of the peer that are
// empty: for tests and explorers.
func (c *Core) Here(peer int) (list []Buffer) {
	if p := c.pairs[peer]; p != nil {
		for _, b := range p.here {
			list = append(list, Buffer{At: b.at, Bytes: b.bytes, Full: b.full, Gone: b.old})
		}
	}
	return list
}

// There is described with Here.
func (c *Core) There(peer int) (list []uint64) {
	if p := c.pairs[peer]; p != nil {
		for _, s := range p.there {
			list = append(list, s.at)
		}
	}
	return list
}
