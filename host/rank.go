package host

import (
	"github.com/nicloop/nicloop/drivers"
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
	// Wake ends the WaitArrival of rank id at the given time.
	Wake(id int, at drivers.Time)
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
	local   *Local       // nil if everything goes through the NIC
	waiting *Request
	linear  bool
	line    [regs.VELOPayload]byte

	Comm     // the world
	match    *match.Core[*Request, *message]
	messages depot[message]
	requests depot[Request]
	spare    buffers // of unexpected messages
	stats    Stats
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
		match: match.New[*Request, *message](size),
	}
	switch ep.Flow() {
	case velo.Static:
		r.credit = cost.Static
	case velo.Dynamic:
		r.credit = cost.Dynamic
	}
	r.Comm = Comm{rank: r, id: id, size: size}
	return r
}

// Now is the rank's time.
func (r *Rank) Now() drivers.Time { return r.proc.Now() }

// Compute lets the application work for t.
func (r *Rank) Compute(t drivers.Time) { r.proc.Spend(t) }

// Stats gives the rank's counters.
func (r *Rank) Stats() Stats { return r.stats }

// Endpoint is the rank's VELO endpoint.
func (r *Rank) Endpoint() *velo.Endpoint { return r.ep }

// progress takes one packet, if there is one, and sends what its credits allow.
func (r *Rank) progress() (bool, error) {
	ok, err := r.ep.Poll(&r.pkt)
	if err != nil {
		return false, err
	}
	if ok {
		r.proc.Spend(r.cost.Take + r.credit + r.cost.CopyByte*drivers.Time(len(r.pkt.Payload)))
		if err := r.file(r.pkt.From, r.pkt.Payload); err != nil {
			return false, err
		}
	}
	r.chargeControl()
	long, err := r.progressRMA()
	if err != nil {
		return false, err
	}
	ok = r.progressLocal() || ok || long
	for {
		peer, more := r.ep.Credited()
		if !more {
			return ok, nil
		}
		ok = true
		if err := r.push(peer); err != nil {
			return false, err
		}
	}
}

// chargeControl charges the control packets handled since it was last called.
func (r *Rank) chargeControl() {
	if n := r.ep.Controls(); n != r.control {
		r.proc.Spend(r.cost.Control * drivers.Time(n-r.control))
		r.control = n
	}
}

// await makes progress, and sleeps until there is any.
func (r *Rank) await() error {
	for {
		if got, err := r.step(); got || err != nil {
			return err
		}
	}
}

// step makes progress, or sleeps until there can be any. An empty mailbox counts
// only once the hardware has caught up.
func (r *Rank) step() (bool, error) {
	got, err := r.progress()
	if err != nil || got || r.proc.Sync() {
		return got, err
	}
	r.proc.WaitArrival(r.nextLocal())
	r.proc.Spend(r.cost.Poll)
	return false, nil
}
