package host

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/path/buffered"
	"github.com/nicloop/nicloop/host/path/eager"
	"github.com/nicloop/nicloop/host/path/local"
	"github.com/nicloop/nicloop/host/path/notready"
	"github.com/nicloop/nicloop/host/path/rendezvous"
	"github.com/nicloop/nicloop/host/path/ring"
	"github.com/nicloop/nicloop/velo"
)

// A Rank is one process of a world.
type Rank struct {
	engine path.Engine
	Comm   // the world

	requests  path.FreeList[Request]
	schedules schedules
	live      []uint16 // contexts of its communicators, the first of each pair
	contexts  int      // the first above them
	helped    bool     // a helper makes progress while the rank computes

	// The paths; those that the rank does not use are nil.
	local      *local.Path
	eager      *eager.Path
	ring       *ring.Path
	notready   *notready.Path
	buffered   *buffered.Path
	rendezvous *rendezvous.Path
}

// NewRank makes rank id of a world of size ranks, which share cost.
func NewRank(id, size int, proc Proc, ep *velo.Endpoint, cost *Cost) *Rank {
	r := &Rank{contexts: contextFirst}
	e := &r.engine
	e.Init(id, size, proc, ep, cost)
	e.Resume = r.advance
	r.local, r.eager = local.Add(e), eager.Add(e)
	r.Comm = Comm{rank: r, id: id, size: size, context: contextWorld, inner: contextInner}
	if p, ok := proc.(interface{ Near(areas ...cache.Area) }); ok { // see vtime.Proc
		p.Near(e.Near()...)
	}
	return r
}

// UseLocal lets messages to ranks of the same node bypass the NIC.
func (r *Rank) UseLocal(l *Local) { r.local.Share(l) }

// UseContents keeps unexpected messages by name from now on, where that is possible; nil: none.
// Those that are kept must have been received before there are other Contents.
func (r *Rank) UseContents(c Contents) { r.eager.UseContents(c) }

// Now is the rank's time.
func (r *Rank) Now() drivers.Time { return r.engine.Proc.Now() }

// Compute lets the application work for t.
func (r *Rank) Compute(t drivers.Time) {
	if r.helped {
		r.computeHelped(r.Now() + t)
		return
	}
	r.engine.Proc.Spend(t)
}

// Stats gives the rank's counters.
func (r *Rank) Stats() Stats { return r.engine.Stats }

// Endpoint is the rank's VELO endpoint.
func (r *Rank) Endpoint() *velo.Endpoint { return r.engine.Endpoint() }

// Paths lists the ways in which the rank's messages move, in the order in which a send is offered
// to them.
func (r *Rank) Paths() []path.Path { return r.engine.Paths() }

// Waiting returns what the rank waits for, or what it waited for when the run was ended.
func (r *Rank) Waiting() Waiting { return r.engine.WaitingFor() }

// Owes tells whether messages that may leave have not left.
func (r *Rank) Owes() bool { return r.engine.Owes() }

// Settle does what can be done without waiting when no rank of the world runs any more, and tells
// whether it did anything. It takes no time. A message that comes only now has not been received:
// that is an error.
func (r *Rank) Settle() (moved bool, err error) { return r.engine.Settle() }

// enter takes the library's lock, where there is a helper.
func (r *Rank) enter() {
	if r.helped {
		r.engine.Proc.Spend(r.engine.Cost.Lock)
	}
}

// copied charges copying n bytes.
func (r *Rank) copied(n int) { r.engine.Proc.Spend(r.engine.Cost.CopyByte * drivers.Time(n)) }
