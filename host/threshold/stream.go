package threshold

import (
	"fmt"
	"slices"
)

// A Stream identifies the messages of one tag to or from a peer, under the handshake [NotReady].
type Stream struct {
	Peer int
	Tag  int32
	Comm uint16
}

// A StreamDo is the operation that a [StreamAction] requests.
type StreamDo uint8

// Operations.
const (
	TellStream    StreamDo = iota // send Message, InOrder behind everything started before
	ReserveStream                 // reserve gates for Message.Bytes each: answer with Reserved
	TryStream                     // put message Number to Address or, if Probe, test whether a put would be refused: answer with Tried
	SentStream                    // message Number has left its buffer and was delivered
	OpenStream                    // map the receive buffer of message Number to the addresses of its gate
	ShutStream                    // unmap it, and answer with Shut when the hardware cannot access it any more
	FilledStream                  // message Number is in its buffer
	FreeStream                    // the receive is no longer bound to a message: it may be cancelled
)

// A StreamAction is an operation that the core requests from its caller.
type StreamAction struct {
	Do      StreamDo
	Stream  Stream
	Message Message
	InOrder bool
	Number  uint16
	Address uint64
	Probe   bool
}

// StreamStats are the counters of a rank's streams.
type StreamStats struct {
	Asked    uint64 `json:"asked"`     // streams requested by this rank
	Refused  uint64 `json:"refused"`   // of these, refused by their peers
	Streams  int    `json:"streams"`   // streams that peers send through
	Put      uint64 `json:"put"`       // messages put through streams of peers
	NotReady uint64 `json:"not_ready"` // refused puts and probes
	Readied  uint64 `json:"readied"`   // receives readied before their message was known
	Late     uint64 `json:"late"`      // receives readied afterwards
}

// Streams is the core of a rank under the handshake NotReady; see "Receiver not ready" in doc.go.
type Streams struct {
	cfg     Config
	out     []*outStream
	in      []*inStream
	actions []StreamAction
	now     Time
	stats   StreamStats
}

// An outStream is the sender's end of a stream.
type outStream struct {
	Stream
	asked, open, refused bool
	held                 bool // the receiver is taking back a receive: no puts
	trying, probe        bool
	closing              bool // the receiver waits for the end of the current attempt
	bytes                int
	addresses            []uint64 // of the gates; message N uses address N modulo Config.Gates
	next                 uint16
	unfinished           []numbered // in order, starting with the first unfinished message
	tryAt                Time
	profile
}

// A numbered is a message of a stream. Only the first that has not landed is put.
type numbered struct {
	number               uint16
	inside, landed, over bool
}

// A gateState is the state of a gate.
type gateState uint8

const (
	gateEmpty    gateState = iota
	gateReady              // a receive buffer is mapped, its message is not known
	gateRevoking           // likewise, and the sender was asked to stop
	gateFilling            // likewise, and its message is known
	gateShutting           // unmapped, but the hardware may still cache the mapping
)

// An inStream is the receiver's end of a stream.
type inStream struct {
	Stream
	bytes   int
	opened  bool // all subsequent messages are numbered
	next    uint16
	gates   []gate
	revoked bool     // Close was sent and not yet answered
	reopen  bool     // Closed was received: the sender waits for Reopened
	waiting []uint16 // matched messages waiting for their gates to become empty
}

// A gate is an address range for every message whose number has the same remainder, and the receive
// buffer mapped to it.
type gate struct {
	state   gateState
	address uint64
	number  uint16 // of the message
	tell    bool   // shutting: send Passed afterwards
	cancel  bool   // ready: the receive is being cancelled
}

func (n *inStream) gate(number uint16) *gate { return &n.gates[int(number)%len(n.gates)] }

// gatesIn counts the gates in a state.
func (n *inStream) gatesIn(state gateState) (count int) {
	for i := range n.gates {
		if n.gates[i].state == state {
			count++
		}
	}
	return count
}

