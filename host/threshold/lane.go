package threshold

import "slices"

// A Lane is the messages of one tag to or from a peer, under the handshake [NotReady].
type Lane struct {
	Peer int
	Tag  int32
	Comm uint16
}

// A LaneDo is what a [LaneAction] asks for.
type LaneDo uint8

// What is to be done.
const (
	TellLane    LaneDo = iota // Message, InOrder behind all that was begun before
	ReserveLane               // addresses for Message.Bytes: answer with Reserved
	TryLane                   // put message Number to Address, or if Probe ask whether a put would be refused: answer with Tried
	SentLane                  // message Number has left its buffer, and is where it belongs
	OpenLane                  // put the buffer of the receive of message Number behind the addresses
	ShutLane                  // take it away, and answer with Shut when nothing reaches it any more
	FilledLane                // message Number is in its buffer
	FreeLane                  // the receive that was readied is nobody's: it may be cancelled
)

// A LaneAction is something to do.
type LaneAction struct {
	Do      LaneDo
	Lane    Lane
	Message Message
	InOrder bool
	Number  uint16
	Address uint64
	Probe   bool
}

// LaneStats count what the lanes of a rank did.
type LaneStats struct {
	Asked, Refused uint64 // lanes asked for here; that a peer refused
	Lanes          int    // lanes here that peers send through
	Put, NotReady  uint64 // messages that went through lanes of peers; puts and probes that were refused
	Readied, Late  uint64 // receives here that were ready before their message was known; after
}

// Lanes is the core of a rank under the handshake NotReady: what doc.go says of receivers that are not ready.
type Lanes struct {
	cfg     Config
	out     []*outLane
	in      []*inLane
	actions []LaneAction
	now     Time
	stats   LaneStats
}

// An outLane is one that this rank sends through.
type outLane struct {
	Lane
	asked, open, refused bool
	held                 bool // the receiver takes a receive back: nothing is tried
	trying, probe        bool
	closing              bool // the receiver waits for the end of what is tried
	bytes                int
	address              uint64
	next                 uint16
	turns                []turn // messages that are not over, in order
	tryAt                Time
	profile
}

// A turn is a message of a lane. Only the first one moves.
type turn struct {
	number               uint16
	inside, landed, over bool
}

// A slotState is what is behind the addresses of a lane.
type slotState uint8

const (
	slotEmpty    slotState = iota
	slotReady              // the buffer of a receive, whose message is not known
	slotRevoking           // and its sender was asked to leave it alone
	slotFilling            // and its message is known
	slotShutting           // nothing, but the hardware may still know it
)

// An inLane is one that a peer sends through.
type inLane struct {
	Lane
	bytes   int
	address uint64
	opened  bool // all messages from now on are numbered
	next    uint16
	slot    slotState
	number  uint16   // of the message in the slot
	revoked bool     // the sender was asked to leave the slot alone, and has not said that it does
	tell    bool     // shutting: the message is over
	waiting []uint16 // messages that have receives, until the slot is empty
}

// NewLanes makes the lanes of one rank. Of cfg it uses Self, Ranks, Stocks, Least, Policy and Retry.
func NewLanes(cfg Config) *Lanes {
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Stocks == 0 {
		cfg.Stocks = defaultStocks
	}
	return &Lanes{cfg: cfg}
}

// Stats gives the counters.
func (c *Lanes) Stats() LaneStats { return c.stats }

// Next is what is to be done next.
func (c *Lanes) Next() (LaneAction, bool) {
	if len(c.actions) == 0 {
		return LaneAction{}, false
	}
	a := c.actions[0]
	c.actions = c.actions[1:]
	return a, true
}

func (c *Lanes) do(a LaneAction) { c.actions = append(c.actions, a) }

func (c *Lanes) tell(l Lane, kind Kind, number uint16, address uint64, inOrder bool) {
	c.do(LaneAction{Do: TellLane, Lane: l, InOrder: inOrder, Message: Message{Kind: kind, Count: number, Address: address, Tag: l.Tag, Comm: l.Comm}})
}

func (c *Lanes) outOf(l Lane) *outLane {
	if i := slices.IndexFunc(c.out, func(o *outLane) bool { return o.Lane == l }); i >= 0 {
		return c.out[i]
	}
	return nil
}

func (c *Lanes) inOf(l Lane) *inLane {
	if i := slices.IndexFunc(c.in, func(n *inLane) bool { return n.Lane == l }); i >= 0 {
		return c.in[i]
	}
	return nil
}

// ---- the sender ----

