package threshold

import (
	"fmt"
	"slices"
)

// A Stream is the messages of one tag to or from a peer, under the handshake [NotReady].
type Stream struct {
	Peer int
	Tag  int32
	Comm uint16
}

// A StreamDo is what a [StreamAction] asks for.
type StreamDo uint8

// What is to be done.
const (
	TellStream    StreamDo = iota // Message, InOrder behind all that was begun before
	ReserveStream                 // gates for Message.Bytes each: answer with Reserved
	TryStream                     // put message Number to Address, or if Probe ask whether a put would be refused: answer with Tried
	SentStream                    // message Number has left its buffer, and is where it belongs
	OpenStream                    // put the buffer of the receive of message Number behind the addresses of its gate
	ShutStream                    // take it away, and answer with Shut when nothing reaches it any more
	FilledStream                  // message Number is in its buffer
	FreeStream                    // the receive that was readied is nobody's: it may be cancelled
)

// A StreamAction is something to do.
type StreamAction struct {
	Do      StreamDo
	Stream  Stream
	Message Message
	InOrder bool
	Number  uint16
	Address uint64
	Probe   bool
}

// StreamStats count what the streams of a rank did.
type StreamStats struct {
	Asked    uint64 `json:"asked"`     // streams asked for here
	Refused  uint64 `json:"refused"`   // of these, by their peers
	Streams  int    `json:"streams"`   // streams here that peers send through
	Put      uint64 `json:"put"`       // messages that went through streams of peers
	NotReady uint64 `json:"not_ready"` // puts and probes that were refused
	Readied  uint64 `json:"readied"`   // receives here that were ready before their message was known
	Late     uint64 `json:"late"`      // and after
}

// Streams is the core of a rank under the handshake NotReady: what doc.go says of receivers that
// are not ready.
type Streams struct {
	cfg     Config
	out     []*outStream
	in      []*inStream
	actions []StreamAction
	now     Time
	stats   StreamStats
}

// An outStream is one that this rank sends through.
type outStream struct {
	Stream
	asked, open, refused bool
	held                 bool // the receiver takes a receive back: nothing is tried
	trying, probe        bool
	closing              bool // the receiver waits for the end of what is tried
	bytes                int
	addresses            []uint64 // of the gates; a message has that of its number, modulo Config.Gates
	next                 uint16
	unfinished           []numbered // messages from the first that is not over, in order
	tryAt                Time
	profile
}

// A numbered is a message of a stream. Only the first that has not landed moves.
type numbered struct {
	number               uint16
	inside, landed, over bool
}

// A gateState is what is behind a gate of a stream.
type gateState uint8

const (
	gateEmpty    gateState = iota
	gateReady              // the buffer of a receive, whose message is not known
	gateRevoking           // and its sender was asked to leave it alone
	gateFilling            // and its message is known
	gateShutting           // nothing, but the hardware may still know it
)

// An inStream is one that a peer sends through.
type inStream struct {
	Stream
	bytes   int
	opened  bool // all messages from now on are numbered
	next    uint16
	gates   []gate
	revoked bool     // the sender was asked to leave what is ready alone, and has not said that it does
	reopen  bool     // it has, and puts nothing until it hears more
	waiting []uint16 // messages that have receives, until their gates are empty
}

// A gate is the addresses of every so manyth message of a stream, and what is behind them.
type gate struct {
	state   gateState
	address uint64
	number  uint16 // of the message
	tell    bool   // shutting: the message is over
	cancel  bool   // ready: the receive is to be cancelled
}

func (n *inStream) gate(number uint16) *gate { return &n.gates[int(number)%len(n.gates)] }

// has counts the gates in a state.
func (n *inStream) has(state gateState) (count int) {
	for i := range n.gates {
		if n.gates[i].state == state {
			count++
		}
	}
	return count
}

