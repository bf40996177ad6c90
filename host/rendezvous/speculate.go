package rendezvous

import "slices"

// Speculation configures a rank that sends its peers addresses of receives before it knows of their
// messages (SPEC, section 4.2). 0 selects a default.
type Speculation struct {
	Counters int // message counters per pair, selected by envelope
	Offers   int // outstanding RTRs per peer
	Adaptation
}

// The defaults, and the maximum number of offers, limited by the AHEAD field of an RTR.
const (
	defaultCounters = 64
	defaultOffers   = 16
	maxOffers       = 255
)

func (s Speculation) complete() *Speculation {
	if s.Counters < 1 {
		s.Counters = defaultCounters
	}
	if s.Offers < 1 {
		s.Offers = defaultOffers
	}
	s.Offers = min(s.Offers, maxOffers)
	s.Adaptation.complete()
	return &s
}

// speculative lets a send put immediately if its receiver has sent an RTR: it then continues like
// an rput that has received its CTS. Without an RTR it is an rget.
type speculative struct{}

// Spec is the speculative protocol. A core that follows it must know RGET and RPUT, too.
var Spec Protocol = speculative{}

func (speculative) Name() string  { return "spec" }
func (speculative) Number() uint8 { return numberSpec }
func (speculative) Pushes() bool  { return true } // a sender with an RTR writes to the receiver's memory

func (speculative) Start(e *End) {
	switch {
	case !e.Sends():
		e.RegisterIfRoom()
	case e.Claim():
		e.Register()
	default:
		e.Follow(RGET)
	}
}

// Registered is reached only by an offer. Without memory the offer is dropped.
func (speculative) Registered(e *End) {
	if e.Local() == 0 {
		e.core.dissolve(e)
		return
	}
	e.tellRTR()
}

func (speculative) Hear(*End, Control) bool { return false }
func (speculative) Step(left, _ int) int    { return min(left, MaxStep) }
func (speculative) Moved(e *End)            { e.Close() }

// Follow switches an end that has not yet moved bytes to another protocol, from its start.
func (e *End) Follow(p Protocol) {
	e.core.follow(e, p.Number())
	e.protocol.Start(e)
}

// Claim uses the RTR for this message, if there is one. It announces this in the message's
// position, like an RTS, and continues as a put with a known target. A blocking send leaves its RTR
// unused while this rank is getting a message from that peer: operations of a pair are performed in
// order, so the put would wait for the get, whereas two gets do not wait for each other.
func (e *End) Claim() bool {
	r := e.rtr
	if r.id == 0 || min(e.bytes, r.room) == 0 || e.blocks && e.core.gets(e.peer) {
		return false
	}
	e.other, e.remote, e.announced = r.id, r.address, true
	e.core.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{Kind: Claim, From: e.id, To: r.id, Bytes: uint32(e.bytes)}})
	e.Shorten(r.room)
	e.core.follow(e, numberRPUT)
	e.core.stats.Claimed++
	return true
}

// gets reports whether this rank is getting a message from a peer.
func (c *Core) gets(peer int) bool {
	for _, e := range c.ends {
		if e.live && e.peer == peer && e.verb == Get && e.moved < e.bytes {
			return true
		}
	}
	return false
}

// ---- the receiver's side ----

// Offer sends a peer an RTR for a receive with the given envelope and room, and returns the end
// that represents the offer; nil: no RTR was sent. fitting is the number of other waiting receives
// that match such a message. Unless all of these are offers, it is unknown which message this
// receive will get (section 4.2.3, Figure 4.9).
//
// The caller reports the outcome of the receive with [Core.Matched], [Core.Overtaken] or
// [Core.Cancel].
func (c *Core) Offer(peer int, env Envelope, fitting, room int, user any) *End {
	if c.spec == nil || room <= 0 {
		return nil
	}
	p := c.pair(peer)
	l := p.counter(env)
	switch {
	case l.revoking || len(l.offers) != fitting || fitting > 0 && l.offers[0].env != env || p.offers >= c.spec.Offers:
		return nil
	case c.offers+1 >= c.cfg.IDs || c.unnamed[1].len()+c.waiting[Late].len()+c.waiting[Received].len() > 0:
		// Names must remain for receives whose messages have arrived, and neither these nor late
		// sends may wait longer for memory.
		return nil
	}
	index, ok := c.ids[1].take(c.cfg.IDs)
	if !ok {
		return nil
	}
	may, try := p.fate.may()
	if !may {
		c.ids[1].free.unpop(index)
		return nil
	}
	e := c.begin(peer, room, user)
	e.env, e.offer, e.try, e.seen, e.ahead = env, true, try, uint32(l.seen), uint8(fitting)
	l.offers = append(l.offers, e)
	p.offers++
	c.offers++
	c.follow(e, numberSpec)
	c.name(e, index)
	return e
}

