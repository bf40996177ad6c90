// Package notready is the path of messages to a receiver that may not be ready. Package threshold
// has the protocol ([threshold.Streams]). The sender puts into a gate of the receiver; a receive's
// buffer is behind the gate from its post, or from the match of its message, until the bytes are
// there. A put that the hardware refuses is the protocol's way of asking, and no fault.
//
// One family of experiments uses it. It is complete in this package: without the call of [Add] no
// trace of it is left.
package notready

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// retryAfter is the time after which a refused put is repeated, and after which the hardware is
// asked whether it has dropped a mapping.
const retryAfter = 4 * drivers.Microsecond

const pageBytes = 4096

// A Path moves the messages of streams.
type Path struct {
	e        *path.Engine
	core     *threshold.Streams
	gates    map[key]*gate // by the first number that has it
	sends    map[key]*send
	arrivals map[key]*arrival
	tries    []try // in progress, and those that the NIC has no room for yet
	opening  []key // receives for which there was no memory
	shutting []key
	spent    drivers.Time
}

// A gate is where a peer puts some of the messages of a stream.
type gate struct {
	*rma.Gate
	bytes   int      // of a message at most
	offered *path.Op // the receive that was readied last before its message was known
	// offset is that of the last receive's buffer in its page. The buffer of the next receive has the
	// same, or a piece of the heap stands in for it.
	offset uint64
}

// A key names a message of a stream.
type key struct {
	stream threshold.Stream
	number uint16
}

// A send is a message that goes through a stream.
type send struct {
	op   *path.Op
	from path.Bounce
}

// An arrival is a message that has its receive.
type arrival struct {
	m    *path.Message
	from int
	at   uint64 // of its bytes, if not in the buffer of the receive
	heap uint64
	n    uint64 // bytes of the heap there; 0: none
}

// A try is a put and the get of a byte behind it, whose answer arrives when it is known whether the
// put was refused; of a probe, the get alone.
type try struct {
	key       key
	address   uint64
	probe     bool
	putPosted bool
	getPosted bool
	put, get  rma.Handle
	refused   bool
}

// Add adds the path to an engine with DMA memory.
func Add(e *path.Engine, policy threshold.Policy) *Path {
	p := &Path{
		e: e, gates: map[key]*gate{}, sends: map[key]*send{}, arrivals: map[key]*arrival{},
		core: threshold.NewStreams(threshold.Config{Self: e.ID, Ranks: e.Size, Least: path.EagerMax, Policy: policy, Retry: int64(retryAfter)}),
	}
	e.Add(p, path.NotReady, path.Threshold)
	return p
}

// Stats gives the counters of the core, and the time that the rank has spent in the protocol.
func (p *Path) Stats() (threshold.StreamStats, drivers.Time) { return p.core.Stats(), p.spent }

// Name implements path.Path.
func (p *Path) Name() string { return "notready" }

// Explain implements path.Path.
func (p *Path) Explain() string {
	return fmt.Sprintf("messages of more than %d bytes up to their stream's threshold, put whether or not the receiver is ready", path.EagerMax)
}

// gate is that of a message.
func (p *Path) gate(k key) *gate {
	k.number %= uint16(p.core.Gates())
	return p.gates[k]
}

func streamOf(peer int, tag int32, comm uint16) threshold.Stream {
	return threshold.Stream{Peer: peer, Tag: tag, Comm: comm}
}

func streamOfOp(op *path.Op) threshold.Stream {
	return streamOf(op.Peer(), op.Envelope.Tag, op.Envelope.Comm)
}

// drain does all that the core asks for.
func (p *Path) drain() error {
	for {
		a, more := p.core.Next()
		if !more {
			return nil
		}
		if err := p.do(a); err != nil {
			return err
		}
	}
}

func (p *Path) do(a threshold.StreamAction) error {
	k := key{a.Stream, a.Number}
	switch a.Do {
	case threshold.TellStream:
		return p.tell(a)
	case threshold.ReserveStream:
		return p.reserve(a.Stream, a.Message.Bytes)
	case threshold.TryStream:
		p.tries = append(p.tries, try{key: k, address: a.Address, probe: a.Probe})
		_, err := p.postPuts()
		return unlessTryAgain(err)
	case threshold.SentStream:
		s := p.sends[k]
		delete(p.sends, k)
		p.e.DMA.Release(s.from)
		p.e.End(s.op)
	case threshold.OpenStream:
		return p.open(k)
	case threshold.ShutStream:
		p.e.Proc.Sync()
		p.shutting = append(p.shutting, k)
		return p.gate(k).Shut()
	case threshold.FilledStream:
		if slices.Contains(p.opening, k) {
			return peererror.BadField(a.Stream.Peer, "message number of a LANDED message", a.Number, "a message whose buffer was ready")
		}
		p.filled(k)
	case threshold.FreeStream:
		return p.giveBack(p.gate(k).offered)
	}
	return nil
}

// giveBack ends a receive that was readied and is cancelled.
func (p *Path) giveBack(op *path.Op) error {
	if !p.e.Unpost(op) {
		return fmt.Errorf("host: a receive of tag %d is given back that is not posted", op.Envelope.Tag)
	}
	op.Err = path.ErrCancelled
	p.e.End(op)
	return nil
}