// NewStreams makes the streams of one rank. Of cfg it uses Self, Ranks, Stocks, Least, Policy,
// Retry and Gates.
func NewStreams(cfg Config) *Streams {
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Stocks == 0 {
		cfg.Stocks = defaultStocks
	}
	if cfg.Gates == 0 {
		cfg.Gates = defaultGates
	}
	if cfg.Gates&(cfg.Gates-1) != 0 { // numbers wrap
		panic(fmt.Sprintf("threshold: %d gates: expected a power of two", cfg.Gates))
	}
	return &Streams{cfg: cfg}
}

// Stats gives the counters.
func (c *Streams) Stats() StreamStats { return c.stats }

// Next is what is to be done next.
func (c *Streams) Next() (StreamAction, bool) {
	if len(c.actions) == 0 {
		return StreamAction{}, false
	}
	a := c.actions[0]
	c.actions = c.actions[1:]
	return a, true
}

func (c *Streams) do(a StreamAction) { c.actions = append(c.actions, a) }

func (c *Streams) tell(l Stream, kind Kind, number uint16, address uint64, inOrder bool) {
	c.do(StreamAction{Do: TellStream, Stream: l, InOrder: inOrder, Message: Message{Kind: kind, Count: number, Address: address, Tag: l.Tag, Comm: l.Comm}})
}

func (c *Streams) outOf(l Stream) *outStream {
	if i := slices.IndexFunc(c.out, func(o *outStream) bool { return o.Stream == l }); i >= 0 {
		return c.out[i]
	}
	return nil
}

func (c *Streams) inOf(l Stream) *inStream {
	if i := slices.IndexFunc(c.in, func(n *inStream) bool { return n.Stream == l }); i >= 0 {
		return c.in[i]
	}
	return nil
}

// ---- the sender ----

// Ended profiles a message that went by a rendezvous. If overlap was lost, it asks for a stream as
// long as the longest of them.
func (c *Streams) Ended(l Stream, s Sample) {
	if !s.Sent || s.Bytes <= c.cfg.Least {
		return
	}
	o := c.outOf(l)
	if o == nil {
		o = &outStream{Stream: l}
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
	c.do(StreamAction{Do: TellStream, Stream: l, Message: Message{Kind: StreamRequest, Bytes: longest, Tag: l.Tag, Comm: l.Comm}})
}

// Fits tells whether a message of n bytes would go through its stream now.
func (c *Streams) Fits(l Stream, n int) bool {
	o := c.outOf(l)
	return o != nil && o.open && n > c.cfg.Least && n <= o.bytes
}

// Send gives a message its number; false: it has none. All messages of a stream have one, in the
// order in which they are told of. One that is inside is put when TryStream says so; the others go
// as ever.
func (c *Streams) Send(l Stream, n int) (number uint16, inside, ok bool) {
	o := c.outOf(l)
	if o == nil || !o.open {
		return 0, false, false
	}
	t := numbered{number: o.next, inside: c.Fits(l, n)}
	o.next++
	o.unfinished = append(o.unfinished, t)
	c.move(o)
	return t.number, t.inside, true
}

// move tries the first message of a stream, if it may be tried.
func (c *Streams) move(o *outStream) {
	i := c.first(o)
	if i < 0 || o.tryAt > c.now {
		return
	}
	t := o.unfinished[i]
	o.trying = true
	c.do(StreamAction{Do: TryStream, Stream: o.Stream, Number: t.number, Address: o.addresses[int(t.number)%c.cfg.Gates], Probe: o.probe})
}

// first is the message that may be tried: the first that has not landed, if the one that had its
// gate before is over. -1: none.
func (c *Streams) first(o *outStream) int {
	i := slices.IndexFunc(o.unfinished, func(t numbered) bool { return t.inside && !t.landed })
	if i < 0 || o.held || o.trying || i >= c.cfg.Gates && slices.ContainsFunc(o.unfinished[:i-c.cfg.Gates+1], func(t numbered) bool { return !t.over }) {
		return -1
	}
	return i
}

// Tried: a put was refused in whole or in part, or has landed; a probe found the receiver ready.
func (c *Streams) Tried(l Stream, ready bool) {
	o := c.outOf(l)
	i := slices.IndexFunc(o.unfinished, func(t numbered) bool { return t.inside && !t.landed })
	t := &o.unfinished[i]
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
		c.do(StreamAction{Do: SentStream, Stream: l, Number: t.number})
	}
	if o.closing {
		c.leaveAlone(o)
	}
	c.move(o)
}

