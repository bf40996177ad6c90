package rendezvous

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func newCore(ids int, p Protocol) *Core {
	return New(Config{Protocols: []Protocol{RGET, RPUT, NewChunked(2, 1)}, Choose: Always(p), IDs: ids, Retry: 10, Patience: 25})
}

// take returns all pending actions. Each Register is answered by registered, each operation by
// posted.
func take(c *Core, registered, posted func(Action) error) (list []Action) {
	for a, ok := c.Next(); ok; a, ok = c.Next() {
		list = append(list, a)
		switch a.Do {
		case Register:
			err := registered(a)
			c.Registered(a.End, 1000, err)
		case Get, Put, Fence:
			c.Posted(a, posted(a))
		}
	}
	return list
}

func yes(Action) error   { return nil }
func again(Action) error { return ErrAgain }
func full(Action) error  { return ErrFull }

// dos returns the names of the requested operations, in order.
func dos(list []Action) (names []string) {
	for _, a := range list {
		s := a.Do.String()
		if a.Do == Tell {
			s = a.Control.Kind.String()
		}
		names = append(names, s)
	}
	return names
}

// TestMemoryIsGivenInOrder: memory is granted in the order of requests, also after repeated
// refusals and when a waiting end goes away.
func TestMemoryIsGivenInOrder(t *testing.T) {
	c := newCore(0, RGET)
	var ends []*End
	for i := range 4 {
		ends = append(ends, c.Receive(1, Control{Kind: RTS, Protocol: 1, From: makeID(i, 1, false), Address: 7, Bytes: 4}, 4, i))
	}
	first := take(c, again, yes)
	require.Equal(t, []string{"register"}, dos(first))
	require.Equal(t, ends[0], first[0].End)
	require.EqualValues(t, 10, c.Deadline())
	c.Tick(9)
	require.Empty(t, take(c, yes, yes))
	c.Cancel(ends[1])
	require.Equal(t, []string{"FIN", "complete", "register"}, dos(take(c, again, yes)))
	c.Tick(10)
	var order []int
	for _, a := range take(c, yes, yes) {
		if a.Do == Register {
			order = append(order, a.End.User().(int))
		}
	}
	require.Equal(t, []int{0, 2, 3}, order)
	require.EqualValues(t, 3, c.Stats().Queued)
}

// TestPatience: a transfer that is refused memory for too long fails at both ends, and the next one
// is served.
func TestPatience(t *testing.T) {
	c := newCore(0, RPUT)
	a := c.Receive(1, Control{Kind: RTS, Protocol: 2, From: makeID(0, 1, false), Bytes: 4}, 4, "a")
	b := c.Receive(1, Control{Kind: RTS, Protocol: 2, From: makeID(1, 1, false), Bytes: 4}, 4, "b")
	take(c, again, yes)
	c.Tick(20)
	require.Equal(t, []string{"register"}, dos(take(c, again, yes)))
	c.Tick(30)
	last := take(c, func(x Action) error {
		if x.End == a {
			return ErrAgain
		}
		return nil
	}, yes)
	require.Equal(t, []string{"register", "FIN", "complete", "register", "CTS"}, dos(last))
	require.ErrorIs(t, last[2].Err, ErrMemory)
	require.ErrorIs(t, last[2].Err, ErrAgain)
	require.Equal(t, Memory, last[1].Control.Code)
	require.True(t, b.Live())
	require.EqualError(t, last[2].Err, "rendezvous with rank 1, found here: "+ErrMemory.Error()+": "+ErrAgain.Error())
}

