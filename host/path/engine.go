package path

import (
	"fmt"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// A Proc is what the machine gives a rank: time, and sleep until a packet comes. cosim/vtime
// implements it over simulated time.
type Proc interface {
	Now() drivers.Time
	// Spend lets host work take t.
	Spend(t drivers.Time)
	// Sync lets the hardware catch up with Now; it tells whether time passed.
	Sync() bool
	// WaitArrival sleeps until the NIC may have written something, until another rank wakes this
	// one, or until the given time. It may return early.
	WaitArrival(until drivers.Time)
	// Attend calls w.Work until that is done. In between it lets the hardware catch up and, when it
	// has, sleeps as WaitArrival does and spends look. Work must not wait.
	Attend(w Worker, look drivers.Time)
	// Room tells whether so many lines can be posted to the NIC without waiting.
	Room(lines int) bool
	// Err returns drivers.ErrRunEnded when the machine has ended the run, and nil before. From then on
	// Sync, WaitArrival and Attend return at once, so a loop around them must check it.
	Err() error
	// Wake ends the WaitArrival of rank id at the given time.
	Wake(id int, at drivers.Time)
}

// A Worker does what there is to do, and tells whether that was all and, if not, until when it can
// sleep.
type Worker = interface {
	Work() (done bool, until drivers.Time)
}

// Stats count a rank's messages.
type Stats struct {
	MessagesSent, MessagesReceived uint64
	BytesSent, BytesReceived       uint64
	DelayedMessages                uint64 // messages that waited for credits at least once
	LocalMessages                  uint64 // messages that bypassed the NIC
	Unexpected                     uint64 // messages that arrived before their receive was posted
}

// An Engine is what the paths of one rank share: its clock, its matching queues, its queues of VELO
// messages, its DMA memory, and the loop that makes progress on all of them. The fields that every
// packet needs stand first: in a large world they have left the cache when the next packet comes.
type Engine struct {
	endpoint *velo.Endpoint
	Proc     Proc
	Cost     *Cost
	peers    []peer
	packet   velo.Packet
	control  uint64       // control packets that have been charged
	credit   drivers.Time // bookkeeping of a data packet; 0 without flow control
	eager    Assembler
	DMA      *DMA // nil without RMA
	Waiting  *Op  // what the rank waits for; nil: nothing
	serving  int  // the peer that has credits again and is being sent to, or nobody
	done     bool // Waiting is done: kept here, too, because an operation is one more cache line
	attends  bool // the rank is in Attend, and must not wait
	stuck    bool // it would have had to wait
	err      error
	line     [regs.VELOPayload]byte

	ID, Size int
	Match    *match.Core[*Op, *Message]
	Messages FreeList[Message]
	Stats    Stats
	controls []*Outgoing // control messages that have been sent
	queued   int         // messages that have not left
	held     int         // messages among them that are held
	settling bool        // no rank of the world runs any more

	// Resume continues collectives when Resumable is set. Background counts those in progress.
	Resume     func()
	Resumable  bool
	Background int
	Nested     bool         // Progress starts messages at the moment, so none of them may make progress
	Failed     error        // of a helper that made progress while the rank computed
	Lingers    bool         // the function of the rank has returned
	WaitsSince drivers.Time // when the call began in which the rank waits; 0: it does not wait

	arriving Wide     // of the message that is being delivered, until it is matched
	lastWait *Waiting // what the rank waited for when the run was ended

	registry
}

// nobody is a peer that is none.
const nobody = -1

// A peer is what a rank keeps for another one: the messages from it and those to it.
type peer struct {
	partial  *Message // an eager message of which packets are missing
	received uint32   // messages that have been announced
	outbound
}

// An Assembler puts the packets of an eager message together. Continue is given the packets behind
// the first one.
type Assembler interface {
	Continue(from int, m *Message, b []byte) error
}

// Init makes e the engine of rank id of a world of size ranks. It adds no path.
func (e *Engine) Init(id, size int, proc Proc, ep *velo.Endpoint, cost *Cost) {
	*e = Engine{
		ID: id, Size: size, Proc: proc, endpoint: ep, Cost: cost, peers: make([]peer, size),
		Match: match.New[*Op, *Message](size), serving: nobody,
	}
	switch ep.Flow() {
	case velo.Static:
		e.credit = cost.Static
	case velo.Dynamic:
		e.credit = cost.Dynamic
	}
}

// Endpoint is the rank's VELO endpoint.
func (e *Engine) Endpoint() *velo.Endpoint { return e.endpoint }

// Near lists the memory that the engine needs for its next packet: see drivers/cache.
func (e *Engine) Near() []cache.Area {
	return append(e.endpoint.Near(), cache.Of(e).First(unsafe.Offsetof(e.ID)))
}

// Partial is the eager message of a rank of which packets are missing, or nil.
func (e *Engine) Partial(from int) *Message { return e.peers[from].partial }

// SetPartial stores it; nil: the message is whole.
func (e *Engine) SetPartial(from int, m *Message) { e.peers[from].partial = m }

// deliver handles a packet.
func (e *Engine) deliver(from int, b []byte) error {
	if from == e.ID {
		return peererror.BadField(from, "source", "this rank", "another rank: messages to oneself stay in memory")
	}
	p := &e.peers[from]
	if p.partial != nil {
		if e.settling {
			return errUnreceived(from)
		}
		return e.eager.Continue(from, p.partial, b)
	}
	h, err := ParseHeader(from, b)
	if err != nil {
		return err
	}
	if e.settling && h.Kind.carriesMessage() {
		return errUnreceived(from)
	}
	if h.Seq != p.received {
		return peererror.BadField(from, "message number", h.Seq, "%d: lost, doubled or out of order", p.received)
	}
	p.received++
	to := e.byKind[h.Kind]
	if to == nil {
		return fmt.Errorf("%w: rank %d sends a message of kind %v, for which rank %d has no path: "+
			"all ranks of a world need the same settings", drivers.ErrConfig, from, h.Kind, e.ID)
	}
	var body []byte
	if e.arriving, body, err = parseExtension(from, b); err != nil {
		return err
	}
	return to.Deliver(from, h, body)
}

func errUnreceived(from int) error {
	return fmt.Errorf("a data packet from rank %d was never received", from)
}

// Arrive matches a message that another rank has announced. op is its receive; nil: it is
// unexpected.
func (e *Engine) Arrive(from int, m *Message) (op *Op, err error) {
	e.Proc.Spend(e.Cost.Match)
	m.SetWide(e.arriving)
	e.arriving = Wide{}
	for _, o := range e.onArrival {
		if err := o.Arriving(from, m); err != nil {
			return nil, err
		}
	}
	op, ok := e.Match.Arrive(m.Envelope(from), m)
	if !ok {
		e.Stats.Unexpected++
		return nil, nil
	}
	return op, e.matched(from, op, m)
}

func (e *Engine) matched(from int, op *Op, m *Message) error {
	for _, o := range e.onMatch {
		if err := o.Matched(from, op, m); err != nil {
			return err
		}
	}
	return nil
}

// Bind gives an unexpected message to a receive that has been posted since.
func (e *Engine) Bind(op *Op, from int, m *Message) error {
	if err := e.matched(from, op, m); err != nil {
		return err
	}
	return e.byKind[m.Kind].Bind(op, from, m)
}

// Complete ends a receive whose message has arrived in full.
func (e *Engine) Complete(m *Message, from int) {
	op := m.Op
	op.Received = m.ReceivedFrom(from, m.Length)
	e.End(op)
	e.Stats.MessagesReceived++
	e.Stats.BytesReceived += uint64(m.Length)
	e.Messages.Put(m)
}

// End ends an operation.
func (e *Engine) End(op *Op) {
	op.Done = true
	if op == e.Waiting {
		e.done = true
	}
	if op.Group != nil {
		op.Group.OpDone()
	}
}

// Send gives op, a send to another rank or to this one, to the first path that takes it.
func (e *Engine) Send(op *Op) error {
	dst := op.Peer()
	e.Stats.MessagesSent++
	e.Stats.BytesSent += uint64(len(op.Buf))
	for _, p := range e.paths {
		if taken, err := p.Send(dst, op); taken || err != nil {
			return err
		}
	}
	_, err := e.fallback.Send(dst, op)
	return err
}

// Sent tells the observers of a send that a path has taken. A path calls it, before the message
// that announces the send is queued.
func (e *Engine) Sent(dst int, op *Op) {
	for _, o := range e.onSend {
		o.Sent(dst, op)
	}
}

// Receive posts op.
func (e *Engine) Receive(op *Op) error {
	op.Posted = e.Proc.Now()
	for _, g := range e.glancers {
		if err := g.BeforePost(op); err != nil {
			return err
		}
	}
	if env, m, ok := e.Match.Post(op.Envelope, op); ok {
		e.Proc.Spend(e.Cost.Match)
		return e.Bind(op, int(env.Source), m)
	}
	for _, o := range e.offerers {
		if err := o.Offer(op); err != nil {
			return err
		}
	}
	return nil
}

// Unpost takes a receive back that no message has matched; false: there is none such.
func (e *Engine) Unpost(op *Op) bool {
	return e.Match.Cancel(op.Envelope, func(other *Op) bool { return other == op })
}

// Cancel gives op up if nothing has matched it yet: it ends with ErrCancelled, or as if nothing had
// happened.
func (e *Engine) Cancel(op *Op) error {
	switch {
	case op.Done || op.Committed:
	case op.Holder != nil:
		return op.Holder.Cancel(op)
	case op.Receive && e.Unpost(op):
		op.Err = ErrCancelled
		e.End(op)
	}
	return nil
}

// LongDone tells the profilers of a message that was not eager.
func (e *Engine) LongDone(op *Op, peer, bytes int) error {
	for _, p := range e.profilers {
		if err := p.LongDone(op, peer, bytes); err != nil {
			return err
		}
	}
	return nil
}

// EagerLimit is the longest message that a peer sends without a rendezvous, as far as this rank
// knows.
func (e *Engine) EagerLimit(peer int) int {
	limit := EagerMax
	for _, l := range e.limiters {
		limit = max(limit, l.EagerLimit(peer))
	}
	return limit
}

// StaysLocal tells whether messages to and from a rank bypass the NIC.
func (e *Engine) StaysLocal(rank int) bool { return e.local != nil && e.local.Reaches(rank) }

// LostMessage is the error of a put whose message has been announced, which cannot be repaired; nil
// if the notification has none.
func LostMessage(ev *rma.Event) error {
	if ev.Err == nil {
		return nil
	}
	return fmt.Errorf("an eager message is lost: %w", ev.Err)
}

// OwnMemory checks that bytes that were put into memory that is kept for one peer came from it.
func (e *Engine) OwnMemory(peer int, ev *rma.Event) error {
	if ev.Peer == e.DMA.Peers[peer] {
		return nil
	}
	return &peererror.Error{
		Peer: ev.Peer.String(), Field: "target of a put", Value: fmt.Sprintf("NLA 0x%x", uint64(ev.NLA)),
		Expected: fmt.Sprintf("memory of the caller: this is reserved for rank %d", peer),
	}
}