// leaveAlone answers a receiver that wants its receive back.
func (c *Streams) leaveAlone(o *outStream) {
	o.closing, o.held = false, true
	c.tell(o.Stream, Closed, 0, 0, true)
}

// passed: a message is over at its receiver, and the next one has the given address.
func (c *Streams) passed(o *outStream, number uint16, address uint64) {
	for i := range o.unfinished {
		if o.unfinished[i].number == number {
			o.unfinished[i].over = true
		}
	}
	o.addresses[int(number)%c.cfg.Gates] = address
	for len(o.unfinished) > 0 && o.unfinished[0].over {
		o.unfinished = o.unfinished[1:]
	}
	c.move(o)
}

// Deadline is when Tick has something to do.
func (c *Streams) Deadline() Time {
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
func (c *Streams) Tick(now Time) {
	c.now = now
	for _, o := range c.out {
		c.move(o)
	}
}

// Hear takes a message.
func (c *Streams) Hear(peer int, m Message) {
	l := Stream{Peer: peer, Tag: m.Tag, Comm: m.Comm}
	o, n := c.outOf(l), c.inOf(l)
	switch {
	case m.Kind == StreamRequest && n == nil:
		c.requested(l, m.Bytes)
	case m.Kind == StreamReply && o != nil && o.asked && !o.open && !o.refused:
		if m.Address == 0 {
			o.refused = true
			c.stats.Refused++
			return
		}
		if o.addresses = append(o.addresses, m.Address); len(o.addresses) < c.cfg.Gates {
			return
		}
		o.open = true
		c.tell(l, StreamOpened, 0, 0, true)
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

func (c *Streams) requested(l Stream, bytes int) {
	if len(c.in) >= c.cfg.Stocks || bytes <= 0 {
		c.tell(l, StreamReply, 0, 0, false)
		return
	}
	c.in = append(c.in, &inStream{Stream: l, bytes: bytes, gates: make([]gate, c.cfg.Gates)})
	c.do(StreamAction{Do: ReserveStream, Stream: l, Message: Message{Bytes: bytes}})
}

// Reserved answers ReserveStream with the addresses of Config.Gates gates; nil: there are none.
func (c *Streams) Reserved(l Stream, addresses []uint64) {
	if addresses == nil {
		c.in = slices.DeleteFunc(c.in, func(n *inStream) bool { return n.Stream == l })
		c.tell(l, StreamReply, 0, 0, false)
		return
	}
	c.stats.Streams = len(c.in)
	for i, at := range addresses {
		c.inOf(l).gates[i].address = at
		c.tell(l, StreamReply, 0, at, false)
	}
}

// Gates is how many gates a stream has: message Number has gate Number modulo that.
func (c *Streams) Gates() int { return c.cfg.Gates }

// Offerable is the message that a receive would be readied for that nothing has matched, and where
// its sender puts that; false: it waits for its message. In front of it are so many receives that
// can match the same messages: all of them must be ready. Its room must be enough for all that may
// come.
func (c *Streams) Offerable(l Stream, front, room int) (number uint16, address uint64, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened || n.revoked || n.reopen || len(n.waiting) > 0 || room < n.bytes || n.has(gateReady) != front {
		return 0, 0, false
	}
	number = n.next + uint16(front)
	s := n.gate(number)
	return number, s.address, s.state == gateEmpty
}

// Offer readies the receive of a message that Offerable gave.
func (c *Streams) Offer(l Stream, number uint16) {
	s := c.inOf(l).gate(number)
	s.state, s.number, s.cancel = gateReady, number, false
	c.stats.Readied++
	c.do(StreamAction{Do: OpenStream, Stream: l, Number: number})
}

// Address is where the sender of a message puts it.
func (c *Streams) Address(l Stream, number uint16) uint64 { return c.inOf(l).gate(number).address }

// Came numbers a message, in the order of the messages of its peer; false: it is of no stream.
func (c *Streams) Came(l Stream) (number uint16, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened {
		return 0, false
	}
	n.next++
	return n.next - 1, true
}

// Matched: a message has its receive. If one was offered for it, it is that one.
func (c *Streams) Matched(l Stream, number uint16, inside bool) {
	n := c.inOf(l)
	s := n.gate(number)
	offered := (s.state == gateReady || s.state == gateRevoking) && s.number == number
	switch {
	case offered && inside:
		s.state = gateFilling
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
func (c *Streams) ready(n *inStream) {
	for len(n.waiting) > 0 {
		number := n.waiting[0]
		s := n.gate(number)
		if s.state != gateEmpty {
			return
		}
		s.state, s.number, n.waiting = gateFilling, number, n.waiting[1:]
		c.stats.Late++
		c.do(StreamAction{Do: OpenStream, Stream: n.Stream, Number: number})
	}
}

func (c *Streams) heard(n *inStream, m Message) {
	switch {
	case m.Kind == StreamOpened:
		n.opened = true
	case m.Kind == Landed:
		if s := n.gate(m.Count); s.state == gateFilling && s.number == m.Count {
			c.do(StreamAction{Do: FilledStream, Stream: n.Stream, Number: s.number})
			c.shut(n, s, true)
		}
	case m.Kind == Closed && n.revoked:
		n.revoked, n.reopen = false, true
		for i := range n.gates {
			s := &n.gates[i]
			if s.state != gateRevoking {
				continue
			}
			if s.cancel {
				c.do(StreamAction{Do: FreeStream, Stream: n.Stream, Number: s.number})
			}
			c.shut(n, s, false)
		}
		c.goOn(n)
	}
}

// goOn has the sender put again when nothing that was taken back can be reached any more.
func (c *Streams) goOn(n *inStream) {
	if n.reopen && !slices.ContainsFunc(n.gates, func(s gate) bool { return s.state == gateShutting && !s.tell }) {
		n.reopen = false
		c.tell(n.Stream, Reopened, 0, 0, false)
	}
}

func (c *Streams) shut(n *inStream, s *gate, tell bool) {
	s.state, s.tell = gateShutting, tell
	c.do(StreamAction{Do: ShutStream, Stream: n.Stream, Number: s.number})
}

// Shut answers ShutStream. The next message with the same gate shall be put at the given address.
func (c *Streams) Shut(l Stream, number uint16, address uint64) {
	n := c.inOf(l)
	s := n.gate(number)
	s.state, s.address = gateEmpty, address
	if s.tell {
		c.tell(l, Passed, s.number, address, false)
	}
	c.goOn(n)
	c.ready(n)
}

// Revoke wants the receive back that was readied for a message; what becomes of it FreeStream or
// FilledStream says. Those behind it would have other messages than was said, and are taken back,
// too.
func (c *Streams) Revoke(l Stream, number uint16) {
	n := c.inOf(l)
	s := n.gate(number)
	if s.number != number || s.state != gateReady && s.state != gateRevoking {
		return
	}
	if s.cancel = true; n.revoked {
		return
	}
	n.revoked = true
	for i := range n.gates {
		if n.gates[i].state == gateReady {
			n.gates[i].state = gateRevoking
		}
	}
	c.tell(l, Close, 0, 0, false)
}
