package rendezvous

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var tag3 = Envelope{Tag: 3}

func speculating(s Speculation, ids int) *Core {
	return New(Config{
		Protocols: []Protocol{RGET, RPUT, NewChunked(2, 1), Spec}, Choose: Always(Spec), IDs: ids, Retry: 10, Patience: 25, Speculation: &s,
	})
}

// offer posts a receive preceded only by offers, and returns its end and its RTR.
func offer(t *testing.T, c *Core, peer int, env Envelope, ahead int) (*End, Control) {
	t.Helper()
	e := c.Offer(peer, env, ahead, 100, "r")
	require.NotNil(t, e)
	list := take(c, yes, yes)
	require.Equal(t, []string{"register", "RTR"}, dos(list))
	require.Equal(t, Early, list[0].Class)
	return e, list[1].Control
}

// lose delivers a receive's message by an RTS that crossed the RTR.
func lose(c *Core, e *End) {
	c.Came(e.peer, e.env)
	c.Matched(e, Control{Kind: RTS, Protocol: numberRGET, From: makeID(0, 1, false), Address: 7, Bytes: 4, Envelope: e.env})
	for _, a := range take(c, yes, yes) {
		if a.Do == Get {
			c.Done(e, Get, 4, nil)
		}
	}
	take(c, yes, yes)
}

// win delivers it by a claim.
func win(c *Core, e *End) {
	c.Came(e.peer, e.env)
	id := e.ID()
	c.Matched(e, Control{Kind: Claim, From: makeID(0, 1, false), To: id, Bytes: 4, Envelope: e.env})
	take(c, yes, yes)
	c.Hear(e.peer, Control{Kind: FIN, From: makeID(0, 1, false), To: id})
	take(c, yes, yes)
}

// TestAdaptation (SPEC, section 4.2.6): RTRs to a peer pause when less than 80 % of a window is
// used. Probes follow at increasing intervals; a used probe resumes RTRs. Other peers are not
// affected.
func TestAdaptation(t *testing.T) {
	c := speculating(Speculation{}, 0)
	round := func(peer int, fate func(*Core, *End)) bool {
		e := c.Offer(peer, tag3, 0, 100, "r")
		take(c, yes, yes)
		if e == nil {
			c.Came(peer, tag3)
			return false
		}
		fate(c, e)
		return true
	}
	mixed := 0
	for range 5 * defaultWindow { // 7 of 8 are enough, in each window
		mixed++
		fate := win
		if mixed%defaultWindow == 0 {
			fate = lose
		}
		require.True(t, round(1, fate), "round %d", mixed)
	}
	for i := range defaultWindow { // 6 of 8 are not
		fate := win
		if i < 2 {
			fate = lose
		}
		require.True(t, round(1, fate))
	}
	skipped := func() (n int) {
		for !round(1, lose) {
			n++
		}
		return n
	}
	require.Equal(t, []int{16, 32, 64, 128, 256, 256}, []int{skipped(), skipped(), skipped(), skipped(), skipped(), skipped()})
	require.True(t, round(2, lose), "another peer")
	for range defaultLongPause {
		require.False(t, round(1, win))
	}
	for range defaultWindow {
		require.True(t, round(1, win))
	}
	for range defaultWindow { // a whole window was used: the next pause is a short one
		require.True(t, round(1, lose))
	}
	require.Equal(t, defaultPause, skipped())
	require.NotZero(t, c.Stats().Used)
	require.Greater(t, c.Stats().Offered, c.Stats().Used)
}

// TestAdaptationOnce: the outcome of RTRs sent before a pause does not lengthen it, and Always
// disables adaptation.
func TestAdaptationOnce(t *testing.T) {
	c := speculating(Speculation{Adaptation: Adaptation{Window: 2}}, 0)
	var ends []*End
	for i := range 6 {
		e, _ := offer(t, c, 1, tag3, i)
		ends = append(ends, e)
	}
	for _, e := range ends {
		c.Came(1, tag3)
		c.Overtaken(e)
		require.Equal(t, []string{"release", "forget"}, dos(take(c, yes, yes)))
	}
	for range defaultPause {
		require.Nil(t, c.Offer(1, tag3, 0, 100, "r"))
	}
	offer(t, c, 1, tag3, 0)

	c = speculating(Speculation{Adaptation: Adaptation{Always: true}}, 0)
	for range 100 {
		e, _ := offer(t, c, 1, tag3, 0)
		lose(c, e)
	}
}

