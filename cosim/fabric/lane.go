package fabric

import "math/bits"

// What every flit touches stands in the first cache line of each struct.

// output is one port, sending.
type output struct {
	lanes []lane
	ready uint8 // lanes that can move
	after uint8 // lanes behind the one served last
}

// lane is one VC of an output, or of the wire from a NIC, with the sender's credits.
type lane struct {
	req    uint64 // queues with a flit that can be seen
	owner  *queue // whose packet has the output, or nil
	to     *pool
	free   uint64 // the cycle after the last flit that is on its way or decided
	credit int32  // places of to that are known to be free; negative: a run counts on those to come
	out    uint32
	vc     uint8
	last   uint8 // queue that was served last
	wire   bool  // from a NIC, whose node is out
	_      [21]byte

	queues []queue
	sent   uint64 // flits, those decided included
	// Cycles without credit while a flit could go, up to since: when the last credit
	// was spent, or the first flit came.
	starved, since uint64
	_              [16]byte
}

// queue is what one input VC holds for one output.
type queue struct {
	head, tail *cell // tail nil: empty
	in         *pool
	bit        uint64 // in lane.req
	lane       *lane
}

// cell is a run: flits of one packet that can be seen in one cycle after the other.
type cell struct {
	next *cell  // behind it in its queue
	at   uint64 // the cycle from which its first flit can be seen
	flit Flit   // Head if that is the packet's first, Tail if the run's last is its last
	n    uint32 // flits
}

// pool is one VC of an input, or of a NIC's buffer: the places that a lane fills.
type pool struct {
	packet *queue // of the packet that comes in; nil: it is discarded
	sender *lane
	credits
	// wakeAt is when the sender, which has no credit, looks again; Forever: when it
	// is told; 0: it does not wait.
	wakeAt uint64
	delay  uint32 // of a credit
	port   uint16
	vc     uint8

	ways   []*queue // by port
	router uint32   // NIC's buffer: the node
	_      [28]byte
}

// credits are those on their way back, a bit for the cycle of arrival of each: one
// wire carries one per cycle, and who freed a place is of no interest.
type credits struct {
	ring   []uint64
	behind uint64 // cycles before this one have been looked at
	coming int
}

// add has n credits arrive, each in the first cycle in which no other does, from at on
// for the first and a cycle later for each further one. It gives the first such cycle.
func (c *credits) add(at, n uint64) (first uint64) {
	if c.coming == 0 {
		c.behind = at - 1 // a discarded flit may still free a place of the cycle before
	}
	word := &c.ring[at>>6&uint64(len(c.ring)-1)]
	if run := (uint64(1)<<n - 1) << (at & 63); at&63+n <= 64 && *word&run == 0 {
		*word |= run
		c.coming += int(n)
		return at
	}
	first = c.addOne(at)
	for i := uint64(1); i < n; i++ {
		c.addOne(at + i)
	}
	return first
}

func (c *credits) addOne(at uint64) uint64 {
	c.coming++
	for mask := uint64(len(c.ring) - 1); ; {
		word := &c.ring[at>>6&mask]
		ahead := uint64(bits.TrailingZeros64(^(*word >> (at & 63))))
		if ahead < 64-at&63 {
			at += ahead
			*word |= 1 << (at & 63)
			return at
		}
		at += 64 - at&63
	}
}

// take forgets the credits that have arrived by now and counts them.
func (c *credits) take(now uint64) (n int) {
	mask := uint64(len(c.ring) - 1)
	for at := c.behind; at <= now && c.coming > n; {
		width := min(64-at&63, now+1-at)
		word := &c.ring[at>>6&mask]
		arrived := *word & (^uint64(0) >> (64 - width) << (at & 63))
		*word ^= arrived
		n += bits.OnesCount64(arrived)
		at += width
	}
	c.coming -= n
	c.behind = now + 1
	return n
}

// arrives tells whether a credit arrives in a cycle that has not been looked at.
func (c *credits) arrives(at uint64) bool {
	return c.coming > 0 && c.ring[at>>6&uint64(len(c.ring)-1)]>>(at&63)&1 != 0
}

// until counts those that arrive up to a cycle and have not been taken.
func (c *credits) until(last uint64) (n int) {
	if c.coming == 0 {
		return 0
	}
	mask := uint64(len(c.ring) - 1)
	for at := c.behind; at <= last && n < c.coming; {
		width := min(64-at&63, last+1-at)
		n += bits.OnesCount64(c.ring[at>>6&mask] & (^uint64(0) >> (64 - width) << (at & 63)))
		at += width
	}
	return n
}

// next is the first cycle from one on in which a credit arrives, or Forever.
func (c *credits) next(from uint64) uint64 {
	mask := uint64(len(c.ring) - 1)
	at := max(from, c.behind)
	for end := c.behind + uint64(len(c.ring))*64; c.coming > 0 && at < end; at += 64 - at&63 {
		word := c.ring[at>>6&mask] >> (at & 63)
		if left := end - at; left < 64 {
			word &= 1<<left - 1 // behind them stand those before from
		}
		if word != 0 {
			return at + uint64(bits.TrailingZeros64(word))
		}
	}
	return Forever
}

func (l *lane) wants() bool {
	if l.owner != nil {
		return l.req&l.owner.bit != 0
	}
	return l.req != 0
}

// grant gives the output to the packet of the first queue in turn.
func (l *lane) grant() *queue {
	pick := l.req & -(2 << (l.last & 63))
	if pick == 0 {
		pick = l.req
	}
	l.last = uint8(bits.TrailingZeros64(pick))
	l.owner = &l.queues[l.last]
	return l.owner
}

// settle counts the credits that have arrived by now, the present cycle.
func (l *lane) settle(now uint64) {
	if l.to.coming > 0 {
		l.credit += int32(l.to.take(now))
	}
}

// lasts gives how many of n flits, one per cycle from now on, have a credit: those
// that are known to come count when they have come.
func (l *lane) lasts(now uint64, n int) int {
	if int(l.credit) < n {
		l.settle(now)
	}
	have := int(l.credit)
	for i := 1; i < n && have < n; i++ {
		if l.to.arrives(now + uint64(i)) {
			have++
		}
		if have <= i {
			return i
		}
	}
	return n
}

// decided counts the flits that will go in now and later.
func (l *lane) decided(now uint64) uint64 {
	if l.free > now {
		return l.free - now
	}
	return 0
}
