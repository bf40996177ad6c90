package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// The clients of the translation unit.
const (
	clientRequester = iota
	clientResponder
	clientRequests // the completer of requests
	clientAnswers  // and that of answers
)

// An atuServer serves the clients of the translation unit, one at a time, round-robin.
type atuServer struct {
	arbiter
	client int           // for whom the table is read
	looks  drivers.Cycle // when the TLB is looked at, after what is flushed then; 0: it is not
	reads  drivers.Cycle // when its address goes out; 0: no table is read
	entry  uint64        // that address
	shift  uint          // of its page, when it was looked for
	free   drivers.Cycle // the next client may be picked
}

// ask requests a translation for a client from a cycle on. Its unit continues when it is done.
func (n *node) ask(client int, at drivers.Cycle) {
	_, a, _ := n.client(client)
	a.done = true
	n.atu.server.asks[client] = at
	n.wake(unitRMA, at)
}

// client returns the unit of a client, its access, and where its fault is stored.
func (n *node) client(i int) (u *unit, a *access, fault *regs.RMAError) {
	if i == clientRequester {
		return &n.rma.requester, &n.rma.frag.mem, &n.rma.frag.fault
	}
	c := &n.rma.completer[ofRequests]
	if i == clientAnswers {
		c = &n.rma.completer[ofAnswers]
	}
	return &c.judge, &c.outcome.mem, &c.outcome.fault
}

func (s *atuServer) due() drivers.Cycle {
	if s.looks != 0 {
		return s.looks
	}
	if s.reads != 0 {
		return s.reads
	}
	return max(s.arbiter.due(), s.free)
}

// serve performs the next step for the granted client: grant, TLB lookup, and on a miss the read of
// the table.
func (n *node) serve(now drivers.Cycle) {
	s, t := &n.atu.server, &n.m.cfg.Timing
	if s.reads != 0 {
		s.reads, s.free = 0, drivers.Forever // until translated
		n.askRead(readATU, now, span{s.entry, entryBytes}, nil)
		return
	}
	if s.looks == 0 {
		s.client, s.looks = s.grant(now), now+1
		return
	}
	s.looks = 0
	misses := n.atu.misses
	_, a, fault := n.client(s.client)
	if *fault = n.translate(a); n.atu.misses > misses {
		s.reads = now + max(t.Translate, 3) - 2
		return
	}
	n.translated(now + max(t.Translate, 2) - 1)
}

// translated lets the unit of the client continue from a cycle on.
func (n *node) translated(at drivers.Cycle) {
	s := &n.atu.server
	u, _, _ := n.client(s.client)
	u.free, s.free = at, at
	if s.client == clientRequester {
		u.free += behind
	}
}
