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
	clients
)

// An atuServer is what the translation unit does: one address at a time, clients in turn.
type atuServer struct {
	asks   [clients]drivers.Cycle // from when on; 0: not
	turn   int                    // the client who comes first
	client int                    // for whom the table is read
	reads  drivers.Cycle          // when its address goes out; 0: no table is read
	free   drivers.Cycle          // the next client may be picked
}

// ask has an access translated that a client shows from a cycle on. Its unit then acts.
func (n *node) ask(client int, at drivers.Cycle) {
	_, a, _ := n.client(client)
	a.done = true
	n.atu.server.asks[client] = at
	n.wake(unitRMA, at)
}

// client is the unit of a client, what it asks, and where it is told why not.
func (n *node) client(i int) (u *unit, a *access, fault *regs.RMAError) {
	if i == clientRequester {
		return &n.rma.requester, &n.rma.frag.mem, &n.rma.frag.fault
	}
	c := &n.rma.completer[vcRequest]
	if i == clientAnswers {
		c = &n.rma.completer[vcAnswer]
	}
	return &c.judge, &c.outcome.mem, &c.outcome.fault
}

func (s *atuServer) due() drivers.Cycle {
	if s.reads != 0 {
		return s.reads
	}
	first := drivers.Forever
	for _, at := range s.asks {
		if at != 0 {
			first = min(first, at)
		}
	}
	return max(first, s.free)
}

// serve looks up the address of the client whose turn it is. If its page is not known, the
// table is read.
func (n *node) serve(now drivers.Cycle) {
	s, t := &n.atu.server, &n.m.cfg.Timing
	if s.reads != 0 {
		s.reads, s.free = 0, drivers.Forever // until translated
		n.askRead(readATU, now, span{n: entryBytes})
		return
	}
	i := s.turn
	for s.asks[i] == 0 || s.asks[i] > now {
		i = (i + 1) % clients
	}
	s.turn, s.client, s.asks[i] = (i+1)%clients, i, 0
	misses := n.atu.misses
	_, a, fault := n.client(i)
	if *fault = n.translate(a); n.atu.misses > misses {
		s.reads = now + t.Translate - 1
		return
	}
	n.translated(i, now+t.Translate)
}

// translated has a client act from a cycle on.
func (n *node) translated(client int, at drivers.Cycle) {
	u, _, _ := n.client(client)
	u.free, n.atu.server.free = at, at
	if client == clientRequester {
		u.free += behind
	}
}
