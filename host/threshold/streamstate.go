package threshold

import (
	"encoding/binary"
	"slices"
)

// Clone copies streams without pending actions.
func (c *Streams) Clone() *Streams {
	n := *c
	n.out, n.in, n.actions = slices.Clone(c.out), slices.Clone(c.in), slices.Clone(c.actions)
	for i, o := range n.out {
		p := *o
		p.unfinished, p.addresses = slices.Clone(o.unfinished), slices.Clone(o.addresses)
		n.out[i] = &p
	}
	for i, o := range n.in {
		p := *o
		p.waiting, p.gates = slices.Clone(o.waiting), slices.Clone(o.gates)
		n.in[i] = &p
	}
	return &n
}

// AppendState encodes the state that determines the streams' future; times only as due or not due.
func (c *Streams) AppendState(b []byte) []byte {
	number := func(list ...int) {
		for _, v := range list {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	number(len(c.out))
	for _, o := range c.out {
		number(o.Peer, int(o.Tag), int(o.Comm), o.bytes, len(o.addresses), int(o.next), len(o.unfinished), o.messages, o.losing)
		number(flag(o.asked), flag(o.open), flag(o.refused), flag(o.held), flag(o.trying), flag(o.probe), flag(o.closing), flag(o.tryAt > c.now))
		for _, t := range o.unfinished {
			number(int(t.number), flag(t.inside), flag(t.landed), flag(t.over))
		}
	}
	number(len(c.in))
	for _, n := range c.in {
		number(n.Peer, int(n.Tag), int(n.Comm), n.bytes, int(n.next))
		for _, s := range n.gates {
			number(int(s.state), int(s.number), flag(s.tell), flag(s.cancel))
		}
		number(flag(n.opened), flag(n.revoked), flag(n.reopen), len(n.waiting))
		for _, w := range n.waiting {
			number(int(w))
		}
	}
	return b
}

// Idle reports whether no message is in flight through a stream and no receive is being taken back.
func (c *Streams) Idle() bool {
	return !slices.ContainsFunc(c.out, func(o *outStream) bool { return len(o.unfinished) > 0 || o.held || o.trying }) &&
		!slices.ContainsFunc(c.in, func(n *inStream) bool {
			return n.revoked || n.reopen || len(n.waiting) > 0 || n.gatesIn(gateEmpty)+n.gatesIn(gateReady) < len(n.gates)
		})
}