// TestOfferBehindAnother (SPEC, section 4.2.3, Figure 4.9): no RTR is sent while a receive without
// an RTR is waiting that could take the message.
func TestOfferBehindAnother(t *testing.T) {
	c := speculating(Speculation{}, 0)
	require.Nil(t, c.Offer(1, tag3, 1, 100, "r"))
	offer(t, c, 1, tag3, 0)
	_, second := offer(t, c, 1, tag3, 1)
	require.EqualValues(t, 1, second.Detail)
	require.Nil(t, c.Offer(1, tag3, 3, 100, "r"))
	require.Nil(t, c.Offer(1, tag3, 2, 0, "r"), "no room, nothing to offer")
	offer(t, c, 2, tag3, 0)
}

// TestOffersAreBounded (SPEC, section 4.2.3, "Accumulation of RTR messages"): the number of
// outstanding RTRs per peer is limited.
func TestOffersAreBounded(t *testing.T) {
	c := speculating(Speculation{Offers: 2}, 0)
	offer(t, c, 1, tag3, 0)
	e, _ := offer(t, c, 1, tag3, 1)
	require.Nil(t, c.Offer(1, tag3, 2, 100, "r"))
	require.Nil(t, c.Offer(1, Envelope{Tag: 4}, 0, 100, "r"))
	offer(t, c, 2, tag3, 0)
	c.Overtaken(e)
	take(c, yes, yes)
	offer(t, c, 1, tag3, 1)
	require.Equal(t, maxOffers, Speculation{Offers: 1000}.complete().Offers)
}

