package rendezvous

import "fmt"

// Time is in the caller's unit.
type Time = int64

// Never is no time.
const Never Time = 1<<63 - 1

// Config is what a rank's core works by.
type Config struct {
	Protocols []Protocol // those that it can follow
	Choose    Policy     // of messages that it sends
	IDs       int        // sends, and receives, that may be named at a time; 0: MaxIDs
	// Retry is when memory or a descriptor that was refused with ErrAgain is asked for again;
	// Patience is after how long of that a transfer fails.
	Retry, Patience Time
	// Speculation has receives tell their senders of memory; nil: they do not, and what peers tell is
	// not used. RGET and RPUT must be known.
	Speculation *Speculation
}

// Stats count what a core saw.
type Stats struct {
	Stale  uint64 // control messages about transfers that were over
	Queued uint64 // transfers that had to wait for an ID or for memory

	Offered uint64 // RTRs sent
	Used    uint64 // of those, used by their message
	Claimed uint64 // messages put where an RTR had said
	Crossed uint64 // RTRs for messages that had been told of before they came
}

// A Core is the rendezvous state of one rank.
type Core struct {
	cfg        Config
	ids        [2]names // of sends, of receives
	ends       []*End   // by ref; those of spare are not in use
	spare      []int32
	gone       int32 // the end whose Complete or Forget was given out last, or -1
	unnamed    [2]fifo[*End]
	waiting    [classes]fifo[*End] // for memory; of Early nobody waits
	moving     []fifo[*End]        // with operations to post, round-robin, by protocol
	next       int                 // the protocol that is looked at first
	posting    *End                // of which an operation was given out and not answered
	actions    fifo[Action]
	under      []int // operations under way, by protocol
	registered int   // ends that have memory
	blocked    bool  // the last operation found no room
	now        Time
	retryAt    Time
	stats      Stats
	spec       *Speculation
	pairs      []*pair // by peer; nil: nothing has happened
	offers     int     // ends of receives that nothing has matched
}

// names are the IDs of one direction.
type names struct {
	list []name // as many as were ever in use at a time
	free fifo[int]
}

type name struct {
	generation uint16 // of the present or the last use
	end        *End
}

// New makes the core of one rank.
func New(cfg Config) *Core {
	if cfg.IDs == 0 {
		cfg.IDs = MaxIDs
	}
	if cfg.IDs < 1 || cfg.IDs > MaxIDs || cfg.Choose == nil {
		panic(fmt.Sprintf("rendezvous: %d IDs, expected 1 to %d, and a policy", cfg.IDs, MaxIDs))
	}
	n := len(cfg.Protocols)
	c := &Core{cfg: cfg, gone: -1, moving: make([]fifo[*End], n), under: make([]int, n), retryAt: Never}
	if cfg.Speculation != nil {
		c.spec = cfg.Speculation.complete()
		for _, number := range []uint8{numberRGET, numberRPUT, numberSpec} {
			if !c.follow(new(End), number) {
				panic(fmt.Sprintf("rendezvous: speculation without protocol %d", number))
			}
		}
	}
	return c
}

// Stats gives the counters.
func (c *Core) Stats() Stats { return c.stats }

// Live counts the transfers that are under way.
func (c *Core) Live() int {
	n := len(c.ends) - len(c.spare)
	if c.gone >= 0 {
		n--
	}
	return n
}

// Send begins to send a message. Its RTS comes as an action, in the order of the sends.
func (c *Core) Send(m Message, user any) *End {
	e := c.begin(m.Peer, m.Bytes, user)
	e.send, e.blocks, e.env = true, m.Blocks, m.Envelope
	if c.spec != nil {
		e.number = c.count(m.Peer, m.Envelope)
	}
	c.follow(e, c.cfg.Choose(m).Number())
	c.wantName(e)
	return e
}

// Receive takes the message of an RTS that a receive with room for so many bytes has matched.
func (c *Core) Receive(peer int, rts Control, room int, user any) *End {
	e := c.begin(peer, min(int(rts.Bytes), room), user)
	e.other, e.remote = rts.From, rts.Address
	if rts.Kind == Claim || !c.follow(e, rts.Protocol) {
		e.fail(unknown(rts))
		return e
	}
	if e.bytes == 0 {
		e.Close()
		return e
	}
	c.wantName(e)
	return e
}

// unknown: a message that wants to travel in a way that nobody here has spoken of.
func unknown(m Control) *Error {
	err := fmt.Errorf("an RTS of protocol %d", m.Protocol)
	if m.Kind == Claim {
		err = fmt.Errorf("a message that goes to %v, and is not for that", m.To)
	}
	return &Error{Code: Unknown, Here: true, Cause: err}
}

// Hear takes a control message other than an RTS or a claim.
func (c *Core) Hear(from int, m Control) {
	switch m.Kind {
	case Cancel:
		c.cancelled(from, m)
		return
	case RTR:
		c.offered(from, m)
		return
	case Revoke:
		c.giveBackRTRs(from, m)
		return
	case Revoked:
		c.revoked(from, m)
		return
	}
	e := c.find(m.To)
	if e == nil || e.peer != from || e.offer {
		c.stats.Stale++
		return
	}
	if e.other == 0 {
		e.other = m.From
	}
	switch m.Kind {
	case FIN:
		e.ended(m)
	case Abort:
		e.fail(&Error{Code: Cancelled})
	default:
		if e.err != nil || !e.protocol.Hear(e, m) {
			c.stats.Stale++
		}
	}
}