// Expected reports whether there is an RTR for the next message with an envelope to a peer.
func (c *Core) Expected(peer int, env Envelope) bool {
	if c.spec == nil || peer >= len(c.pairs) || c.pairs[peer] == nil {
		return false
	}
	l := c.pairs[peer].counter(env)
	return slices.ContainsFunc(l.rtrs, func(r rtr) bool { return r.number == l.sent && r.env == env })
}

// tellRTR sends the RTR. Its message number is the number of messages seen plus the number of
// offers ahead.
func (e *End) tellRTR() {
	e.core.stats.Offered++
	e.core.do(Action{Do: Tell, Peer: e.peer, Control: Control{
		Kind: RTR, From: e.id, To: ID(e.seen), Detail: e.ahead, Address: e.local, Bytes: uint32(e.bytes), Envelope: e.env,
	}})
}

// Matched reports that an RTS or a claim has matched a receive that is an offer.
func (c *Core) Matched(e *End, m Control) {
	used := m.Kind == Claim && m.To == e.id
	c.unoffer(e)
	c.pair(e.peer).fate.was(used, e.try, &c.spec.Adaptation)
	e.other, e.remote, e.bytes, e.asked = m.From, m.Address, min(int(m.Bytes), e.bytes), false
	switch {
	case used: // the sender puts, or has put already: operations may overtake messages
		c.stats.Used++
		e.ctsSent = true
		c.follow(e, numberRPUT)
	case m.Kind == Claim || !c.follow(e, m.Protocol):
		e.fail(unknown(m))
	case e.bytes == 0:
		e.Close()
	default:
		e.protocol.Registered(e)
	}
}

// Overtaken reports that a receive that is an offer got an eager message: the RTR was mispredicted.
// The sender knows from its number that the RTR was for that message and does not use it. The core
// answers with a [Forget].
func (c *Core) Overtaken(e *End) {
	c.pair(e.peer).fate.was(false, e.try, &c.spec.Adaptation)
	c.dissolve(e)
}

// dissolve ends an offer, but not its receive.
func (c *Core) dissolve(e *End) {
	c.unoffer(e)
	e.dissolved = true
	c.giveBack(e)
	c.do(Action{Do: Forget, Peer: e.peer, End: e})
	c.serveWaiting(e)
}

func (c *Core) unoffer(e *End) {
	p := c.pair(e.peer)
	l := p.counter(e.env)
	for i, x := range l.offers {
		if x == e {
			l.offers = append(l.offers[:i], l.offers[i+1:]...)
			break
		}
	}
	e.offer = false
	p.offers--
	c.offers--
}

// revoke withdraws all RTRs of an offer's counter: without this offer, the later receives get other
// messages than those that their RTRs name.
func (c *Core) revoke(e *End) {
	e.asked = true
	l := c.pair(e.peer).counter(e.env)
	if !l.revoking {
		l.revoking = true
		c.do(Action{Do: Tell, Peer: e.peer, Control: Control{Kind: Revoke, From: e.id, Envelope: e.env}})
	}
}

// revoked processes the answer to a Revoke. It follows all claims, so no other message is bound to
// one of the RTRs any more.
func (c *Core) revoked(from int, m Control) {
	if c.spec == nil || !c.pair(from).counter(m.Envelope).revoking {
		c.stats.Stale++
		return
	}
	l := c.pair(from).counter(m.Envelope)
	l.revoking = false
	for len(l.offers) > 0 {
		e := l.offers[0]
		if !e.asked {
			c.dissolve(e)
			continue
		}
		c.unoffer(e)
		c.do(Action{Do: Unpost, Peer: from, End: e})
		e.fail(&Error{Code: Cancelled, Here: true})
	}
}
