package threshold

import (
	"cmp"
	"fmt"

	"github.com/nicloop/nicloop/drivers/peererror"
)

// Time is in the caller's unit.
type Time = int64

// A Handshake is how a channel changes its threshold.
type Handshake uint8

// The handshakes.
const (
	Full     Handshake = iota // full in-band (section 4.2): the channel goes on
	Partial                   // partial in-band (section 4.1): it stops meanwhile
	NotReady                  // receiver not ready (section 4.5): no buffers, but streams (type Streams)
)

func (h Handshake) String() string { return [...]string{"full", "partial", "notready"}[h] }

// Config is what a rank's core works by. All ranks have the same, but for Base and Self.
type Config struct {
	Self, Ranks int
	Handshake   Handshake
	// Base is the address of the rank's buffers, not 0, and Cap their bytes at most.
	Base uint64
	Cap  int
	// Stocks is how many lengths of buffers a rank has at most; 0: 20 (section 3.3).
	Stocks int
	// First is how many buffers each side of a channel begins with, Most how many of its threshold it
	// may hold as much as; 0: 1 and 4.
	First, Most int
	// Least is the threshold of every channel that was never changed.
	Least int
	// Fixed wants this threshold for every channel, from its first longer message on, or for all of
	// them from the start if All. 0: each channel has its own, by Policy.
	Fixed int
	All   bool
	Policy
	// Idle is for how long a buffer is not used before it is taken back; 0: for ever (section 4.4).
	Idle Time
	// Retry is after how long what was refused is tried again, under NotReady.
	Retry Time
	// Gates is how many messages of a stream may have buffers ready at a time; 0: 2.
	Gates int
}

// The defaults.
const (
	defaultStocks = 20
	defaultFirst  = 1
	defaultMost   = 4
	defaultGates  = 2
)

// Stats count what a core did.
type Stats struct {
	Begun, Switched, Refused uint64 // changes: begun here; over, whoever began them; refused by a peer
	Time, LongestTime        Time   // of changes begun here, from the request to the last acknowledgement: all, and the longest
	Buffered, Short          uint64 // messages that took a buffer; that found none though one would have been long enough
	Grown, Shrunk            uint64 // buffers granted and taken back between changes
	Bytes, MostBytes         int    // of buffers: now, and at their highest
	Stocks                   int    // lengths of buffers now
	Greatest                 int    // threshold of any channel
}

// A Core is the channels of one rank.
type Core struct {
	cfg     Config
	pairs   []*pair // by peer; nil: nothing has happened
	actions []Action
	now     Time
	begun   bool // All: peers were asked
	stats   Stats
}

// An Action is a message to tell. InOrder: behind everything that was begun before; it must not
// pass a message that names a buffer. Last: it is the last but for those that are Outside the
// channel, which pass what waits in it.
type Action struct {
	Peer    int
	Message Message
	InOrder bool
	Last    bool
	Outside bool
	// Resume: no message, but the channel to Peer may send again.
	Resume bool
}

// New makes the core of one rank.
func New(cfg Config) *Core {
	cfg.Stocks, cfg.First, cfg.Most = cmp.Or(cfg.Stocks, defaultStocks), cmp.Or(cfg.First, defaultFirst), cmp.Or(cfg.Most, defaultMost)
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Base == 0 || cfg.Cap < 0 || cfg.First < 1 || cfg.Most < cfg.First || cfg.Ranks < 1 || cfg.Self < 0 || cfg.Self >= cfg.Ranks {
		panic(fmt.Sprintf("threshold: %+v: expected an address other than 0, 1 or more buffers of at most so many, and a rank of the world", cfg))
	}
	return &Core{cfg: cfg, pairs: make([]*pair, cfg.Ranks), stats: Stats{Greatest: cfg.Least}}
}

// Stats gives the counters.
func (c *Core) Stats() Stats { return c.stats }

// Next is what is to be done next.
func (c *Core) Next() (Action, bool) {
	if len(c.actions) == 0 {
		return Action{}, false
	}
	a := c.actions[0]
	c.actions = c.actions[1:]
	return a, true
}

func (c *Core) pair(peer int) *pair {
	if c.pairs[peer] == nil {
		c.pairs[peer] = &pair{threshold: c.cfg.Least}
	}
	return c.pairs[peer]
}

// Threshold is that of the channel to a peer: longer messages have no buffer.
func (c *Core) Threshold(peer int) int {
	if c.pairs[peer] == nil {
		return c.cfg.Least
	}
	return c.pairs[peer].threshold
}

// Stopped tells whether the channel to a peer has stopped: a partial handshake is under way.
func (c *Core) Stopped(peer int) bool { return c.pairs[peer] != nil && c.pairs[peer].stopped }

