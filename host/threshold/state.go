package threshold

import (
	"encoding/binary"
	"slices"
)

// Clone copies a core without pending actions.
func (c *Core) Clone() *Core {
	n := *c
	n.pairs, n.actions = slices.Clone(c.pairs), slices.Clone(c.actions)
	for i, p := range n.pairs {
		if p == nil {
			continue
		}
		q := *p
		q.peerBuffers, q.recvBuffers, q.next = slices.Clone(p.peerBuffers), slices.Clone(p.recvBuffers), slices.Clone(p.next)
		n.pairs[i] = &q
	}
	return &n
}

// AppendState encodes the state that determines the core's future, except for the times of last
// use: the explorer advances time on its own.
func (c *Core) AppendState(b []byte) []byte {
	number := func(v int) { b = binary.AppendVarint(b, int64(v)) }
	for _, p := range c.pairs {
		if p == nil {
			number(-2)
			continue
		}
		for _, v := range []int{int(p.step), int(p.generation), p.threshold, int(p.recalled), p.wanted, p.agreed, p.messages, p.losing,
			p.sent.messages, p.sent.bytes, p.received.messages, p.received.bytes, p.received.longest, p.longest, p.weight, flag(p.refused), flag(p.asked), flag(p.stopped)} {
			number(v)
		}
		for _, list := range [][]peerBuffer{p.peerBuffers, p.next} {
			number(len(list))
			for _, s := range list {
				number(int(s.at))
				number(s.bytes)
			}
		}
		number(len(p.recvBuffers))
		for _, h := range p.recvBuffers {
			number(int(h.at))
			number(h.bytes)
			number(h.weight)
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

// A Buffer describes a buffer of a core for a peer.
type Buffer struct {
	At         uint64
	Bytes      int
	Full, Gone bool // named by a message; not used by the peer again
}

// Here lists the buffers for a peer's messages, There the addresses of empty buffers at the peer.
// For tests and explorers.
func (c *Core) Here(peer int) (list []Buffer) {
	if p := c.pairs[peer]; p != nil {
		for _, b := range p.recvBuffers {
			list = append(list, Buffer{At: b.at, Bytes: b.bytes, Full: b.full, Gone: b.old})
		}
	}
	return list
}

// There is documented with Here.
func (c *Core) There(peer int) (list []uint64) {
	if p := c.pairs[peer]; p != nil {
		for _, s := range p.peerBuffers {
			list = append(list, s.at)
		}
	}
	return list
}