func (p *Path) tell(a threshold.StreamAction) error {
	q := p.e.NewControl(path.Threshold)
	a.Message.Put(q.Buf)
	if a.InOrder {
		return p.e.EnqueueControl(a.Stream.Peer, q)
	}
	return p.e.EnqueueAhead(a.Stream.Peer, q)
}

// reserve finds addresses for a stream. There are none if the tables are full, or lent.
func (p *Path) reserve(l threshold.Stream, bytes int) error {
	d := p.e.DMA
	if bytes > len(d.Memory) { // no such message can be received without a rendezvous
		p.core.Reserved(l, nil)
		return nil
	}
	var addresses []uint64
	for i := range p.core.Gates() {
		p.e.Proc.Spend(p.e.Cost.Register)
		g, err := d.Port.Gate(bytes)
		switch {
		case errors.Is(err, drivers.ErrTablesFull) || errors.Is(err, drivers.ErrNotSupported):
			p.core.Reserved(l, nil)
			return nil
		case err != nil:
			return err
		}
		p.gates[key{l, uint16(i)}] = &gate{Gate: g, bytes: bytes}
		addresses = append(addresses, uint64(g.NLA(0)))
	}
	p.core.Reserved(l, addresses)
	return nil
}

// ---- sending ----

// Send implements path.Path: it gives a message of a stream its number, and takes it if the stream
// does.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	op.Posted = p.e.Proc.Now()
	p.core.Tick(int64(op.Posted))
	l, bytes := streamOf(dst, op.Envelope.Tag, op.Envelope.Comm), len(op.Buf)
	s := &send{op: op}
	if op.Synchronous || !p.core.Fits(l, bytes) {
		bytes = math.MaxInt
	} else {
		var ok bool
		var err error
		if s.from, ok, err = p.e.DMA.PrepareEager(op.Buf); err != nil {
			return false, err
		}
		if !ok {
			bytes = math.MaxInt
		}
	}
	number, inside, ok := p.core.Send(l, bytes)
	op.Committed = ok // a stream waits for the messages that it has counted
	if !inside {
		return false, nil
	}
	p.sends[key{l, number}] = s
	q := p.e.NewControl(path.NotReady)
	q.Envelope = op.Envelope
	binary.LittleEndian.PutUint64(q.Buf[0:], uint64(number))
	binary.LittleEndian.PutUint64(q.Buf[8:], uint64(len(op.Buf)))
	p.e.Sent(dst, op)
	if err := p.e.EnqueueControl(dst, q); err != nil {
		return false, err
	}
	return true, p.drain()
}

// post gives the NIC what is to be tried, as far as it has room, and tells whether it took any.
func (p *Path) post() (posted bool, err error) {
	if posted, err = p.postPuts(); err != nil {
		return posted, unlessTryAgain(err)
	}
	d := p.e.DMA
	for i := range p.tries {
		t := &p.tries[i]
		if t.getPosted {
			continue
		}
		scratch, err := d.Scratch()
		if err == nil {
			t.get, err = d.Port.Get(d.Peers[t.key.stream.Peer], scratch, rma.NLA(t.address), 1, rma.Completer)
		}
		if err != nil {
			return posted, unlessTryAgain(err)
		}
		t.getPosted, posted = true, true
	}
	return posted, nil
}

// postPuts posts the puts alone, for a call that only starts messages: the gets behind them would
// take the room of the next message's put, and their answers are not looked at before there is
// progress.
func (p *Path) postPuts() (posted bool, err error) {
	d := p.e.DMA
	for i := range p.tries {
		t := &p.tries[i]
		if t.probe || t.putPosted {
			continue
		}
		s := p.sends[t.key]
		at := s.from.Region.NLA(s.from.At)
		if t.put, err = d.Port.PutUnsignaled(d.Peers[t.key.stream.Peer], at, rma.NLA(t.address), len(s.op.Buf)); err != nil {
			return posted, err
		}
		t.putPosted, posted = true, true
	}
	return posted, nil
}

// unlessTryAgain leaves out that there is no room now.
func unlessTryAgain(err error) error {
	if errors.Is(err, rma.ErrTryAgain) {
		return nil
	}
	return err
}

// Event implements path.Notified: the put or the get of a try.
func (p *Path) Event(ev *rma.Event) (bool, error) {
	if ev.Handle == 0 {
		return false, nil
	}
	i := slices.IndexFunc(p.tries, func(t try) bool {
		return t.putPosted && t.put == ev.Handle || t.getPosted && t.get == ev.Handle
	})
	if i < 0 {
		return false, nil
	}
	t := &p.tries[i]
	if ev.Err != nil {
		if !isNotReady(ev.Err) {
			return true, path.LostMessage(ev)
		}
		t.refused = true
	}
	if !t.getPosted || t.get != ev.Handle || !ev.Last {
		return true, nil
	}
	done := *t
	p.tries = slices.Delete(p.tries, i, i+1)
	p.core.Tick(int64(p.e.Proc.Now()))
	p.core.Tried(done.key.stream, !done.refused)
	return true, p.drain()
}

// isNotReady tells whether the error is that there was no memory behind the peer's gate.
func isNotReady(err error) bool {
	var f *rma.FaultError
	return errors.As(err, &f) && f.Code == regs.RMAErrorTranslation && (f.Unit == rma.UnitCompleter || f.Unit == rma.UnitResponder)
}