// Switching tells whether a change of the channel to a peer is under way.
func (c *Core) Switching(peer int) bool { return c.pairs[peer] != nil && c.pairs[peer].step != calm }

// Begin asks all peers, if the thresholds are to be fixed from the start. Ranks below ask.
func (c *Core) Begin() {
	if !c.cfg.All || c.cfg.Fixed <= c.cfg.Least || c.begun {
		return
	}
	c.begun = true
	for peer := c.cfg.Self + 1; peer < c.cfg.Ranks; peer++ {
		c.want(peer, c.cfg.Fixed)
	}
}

// Take gives a message of n bytes to a peer the address of a buffer there. False: it has to travel
// by a rendezvous.
func (c *Core) Take(peer, n int) (uint64, bool) {
	p := c.pair(peer)
	if p.stopped { // it would come behind the last message that may name the buffer
		return 0, false
	}
	if i := p.best(n); i >= 0 && n <= p.threshold {
		p.taken = p.there[i]
		p.there = append(p.there[:i], p.there[i+1:]...)
		c.stats.Buffered++
		return p.taken.at, true
	}
	switch {
	case n <= p.threshold:
		c.stats.Short++
	case c.cfg.Fixed >= n:
		c.want(peer, c.cfg.Fixed)
	}
	return 0, false
}

// Filled: a message of so many bytes has come, in the order of the messages of its pair, that names
// a buffer.
func (c *Core) Filled(peer int, at, bytes uint64) error {
	b := c.pair(peer).find(at)
	if b == nil || b.full {
		return peererror.BadField(peer, "buffer of a message", at, "an empty buffer for this peer")
	}
	if bytes > uint64(b.bytes) {
		return peererror.BadField(peer, "length of a message in a buffer", bytes, "at most %d", b.bytes)
	}
	b.full, b.used = true, c.now
	return nil
}

// Read: the receiver has the bytes of the message in a buffer, all of which have come.
func (c *Core) Read(peer int, at uint64) {
	p := c.pair(peer)
	b := p.find(at)
	if b == nil || !b.full {
		panic(fmt.Sprintf("threshold: the buffer at %d for rank %d is read, and has no message", at, peer))
	}
	b.full, b.used = false, c.now
	if b.old {
		c.drop(p, at)
		return
	}
	c.tell(peer, Message{Kind: Empty, Generation: b.generation, Bytes: b.bytes, Address: at})
}

// Came: a message has come by a rendezvous. If the channel has buffers for its length there were
// too few.
func (c *Core) Came(peer, n int) {
	p := c.pairs[peer]
	if p == nil || n > p.threshold || n <= c.cfg.Least || p.step != calm || p.recalled != 0 {
		return
	}
	bytes := c.cut(n, p.threshold)
	if p.room()+bytes > c.cfg.Most*p.threshold {
		return
	}
	at, ok := c.allocate(bytes, 1)
	if !ok {
		return
	}
	c.adopt(p, at, bytes, 1, p.generation)
	c.stats.Grown++
	c.tell(peer, Message{Kind: Grant, Generation: p.generation, Count: 1, Bytes: bytes, Address: at})
}

// Tick lets time pass, and asks for buffers that were not used for long, one of a peer at a time.
func (c *Core) Tick(now Time) {
	c.now = now
	if c.cfg.Idle == 0 {
		return
	}
	for peer, p := range c.pairs {
		if p == nil || p.step != calm || p.recalled != 0 {
			continue
		}
		for i := range p.here {
			if b := &p.here[i]; !b.full && !b.old && now-b.used >= c.cfg.Idle {
				p.recalled = b.at
				c.tell(peer, Message{Kind: Recall, Generation: b.generation, Address: b.at})
				break
			}
		}
	}
}

func (c *Core) tell(peer int, m Message) {
	c.actions = append(c.actions, Action{Peer: peer, Message: m})
}

func (c *Core) tellInOrder(peer int, m Message) {
	c.actions = append(c.actions, Action{Peer: peer, Message: m, InOrder: true})
}

// Back gives back what the last Take for a peer has given, for a message that could not be sent so.
func (c *Core) Back(peer int) {
	p := c.pair(peer)
	p.there = append(p.there, p.taken)
	c.stats.Buffered--
}

// Locate gives the address of the buffer here that an address lies in, and the peer that it is for.
func (c *Core) Locate(at uint64) (buffer uint64, peer int, ok bool) {
	for peer, p := range c.pairs {
		if p == nil {
			continue
		}
		for i := range p.here {
			if b := &p.here[i]; at >= b.at && at-b.at < uint64(b.bytes) {
				return b.at, peer, true
			}
		}
	}
	return 0, 0, false
}
