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
	known  uint64 // places freed, of to.freed, that were counted in credit
	credit uint32 // places of to that are known to be free
	out    uint32
	vc     uint8
	last   uint8 // queue that was served last
	_      [22]byte

	queues []queue
	// Cycles without credit while a flit could go, up to since: when the last credit
	// was spent, or the first flit came.
	starved, since uint64
	_              [24]byte
}

// queue is what one input VC holds for one output.
type queue struct {
	head, tail *cell // tail nil: empty
	in         *pool
	bit        uint64 // in lane.req
	lane       *lane
}

// cell is a flit inside.
type cell struct {
	next *cell  // behind it in its queue
	at   uint64 // the cycle from which next can be seen; Forever while there is none
	flit Flit
}

// pool is one VC of an input, or of a NIC's buffer: the places that a lane fills.
type pool struct {
	packet *queue // of the packet that comes in; nil: it is discarded
	sender *lane
	// When credits were started for the places freed, the latest ones. The sender
	// reads them when it has no credit left, so nobody needs to be told of each.
	log    []uint64
	freed  uint64
	told   uint64 // the cycle after that in which the last credit was started
	delay  uint32 // of a credit
	port   uint16
	vc     uint8
	hungry bool // the sender has no credit, and none is coming

	ways   []*queue // by port
	router uint32   // NIC's buffer: the node
	_      [36]byte
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

// settle counts the credits that have arrived by now.
func (l *lane) settle(now uint64) {
	p := l.to
	for l.known != p.freed && p.log[l.known&uint64(len(p.log)-1)]+uint64(p.delay) <= now {
		l.known++
		l.credit++
	}
}

// nextCredit is the cycle in which the next credit arrives, if one is coming.
func (l *lane) nextCredit() (at uint64, ok bool) {
	p := l.to
	return p.log[l.known&uint64(len(p.log)-1)] + uint64(p.delay), l.known != p.freed
}
