package threshold

import (
	"encoding/binary"
	"slices"
)

// Clone copies lanes between two calls, when there is nothing to do.
func (c *Lanes) Clone() *Lanes {
	n := *c
	n.out, n.in, n.actions = slices.Clone(c.out), slices.Clone(c.in), slices.Clone(c.actions)
	for i, o := range n.out {
		p := *o
		p.turns, p.addresses = slices.Clone(o.turns), slices.Clone(o.addresses)
		n.out[i] = &p
	}
	for i, o := range n.in {
		p := *o
		p.waiting, p.slots = slices.Clone(o.waiting), slices.Clone(o.slots)
		n.in[i] = &p
	}
	return &n
}

// AppendState appends what the lanes' future depends on; of times, whether they have come.
func (c *Lanes) AppendState(b []byte) []byte {
	number := func(list ...int) {
		for _, v := range list {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	number(len(c.out))
	for _, o := range c.out {
		number(o.Peer, int(o.Tag), int(o.Comm), o.bytes, len(o.addresses), int(o.next), len(o.turns), o.messages, o.losing)
		number(flag(o.asked), flag(o.open), flag(o.refused), flag(o.held), flag(o.trying), flag(o.probe), flag(o.closing), flag(o.tryAt > c.now))
		for _, t := range o.turns {
			number(int(t.number), flag(t.inside), flag(t.landed), flag(t.over))
		}
	}
	number(len(c.in))
	for _, n := range c.in {
		number(n.Peer, int(n.Tag), int(n.Comm), n.bytes, int(n.next))
		for _, s := range n.slots {
			number(int(s.state), int(s.number), flag(s.tell), flag(s.cancel))
		}
		number(flag(n.opened), flag(n.revoked), flag(n.reopen), len(n.waiting))
		for _, w := range n.waiting {
			number(int(w))
		}
	}
	return b
}

// Idle tells whether no message is on its way through a lane, and no receive is taken back.
func (c *Lanes) Idle() bool {
	return !slices.ContainsFunc(c.out, func(o *outLane) bool { return len(o.turns) > 0 || o.held || o.trying }) &&
		!slices.ContainsFunc(c.in, func(n *inLane) bool {
			return n.revoked || n.reopen || len(n.waiting) > 0 || n.has(slotEmpty)+n.has(slotReady) < len(n.slots)
		})
}
