package host

import (
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/velo"
)

// A Proc is what the machine gives a rank: time, and sleep until a packet comes.
// cosim/vtime implements it over simulated time.
type Proc interface {
	Now() drivers.Time
	// Spend lets host work take t.
	Spend(t drivers.Time)
	// Sync lets the hardware catch up with Now; it tells whether time passed.
	Sync() bool
	// WaitArrival sleeps until the NIC may have written something, until another
	// rank wakes this one, or until the given time. It may return early.
	WaitArrival(until drivers.Time)
	// Attend has w work until that is done; in between it lets the hardware catch up and, when
	// it has, sleeps as WaitArrival does and spends look. Work must not wait.
	Attend(w Worker, look drivers.Time)
	// Room tells whether so many lines can be posted to the NIC without waiting.
	Room(lines int) bool
	// Err returns drivers.ErrRunEnded when the machine has ended the run, and nil before. From then on Sync,
	// WaitArrival and Attend return at once, so a loop around them must check it.
	Err() error
	// Wake ends the WaitArrival of rank id at the given time.
	Wake(id int, at drivers.Time)
}

// A Worker is what a rank attends to: it does what there is to do, and tells whether that was
// all and, if not, until when it can sleep.
type Worker = interface {
	Work() (done bool, until drivers.Time)
}

// Stats count a rank's messages.
type Stats struct {
	MessagesSent, MessagesReceived uint64
	BytesSent, BytesReceived       uint64
	DelayedMessages                uint64 // messages that waited for credits at least once
	LocalMessages                  uint64 // messages that bypassed the NIC
	Unexpected                     uint64 // messages that came before their receive
}

// A Rank is one process of a world. What every packet needs stands first: in a large
// world it has left the cache when the next packet comes.
type Rank struct {
	ep      *velo.Endpoint
	proc    Proc
	cost    *Cost
	peers   []peer
	pkt     velo.Packet
	control uint64       // control packets charged for
	credit  drivers.Time // bookkeeping of a data packet; 0 without flow control
	bulk    *bulk        // nil without RMA
	reuse   *reuser      // nil unless eager messages go by RMA
	local   *Local       // nil if everything goes through the NIC
	waiting *Request
	serving int   // the peer that has credits again and is being sent to, or nobody
	over    bool  // waiting is done: said here, too, for a request is one more line
	attends bool  // the rank attends, and must not wait
	stuck   bool  // it would have had to
	err     error // it failed
	line    [regs.VELOPayload]byte

	Comm      // the world
	match     *match.Core[*Request, *message]
	messages  freeList[message]
	requests  freeList[Request]
	controls  []*Request // that have carried a control message
	spare     buffers    // of unexpected messages
	contents  Contents   // by which they are kept; nil: as they are
	schedules schedules
	stats     Stats
	live      []uint16 // contexts of its communicators, the first of each pair
	contexts  int      // the first above them

	queued, held int  // messages that have not left, and those of them that may not
	lingers      bool // the function of the rank has returned
	settles      bool // nobody runs any more

	helped bool  // a helper makes progress while the rank computes
	failed error // the helper did
	inside bool  // progress starts messages

	lastWait *Waiting // what the rank waited for when the run was ended

	waitsFrom drivers.Time // when the call began in which the rank waits; 0: it does not
}

// A peer is what a rank keeps for another one: the messages from it and those to it.
type peer struct {
	inbound
	outbound
}

// NewRank makes rank id of a world of size ranks, which share cost.
func NewRank(id, size int, proc Proc, ep *velo.Endpoint, cost *Cost) *Rank {
	r := &Rank{
		proc: proc, ep: ep, cost: cost, peers: make([]peer, size),
		match: match.New[*Request, *message](size), serving: nobody,
	}
	switch ep.Flow() {
	case velo.Static:
		r.credit = cost.Static
	case velo.Dynamic:
		r.credit = cost.Dynamic
	}
	r.Comm = Comm{rank: r, id: id, size: size, context: contextWorld, inner: contextInner}
	r.contexts = contextFirst
	if p, ok := proc.(interface{ Near(areas ...cache.Area) }); ok { // see vtime.Proc
		p.Near(append(ep.Near(), cache.Of(r).First(unsafe.Offsetof(r.Comm)))...)
	}
	return r
}

// Now is the rank's time.
func (r *Rank) Now() drivers.Time { return r.proc.Now() }

// Compute lets the application work for t.
func (r *Rank) Compute(t drivers.Time) {
	if r.helped {
		r.computeHelped(r.proc.Now() + t)
		return
	}
	r.proc.Spend(t)
}

// Stats gives the rank's counters.
func (r *Rank) Stats() Stats { return r.stats }

// Endpoint is the rank's VELO endpoint.
func (r *Rank) Endpoint() *velo.Endpoint { return r.ep }

// chargeControl charges the control packets handled since it was last called.
func (r *Rank) chargeControl() {
	if n := r.ep.Controls(); n != r.control {
		r.proc.Spend(r.cost.Control * drivers.Time(n-r.control))
		r.control = n
	}
}
