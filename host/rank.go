package host

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/path/buffered"
	"github.com/nicloop/nicloop/host/path/eager"
	"github.com/nicloop/nicloop/host/path/local"
	"github.com/nicloop/nicloop/host/path/notready"
	"github.com/nicloop/nicloop/host/path/onesided"
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
	live      []uint16 // contexts in use, the first of each pair
	contexts  int      // the first context above live
	helped    bool     // a helper makes progress while the rank computes

	// Paths; nil if the rank does not use them.
	local      *local.Path
	eager      *eager.Path
	ring       *ring.Path
	notready   *notready.Path
	buffered   *buffered.Path
	rendezvous *rendezvous.Path
	onesided   *onesided.Path
}

// NewRank makes rank id of a world of size ranks. All ranks share cost.
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

// UseContents keeps unexpected messages by name from now on, where c can regenerate them; nil keeps
// their bytes. All messages that are kept by name must have been received before c is replaced.
func (r *Rank) UseContents(c Contents) { r.eager.UseContents(c) }

// Now returns the rank's current time.
func (r *Rank) Now() drivers.Time { return r.engine.Proc.Now() }

// Compute spends t as computation of the application.
func (r *Rank) Compute(t drivers.Time) {
	if r.helped {
		r.computeHelped(r.Now() + t)
		return
	}
	r.engine.Proc.Spend(t)
}

// Stats returns the rank's counters.
func (r *Rank) Stats() Stats { return r.engine.Stats }

// Endpoint returns the rank's VELO endpoint.
func (r *Rank) Endpoint() *velo.Endpoint { return r.engine.Endpoint() }

// Paths returns the paths of the rank's messages, in the order in which a send is offered to them.
func (r *Rank) Paths() []path.Path { return r.engine.Paths() }

// Waiting describes what the rank waits for, or waited for when the run ended.
func (r *Rank) Waiting() Waiting { return r.engine.WaitingFor() }

// Owes reports whether messages are queued that could be sent.
func (r *Rank) Owes() bool { return r.engine.Owes() }

// Settle completes work that needs no waiting after all ranks of the world have ended, and reports
// whether there was any. It takes no time. A message that arrives only now cannot be received any
// more: that is an error.
func (r *Rank) Settle() (moved bool, err error) { return r.engine.Settle() }

// enter acquires the library's lock if there is a progress thread.
func (r *Rank) enter() {
	if r.helped {
		r.engine.Proc.Spend(r.engine.Cost.Lock)
	}
}

// copied charges the time of copying n bytes.
func (r *Rank) copied(n int) { r.engine.Proc.Spend(r.engine.Cost.CopyByte * drivers.Time(n)) }
