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
	ReserveLane               // gates for Message.Bytes each: answer with Reserved
	TryLane                   // put message Number to Address, or if Probe ask whether a put would be refused: answer with Tried
	SentLane                  // message Number has left its buffer, and is where it belongs
	OpenLane                  // put the buffer of the receive of message Number behind the addresses of its gate
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
	Asked    uint64 `json:"asked"`     // lanes asked for here
	Refused  uint64 `json:"refused"`   // of these, by their peers
	Lanes    int    `json:"lanes"`     // lanes here that peers send through
	Put      uint64 `json:"put"`       // messages that went through lanes of peers
	NotReady uint64 `json:"not_ready"` // puts and probes that were refused
	Readied  uint64 `json:"readied"`   // receives here that were ready before their message was known
	Late     uint64 `json:"late"`      // and after
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
	addresses            []uint64 // of the gates; a message has that of its number, modulo Config.Gates
	next                 uint16
	turns                []turn // messages from the first that is not over, in order
	tryAt                Time
	profile
}

// A turn is a message of a lane. Only the first that has not landed moves.
type turn struct {
	number               uint16
	inside, landed, over bool
}

// A slotState is what is behind a gate of a lane.
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
	opened  bool // all messages from now on are numbered
	next    uint16
	slots   []slotOf
	revoked bool     // the sender was asked to leave what is ready alone, and has not said that it does
	reopen  bool     // it has, and puts nothing until it hears more
	waiting []uint16 // messages that have receives, until their slots are empty
}

// A slotOf is a gate, and what is behind it.
type slotOf struct {
	state   slotState
	address uint64
	number  uint16 // of the message
	tell    bool   // shutting: the message is over
	cancel  bool   // ready: the receive is to be cancelled
}

func (n *inLane) slot(number uint16) *slotOf { return &n.slots[int(number)%len(n.slots)] }

// has counts the slots in a state.
func (n *inLane) has(state slotState) (count int) {
	for i := range n.slots {
		if n.slots[i].state == state {
			count++
		}
	}
	return count
}

