package rendezvous

import (
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
)

// What speculation (SPEC, section 4.2) asks of a rank. Package host/rendezvous says what the ranks
// tell each other, and why that is right.

// BeforePost is the progress that a call makes at its start if its message may be long (section
// 4.2.1): an RTS that has arrived is found by the receive that is posted now, an RTR by the send. A
// send that does not block stops as soon as it has found one: what the core has to get from that
// peer it must know, see Claim. A receive from a peer to which speculation has stopped does
// without, and is an rget's (section 4.2.6).
func (p *Path) BeforePost(op *path.Op) error {
	e := p.e
	if !p.speculative || len(op.Buf) <= path.EagerMax || e.Nested || e.Failed != nil {
		return nil
	}
	if from := op.Peer(); op.Receive && from != match.Any && (p.core.Pauses(from) || len(op.Buf) <= e.EagerLimit(from)) {
		return nil
	}
	for op.Receive || op.Blocking || !p.core.Expected(op.Peer(), envelopeOf(op)) {
		e.Proc.Spend(e.Cost.Poll)
		if got, err := e.Poll(); !got || err != nil {
			return err
		}
	}
	return nil
}

// Offer implements path.Offerer: it tells the sender where the message of a receive shall go. That
// the message is long is guessed from the room for it (section 4.2.1): one up to the eager limit of
// the pair would not use the RTR.
func (p *Path) Offer(op *path.Op) error {
	from := op.Peer()
	if !p.speculative || from == match.Any || op.Envelope.Tag == match.Any || op.Envelope.Wide || p.e.StaysLocal(from) || len(op.Buf) <= p.e.EagerLimit(from) {
		return nil
	}
	p.tick()
	t := p.transfers.Get()
	*t = transfer{op: op}
	op.Holder, op.State = p, t
	if t.end = p.core.Offer(from, envelopeOf(op), p.e.Match.Fitting(op.Envelope)-1, len(op.Buf), t); t.end == nil {
		p.forget(t)
		return nil
	}
	return p.drain()
}

// Matched implements path.MatchObserver: a receive that was thought to be of a long message has got
// a message of another path.
func (p *Path) Matched(_ int, op *path.Op, m *path.Message) error {
	t := p.transferOf(op)
	if t == nil || m.Kind == path.RTS {
		return nil
	}
	p.core.Overtaken(t.end)
	return p.drain()
}
