package fabric

import "math/bits"

// Fields used for every flit are in the first cache line of each struct.

// An outputVC is one VC of an output, or of the wire from a NIC. Its flits are numbered; flit i may
// be sent from cycle avail[i] on, when its entry of the buffer at the other end is known to be
// free. Credits arrive one per cycle, so these cycles increase by at least one each.
type outputVC struct {
	next  uint64 // first cycle in which it can send, as far as known, or Forever
	want  uint64 // the same if there were credits
	free  uint64 // cycle after the last flit that is on its way or decided
	sent  uint64 // number of flits sent or decided: the number of the next one
	known uint64 // flits below this number have their entry
	held  uint64 // queues that are not empty
	owner *voq   // packet that holds the output, or nil
	to    *inputVC

	queues  []voq
	avail   []uint64 // a ring; behind it, up to its capacity, another: see departs
	starved uint64   // cycles in which a flit waited for a credit
	out     uint32
	vc      uint8
	last    uint8 // last queue served
	wire    bool  // from a NIC, whose node is out
	part    uint8 // of to, or exactly
}

// A voq is a virtual output queue: the flits of one input VC for one output.
type voq struct {
	head, tail *flitRun // tail nil: empty
	in         *inputVC
	out        *outputVC
	bit        uint64 // in outputVC.held
}

// A flitRun is a run: flits of one packet that become visible in consecutive cycles.
type flitRun struct {
	next *flitRun // next in its queue
	at   uint64   // cycle from which its first flit is visible
	flit Flit     // Head if it includes the packet's first flit, Tail if it includes the last
	n    uint64   // flits
}

// An inputVC is one VC of an input buffer of a router or a NIC: the entries that an output VC
// fills.
type inputVC struct {
	packet       *voq // of the arriving packet; nil: it is discarded
	sender       *outputVC
	lastCreditAt uint64 // cycle in which the last credit arrives
	delay        uint64 // of a credit
	voqs         uint32 // the first of Fabric.voqs
	routes       uint32 // the first of Fabric.routes
	router       uint32 // for a NIC's buffer: the node
	port         uint8
	vc           uint8
	part         uint8
	from         uint8 // the sender's part, or exactly
}

// from is the cycle from which flit i may be sent.
func (l *outputVC) from(i uint64) *uint64 { return &l.avail[i&uint64(len(l.avail)-1)] }

// opens is the cycle from which the next flit has an entry, or Forever if that is unknown.
func (l *outputVC) opens() uint64 {
	if l.sent == l.known {
		return Forever
	}
	return *l.from(l.sent)
}

// lasts returns how many of n flits, one per cycle from now on, have an entry; the first has.
func (l *outputVC) lasts(now, n uint64) uint64 {
	n = min(n, l.known-l.sent)
	if *l.from(l.sent + n - 1) < now+n { // so those before it are in time, too
		return n
	}
	i := uint64(1)
	for *l.from(l.sent + i) <= now+i {
		i++
	}
	return i
}

// credits counts the entries that are free now for flits that leave now or later.
func (l *outputVC) credits(now uint64) (n int) {
	for i := l.sent - l.decided(now); i < l.known && *l.from(i) <= now; i++ {
		n++
	}
	return n
}

// decided counts the flits that will leave now and later.
func (l *outputVC) decided(now uint64) uint64 { return max(l.free, now) - now }

// seen is the cycle from which the next flit is visible: of the packet that holds the output, or of
// any.
func (l *outputVC) seen() uint64 {
	if q := l.owner; q != nil {
		if q.tail == nil {
			return Forever
		}
		return q.head.at
	}
	at := Forever
	for set := l.held; set != 0; set &= set - 1 {
		at = min(at, l.queues[bits.TrailingZeros64(set)].head.at)
	}
	return at
}

// grant gives the output to the packet of the next queue with a visible flit, round-robin.
func (l *outputVC) grant(now uint64) *voq {
	behind := l.held & -(2 << (l.last & 63))
	for _, set := range [2]uint64{behind, l.held} {
		for ; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			if q := &l.queues[i]; q.head.at <= now {
				l.last, l.owner = uint8(i), q
				return q
			}
		}
	}
	panic("fabric: an output was looked at before a flit could be seen")
}

// first counts the flits at the front of a queue, up to most, that belong to one packet and can
// leave one per cycle from now on.
func (q *voq) first(now, most uint64) uint64 {
	c := q.head
	n := c.n
	for n < most && c != q.tail && c.next.flit&Head == 0 && c.next.at <= now+n {
		c = c.next
		n += c.n
	}
	return min(n, most)
}

func (q *voq) length() (n uint64) {
	if q.tail == nil {
		return 0
	}
	for c := q.head; c != q.tail; c = c.next {
		n += c.n
	}
	return n + q.tail.n
}