// NewLanes makes the lanes of one rank. Of cfg it uses Self, Ranks, Stocks, Least, Policy, Retry and Gates.
func NewLanes(cfg Config) *Lanes {
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Stocks == 0 {
		cfg.Stocks = defaultStocks
	}
	if cfg.Gates == 0 {
		cfg.Gates = defaultGates
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

// Fits tells whether a message of n bytes would go through its lane now.
func (c *Lanes) Fits(l Lane, n int) bool {
	o := c.outOf(l)
	return o != nil && o.open && n > c.cfg.Least && n <= o.bytes
}

// Send gives a message its number; false: it has none. All messages of a lane have one, in the order in which they are told of. One that
// is inside is put when TryLane says so; the others go as ever.
func (c *Lanes) Send(l Lane, n int) (number uint16, inside, ok bool) {
	o := c.outOf(l)
	if o == nil || !o.open {
		return 0, false, false
	}
	t := turn{number: o.next, inside: c.Fits(l, n)}
	o.next++
	o.turns = append(o.turns, t)
	c.move(o)
	return t.number, t.inside, true
}

// move tries the first message of a lane, if it may be tried.
func (c *Lanes) move(o *outLane) {
	i := c.first(o)
	if i < 0 || o.tryAt > c.now {
		return
	}
	t := o.turns[i]
	o.trying = true
	c.do(LaneAction{Do: TryLane, Lane: o.Lane, Number: t.number, Address: o.addresses[int(t.number)%c.cfg.Gates], Probe: o.probe})
}

// first is the message that may be tried: the first that has not landed, if the one that had its gate before is over. -1: none.
func (c *Lanes) first(o *outLane) int {
	i := slices.IndexFunc(o.turns, func(t turn) bool { return t.inside && !t.landed })
	if i < 0 || o.held || o.trying || i >= c.cfg.Gates && slices.ContainsFunc(o.turns[:i-c.cfg.Gates+1], func(t turn) bool { return !t.over }) {
		return -1
	}
	return i
}

// Tried: a put was refused in whole or in part, or has landed; a probe found the receiver ready.
func (c *Lanes) Tried(l Lane, ready bool) {
	o := c.outOf(l)
	i := slices.IndexFunc(o.turns, func(t turn) bool { return t.inside && !t.landed })
	t := &o.turns[i]
	o.trying = false
	switch {
	case !ready:
		c.stats.NotReady++
		o.probe, o.tryAt = true, c.now+c.cfg.Retry
	case o.probe:
		o.probe = false
	default:
		t.landed, o.tryAt = true, 0
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
	o.addresses[int(number)%c.cfg.Gates] = address
	for len(o.turns) > 0 && o.turns[0].over {
		o.turns = o.turns[1:]
	}
	c.move(o)
}

// Deadline is when Tick has something to do.
func (c *Lanes) Deadline() Time {
	at := Time(never)
	for _, o := range c.out {
		if c.first(o) >= 0 {
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
		if m.Address == 0 {
			o.refused = true
			c.stats.Refused++
			return
		}
		if o.addresses = append(o.addresses, m.Address); len(o.addresses) < c.cfg.Gates {
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
	c.in = append(c.in, &inLane{Lane: l, bytes: bytes, slots: make([]slotOf, c.cfg.Gates)})
	c.do(LaneAction{Do: ReserveLane, Lane: l, Message: Message{Bytes: bytes}})
}

// Reserved answers ReserveLane with the addresses of Config.Gates gates; nil: there are none.
func (c *Lanes) Reserved(l Lane, addresses []uint64) {
	if addresses == nil {
		c.in = slices.DeleteFunc(c.in, func(n *inLane) bool { return n.Lane == l })
		c.tell(l, LaneReply, 0, 0, false)
		return
	}
	c.stats.Lanes = len(c.in)
	for i, at := range addresses {
		c.inOf(l).slots[i].address = at
		c.tell(l, LaneReply, 0, at, false)
	}
}

// Gates is how many gates a lane has: message Number has gate Number modulo that.
func (c *Lanes) Gates() int { return c.cfg.Gates }

// Offerable is the message that a receive would be readied for that nothing has matched, and where its sender puts that; false: it waits for its
// message. In front of it are so many receives that can match the same messages: all of them must be ready. Its room must be enough for all that
// may come.
func (c *Lanes) Offerable(l Lane, front, room int) (number uint16, address uint64, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened || n.revoked || n.reopen || len(n.waiting) > 0 || room < n.bytes || n.has(slotReady) != front {
		return 0, 0, false
	}
	number = n.next + uint16(front)
	s := n.slot(number)
	return number, s.address, s.state == slotEmpty
}

// Offer readies the receive of a message that Offerable gave.
func (c *Lanes) Offer(l Lane, number uint16) {
	s := c.inOf(l).slot(number)
	s.state, s.number, s.cancel = slotReady, number, false
	c.stats.Readied++
	c.do(LaneAction{Do: OpenLane, Lane: l, Number: number})
}

// Address is where the sender of a message puts it.
func (c *Lanes) Address(l Lane, number uint16) uint64 { return c.inOf(l).slot(number).address }

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
	s := n.slot(number)
	offered := (s.state == slotReady || s.state == slotRevoking) && s.number == number
	switch {
	case offered && inside:
		s.state = slotFilling
	case offered:
		c.shut(n, s, true)
	case inside:
		n.waiting = append(n.waiting, number)
		c.ready(n)
	default:
		c.tell(l, Passed, number, s.address, false)
	}
}

// ready readies the receives of messages that wait for that, in order.
func (c *Lanes) ready(n *inLane) {
	for len(n.waiting) > 0 {
		number := n.waiting[0]
		s := n.slot(number)
		if s.state != slotEmpty {
			return
		}
		s.state, s.number, n.waiting = slotFilling, number, n.waiting[1:]
		c.stats.Late++
		c.do(LaneAction{Do: OpenLane, Lane: n.Lane, Number: number})
	}
}

func (c *Lanes) heard(n *inLane, m Message) {
	switch {
	case m.Kind == LaneOpened:
		n.opened = true
	case m.Kind == Landed:
		if s := n.slot(m.Count); s.state == slotFilling && s.number == m.Count {
			c.do(LaneAction{Do: FilledLane, Lane: n.Lane, Number: s.number})
			c.shut(n, s, true)
		}
	case m.Kind == Closed && n.revoked:
		n.revoked, n.reopen = false, true
		for i := range n.slots {
			s := &n.slots[i]
			if s.state != slotRevoking {
				continue
			}
			if s.cancel {
				c.do(LaneAction{Do: FreeLane, Lane: n.Lane, Number: s.number})
			}
			c.shut(n, s, false)
		}
		c.goOn(n)
	}
}

// goOn has the sender put again when nothing that was taken back can be reached any more.
func (c *Lanes) goOn(n *inLane) {
	if n.reopen && !slices.ContainsFunc(n.slots, func(s slotOf) bool { return s.state == slotShutting && !s.tell }) {
		n.reopen = false
		c.tell(n.Lane, Reopened, 0, 0, false)
	}
}

func (c *Lanes) shut(n *inLane, s *slotOf, tell bool) {
	s.state, s.tell = slotShutting, tell
	c.do(LaneAction{Do: ShutLane, Lane: n.Lane, Number: s.number})
}

// Shut answers ShutLane. The next message with the same gate shall be put at the given address.
func (c *Lanes) Shut(l Lane, number uint16, address uint64) {
	n := c.inOf(l)
	s := n.slot(number)
	s.state, s.address = slotEmpty, address
	if s.tell {
		c.tell(l, Passed, s.number, address, false)
	}
	c.goOn(n)
	c.ready(n)
}

// Revoke wants the receive back that was readied for a message; what becomes of it FreeLane or FilledLane says. Those behind it would have other
// messages than was said, and are taken back, too.
func (c *Lanes) Revoke(l Lane, number uint16) {
	n := c.inOf(l)
	s := n.slot(number)
	if s.number != number || s.state != slotReady && s.state != slotRevoking {
		return
	}
	if s.cancel = true; n.revoked {
		return
	}
	n.revoked = true
	for i := range n.slots {
		if n.slots[i].state == slotReady {
			n.slots[i].state = slotRevoking
		}
	}
	c.tell(l, Close, 0, 0, false)
}
