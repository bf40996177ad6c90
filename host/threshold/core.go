package threshold

import (
	"cmp"
	"fmt"

	"github.com/nicloop/nicloop/drivers/peererror"
)

// Time is in the caller's unit.
type Time = int64

// A Handshake is the protocol by which a channel changes its threshold.
type Handshake uint8

// The handshakes.
const (
	Full     Handshake = iota // full in-band (section 4.2): the channel keeps running
	Partial                   // partial in-band (section 4.1): the channel stops meanwhile
	NotReady                  // receiver not ready (section 4.5): no buffers, but streams (type Streams)
)

func (h Handshake) String() string { return [...]string{"full", "partial", "notready"}[h] }

// Config configures a rank's core. It is the same on all ranks, except for Base and Self.
type Config struct {
	Self, Ranks int
	Handshake   Handshake
	// Base is the address of the rank's buffers (not 0), Cap their maximum total size.
	Base uint64
	Cap  int
	// Stocks is the maximum number of different buffer lengths per rank; 0: 20 (section 3.3).
	Stocks int
	// First is the initial number of buffers on each side of a channel. Most limits the total size
	// of its buffers to that many times the threshold. 0: 1 and 4.
	First, Most int
	// Least is the initial threshold of every channel.
	Least int
	// Fixed is the same threshold for every channel, set at its first longer message, or for all
	// channels at the start if All. 0: each channel adapts its own, by Policy.
	Fixed int
	All   bool
	Policy
	// Pool is the number of buffers of each length that all peers share: one peer's idle buffer is
	// recalled if another peer needs one. Buffers are as long as the threshold then (section 3.3). 0:
	// each peer has its own.
	Pool int
	// OneWay reserves no buffers in a change for a peer that has not sent anything. Its first message
	// uses a rendezvous, and gets it a buffer.
	OneWay bool
	// Idle is the time after which an unused buffer is recalled; 0: never (section 4.4).
	Idle Time
	// Weights limits the weight of a buffer. A buffer is recalled after being idle for its weight
	// times Idle. The successor of a recalled buffer has twice its weight: a cycle of recalls and
	// grants slows down and ends. 0: all buffers weigh 1.
	Weights int
	// Retry is the delay before a refused put is retried, under NotReady.
	Retry Time
	// Gates is the maximum number of messages of a stream with ready buffers; 0: 2.
	Gates int
}

// Defaults.
const (
	defaultStocks = 20
	defaultFirst  = 1
	defaultMost   = 4
	defaultGates  = 2
)

// Stats are the counters of a core.
type Stats struct {
	Begun, Switched, Refused uint64 // changes started by this rank; completed, started by either side; refused by a peer
	Time, LongestTime        Time   // from request to last acknowledgement, for changes started by this rank: sum and maximum
	Buffered, Short          uint64 // messages that used a buffer; that found none free although the threshold allowed one
	Grown, Shrunk            uint64 // buffers granted and recalled between changes
	Bytes, MostBytes         int    // total size of buffers: current and maximum
	Stocks                   int    // different buffer lengths in use
	Greatest                 int    // highest threshold of any channel
}

// A Core holds the channels of one rank.
type Core struct {
	cfg     Config
	pairs   []*pair // by peer; nil: no traffic yet
	actions []Action
	now     Time
	begun   bool // All: requests were sent
	stats   Stats
}

// An Action is a message to send. InOrder messages must follow everything started before and must
// not overtake a message that names a buffer. After an action with Last, nothing is sent on the
// channel; messages with Outside bypass the channel and overtake whatever waits in it.
type Action struct {
	Peer    int
	Message Message
	InOrder bool
	Last    bool
	Outside bool
	// Resume is not a message: the channel to Peer may send again.
	Resume bool
}

// New creates the core of a rank.
func New(cfg Config) *Core {
	cfg.Stocks, cfg.First, cfg.Most = cmp.Or(cfg.Stocks, defaultStocks), cmp.Or(cfg.First, defaultFirst), cmp.Or(cfg.Most, defaultMost)
	cfg.Policy = cfg.Policy.withDefaults()
	if cfg.Base == 0 || cfg.Cap < 0 || cfg.First < 1 || cfg.Most < cfg.First || cfg.Ranks < 1 || cfg.Self < 0 || cfg.Self >= cfg.Ranks {
		panic(fmt.Sprintf("threshold: %+v: expected an address other than 0, 1 or more buffers of at most so many, and a rank of the world", cfg))
	}
	return &Core{cfg: cfg, pairs: make([]*pair, cfg.Ranks), stats: Stats{Greatest: cfg.Least}}
}

// The pool and the weights of AsPublished. The paper states neither.
const (
	publishedPool    = 16
	publishedWeights = 64
)

// AsPublished returns the configuration with the choices of sections 3.1 to 3.3 and 4.4. A message
// has a header of so many bytes, and its transfer is estimated to take so long per byte. Pool and
// Weights are kept if they are set.
func (c Config) AsPublished(header int, perByte Time) Config {
	c.Trigger, c.PerByte, c.Header, c.SentOnly, c.OneWay = Estimated, perByte, header, true, true
	c.Pool, c.Weights = cmp.Or(c.Pool, publishedPool), cmp.Or(c.Weights, publishedWeights)
	return c
}

