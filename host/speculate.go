package host

import (
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
)

// What speculation (SPEC, section 4.2) asks of a rank: package rendezvous says what is said, and why that is right.

// RendezvousStats are those of the rank's long messages.
func (r *Rank) RendezvousStats() (s rendezvous.Stats) {
	if r.bulk != nil {
		s = r.bulk.core.Stats()
	}
	return s
}

// speculates tells whether receives tell their senders of memory.
func (r *Rank) speculates() bool { return r.bulk != nil && r.bulk.Protocol == Spec }

// glance is the progress that a call makes at its start if its message may be long (section 4.2.1): an RTS that has come is found by
// the receive that is posted now, an RTR by the send, which looks no further then if it does not block (what it has to get
// from that peer it must know: see Claim). Where speculation has stopped a receive does without, and is an rget's (section 4.2.6).
func (r *Rank) glance(q *Request) error {
	if !r.speculates() || len(q.buf) <= EagerMax || r.inside || r.failed != nil {
		return nil
	}
	if from := int(q.env.Source); q.receive && from != AnySource && (r.bulk.core.Pauses(from) || len(q.buf) <= r.eagerLimit(from)) {
		return nil
	}
	for q.receive || q.blocks || !r.bulk.core.Expected(int(q.env.Source), told(q)) {
		r.proc.Spend(r.cost.Poll)
		r.proc.Sync()
		if err := r.runEnded(nil); err != nil {
			return err
		}
		if got, err := r.progress(); !got || err != nil {
			return err
		}
	}
	return nil
}

// eagerLimit is the longest message that a peer sends without a rendezvous, as far as this rank knows: the
// lengths of rings are the same at all ranks, and a pair of ranks agrees on its threshold. A receive up to this
// length gets no RTR, which would not be used.
func (r *Rank) eagerLimit(from int) int {
	limit := EagerMax
	if r.reuse != nil {
		limit = max(limit, r.reuse.Longest)
	}
	if e := r.eager(); e != nil {
		limit = max(limit, e.core.Threshold(from))
	}
	return limit
}

// offer tells the sender where the message of a receive shall go that nothing has matched yet. That the message is long
// is guessed from the room for it (section 4.2.1).
func (r *Rank) offer(q *Request) error {
	from := int(q.env.Source)
	if !r.speculates() || from == AnySource || q.env.Tag == AnyTag || from == r.id || r.isLocal(from) || len(q.buf) <= r.eagerLimit(from) {
		return nil
	}
	b := r.bulk
	b.core.Tick(int64(r.proc.Now()))
	t := b.transfers.get()
	*t = transfer{q: q}
	q.long = t
	if t.end = b.core.Offer(from, told(q), r.match.Fitting(q.env)-1, len(q.buf), t); t.end == nil {
		r.forget(t)
		return nil
	}
	return r.drain()
}

// forget leaves a receive to itself.
func (r *Rank) forget(t *transfer) {
	t.q.long = nil
	r.bulk.transfers.put(t)
}

// unpost takes back a receive that was cancelled.
func (r *Rank) unpost(t *transfer) {
	t.alone = r.match.Cancel(t.q.env, func(other *Request) bool { return other == t.q })
}

// told is the envelope of a send or of a receive that leaves nothing open, for the core.
func told(q *Request) rendezvous.Envelope {
	return rendezvous.Envelope{Tag: q.env.Tag, Comm: q.env.Comm}
}

// came counts a message from another rank.
func (r *Rank) came(from int, h header) {
	if r.bulk != nil {
		r.bulk.core.Came(from, rendezvous.Envelope{Tag: h.tag, Comm: h.comm})
	}
}

// overtaken: a receive that was thought to be of a long message has got a short one.
func (r *Rank) overtaken(q *Request) error {
	if q == nil || q.long == nil {
		return nil
	}
	r.bulk.core.Overtaken(q.long.end)
	return r.drain()
}

func tellEnvelope(q *Request, to int, e rendezvous.Envelope) {
	q.env = match.Envelope{Source: int32(to), Tag: e.Tag, Comm: e.Comm}
}

// LengthenGets has every get of a message take so many percent longer than a put of as many bytes: so much of it is read twice. It is for experiments that
// ask what reads which are slower than writes make of a rendezvous.
func (r *Rank) LengthenGets(percent int) {
	if r.bulk != nil {
		r.bulk.again = percent
	}
}

// getAgain reads what of a message is read twice. Nobody waits for that: operations of a pair are performed in order, so it has ended when the message has come.
func (b *bulk) getAgain(peer rma.Peer, local, remote rma.NLA, a rendezvous.Action) error {
	n := a.Bytes * b.again / 100
	if a.Do != rendezvous.Get || n == 0 {
		return nil
	}
	_, err := b.Port.Get(peer, local, remote, n, rma.Completer)
	return err
}