// TestOffersTakeNothingThatIsShort: offers leave names and memory to receives whose messages have
// arrived.
func TestOffersTakeNothingThatIsShort(t *testing.T) {
	c := speculating(Speculation{}, 2)
	offer(t, c, 1, tag3, 0)
	require.Nil(t, c.Offer(1, tag3, 1, 100, "r"), "the last name")
	c.Receive(2, Control{Kind: RTS, Protocol: numberRGET, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, "a")
	require.Equal(t, []string{"register", "get"}, dos(take(c, yes, yes)))
	require.Nil(t, c.Offer(3, tag3, 0, 100, "r"), "no name")

	c = speculating(Speculation{}, 0)
	c.Receive(2, Control{Kind: RTS, Protocol: numberRGET, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, "a")
	take(c, again, yes)
	require.Nil(t, c.Offer(1, tag3, 0, 100, "r"), "another receive waits for memory")

	c = speculating(Speculation{}, 0)
	require.NotNil(t, c.Offer(1, tag3, 0, 100, "r"))
	require.Equal(t, []string{"register", "forget"}, dos(take(c, full, yes)))
	require.Zero(t, c.Live())
	require.NoError(t, c.Check())
	offer(t, c, 1, tag3, 0)
}

// TestNumbersGoRound: an RTR is bound to one message by its number, also after the counter wraps
// around.
func TestNumbersGoRound(t *testing.T) {
	c := speculating(Speculation{}, 0)
	l := c.pair(1).counter(tag3)
	l.sent, l.run, l.last = 1<<32-1, 0, tag3
	rtr := func(seen uint32, ahead uint8) Control {
		return Control{Kind: RTR, From: makeID(9, 1, true), To: ID(seen), Detail: ahead, Address: 77, Bytes: 10, Envelope: tag3}
	}
	c.Hear(1, rtr(1<<32-1, 1)) // message 1<<32
	c.Sent(1, tag3)
	c.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, "m")
	require.Equal(t, []string{"CLAIM", "register", "put", "fence"}, dos(take(c, yes, yes)))
	c.Hear(1, rtr(1<<32-1, 0))
	require.EqualValues(t, 1, c.Stats().Crossed)
	c.Hear(1, rtr(50, 0)) // names messages that were not sent
	require.EqualValues(t, 1, c.Stats().Stale)
	require.Empty(t, l.rtrs)
}

// TestPeersThatDoNotSpeculate: a core without speculation ignores RTRs, answers a Revoke and counts
// nothing.
func TestPeersThatDoNotSpeculate(t *testing.T) {
	c := newCore(0, RGET)
	c.Hear(1, Control{Kind: RTR, From: makeID(9, 1, true), Address: 77, Bytes: 10, Envelope: tag3})
	require.EqualValues(t, 1, c.Stats().Stale)
	c.Hear(1, Control{Kind: Revoke, From: makeID(9, 1, true), Envelope: tag3})
	list := take(c, yes, yes)
	require.Equal(t, []string{"REVOKED"}, dos(list))
	require.Equal(t, tag3, list[0].Control.Envelope)
	c.Sent(1, tag3)
	c.Came(1, tag3)
	require.Nil(t, c.Offer(1, tag3, 0, 100, "r"))
	c.Hear(1, Control{Kind: Revoked, Envelope: tag3})
	require.EqualValues(t, 2, c.Stats().Stale)
	require.Empty(t, c.pairs)
}

// TestStaleSpeculation: unsolicited answers, and messages that do not apply to an offer, have no
// effect.
func TestStaleSpeculation(t *testing.T) {
	c := speculating(Speculation{}, 0)
	e, _ := offer(t, c, 1, tag3, 0)
	c.Hear(1, Control{Kind: Revoked, Envelope: tag3})
	c.Hear(1, Control{Kind: FIN, To: e.ID()})
	require.EqualValues(t, 2, c.Stats().Stale)
	require.Empty(t, take(c, yes, yes))
	require.True(t, e.Waits())
}

// TestWrongClaim: a claim of an address that was not offered fails at both ends.
func TestWrongClaim(t *testing.T) {
	for _, to := range []ID{makeID(7, 1, true), 0} {
		c := speculating(Speculation{}, 0)
		claim := Control{Kind: Claim, From: makeID(0, 1, false), To: to, Bytes: 4, Envelope: tag3}
		if to != 0 {
			e, _ := offer(t, c, 1, tag3, 0)
			c.Matched(e, claim)
		} else {
			c.Receive(1, claim, 4, "r")
		}
		list := take(c, yes, yes)
		require.Equal(t, FIN, list[0].Control.Kind)
		require.Equal(t, Unknown, list[0].Control.Code)
		last := list[len(list)-1]
		require.Equal(t, Complete, last.Do)
		require.ErrorIs(t, last.Err, ErrProtocol)
		require.ErrorContains(t, last.Err, "a message that goes to "+to.String())
		require.Zero(t, c.Live())
	}
}

// TestOtherProtocolsBesideSpeculation: a message with another protocol leaves the RTR of its
// receive unused; the receive proceeds by that protocol.
func TestOtherProtocolsBesideSpeculation(t *testing.T) {
	for _, p := range []Protocol{RPUT, RGET, NewChunked(2, 1)} {
		sender := New(Config{Protocols: []Protocol{RGET, RPUT, NewChunked(2, 1), Spec}, Choose: Always(p), Speculation: &Speculation{}})
		receiver := speculating(Speculation{}, 0)
		e, rtr := offer(t, receiver, 0, tag3, 0)
		sender.Hear(1, rtr)
		sender.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, "m")
		list := take(sender, yes, yes)
		require.Equal(t, []string{"register", "RTS"}, dos(list), p.Name())
		require.Empty(t, sender.pair(1).counter(tag3).rtrs)
		receiver.Came(0, tag3)
		receiver.Matched(e, list[1].Control)
		want := "get"
		if p == RPUT {
			want = "CTS"
		}
		require.Equal(t, []string{want}, dos(take(receiver, yes, yes)), p.Name())
	}
	c := speculating(Speculation{}, 0)
	e, _ := offer(t, c, 1, tag3, 0)
	c.Matched(e, Control{Kind: RTS, Protocol: 99, From: makeID(0, 1, false), Bytes: 4})
	list := take(c, yes, yes)
	require.ErrorIs(t, list[len(list)-1].Err, ErrProtocol)
}