// Ended profiles a message that went by a rendezvous. If overlap was lost, it asks for a lane as long as the longest of them.
func (c *Lanes) Ended(l Lane, s Sample) {
	if !s.Sent || s.Bytes <= c.cfg.Least {
		return
	}
	o := c.outOf(l)
	if o == nil {
		o = &outLane{Lane: l}
		c.out = append(c.out, o)
	}
	if o.asked {
		return
	}
	o.sent.add(s.Bytes)
	longest := o.sent.longest
	if lost, judged := o.judge(c.cfg.Policy, s); !judged || !lost {
		return
	}
	o.asked, o.bytes = true, longest
	c.stats.Asked++
	c.do(LaneAction{Do: TellLane, Lane: l, Message: Message{Kind: LaneRequest, Bytes: longest, Tag: l.Tag, Comm: l.Comm}})
}

// Send gives a message its number; false: it has none. All messages of a lane have one, in the order in which they are told of. One that
// is inside is put when TryLane says so; the others go as ever.
func (c *Lanes) Send(l Lane, n int) (number uint16, inside, ok bool) {
	o := c.outOf(l)
	if o == nil || !o.open {
		return 0, false, false
	}
	t := turn{number: o.next, inside: n > c.cfg.Least && n <= o.bytes}
	o.next++
	o.turns = append(o.turns, t)
	c.move(o)
	return t.number, t.inside, true
}

// move tries the first message of a lane, if it may be tried.
func (c *Lanes) move(o *outLane) {
	if o.held || o.trying || len(o.turns) == 0 || o.tryAt > c.now {
		return
	}
	if t := o.turns[0]; t.inside && !t.landed {
		o.trying = true
		c.do(LaneAction{Do: TryLane, Lane: o.Lane, Number: t.number, Address: o.address, Probe: o.probe})
	}
}

// Tried: a put was refused in whole or in part, or has landed; a probe found the receiver ready.
func (c *Lanes) Tried(l Lane, ready bool) {
	o := c.outOf(l)
	o.trying = false
	t := &o.turns[0]
	switch {
	case !ready:
		c.stats.NotReady++
		o.probe, o.tryAt = true, c.now+c.cfg.Retry
	case o.probe:
		o.probe = false
	default:
		t.landed = true
		c.stats.Put++
		c.tell(l, Landed, t.number, 0, true)
		c.do(LaneAction{Do: SentLane, Lane: l, Number: t.number})
	}
	if o.closing {
		c.leaveAlone(o)
	}
	c.move(o)
}

// leaveAlone answers a receiver that wants its receive back.
func (c *Lanes) leaveAlone(o *outLane) {
	o.closing, o.held = false, true
	c.tell(o.Lane, Closed, 0, 0, true)
}

// passed: a message is over at its receiver, and the next one has the given address.
func (c *Lanes) passed(o *outLane, number uint16, address uint64) {
	for i := range o.turns {
		if o.turns[i].number == number {
			o.turns[i].over = true
		}
	}
	o.address = address
	for len(o.turns) > 0 && o.turns[0].over {
		o.turns = o.turns[1:]
		o.probe, o.tryAt = false, 0
	}
	c.move(o)
}

// Deadline is when Tick has something to do.
func (c *Lanes) Deadline() Time {
	at := Time(never)
	for _, o := range c.out {
		if len(o.turns) > 0 && !o.trying && !o.held && o.turns[0].inside && !o.turns[0].landed {
			at = min(at, o.tryAt)
		}
	}
	return at
}

const never = 1<<63 - 1

// Tick lets time pass, and tries again what was refused.
func (c *Lanes) Tick(now Time) {
	c.now = now
	for _, o := range c.out {
		c.move(o)
	}
}

// Hear takes a message.
func (c *Lanes) Hear(peer int, m Message) {
	l := Lane{Peer: peer, Tag: m.Tag, Comm: m.Comm}
	o, n := c.outOf(l), c.inOf(l)
	switch {
	case m.Kind == LaneRequest && n == nil:
		c.requested(l, m.Bytes)
	case m.Kind == LaneReply && o != nil && o.asked && !o.open && !o.refused:
		if o.address = m.Address; m.Address == 0 {
			o.refused = true
			c.stats.Refused++
			return
		}
		o.open = true
		c.tell(l, LaneOpened, 0, 0, true)
	case m.Kind == Passed && o != nil:
		c.passed(o, m.Count, m.Address)
	case m.Kind == Close && o != nil:
		if o.closing = true; !o.trying {
			c.leaveAlone(o)
		}
	case m.Kind == Reopened && o != nil:
		o.held = false
		c.move(o)
	case n != nil:
		c.heard(n, m)
	}
}

