package path

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
)

// ErrCancelled: an operation was cancelled before it matched.
var ErrCancelled = match.ErrCancelled

// An Op is a send or a receive in progress. The request that a program waits for contains it.
type Op struct {
	Outgoing // Envelope: the pattern of a receive; of a send, Source is the destination

	Receive     bool
	Done        bool
	Synchronous bool   // a send that completes only when a receive has matched it
	Blocking    bool   // a send whose caller waits for its completion in the same call
	Committed   bool   // a send that cannot be cancelled, because its peer counts on it
	Number      uint16 // the holder's

	Holder Holder // the path to which State and Number belong; nil: none
	State  any
	Group  Group // the collective that the operation is a part of, or stands for; nil: none

	Received Received // by a receive that is done
	Err      error
	Posted   drivers.Time // when a path, or a receive, has started it
}

// A Group is a collective in progress.
type Group interface {
	// OpDone tells that an operation that belongs to it is done.
	OpDone()
	// Blocker is the first operation that it waits for, or nil.
	Blocker() *Op
}

// Received is the message that a receive has got. Its bytes are in the buffer, as far as that holds
// them.
type Received struct {
	Valid bool
	From  int // in the world
	Tag   int32
	Bytes uint32
	Wide  Wide
}

// WideTag is the tag of a message with a wide envelope.
func (r *Received) WideTag() uint64 { return uint64(r.Wide.High)<<32 | uint64(uint32(r.Tag)) }

// Peer is the rank at the other end, or match.Any.
func (op *Op) Peer() int { return int(op.Envelope.Source) }

// An Outgoing is a message in the VELO queue to one rank: the send of a program, or a control
// message of a path.
type Outgoing struct {
	Envelope match.Envelope
	Kind     Kind
	Buf      []byte

	// Stops keeps the messages behind this one back, until [Engine.Resume]. Urgent ones pass
	// queues that are stopped.
	Stops, Urgent bool

	held    bool // announced later: see Hold
	dropped bool
	delayed bool // counted in Stats.DelayedMessages
	sent    int  // packets
	packets int
	next    *Outgoing
	op      *Op // whose message it is; nil: a control message
}

// NewSend prepares op to send buf.
func (op *Op) NewSend(e match.Envelope, buf []byte) {
	op.Outgoing = Outgoing{Envelope: e, Buf: buf, packets: Packets(len(buf) + headerBytes(&e) - HeaderBytes)}
}

// NewReceive prepares op to receive into buf.
func (op *Op) NewReceive(pattern match.Envelope, buf []byte) {
	op.Outgoing = Outgoing{Envelope: pattern, Buf: buf}
	op.Receive = true
}
