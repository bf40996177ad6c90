package path

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/rma"
)

// A Path moves the bytes of messages from one rank to another. What few paths need is in the
// optional interfaces below, which [Engine.Add] finds.
type Path interface {
	// Name identifies the path in explanations and errors.
	Name() string
	// Explain says in one line which messages the path takes.
	Explain() string
	// Send takes op, a send to rank dst of another node or of this one, or leaves it to the paths
	// behind this one. An error ends the rank.
	Send(dst int, op *Op) (taken bool, err error)
	// Deliver handles a VELO message of one of the path's kinds. body is what follows the header
	// in the first packet, and all of the message unless the path is eager.
	Deliver(from int, h Header, body []byte) error
	// Bind gives a message that had arrived earlier to the receive that now matches it.
	Bind(op *Op, from int, m *Message) error
}

// A Progresser has work that is not started by a packet. Progress does what can be done at once,
// before the notification of RMA (if there is one) is handled, and tells whether it did anything.
type Progresser interface {
	Progress(now drivers.Time) (moved bool, err error)
}

// A Flusher has work at the end of each step; notified says whether there was a notification.
type Flusher interface {
	Flush(notified bool) (moved bool, err error)
}

// A Waker has work at a time that no packet announces.
type Waker interface {
	Wake() drivers.Time
}

// A Notified path takes notifications of RMA. Event tells whether ev belongs to the path.
type Notified interface {
	Event(ev *rma.Event) (taken bool, err error)
}

// A Claimant explains errors of RMA that no path has taken: a put that the hardware refused after
// its message had been sent. Unclaimed returns nil if it cannot have been one of its own.
type Claimant interface {
	Unclaimed(ev *rma.Event) error
}

// A SendObserver is told that another path has taken a send to another node.
type SendObserver interface {
	Sent(dst int, op *Op)
}

// An ArrivalObserver is told of a message that has been announced, before it is matched.
type ArrivalObserver interface {
	Arriving(from int, m *Message) error
}

// A MatchObserver is told that a message has its receive, before the message's own path binds it.
type MatchObserver interface {
	Matched(from int, op *Op, m *Message) error
}

// A Glancer may make progress before a receive is posted, so that it finds what has arrived.
type Glancer interface {
	BeforePost(op *Op) error
}

// An Offerer is told of a receive that no message matches yet.
type Offerer interface {
	Offer(op *Op) error
}

// A Profiler measures how much of a long message overlaps with computation. LongDone is called when
// a message that was not eager has ended.
type Profiler interface {
	LongDone(op *Op, peer, bytes int) error
}

// A Deferrer has work that it delays until the rank is about to do nothing, or something else.
type Deferrer interface {
	Deferred() error
}

// A Limiter changes the length up to which a peer's messages need no rendezvous.
type Limiter interface {
	// EagerLimit is the longest message that this path takes from a peer, or 0.
	EagerLimit(peer int) int
}

// A Shortcut is the path of messages that bypass the NIC.
type Shortcut interface {
	// Reaches tells whether messages to a rank take the path.
	Reaches(rank int) bool
}

// A Holder is a path that keeps state for an operation: [Op].Holder.
type Holder interface {
	// Cancel gives op up if no message or receive has matched it.
	Cancel(op *Op) error
	// Waiting describes what op waits for; not ok if only matching or VELO holds it up.
	Waiting(op *Op) (w Waiting, ok bool)
}

// Waiting says what a rank waits for: one link of a wait-for chain.
type Waiting struct {
	For  string // "", "credits", "message" or "rendezvous"
	Peer int    // match.Any for a receive from any rank
	Tag  int
	Sent int // packets, or bytes of a rendezvous, that have left, of Of
	Of   int
	// State is that of a rendezvous, in words.
	State string
}

func (w Waiting) String() string {
	switch w.For {
	case "credits":
		return fmt.Sprintf("send to rank %d (tag %d): %d of %d packets sent, waits for a credit", w.Peer, w.Tag, w.Sent, w.Of)
	case "rendezvous":
		return fmt.Sprintf("rendezvous with rank %d (tag %d): %d of %d bytes moved", w.Peer, w.Tag, w.Sent, w.Of)
	case "message":
		if w.Peer == match.Any {
			return fmt.Sprintf("receive from any rank (tag %d): no matching message", w.Tag)
		}
		return fmt.Sprintf("receive from rank %d (tag %d): no matching message", w.Peer, w.Tag)
	}
	return "runs"
}