// NewStreams creates the streams of a rank. It uses Self, Ranks, Stocks, Least, Policy, Retry and
// Gates of cfg.
func NewStreams(cfg Config) *Streams {
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Stocks == 0 {
		cfg.Stocks = defaultStocks
	}
	if cfg.Gates == 0 {
		cfg.Gates = defaultGates
	}
	if cfg.Gates&(cfg.Gates-1) != 0 { // the remainder must survive wrap-around of the numbers
		panic(fmt.Sprintf("threshold: %d gates: expected a power of two", cfg.Gates))
	}
	return &Streams{cfg: cfg}
}

// Stats returns the counters.
func (c *Streams) Stats() StreamStats { return c.stats }

// Next returns the next action.
func (c *Streams) Next() (StreamAction, bool) {
	if len(c.actions) == 0 {
		return StreamAction{}, false
	}
	a := c.actions[0]
	c.actions = c.actions[1:]
	return a, true
}

func (c *Streams) do(a StreamAction) { c.actions = append(c.actions, a) }

func (c *Streams) enqueue(l Stream, kind Kind, number uint16, address uint64, inOrder bool) {
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

// Ended records a message that used a rendezvous. If overlap was lost, it requests a stream for
// messages up to the longest of the profile.
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
	if lost, judged := o.judge(&c.cfg.Policy, s); !judged || !lost {
		return
	}
	o.asked, o.bytes = true, longest
	c.stats.Asked++
	c.do(StreamAction{Do: TellStream, Stream: l, Message: Message{Kind: StreamRequest, Bytes: longest, Tag: l.Tag, Comm: l.Comm}})
}

// Fits reports whether a message of n bytes would use its stream.
func (c *Streams) Fits(l Stream, n int) bool {
	o := c.outOf(l)
	return o != nil && o.open && n > c.cfg.Least && n <= o.bytes
}

// Send numbers a message; false: it belongs to no stream. All messages of a stream are numbered, in
// the order of their announcements. A message that is inside is put when TryStream requests it;
// others travel as usual.
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

// move tries to put the next message of a stream, if allowed.
func (c *Streams) move(o *outStream) {
	i := c.first(o)
	if i < 0 || o.tryAt > c.now {
		return
	}
	t := o.unfinished[i]
	o.trying = true
	c.do(StreamAction{Do: TryStream, Stream: o.Stream, Number: t.number, Address: o.addresses[int(t.number)%c.cfg.Gates], Probe: o.probe})
}

// first is the index of the message that may be put: the first that has not landed, if the previous
// user of its gate has finished. -1: none.
func (c *Streams) first(o *outStream) int {
	i := slices.IndexFunc(o.unfinished, func(t numbered) bool { return t.inside && !t.landed })
	if i < 0 || o.held || o.trying || i >= c.cfg.Gates && slices.ContainsFunc(o.unfinished[:i-c.cfg.Gates+1], func(t numbered) bool { return !t.over }) {
		return -1
	}
	return i
}

// Tried reports the result of an attempt: a put was refused, at least in part, or has landed; a
// probe was refused, or found the receiver ready.
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
		c.enqueue(l, Landed, t.number, 0, true)
		c.do(StreamAction{Do: SentStream, Stream: l, Number: t.number})
	}
	if o.closing {
		c.leaveAlone(o)
	}
	c.move(o)
}

// leaveAlone answers a Close.
func (c *Streams) leaveAlone(o *outStream) {
	o.closing, o.held = false, true
	c.enqueue(o.Stream, Closed, 0, 0, true)
}

// passed handles Passed: a message is finished at its receiver, and the next one for its gate may
// be put to the given address.
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

// Deadline is the time of the next retry.
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

// Tick sets the current time and retries refused puts.
func (c *Streams) Tick(now Time) {
	c.now = now
	for _, o := range c.out {
		c.move(o)
	}
}

