package rendezvous

import (
	"encoding/binary"
	"fmt"
)

// Support for package explore: copying, encoding and inspecting a core.

// Ref is a small number that identifies the end. It is reused after the end is over.
func (e *End) Ref() int { return int(e.ref) }

// At returns the end with a given Ref.
func (c *Core) At(ref int) *End { return c.ends[ref] }

// ID is the end's ID; 0: waiting for one.
func (e *End) ID() ID { return e.id }

// Live reports whether the end's request is in progress.
func (e *End) Live() bool { return e.live }

// Clone copies a core without pending actions. Ends keep their refs and users.
func (c *Core) Clone() *Core {
	if c.actions.len() > 0 || c.posting != nil {
		panic("rendezvous: Clone with something left to do")
	}
	n := *c
	n.ends = make([]*End, len(c.ends))
	for i, e := range c.ends {
		x := *e
		x.core = &n
		if e.err != nil {
			err := *e.err
			x.err = &err
		}
		n.ends[i] = &x
	}
	n.spare = append([]int32(nil), c.spare...)
	n.under = append([]int(nil), c.under...)
	n.actions = fifo[Action]{}
	n.moving = make([]fifo[*End], len(c.moving))
	for i := range c.moving {
		n.moving[i] = n.same(&c.moving[i])
	}
	for d := range c.ids {
		n.unnamed[d] = n.same(&c.unnamed[d])
		n.ids[d] = names{list: append([]name(nil), c.ids[d].list...)}
		n.ids[d].free.list = append([]int(nil), c.ids[d].free.all()...)
		for i, s := range n.ids[d].list {
			if s.end != nil {
				n.ids[d].list[i].end = n.ends[s.end.ref]
			}
		}
	}
	n.pairs = n.clonePairs(c.pairs)
	for i := range c.waiting {
		n.waiting[i] = n.same(&c.waiting[i])
	}
	return &n
}

// same converts a queue of another core's ends to the ends of this core.
func (c *Core) same(q *fifo[*End]) (n fifo[*End]) {
	for _, e := range q.all() {
		n.list = append(n.list, c.ends[e.ref])
	}
	return n
}

// AppendState encodes the complete state; times are relative to now.
func (c *Core) AppendState(b []byte) []byte {
	number := func(v uint64) { b = binary.AppendUvarint(b, v) }
	queue := func(q *fifo[*End]) {
		number(uint64(q.len()))
		for _, e := range q.all() {
			number(uint64(e.ref))
		}
	}
	for _, e := range c.ends {
		if !e.live {
			b = append(b, 0)
			continue
		}
		b = append(b, 1, bits(e.send, e.announced, e.ctsSent, e.asked, e.parted, e.lined), byte(e.memory), byte(e.fence), byte(e.verb), byte(e.index))
		for _, v := range [...]uint64{uint64(e.id), uint64(e.other), uint64(e.peer), uint64(e.bytes), e.local, e.remote,
			uint64(e.posted), uint64(e.moved), uint64(e.under)} {
			number(v)
		}
		if e.memory == wanted && c.cfg.Patience < Never {
			number(uint64(c.now - e.since))
		}
		b = fmt.Appendf(b, "%v", e.user)
		if c.spec != nil {
			b = e.appendSpeculation(b)
		}
		if e.err != nil {
			b = append(b, 1, byte(e.err.Code), bits(e.err.Here))
		}
	}
	for d := range c.ids {
		queue(&c.unnamed[d])
		for _, s := range c.ids[d].list {
			number(uint64(s.generation))
		}
		for _, i := range c.ids[d].free.all() {
			number(uint64(i))
		}
	}
	for i := range c.waiting {
		queue(&c.waiting[i])
	}
	for i := range c.moving {
		queue(&c.moving[i])
	}
	b = c.appendPairs(b)
	b = append(b, bits(c.blocked), byte(c.next%max(len(c.moving), 1)))
	if c.retryAt < Never {
		number(uint64(c.retryAt - c.now))
	}
	return b
}

func bits(list ...bool) (v byte) {
	for i, set := range list {
		if set {
			v |= 1 << i
		}
	}
	return v
}

// Check verifies the invariants of a core without pending actions.
func (c *Core) Check() error {
	registered, offers, under := 0, 0, make([]int, len(c.under))
	for _, e := range c.ends {
		if !e.live {
			continue
		}
		if e.memory == held {
			registered++
		}
		if e.offer {
			offers++
		}
		under[e.index] += e.under
		switch {
		case e.memory == requested:
			return fmt.Errorf("rendezvous: %v waits for an answer without a request", e)
		case e.id != 0 && c.find(e.id) != e:
			return fmt.Errorf("rendezvous: %v has a name that is not its own", e)
		case e.under < 0 || e.posted > e.bytes || e.moved > e.posted:
			return fmt.Errorf("rendezvous: %v has moved %d of %d posted bytes, %d operations under way", e, e.moved, e.posted, e.under)
		}
	}
	if registered != c.registered {
		return fmt.Errorf("rendezvous: %d ends have memory, %d are counted", registered, c.registered)
	}
	if offers != c.offers || offers > max(c.cfg.IDs-1, 0) {
		return fmt.Errorf("rendezvous: %d offers, %d are counted, of %d names", offers, c.offers, c.cfg.IDs)
	}
	for i := range under {
		if under[i] != c.under[i] {
			return fmt.Errorf("rendezvous: %d operations under way, %d are counted", under[i], c.under[i])
		}
	}
	return nil
}

func (e *End) String() string {
	role := "receive from"
	if e.send {
		role = "send to"
	}
	s := fmt.Sprintf("%s %d %v>%v: %d of %d bytes", role, e.peer, e.id, e.other, e.moved, e.bytes)
	switch e.memory {
	case held:
		s += ", has memory"
	case wanted:
		s += ", waits for memory"
	}
	if e.live && e.id == 0 {
		s += ", waits for a name"
	}
	if e.under > 0 {
		s += fmt.Sprintf(", %d operations under way", e.under)
	}
	if e.err != nil {
		s += ", " + e.err.Code.String()
	}
	return s
}

// Records is the maximum number of concurrent ends so far: the bound of At.
func (c *Core) Records() int { return len(c.ends) }