// TestSendsThatWaitForNames: a send that waits for a name uses an RTR that arrives meanwhile. A
// send cancelled in that state is not counted; later ones are renumbered.
func TestSendsThatWaitForNames(t *testing.T) {
	rtr := func(ahead uint8) Control {
		return Control{Kind: RTR, From: makeID(int(ahead), 1, true), Detail: ahead, Address: 77, Bytes: 10, Envelope: tag3}
	}
	c := speculating(Speculation{}, 1)
	first := c.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, "first")
	take(c, yes, yes)
	second := c.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, "second")
	c.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, "third")
	c.Send(Message{Peer: 2, Bytes: 4, Envelope: tag3}, "to another")
	c.Hear(1, rtr(0)) // announced already
	c.Hear(1, rtr(1))
	c.Hear(1, rtr(2))
	require.EqualValues(t, 1, c.Stats().Crossed)
	c.Cancel(second)
	require.Equal(t, []string{"complete"}, dos(take(c, yes, yes)))
	c.Hear(1, rtr(1)) // for the third, which is the second now
	c.Hear(1, Control{Kind: FIN, To: first.ID()})
	require.Equal(t, []string{"release", "complete", "CLAIM", "register", "put", "fence"}, dos(take(c, yes, yes)))
	require.EqualValues(t, 2, c.pair(1).counter(tag3).sent)
	require.EqualValues(t, 1, c.pair(2).counter(tag3).sent)
}

// TestNoAllocationOfSpeculation: once warm, a message put to the address of an RTR does not
// allocate.
func TestNoAllocationOfSpeculation(t *testing.T) {
	sender, receiver := speculating(Speculation{}, 0), speculating(Speculation{}, 0)
	var user any = 1
	round := func() {
		in := receiver.Offer(0, tag3, 0, 4, user)
		relay := func(from int, c, other *Core) {
			for a, ok := c.Next(); ok; a, ok = c.Next() {
				switch {
				case a.Do == Register:
					c.Registered(a.End, 1000, nil)
				case a.Do == Put:
					c.Posted(a, nil)
				case a.Do == Fence:
					c.Posted(a, nil)
					c.Done(a.End, a.Do, a.Bytes, nil)
				case a.Do == Tell && a.Control.Kind == Claim:
					other.Came(from, tag3)
					other.Matched(in, a.Control)
				case a.Do == Tell:
					other.Hear(from, a.Control)
				}
			}
		}
		relay(1, receiver, sender)
		sender.Send(Message{Peer: 1, Bytes: 4, Envelope: tag3}, user)
		relay(0, sender, receiver)
		relay(1, receiver, sender)
		if sender.Live()+receiver.Live() > 0 {
			t.Fatal("not over")
		}
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
	require.EqualValues(t, 102, sender.Stats().Claimed)
	require.EqualValues(t, 102, receiver.Stats().Used)
}

func TestSpeculationNeedsBoth(t *testing.T) {
	require.Panics(t, func() {
		New(Config{Protocols: []Protocol{RGET, Spec}, Choose: Always(Spec), Speculation: &Speculation{}})
	})
	require.True(t, Spec.Pushes())
	require.False(t, Spec.Hear(nil, Control{}))
	require.Equal(t, 5, Spec.Step(5, 0))
	require.Equal(t, "spec", Spec.Name())
	require.Equal(t, "forget", Forget.String())
	require.Equal(t, "unpost", Unpost.String())
}

// TestBlockingSendBesideGet: a blocking send leaves its RTR unused while a message is being got
// from that peer, because its put would wait. Other sends use it, and so does a blocking send after
// that get or during a get from another peer.
func TestBlockingSendBesideGet(t *testing.T) {
	for _, x := range []struct {
		blocks, done bool
		peer         int
		want         string
	}{
		{true, false, 1, "RTS"}, {false, false, 1, "CLAIM"}, {true, true, 1, "CLAIM"}, {true, false, 2, "CLAIM"},
	} {
		c := speculating(Speculation{}, 0)
		c.Came(x.peer, tag3)
		in := c.Receive(x.peer, Control{Kind: RTS, Protocol: numberRGET, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, "r")
		take(c, yes, yes)
		if x.done {
			c.Done(in, Get, 4, nil)
			take(c, yes, yes)
		}
		c.Hear(1, Control{Kind: RTR, From: makeID(1, 1, true), Address: 9, Bytes: 4, Envelope: tag3})
		require.True(t, c.Expected(1, tag3))
		require.False(t, c.Expected(1, Envelope{Tag: 4}))
		require.False(t, c.Expected(2, tag3))
		c.Send(Message{Peer: 1, Bytes: 4, Blocks: x.blocks, Envelope: tag3}, "s")
		require.Contains(t, dos(take(c, yes, yes)), x.want, "%+v", x)
		require.False(t, c.Expected(1, tag3))
	}
}