// TestFullForGood: if no transfer holds memory, ErrFull fails the transfer instead of waiting
// forever.
func TestFullForGood(t *testing.T) {
	c := newCore(0, RGET)
	c.Receive(1, Control{Kind: RTS, Protocol: 1, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, 0)
	last := take(c, full, yes)
	require.Equal(t, []string{"register", "FIN", "complete"}, dos(last))
	require.ErrorIs(t, last[2].Err, ErrMemory)
	require.Zero(t, c.Live())
}

// TestEarlySendsDoNotOvertake: an early send does not take memory that others wait for.
func TestEarlySendsDoNotOvertake(t *testing.T) {
	c := newCore(0, RGET)
	c.Receive(1, Control{Kind: RTS, Protocol: 1, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, 0)
	take(c, again, yes)
	c.Send(Message{Peer: 1, Bytes: 4}, 1)
	last := take(c, yes, yes)
	require.Equal(t, []string{"RTS"}, dos(last))
	require.Zero(t, last[0].Control.Address)
}

// TestOperationsAlternate: chunks of several messages alternate, also after a shortage of
// descriptors.
func TestOperationsAlternate(t *testing.T) {
	c := New(Config{Protocols: []Protocol{NewChunked(2, 8)}, Choose: Always(RGET), Retry: 10})
	for i := range 3 {
		c.Receive(1, Control{Kind: RTS, Protocol: numberChunked, From: makeID(i, 1, false), Address: 7, Bytes: 4}, 4, i)
	}
	room := 2
	var order []int
	posted := func(a Action) error {
		if room--; room < 0 {
			return ErrAgain
		}
		order = append(order, a.End.User().(int))
		return nil
	}
	list := take(c, yes, posted)
	require.Equal(t, []int{0, 1}, order)
	require.Equal(t, Never, c.Deadline()) // operations in flight make room
	room = 1
	c.Done(list[len(list)-3].End, Get, 2, nil)
	take(c, yes, posted)
	room = 0
	c.Done(list[len(list)-2].End, Get, 2, nil)
	take(c, yes, posted)
	require.Equal(t, Never, c.Deadline())
	room = 0
	c.Done(list[len(list)-1].End, Get, 2, nil)
	take(c, yes, posted)
	require.EqualValues(t, 10, c.Deadline()) // nothing is in flight
	c.Tick(9)
	require.Empty(t, take(c, yes, posted))
	room = 9
	c.Tick(10)
	take(c, yes, posted)
	require.Equal(t, []int{0, 1, 2, 0, 1, 2}, order)
}

// TestLongSteps: a message longer than MaxStep takes several operations; only the last put is
// followed by a fence.
func TestLongSteps(t *testing.T) {
	c := newCore(0, RPUT)
	e := c.Send(Message{Peer: 1, Bytes: MaxStep + 5}, nil)
	take(c, yes, yes)
	c.Hear(1, Control{Kind: CTS, From: makeID(3, 1, true), To: e.ID(), Address: 50, Bytes: MaxStep + 5})
	list := take(c, yes, yes)
	require.Equal(t, []string{"put", "put", "fence"}, dos(list))
	require.Equal(t, []int{MaxStep, 5, 1}, []int{list[0].Bytes, list[1].Bytes, list[2].Bytes})
	require.EqualValues(t, 1000+MaxStep, list[1].Local)
	require.EqualValues(t, 50+MaxStep, list[1].Remote)
}

func TestUnknownProtocol(t *testing.T) {
	c := newCore(0, RGET)
	c.Receive(3, Control{Kind: RTS, Protocol: 99, From: makeID(0, 4, false), Bytes: 4}, 4, nil)
	list := take(c, yes, yes)
	require.Equal(t, []string{"FIN", "complete"}, dos(list))
	require.Equal(t, Control{Kind: FIN, Code: Unknown, To: makeID(0, 4, false)}, list[0].Control)
	require.ErrorIs(t, list[1].Err, ErrProtocol)
	require.ErrorContains(t, list[1].Err, "an RTS of protocol 99")
}

// TestStale: messages about a finished transfer, or from an unrelated peer, have no effect.
func TestStale(t *testing.T) {
	c := newCore(0, RGET)
	e := c.Send(Message{Peer: 1, Bytes: 4}, nil)
	take(c, yes, yes)
	id := e.ID()
	for _, m := range []Control{
		{Kind: FIN, To: makeID(0, 9, false)}, {Kind: FIN, To: makeID(7, 1, false)}, {Kind: FIN, To: makeID(0, 1, true)},
		{Kind: Ready, To: id}, {Kind: FirstFree, To: id}, {Kind: CTS, To: id}, // it has sent its address
	} {
		c.Hear(1, m)
	}
	c.Hear(2, Control{Kind: FIN, To: id})
	require.Empty(t, take(c, yes, yes))
	require.EqualValues(t, 7, c.Stats().Stale)
	c.Hear(1, Control{Kind: FIN, To: id, Code: Fault, Detail: 3})
	list := take(c, yes, yes)
	require.Equal(t, []string{"release", "complete"}, dos(list))
	require.EqualError(t, list[1].Err, "rendezvous with rank 1, found by rank 1: a remote memory operation failed (RMA error 3)")
	c.Hear(1, Control{Kind: FIN, To: id})
	require.EqualValues(t, 8, c.Stats().Stale)
}

// TestMoverIsNotTold: the end that moves the bytes ignores a FIN of success.
func TestMoverIsNotTold(t *testing.T) {
	c := newCore(0, RGET)
	e := c.Receive(1, Control{Kind: RTS, Protocol: 1, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, nil)
	take(c, yes, yes)
	c.Hear(1, Control{Kind: FIN, To: e.ID()})
	require.Empty(t, take(c, yes, yes))
	require.EqualValues(t, 1, c.Stats().Stale)
	c.Hear(1, Control{Kind: FIN, To: e.ID(), Code: Cancelled}) // ends it after the completion of its get
	require.Empty(t, take(c, yes, yes))
	c.Done(e, Get, 4, nil)
	require.Equal(t, []string{"release", "complete"}, dos(take(c, yes, yes)))
}

// TestGenerationsGoRound: a generation that wraps around does not yield ID 0.
func TestGenerationsGoRound(t *testing.T) {
	c := newCore(1, RGET)
	seen := ID(0)
	for range 1<<16 + 2 {
		e := c.Send(Message{Peer: 1, Bytes: 4}, nil)
		take(c, yes, yes)
		require.NotZero(t, e.ID())
		require.NotEqual(t, seen, e.ID())
		seen = e.ID()
		c.Hear(1, Control{Kind: FIN, To: seen})
		take(c, yes, yes)
	}
}

type detailed struct{ error }

func (detailed) Detail() uint8 { return 6 }

func TestFaultsNameTheirNumber(t *testing.T) {
	c := newCore(0, RGET)
	e := c.Receive(1, Control{Kind: RTS, Protocol: 1, From: makeID(0, 1, false), Address: 7, Bytes: 4}, 4, nil)
	take(c, yes, yes)
	cause := detailed{errors.New("no page")}
	c.Done(e, Get, 4, fmt.Errorf("get: %w", cause))
	list := take(c, yes, yes)
	require.Equal(t, []string{"FIN", "release", "complete"}, dos(list))
	require.EqualValues(t, 6, list[0].Control.Detail)
	require.ErrorIs(t, list[2].Err, ErrFault)
	require.ErrorIs(t, list[2].Err, cause)
}

// TestPolicy: the policy chooses per message; the receiver follows the RTS.
func TestPolicy(t *testing.T) {
	c := New(Config{Protocols: []Protocol{RGET, RPUT}, Choose: func(m Message) Protocol {
		if m.Reachable && m.Bytes > 10 && m.Hint == 0 {
			return RGET
		}
		return RPUT
	}})
	for _, v := range []struct {
		m    Message
		want uint8
	}{{Message{Bytes: 20, Reachable: true}, numberRGET}, {Message{Bytes: 20}, numberRPUT}, {Message{Bytes: 20, Reachable: true, Hint: 1}, numberRPUT}} {
		c.Send(v.m, nil)
		list := take(c, yes, yes)
		require.Equal(t, v.want, list[len(list)-1].Control.Protocol)
	}
	for _, p := range []Protocol{RGET, RPUT, NewChunked(1, 1)} {
		require.NotEmpty(t, p.Name())
	}
}

// TestNoAllocationOnceWarm: a core does not allocate after it has reached its maximum number of
// transfers.
func TestNoAllocationOnceWarm(t *testing.T) {
	for _, p := range []Protocol{RGET, RPUT} {
		sender, receiver := newCore(0, p), newCore(0, p)
		var user any = 1
		round := func() {
			e := sender.Send(Message{Peer: 1, Bytes: 4}, user)
			var in *End
			relay := func(from int, c, other *Core) {
				for a, ok := c.Next(); ok; a, ok = c.Next() {
					switch a.Do {
					case Register:
						c.Registered(a.End, 1000, nil)
					case Get, Put, Fence:
						c.Posted(a, nil)
						if a.Do != Put {
							c.Done(a.End, a.Do, a.Bytes, nil)
						}
					case Tell:
						if a.Control.Kind == RTS {
							in = other.Receive(from, a.Control, 4, user)
						} else {
							other.Hear(from, a.Control)
						}
					}
				}
			}
			e.peer = 1
			for range 4 {
				relay(1, sender, receiver)
				relay(1, receiver, sender)
			}
			if in == nil || sender.Live()+receiver.Live() > 0 {
				t.Fatal("not over")
			}
		}
		round()
		require.Zero(t, testing.AllocsPerRun(100, round), p.Name())
	}
}

func TestMisuse(t *testing.T) {
	require.Panics(t, func() { New(Config{IDs: MaxIDs + 1, Choose: Always(RGET)}) })
	require.Panics(t, func() { New(Config{}) })
	c := newCore(0, RGET)
	e := c.Send(Message{Peer: 1, Bytes: 4}, nil)
	require.Panics(t, func() { c.Posted(Action{End: e}, nil) })
	require.Panics(t, func() { c.Clone() })
	take(c, yes, yes)
	require.Panics(t, func() { c.Registered(e, 1, nil) })
}

func TestStrings(t *testing.T) {
	require.Equal(t, "Kind(99)", Kind(99).String())
	require.Equal(t, "Code(99)", Code(99).String())
	require.Equal(t, "Do(99)", Do(99).String())
	require.Equal(t, "-", ID(0).String())
	require.Equal(t, "r3.2", makeID(3, 2, true).String())
	require.Equal(t, "FIN from=- to=s1.1 bytes=0 address memory", Control{Kind: FIN, To: makeID(1, 1, false), Address: 1, Code: Memory}.String())
	for c := Fault; c <= Unknown; c++ {
		require.Error(t, c.cause())
	}
	_, err := Parse(make([]byte, 3))
	require.Error(t, err)
	c := newCore(1, RPUT)
	c.Send(Message{Peer: 1, Bytes: 4}, nil)
	e := c.Send(Message{Peer: 1, Bytes: 4}, nil)
	take(c, yes, yes)
	require.Equal(t, "send to 1 ->-: 0 of 4 bytes, waits for a name", e.String())
	require.True(t, e.Pushes())
}