// Hear processes a message.
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
		c.enqueue(l, StreamOpened, 0, 0, true)
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
		c.enqueue(l, StreamReply, 0, 0, false)
		return
	}
	c.in = append(c.in, &inStream{Stream: l, bytes: bytes, gates: make([]gate, c.cfg.Gates)})
	c.do(StreamAction{Do: ReserveStream, Stream: l, Message: Message{Bytes: bytes}})
}

// Reserved answers ReserveStream with the addresses of Config.Gates gates; nil: none available.
func (c *Streams) Reserved(l Stream, addresses []uint64) {
	if addresses == nil {
		c.in = slices.DeleteFunc(c.in, func(n *inStream) bool { return n.Stream == l })
		c.enqueue(l, StreamReply, 0, 0, false)
		return
	}
	c.stats.Streams = len(c.in)
	for i, at := range addresses {
		c.inOf(l).gates[i].address = at
		c.enqueue(l, StreamReply, 0, at, false)
	}
}

// Gates is the number of gates per stream: message N uses gate N modulo Gates.
func (c *Streams) Gates() int { return c.cfg.Gates }

// Offerable returns the number and address of the message for which an unmatched receive can be
// readied; false: the receive must wait for its message. front is the number of earlier receives
// that match the same messages: all of them must be ready. room must suffice for the longest
// message of the stream.
func (c *Streams) Offerable(l Stream, front, room int) (number uint16, address uint64, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened || n.revoked || n.reopen || len(n.waiting) > 0 || room < n.bytes || n.gatesIn(gateReady) != front {
		return 0, 0, false
	}
	number = n.next + uint16(front)
	s := n.gate(number)
	return number, s.address, s.state == gateEmpty
}

// Offer readies a receive for the message returned by Offerable.
func (c *Streams) Offer(l Stream, number uint16) {
	s := c.inOf(l).gate(number)
	s.state, s.number, s.cancel = gateReady, number, false
	c.stats.Readied++
	c.do(StreamAction{Do: OpenStream, Stream: l, Number: number})
}

// Address is the address to which the sender puts a message.
func (c *Streams) Address(l Stream, number uint16) uint64 { return c.inOf(l).gate(number).address }

// Came numbers an arriving message, in the order of its peer's messages; false: it belongs to no
// stream.
func (c *Streams) Came(l Stream) (number uint16, ok bool) {
	n := c.inOf(l)
	if n == nil || !n.opened {
		return 0, false
	}
	n.next++
	return n.next - 1, true
}

// Matched reports that a message was matched. If a receive was readied for it, it is that one.
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
		c.enqueue(l, Passed, number, s.address, false)
	}
}

// ready readies the receives of matched messages whose gates are empty, in order.
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
		c.reopenIfShut(n)
	}
}

// reopenIfShut lets the sender resume once the hardware has forgotten all buffers that were taken
// back.
func (c *Streams) reopenIfShut(n *inStream) {
	if n.reopen && !slices.ContainsFunc(n.gates, func(s gate) bool { return s.state == gateShutting && !s.tell }) {
		n.reopen = false
		c.enqueue(n.Stream, Reopened, 0, 0, false)
	}
}

func (c *Streams) shut(n *inStream, s *gate, tell bool) {
	s.state, s.tell = gateShutting, tell
	c.do(StreamAction{Do: ShutStream, Stream: n.Stream, Number: s.number})
}

// Shut answers ShutStream. The next message of the gate is to be put at the given address.
func (c *Streams) Shut(l Stream, number uint16, address uint64) {
	n := c.inOf(l)
	s := n.gate(number)
	s.state, s.address = gateEmpty, address
	if s.tell {
		c.enqueue(l, Passed, s.number, address, false)
	}
	c.reopenIfShut(n)
	c.ready(n)
}

// Revoke takes back the receive readied for a message; FreeStream or FilledStream reports the
// outcome. Later receives are taken back, too, because without this one they get other messages.
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
	c.enqueue(l, Close, 0, 0, false)
}
