// Package rendezvous is the path of long messages: their bytes move by RMA once the receive is
// known, without a copy if their buffers lie in DMA memory. Package host/rendezvous has the
// protocols, as a pure core; this package does what the core asks for: control messages by VELO,
// memory, registrations, and operations of RMA.
//
// With speculation (SPEC, section 4.2) a receive that is posted early tells its sender where the
// message shall go: see speculate.go.
package rendezvous

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
)

// A Protocol names how the bytes of a long message move: see package host/rendezvous.
type Protocol string

// The protocols.
const (
	RGET    Protocol = "rget"
	RPUT    Protocol = "rput"
	Chunked Protocol = "chunked"
	// Spec is RGET whose receivers tell where a message shall go before they know of it (SPEC,
	// section 4.2).
	Spec Protocol = "spec"
)

// Protocols are all of them.
func Protocols() []Protocol { return []Protocol{RGET, RPUT, Chunked, Spec} }

// Config says by which protocols long messages move.
type Config struct {
	Protocol    Protocol
	Chunk       int // bytes of one get of Chunked
	Outstanding int // gets in progress of Chunked
	Speculation rendezvous.Speculation
	// Protocols are more than those four; Choose picks among all of them, message by message, instead
	// of Protocol.
	Protocols []rendezvous.Protocol
	Choose    rendezvous.Policy
	// Patience is how long an operation is repeated that is refused because the hardware has yet to
	// drop a mapping; 0: DefaultPatience.
	Patience drivers.Time
	// IDs limits the transfers that can be in progress; 0: as many as there are names for.
	IDs int
}

// What is refused is repeated after retry, for DefaultPatience at most unless Config says
// otherwise.
const (
	retry           = drivers.Microsecond
	DefaultPatience = 10 * drivers.Millisecond
)

// A Path moves long messages.
type Path struct {
	e           *path.Engine
	core        *rendezvous.Core
	speculative bool
	transfers   path.FreeList[transfer]
	ops         []operation
	hint        uint8
	patience    drivers.Time
	lengthen    int  // see LengthenGets
	due         bool // the core has something to do again
}

// A transfer is what the path keeps of one end of a rendezvous.
type transfer struct {
	op       *path.Op
	end      *rendezvous.End
	rts      *path.Outgoing // of a send, until it may go: its position in the order of messages
	memory   path.Bounce
	received path.Received
	unposted bool // a receive that was cancelled before a message matched it
}

// An operation of RMA in progress. A put is kept until its transfer ends, since only its faults are
// notified.
type operation struct {
	handle rma.Handle
	t      *transfer
	verb   rendezvous.Do
	bytes  int
	put    bool
}

// Add adds the path to an engine with DMA memory.
func Add(e *path.Engine, c Config) (*Path, error) {
	if c.Protocol == Chunked && (c.Chunk < 1 || c.Chunk > rendezvous.MaxStep || c.Outstanding < 1) {
		return nil, fmt.Errorf("%w: chunks of %d bytes, %d at a time: expected 1 to %d bytes and at least 1",
			drivers.ErrConfig, c.Chunk, c.Outstanding, rendezvous.MaxStep)
	}
	if c.IDs < 0 || c.IDs > rendezvous.MaxIDs {
		return nil, fmt.Errorf("%w: %d names of transfers: expected 0 to %d", drivers.ErrConfig, c.IDs, rendezvous.MaxIDs)
	}
	// A rank must be able to follow whatever a peer chooses, so all ranks know all protocols.
	chunk, window := c.Chunk, c.Outstanding
	if chunk < 1 || window < 1 {
		chunk, window = 128<<10, 4
	}
	known := append([]rendezvous.Protocol{rendezvous.RGET, rendezvous.RPUT, rendezvous.NewChunked(chunk, window), rendezvous.Spec}, c.Protocols...)
	if c.Choose == nil {
		for _, p := range known {
			if p.Name() == string(c.Protocol) {
				c.Choose = rendezvous.Always(p)
			}
		}
	}
	if c.Choose == nil {
		return nil, fmt.Errorf("%w: rendezvous %q: expected rget, rput, chunked or spec", drivers.ErrConfig, c.Protocol)
	}
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	cfg := rendezvous.Config{Protocols: known, Choose: c.Choose, Retry: int64(retry), Patience: int64(c.Patience), IDs: c.IDs}
	p := &Path{e: e, speculative: c.Protocol == Spec, patience: c.Patience}
	if p.speculative {
		cfg.Speculation = &c.Speculation
	}
	p.core = rendezvous.New(cfg)
	e.Add(p, path.RTS, path.Rendezvous)
	return p, nil
}

// Hint is given to Config.Choose with every message that is sent from now on.
func (p *Path) Hint(h uint8) { p.hint = h }

// Patience is how long an operation is repeated that the hardware refuses.
func (p *Path) Patience() drivers.Time { return p.patience }

// IsMoving tells whether the hardware moves bytes of a message for this rank.
func (p *Path) IsMoving() bool { return len(p.ops) > 0 }

// Live is how many transfers are in progress.
func (p *Path) Live() int { return p.core.Live() }

// Stats are those of the rank's long messages.
func (p *Path) Stats() rendezvous.Stats { return p.core.Stats() }

// Name implements path.Path.
func (p *Path) Name() string { return "rendezvous" }

// Explain implements path.Path.
func (p *Path) Explain() string {
	return fmt.Sprintf("messages of more than %d bytes, and synchronous sends", path.EagerMax)
}

// ---- sending and receiving ----

