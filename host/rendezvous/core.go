package rendezvous

import "fmt"

// Time is in the caller's unit.
type Time = int64

// Never is later than any time.
const Never Time = 1<<63 - 1

// Config configures the core of a rank.
type Config struct {
	Protocols []Protocol // protocols that it can follow
	Choose    Policy     // chooses the protocol of each message to send
	IDs       int        // limit of concurrent IDs, for sends and for receives; 0: MaxIDs
	// Retry is the interval of retries after ErrAgain for memory or a descriptor; Patience is the
	// time after which the transfer fails.
	Retry, Patience Time
	// Speculation lets receives send RTRs; nil: no RTRs are sent, and those of peers are ignored.
	// It requires RGET and RPUT in Protocols.
	Speculation *Speculation
}

// Stats are the counters of a core.
type Stats struct {
	Stale  uint64 // control messages about finished transfers
	Queued uint64 // transfers that waited for an ID or for memory

	Offered uint64 // RTRs sent
	Used    uint64 // RTRs used by their message
	Claimed uint64 // messages put to the address of an RTR
	Crossed uint64 // RTRs that crossed the RTS of their message
}

// A Core is the rendezvous state of one rank.
type Core struct {
	cfg        Config
	ids        [2]names // for sends and for receives
	ends       []*End   // by ref; those listed in spare are free
	spare      []int32
	retired    int32 // the end of the last Complete or Forget, recycled by the next call; or -1
	unnamed    [2]fifo[*End]
	waiting    [classes]fifo[*End] // waiting for memory; Early never waits
	moving     []fifo[*End]        // ends with operations to post, by protocol, round-robin
	next       int                 // protocol to consider first
	posting    *End                // end of an operation that awaits Posted
	actions    fifo[Action]
	under      []int // operations in flight, by protocol
	registered int   // ends with registered memory
	blocked    bool  // the last operation was refused for want of a descriptor
	now        Time
	retryAt    Time
	stats      Stats
	spec       *Speculation
	pairs      []*pair // by peer; nil: no traffic yet
	offers     int     // ends of unmatched receives
}

// names manages the IDs of one direction.
type names struct {
	list []name // grows to the maximum number in use
	free fifo[int]
}

type name struct {
	generation uint16 // of the current or the last use
	end        *End
}

// New creates the core of a rank.
func New(cfg Config) *Core {
	if cfg.IDs == 0 {
		cfg.IDs = MaxIDs
	}
	if cfg.IDs < 1 || cfg.IDs > MaxIDs || cfg.Choose == nil {
		panic(fmt.Sprintf("rendezvous: %d IDs, expected 1 to %d, and a policy", cfg.IDs, MaxIDs))
	}
	n := len(cfg.Protocols)
	c := &Core{cfg: cfg, retired: -1, moving: make([]fifo[*End], n), under: make([]int, n), retryAt: Never}
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

// Stats returns the counters.
func (c *Core) Stats() Stats { return c.stats }

// Live counts the transfers in progress.
func (c *Core) Live() int {
	n := len(c.ends) - len(c.spare)
	if c.retired >= 0 {
		n--
	}
	return n
}

// Send starts to send a message. Its RTS follows as an action; RTSs keep the order of the sends.
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

// Receive accepts the message of an RTS that was matched by a receive with the given room in bytes.
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

// unknown rejects a message with a protocol that this core cannot follow.
func unknown(m Control) *Error {
	err := fmt.Errorf("an RTS of protocol %d", m.Protocol)
	if m.Kind == Claim {
		err = fmt.Errorf("a message that goes to %v, and is not for that", m.To)
	}
	return &Error{Code: Unknown, Here: true, Cause: err}
}

// Hear processes a control message other than an RTS or a claim.
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

// cancelled handles a Cancel of the sender. A message that was already matched is not withdrawn;
// its transfer continues.
func (c *Core) cancelled(from int, m Control) {
	for _, e := range c.ends {
		if e.live && !e.send && e.peer == from && e.other == m.From {
			return
		}
	}
	c.do(Action{Do: Withdraw, Peer: from, Control: m})
}

// Withdrawn answers a Withdraw that found the message.
func (c *Core) Withdrawn(peer int, id ID) {
	c.do(Action{Do: Tell, Peer: peer, Control: Control{Kind: FIN, To: id, Code: Cancelled}})
}

// Cancel cancels a transfer if possible: a send until a receive has matched it, a receive at any
// time. Its request completes as usual.
func (c *Core) Cancel(e *End) {
	switch {
	case !e.live || e.err != nil || e.asked:
	case e.offer:
		c.revoke(e)
	case !e.send:
		e.asked = true
		if e.ctsSent && e.protocol.Pushes() {
			e.Tell(Abort) // the sender may be writing to this memory
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

// Tick sets the current time, which may make retries due.
func (c *Core) Tick(now Time) {
	c.now = now
	if now < c.retryAt {
		return
	}
	c.retryAt, c.blocked = Never, false
	c.askAgain()
}

// Deadline is the time of the next retry.
func (c *Core) Deadline() Time { return c.retryAt }

// Next returns the next action, if there is one.
func (c *Core) Next() (Action, bool) {
	if c.retired >= 0 {
		*c.ends[c.retired] = End{core: c, ref: c.retired}
		c.spare = append(c.spare, c.retired)
		c.retired = -1
	}
	if c.actions.len() == 0 {
		c.post()
	}
	if c.actions.len() == 0 {
		return Action{}, false
	}
	a := c.actions.pop()
	if a.Do == Complete || a.Do == Forget {
		c.retired = a.End.ref
	}
	return a, true
}

func (c *Core) do(a Action) { c.actions.push(a) }

// begin allocates an end.
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

// follow sets the protocol of an end; false: unknown.
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

// wantName queues an end for a name. If one is free, the end starts immediately.
func (c *Core) wantName(e *End) {
	q := &c.unnamed[direction(!e.send)]
	if q.push(e); !c.giveNames(!e.send) {
		c.stats.Queued++
	}
}

// giveNames gives free names to waiting ends in order and starts them. It reports whether none is
// left waiting.
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

// take allocates an index.
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

// freeName releases an end's name.
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