// ---- the receiver ----

func (c *Lanes) requested(l Lane, bytes int) {
	if len(c.in) >= c.cfg.Stocks || bytes <= 0 {
		c.tell(l, LaneReply, 0, 0, false)
		return
	}
	c.in = append(c.in, &inLane{Lane: l, bytes: bytes})
	c.do(LaneAction{Do: ReserveLane, Lane: l, Message: Message{Bytes: bytes}})
}

// Reserved answers ReserveLane; 0: there are no addresses.
func (c *Lanes) Reserved(l Lane, address uint64) {
	if address == 0 {
		c.in = slices.DeleteFunc(c.in, func(n *inLane) bool { return n.Lane == l })
	} else {
		c.inOf(l).address = address
	}
	c.stats.Lanes = len(c.in)
	c.tell(l, LaneReply, 0, address, false)
}

// Offer readies a receive that nothing has matched, if it is the only one that the next message of its lane can match and has room for all
// that may come; false: it waits for its message.
func (c *Lanes) Offer(l Lane, room int) bool {
	n := c.inOf(l)
	if n == nil || !n.opened || n.slot != slotEmpty || n.revoked || len(n.waiting) > 0 || room < n.bytes {
		return false
	}
	n.slot, n.number = slotReady, n.next
	c.stats.Readied++
	c.do(LaneAction{Do: OpenLane, Lane: l, Number: n.number})
	return true
}

// Address is where the peer puts its next message; false: there is no lane.
func (c *Lanes) Address(l Lane) (uint64, bool) {
	if n := c.inOf(l); n != nil {
		return n.address, n.opened
	}
	return 0, false
}

// Came numbers a message, in the order of the messages of its peer; false: it is of no lane.
func (c *Lanes) Came(l Lane) (number uint16, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened {
		return 0, false
	}
	n.next++
	return n.next - 1, true
}

// Matched: a message has its receive. If one was offered for it, it is that one.
func (c *Lanes) Matched(l Lane, number uint16, inside bool) {
	n := c.inOf(l)
	offered := (n.slot == slotReady || n.slot == slotRevoking) && n.number == number
	switch {
	case offered && inside:
		n.slot = slotFilling
	case offered:
		c.shut(n, true)
	case inside:
		n.waiting = append(n.waiting, number)
		c.ready(n)
	default:
		c.tell(l, Passed, number, n.address, false)
	}
}

// ready readies the receive of the next message that waits for that.
func (c *Lanes) ready(n *inLane) {
	if n.slot != slotEmpty || len(n.waiting) == 0 {
		return
	}
	n.slot, n.number, n.waiting = slotFilling, n.waiting[0], n.waiting[1:]
	c.stats.Late++
	c.do(LaneAction{Do: OpenLane, Lane: n.Lane, Number: n.number})
}

func (c *Lanes) heard(n *inLane, m Message) {
	switch {
	case m.Kind == LaneOpened:
		n.opened = true
	case m.Kind == Landed && n.slot == slotFilling && n.number == m.Count:
		c.do(LaneAction{Do: FilledLane, Lane: n.Lane, Number: n.number})
		c.shut(n, true)
	case m.Kind == Closed && n.revoked:
		n.revoked = false
		if n.slot == slotRevoking {
			c.do(LaneAction{Do: FreeLane, Lane: n.Lane, Number: n.number})
			c.shut(n, false)
			return
		}
		c.tell(n.Lane, Reopened, 0, 0, false)
	}
}

func (c *Lanes) shut(n *inLane, tell bool) {
	n.slot, n.tell = slotShutting, tell
	c.do(LaneAction{Do: ShutLane, Lane: n.Lane, Number: n.number})
}

// Shut answers ShutLane. The next message shall be put at the given address.
func (c *Lanes) Shut(l Lane, address uint64) {
	n := c.inOf(l)
	n.slot, n.address = slotEmpty, address
	if n.tell {
		c.tell(l, Passed, n.number, address, false)
	} else {
		c.tell(l, Reopened, 0, 0, false)
	}
	c.ready(n)
}

// Revoke wants the receive back that was readied; what becomes of it FreeLane or FilledLane says.
func (c *Lanes) Revoke(l Lane) {
	n := c.inOf(l)
	if n.slot == slotReady {
		n.slot, n.revoked = slotRevoking, true
		c.tell(l, Close, 0, 0, false)
	}
}