// Stats returns the counters.
func (c *Core) Stats() Stats { return c.stats }

// Next returns the next action.
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

// Threshold is the threshold of the channel to a peer: longer messages use no buffer.
func (c *Core) Threshold(peer int) int {
	if c.pairs[peer] == nil {
		return c.cfg.Least
	}
	return c.pairs[peer].threshold
}

// Stopped reports whether the channel to a peer is stopped by a partial handshake.
func (c *Core) Stopped(peer int) bool { return c.pairs[peer] != nil && c.pairs[peer].stopped }

// Switching reports whether the channel to a peer is changing its threshold.
func (c *Core) Switching(peer int) bool { return c.pairs[peer] != nil && c.pairs[peer].step != calm }

// Begin requests the fixed threshold on all channels, if it is to be set at the start. The lower
// rank of a pair sends the request.
func (c *Core) Begin() {
	if !c.cfg.All || c.cfg.Fixed <= c.cfg.Least || c.begun {
		return
	}
	c.begun = true
	for peer := c.cfg.Self + 1; peer < c.cfg.Ranks; peer++ {
		c.want(peer, c.cfg.Fixed)
	}
}

// Take allocates a buffer at the peer for a message of n bytes and returns its address. False: the
// message must use a rendezvous.
func (c *Core) Take(peer, n int) (uint64, bool) {
	p := c.pair(peer)
	if p.stopped { // the message would follow the last one that may name this buffer
		return 0, false
	}
	if i := p.best(n); i >= 0 && n <= p.threshold {
		p.taken = p.peerBuffers[i]
		p.peerBuffers = append(p.peerBuffers[:i], p.peerBuffers[i+1:]...)
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

// Filled reports the arrival of a message, in order, that names a buffer.
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

// Read reports that the receiver has copied a complete message out of its buffer.
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
	c.enqueue(peer, Message{Kind: Empty, Generation: b.generation, Bytes: b.bytes, Address: at})
}

// Came reports the arrival of a message by rendezvous. If the channel has buffers of sufficient
// length, there are too few of them, and one more is granted.
func (c *Core) Came(peer, n int) {
	p := c.pairs[peer]
	if p == nil || n > p.threshold || n <= c.cfg.Least || p.step != calm || p.recalled != 0 {
		return
	}
	bytes := c.cut(n, p.threshold)
	if p.room()+bytes > c.cfg.Most*p.threshold {
		return
	}
	if c.cfg.Pool > 0 && c.count(bytes) >= c.cfg.Pool {
		c.recallFor(peer, bytes)
		return
	}
	at, ok := c.allocate(bytes, 1)
	if !ok {
		return
	}
	c.adopt(p, at, bytes, 1, p.generation)
	c.stats.Grown++
	c.enqueue(peer, Message{Kind: Grant, Generation: p.generation, Count: 1, Bytes: bytes, Address: at})
}

// Tick sets the current time and recalls idle buffers, one per peer at a time.
func (c *Core) Tick(now Time) {
	c.now = now
	if c.cfg.Idle == 0 {
		return
	}
	for peer, p := range c.pairs {
		if p == nil || p.step != calm || p.recalled != 0 {
			continue
		}
		for i := range p.recvBuffers {
			if b := &p.recvBuffers[i]; !b.full && !b.old && now-b.used >= c.cfg.Idle*Time(b.weight) {
				c.recall(peer, p, b)
				break
			}
		}
	}
}

// recall requests a buffer back.
func (c *Core) recall(peer int, p *pair, b *buffer) {
	p.recalled = b.at
	c.enqueue(peer, Message{Kind: Recall, Generation: b.generation, Address: b.at})
}

// recallFor recalls a buffer of the pool for a peer that needs one: the least recently used of the
// other peers. The peer gets it when its next message finds none.
func (c *Core) recallFor(needs, bytes int) {
	victim, oldest := -1, (*buffer)(nil)
	for peer, p := range c.pairs {
		if p == nil || peer == needs || p.step != calm {
			continue
		}
		if p.recalled != 0 {
			return // one at a time
		}
		for i := range p.recvBuffers {
			if b := &p.recvBuffers[i]; b.bytes == bytes && !b.full && !b.old && (oldest == nil || b.used < oldest.used) {
				victim, oldest = peer, b
			}
		}
	}
	if oldest != nil {
		c.recall(victim, c.pairs[victim], oldest)
	}
}

func (c *Core) enqueue(peer int, m Message) {
	c.actions = append(c.actions, Action{Peer: peer, Message: m})
}

func (c *Core) tellInOrder(peer int, m Message) {
	c.actions = append(c.actions, Action{Peer: peer, Message: m, InOrder: true})
}

// Back undoes the last Take for a peer, if the message could not be sent.
func (c *Core) Back(peer int) {
	p := c.pair(peer)
	p.peerBuffers = append(p.peerBuffers, p.taken)
	c.stats.Buffered--
}

// Locate returns the buffer of this rank that contains an address, and its peer.
func (c *Core) Locate(at uint64) (buffer uint64, peer int, ok bool) {
	for peer, p := range c.pairs {
		if p == nil {
			continue
		}
		for i := range p.recvBuffers {
			if b := &p.recvBuffers[i]; at >= b.at && at-b.at < uint64(b.bytes) {
				return b.at, peer, true
			}
		}
	}
	return 0, 0, false
}