// Send implements path.Path. The RTS takes its position in the order of the messages to dst now,
// and leaves when the core has one.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	if len(op.Buf) <= path.EagerMax && !op.Synchronous {
		return false, nil
	}
	if err := p.BeforePost(op); err != nil {
		return false, err
	}
	p.tick()
	t := p.transfers.Get()
	*t = transfer{op: op, rts: p.e.NewControl(path.RTS)}
	t.rts.Envelope = op.Envelope
	op.Holder, op.State = p, t
	_, reachable := p.e.DMA.Locate(op.Buf)
	t.end = p.core.Send(rendezvous.Message{
		Peer: dst, Bytes: len(op.Buf), Reachable: reachable, Hint: p.hint, Blocks: op.Blocking, Envelope: envelopeOf(op),
	}, t)
	if err := p.e.Hold(dst, t.rts); err != nil {
		return false, err
	}
	return true, p.drain()
}

func (p *Path) tick() { p.core.Tick(int64(p.e.Proc.Now())) }

// envelopeOf is the envelope of a send, or of a receive that leaves nothing open, for the core.
func envelopeOf(op *path.Op) rendezvous.Envelope {
	return rendezvous.Envelope{Tag: op.Envelope.Tag, Comm: op.Envelope.Comm}
}

// transferOf is what the path keeps for an operation, or nil.
func (p *Path) transferOf(op *path.Op) *transfer {
	if op.Holder != p {
		return nil
	}
	return op.State.(*transfer)
}

// announced is a message whose RTS has arrived.
type announced struct {
	path.Message
	extra path.Extra
	rts   rendezvous.Control
}

// Deliver implements path.Path.
func (p *Path) Deliver(from int, h path.Header, body []byte) error {
	c, err := rendezvous.Parse(body)
	if err != nil {
		return fmt.Errorf("from rank %d: %w", from, err)
	}
	c.Envelope = rendezvous.Envelope{Tag: h.Tag, Comm: h.Comm}
	if err := p.core.Allowed(from, c, h.Kind == path.RTS); err != nil {
		return err
	}
	if h.Kind == path.Rendezvous {
		if c.Kind == rendezvous.RTR {
			p.e.Proc.Spend(p.e.Cost.Match)
		}
		p.tick()
		p.core.Hear(from, c)
		return p.drain()
	}
	h.Length = c.Bytes
	x := &announced{rts: c}
	x.extra.State = x
	x.Message = path.Message{Header: h, More: &x.extra}
	op, err := p.e.Arrive(from, &x.Message)
	if err != nil || op == nil {
		return err
	}
	return p.Bind(op, from, &x.Message)
}

// Bind implements path.Path: it begins to fetch the message.
func (p *Path) Bind(op *path.Op, from int, m *path.Message) error {
	c := m.More.State.(*announced).rts
	p.tick()
	t := p.transferOf(op)
	offered := t != nil
	if !offered {
		t = p.transfers.Get()
		*t = transfer{op: op}
		op.Holder, op.State = p, t
	}
	t.received = m.ReceivedFrom(from, c.Bytes)
	if offered {
		p.core.Matched(t.end, c)
	} else {
		t.end = p.core.Receive(from, c, len(op.Buf), t)
	}
	return p.drain()
}

// Cancel implements path.Holder.
func (p *Path) Cancel(op *path.Op) error {
	end := op.State.(*transfer).end
	if op.Receive && !end.Waits() {
		return nil
	}
	p.tick()
	p.core.Cancel(end)
	return p.drain()
}

// Waiting implements path.Holder.
func (p *Path) Waiting(op *path.Op) (path.Waiting, bool) {
	end := op.State.(*transfer).end
	if end.Waits() {
		return path.Waiting{}, false
	}
	return path.Waiting{
		For: "rendezvous", Peer: end.Peer(), Tag: int(op.Envelope.Tag), Sent: end.Moved(), Of: end.Bytes(), State: end.String(),
	}, true
}

// Sent implements path.SendObserver.
func (p *Path) Sent(dst int, op *path.Op) { p.core.Sent(dst, envelopeOf(op)) }

// Arriving implements path.ArrivalObserver.
func (p *Path) Arriving(from int, m *path.Message) error {
	p.core.Came(from, rendezvous.Envelope{Tag: m.Tag, Comm: m.Comm})
	return nil
}

// ---- progress ----

// Progress implements path.Progresser.
func (p *Path) Progress(now drivers.Time) (bool, error) {
	p.due = p.core.Deadline() <= int64(now)
	p.core.Tick(int64(now))
	return p.due, nil
}

// Flush implements path.Flusher.
func (p *Path) Flush(notified bool) (bool, error) {
	if !p.due && !notified {
		return false, nil
	}
	return true, p.drain()
}

// Wake implements path.Waker.
func (p *Path) Wake() drivers.Time { return drivers.Time(p.core.Deadline()) }

// Event implements path.Notified. Operations of peers are not notified here.
func (p *Path) Event(ev *rma.Event) (bool, error) {
	for i := range p.ops {
		o := &p.ops[i]
		switch {
		case o.handle != ev.Handle:
			continue
		case !ev.Last && ev.Err == nil:
		case o.put:
			p.core.Faulted(o.t.end, withDetail(ev.Err))
		default:
			done := *o
			p.ops = append(p.ops[:i], p.ops[i+1:]...)
			p.core.Done(done.t.end, done.verb, done.bytes, withDetail(ev.Err))
		}
		return true, nil
	}
	return false, nil
}

// A hardwareFault gives the core the number of a fault.
type hardwareFault struct{ *rma.FaultError }

func (f hardwareFault) Detail() uint8 { return uint8(f.Code) }
func (f hardwareFault) Unwrap() error { return f.FaultError }

func withDetail(err error) error {
	var f *rma.FaultError
	if errors.As(err, &f) {
		return hardwareFault{f}
	}
	return err
}
