package explore

import (
	"slices"

	"github.com/nicloop/nicloop/mailbox"
)

// plantedDynamic is a dynamic flow control with a mistake.
type plantedDynamic struct{ planted }

func (p *plantedDynamic) Send(peer int, room bool) (g mailbox.Grant) {
	p.around(peer, func() { g = p.Flow.Send(peer, room) }, func(had, now *dynamicPeer, crossed bool) {
		switch {
		case p.fault == ForgetPiggyback && !crossed:
			now.piggybacked = had.piggybacked
		case p.fault == LoseExcess && crossed:
			now.thresholds[0] = had.thresholds[1]
		case p.fault == KeepThreshold && crossed:
			now.head, now.thresholds = had.head, had.thresholds
		case p.fault == LoseCarry && crossed:
			now.retrieved = 0
		}
	})
	return g
}

func (p *plantedDynamic) Retrieve(r mailbox.Retrieved) error {
	switch {
	case p.fault == CountCredits && r.Kind == mailbox.Credit:
		p.deliver(slot(r.From))
	case p.fault == NoShrink && r.Kind == mailbox.CreditResponse:
		p.unshrunk(r)
		return nil
	case r.Kind == mailbox.CreditResponse:
		// It may cross twice, which none of the mistakes at a crossing needs to be found.
		p.around(-1, func() { p.deliver(r) }, nil)
		return nil
	}
	p.around(r.From, func() { p.deliver(r) }, func(had, now *dynamicPeer, crossed bool) {
		if crossed {
			p.crossing(r.From, had, now)
		}
	})
	return nil
}

// around makes the mistakes that are changes of the state before or behind a call. Those of one
// peer's threshold are made by change, which is told whether it was crossed; without a peer not.
func (p *plantedDynamic) around(peer int, call func(), change func(had, now *dynamicPeer, crossed bool)) {
	before := p.state()
	var shift int64
	if peer >= 0 {
		shift = p.shiftThreshold(&before, p.index(peer))
	}
	call()
	after := p.state()
	if peer >= 0 {
		i := p.index(peer)
		had, now := &before.peers[i], &after.peers[i]
		crossed := had.head != now.head
		unshift(had, now, shift, crossed)
		change(had, now, crossed)
		if p.fault == StealStatic && crossed {
			stealStatic(&before, &after, i)
		}
	}
	p.exchanges(&after)
	p.LoadState(after.encode())
}

// shiftThreshold moves the current threshold of a peer for the time of one call.
func (p *plantedDynamic) shiftThreshold(s *dynamicState, i int) (shift int64) {
	h := &s.peers[i].thresholds[0]
	switch {
	case p.fault == EarlyThreshold && *h > 1:
		shift = -1
	case p.fault == LateThreshold:
		shift = 1
	default:
		return 0
	}
	*h += shift
	p.LoadState(s.encode())
	*h -= shift
	return shift
}

// unshift takes the move back. If the threshold was reached, it is gone, and too much or too little
// was taken off the retrieved packets.
func unshift(had, now *dynamicPeer, shift int64, crossed bool) {
	if crossed {
		now.retrieved += shift
		return
	}
	now.thresholds[0] = had.thresholds[0]
}

// crossing makes the mistakes of a threshold reached by retrieving.
func (p *plantedDynamic) crossing(peer int, had, now *dynamicPeer) {
	last := len(now.thresholds) - 1
	formula := int64(min(p.formula.Threshold(int(now.intended), p.c.CreditSlots), mailbox.MaxCredits))
	switch {
	case p.fault == KeepThreshold:
		now.head, now.thresholds = had.head, had.thresholds
	case p.fault == BlockedStarves && had.blocked:
		*now = *had
		now.retrieved++
		now.current--
		p.out = slices.DeleteFunc(p.out, func(c mailbox.Control) bool { return c.To == peer && c.Kind == mailbox.Credit })
	case had.blocked:
	case p.fault == LoseCarry:
		now.retrieved = 0
	case p.fault == LiteralThreshold:
		now.thresholds[last] = formula
	case p.fault == GrantUnavailable:
		now.current += formula - now.thresholds[last]
		now.thresholds[last] = formula
		p.credit(peer).Credits = uint16(formula)
	}
}

// unshrunk takes in a response and leaves the thresholds. The real flow control is given the packet
// of the response and, once its credits are back and the peer is no longer blocked, looks at its
// threshold again: for a packet that changes nothing.
func (p *plantedDynamic) unshrunk(r mailbox.Retrieved) {
	p.deliver(slot(r.From))
	s := p.state()
	q := &s.peers[p.index(r.From)]
	q.blocked = false
	q.current -= int64(r.Credits)
	q.current++
	q.retrieved--
	p.LoadState(s.encode())
	p.deliver(slot(r.From))
}

// stealStatic takes as much as Equation 6 says, static slots or not.
func stealStatic(before, after *dynamicState, thief int) {
	for v := range after.peers {
		had, now := &before.peers[v], &after.peers[v]
		if v == thief || had.intended == now.intended && (after.listed(v) || !before.listed(v)) {
			continue
		}
		rich := &before.peers[thief]
		most := max(int64(len(now.thresholds)), max(rich.intended-had.intended, had.intended-rich.intended)/2)
		more := most - (had.intended - now.intended)
		now.intended -= more
		after.peers[thief].intended += more
		return
	}
}

// exchanges makes the mistakes of requests and responses.
func (p *plantedDynamic) exchanges(s *dynamicState) {
	for k := range p.out {
		c := &p.out[k]
		q := &s.peers[p.index(c.To)]
		switch {
		case p.fault == FreeRequest && c.Kind != mailbox.Credit:
			q.credits++
		case p.fault == EagerResponse && c.Kind == mailbox.CreditResponse:
			c.Credits += uint16(q.credits)
			q.credits = 0
		}
	}
	for i := range s.peers {
		q := &s.peers[i]
		peer := i + bit(i >= p.c.Self)
		switch p.fault {
		case DropRequest:
			q.request = false
		case DropResponse:
			q.response = false
		case FreeRequest:
			p.free(peer, &q.request, mailbox.CreditRequest)
			p.free(peer, &q.response, mailbox.CreditResponse)
		}
	}
}

// free sends what waits for a credit.
func (p *plantedDynamic) free(peer int, waits *bool, kind mailbox.Kind) {
	if *waits {
		*waits = false
		p.out = append(p.out, mailbox.Control{To: peer, Kind: kind})
	}
}