// cancelled: the sender wants a message back. One that was received stays so, and its transfer
// takes its course.
func (c *Core) cancelled(from int, m Control) {
	for _, e := range c.ends {
		if e.live && !e.send && e.peer == from && e.other == m.From {
			return
		}
	}
	c.do(Action{Do: Withdraw, Peer: from, Control: m})
}

// Withdrawn answers a Withdraw that has found the message.
func (c *Core) Withdrawn(peer int, id ID) {
	c.do(Action{Do: Tell, Peer: peer, Control: Control{Kind: FIN, To: id, Code: Cancelled}})
}

// Cancel gives a transfer up if that is possible: a send that nobody has received, a receive
// wherever it stands. Its request ends as it always does.
func (c *Core) Cancel(e *End) {
	switch {
	case !e.live || e.err != nil || e.asked:
	case e.offer:
		c.revoke(e)
	case !e.send:
		e.asked = true
		if e.told && e.protocol.Pushes() {
			e.Tell(Abort) // the sender may be writing here
			return
		}
		e.fail(&Error{Code: Cancelled, Here: true})
	case !e.announced:
		e.asked = true
		if c.spec != nil {
			c.uncount(e)
		}
		e.fail(&Error{Code: Cancelled, Here: true})
	case e.other == 0:
		e.asked = true
		c.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{Kind: Cancel, From: e.id}})
	}
}

// Tick says what time it is: what was refused may be asked for again.
func (c *Core) Tick(now Time) {
	c.now = now
	if now < c.retryAt {
		return
	}
	c.retryAt, c.blocked = Never, false
	c.askAgain()
}

// Deadline is when Tick has something to do.
func (c *Core) Deadline() Time { return c.retryAt }

// Next gives the next thing to do, if there is one.
func (c *Core) Next() (Action, bool) {
	if c.gone >= 0 {
		*c.ends[c.gone] = End{core: c, ref: c.gone}
		c.spare = append(c.spare, c.gone)
		c.gone = -1
	}
	if c.actions.len() == 0 {
		c.post()
	}
	if c.actions.len() == 0 {
		return Action{}, false
	}
	a := c.actions.pop()
	if a.Do == Complete || a.Do == Forget {
		c.gone = a.End.ref
	}
	return a, true
}

func (c *Core) do(a Action) { c.actions.push(a) }

// begin takes a record.
func (c *Core) begin(peer, bytes int, user any) *End {
	if n := len(c.spare); n > 0 {
		e := c.ends[c.spare[n-1]]
		c.spare = c.spare[:n-1]
		e.live, e.peer, e.bytes, e.user = true, peer, bytes, user
		return e
	}
	e := &End{core: c, ref: int32(len(c.ends)), live: true, peer: peer, bytes: bytes, user: user}
	c.ends = append(c.ends, e)
	return e
}

// follow has an end follow a protocol, if it is known.
func (c *Core) follow(e *End, number uint8) bool {
	for i, p := range c.cfg.Protocols {
		if p.Number() == number {
			e.protocol, e.index = p, i
			return true
		}
	}
	return false
}

// ---- names ----

func direction(receive bool) int {
	if receive {
		return 1
	}
	return 0
}

// wantName gives an end a name and starts it, or has it wait behind those that came before it.
func (c *Core) wantName(e *End) {
	q := &c.unnamed[direction(!e.send)]
	if q.push(e); !c.giveNames(!e.send) {
		c.stats.Queued++
	}
}

// giveNames starts those that wait for a name as far as there are some; it tells whether all have
// one.
func (c *Core) giveNames(receive bool) bool {
	d := direction(receive)
	q, n := &c.unnamed[d], &c.ids[d]
	for q.len() > 0 {
		index, ok := n.take(c.cfg.IDs)
		if !ok {
			return false
		}
		e := q.pop()
		if e.send && c.spec != nil {
			e.rtr = c.pair(e.peer).counter(e.env).take(e.number)
		}
		c.name(e, index)
	}
	return true
}

// take gives an index of which nobody has the name.
func (n *names) take(most int) (index int, ok bool) {
	if n.free.len() > 0 {
		return n.free.pop(), true
	}
	if index = len(n.list); index == most {
		return 0, false
	}
	n.list = append(n.list, name{})
	return index, true
}

// name gives an end an index and starts it.
func (c *Core) name(e *End, index int) {
	s := &c.ids[direction(!e.send)].list[index]
	if s.generation++; s.generation == 0 {
		s.generation = 1 // so that no ID is 0
	}
	s.end = e
	e.id = makeID(index, s.generation, !e.send)
	e.protocol.Start(e)
}

func (c *Core) find(id ID) *End {
	n := &c.ids[direction(id.receive())]
	if id.index() >= len(n.list) || n.list[id.index()].generation != id.generation() {
		return nil
	}
	return n.list[id.index()].end
}

// freeName takes an end's name back.
func (c *Core) freeName(e *End) {
	d := direction(!e.send)
	if e.id == 0 {
		drop(&c.unnamed[d], e)
		return
	}
	c.ids[d].list[e.id.index()].end = nil
	c.ids[d].free.push(e.id.index())
	e.id = 0
}
