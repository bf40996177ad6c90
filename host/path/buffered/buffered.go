// Package buffered is the path of messages beyond [path.EagerMax] that are eager all the same: they
// are put into a buffer at their receiver when they are sent, and copied when they are received.
// Package threshold decides up to which length messages of a pair of ranks are eager (ADAPT), and
// which buffer each message gets. The sender announces a message by VELO; it is matched like any
// other. The send is done when the bytes have left.
package buffered

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// Config says how long messages may be eager.
type Config struct {
	// Threshold is that of all pairs, from their first such message on, or from the start if All. 0:
	// each pair finds its own.
	Threshold int
	All       bool
	// Buffers is the memory of the rank for what others send: bytes at the end of its part of the
	// heap.
	Buffers   int
	Handshake threshold.Handshake
	Policy    threshold.Policy
	// Idle is how long a buffer stays unused before it is taken back; 0: for ever.
	Idle drivers.Time
	// Published selects threshold.Config.AsPublished, which estimates a transfer to take PerByte for
	// every byte.
	Published bool
	PerByte   drivers.Time
	// Stocks, Pool and Weights are those of threshold.Config.
	Stocks, Pool, Weights int
}

// core returns the configuration of the core, without its place in memory.
func (c Config) core() threshold.Config {
	t := threshold.Config{
		Handshake: c.Handshake, Cap: c.Buffers, Least: path.EagerMax, Fixed: c.Threshold, All: c.All, Policy: c.Policy, Idle: int64(c.Idle),
		Stocks: c.Stocks, Pool: c.Pool, Weights: c.Weights,
	}
	if c.Published {
		t = t.AsPublished(path.HeaderBytes, int64(c.PerByte))
	}
	return t
}

// A Path moves messages into eager buffers.
type Path struct {
	e        *path.Engine
	core     *threshold.Core
	base     uint64 // of the buffers, in DMA memory
	region   *rma.Region
	arrivals map[uint64]arrival // by address of the buffer
	puts     []put              // in progress
	waiting  []put              // for which the NIC has no room yet
	ticked   drivers.Time
	idle     drivers.Time
	emptied  []emptied
	spent    drivers.Time
	freeing  drivers.Time
}

// An arrival is what is known of the message in a buffer.
type arrival struct {
	m      *path.Message // nil: its bytes arrived before its announcement
	from   int
	landed bool // the bytes are there
}

// A put is bytes on their way.
type put struct {
	handle rma.Handle
	op     *path.Op
	dst    int
	from   path.Bounce
	to     rma.NLA
}

// Check refuses settings that no world can have.
func (c Config) Check() error {
	if c.Threshold != 0 && c.Threshold <= path.EagerMax || c.Threshold < 0 {
		return fmt.Errorf("%w: an eager threshold of %d bytes: expected more than the %d that VELO carries",
			drivers.ErrConfig, c.Threshold, path.EagerMax)
	}
	if min(c.Stocks, c.Pool, c.Weights) < 0 {
		return fmt.Errorf("%w: %d lengths of eager buffers, a pool of %d, weights up to %d: expected 0 or more",
			drivers.ErrConfig, c.Stocks, c.Pool, c.Weights)
	}
	return nil
}

// Add adds the path to an engine with DMA memory, at the end of which it keeps its buffers.
func Add(e *path.Engine, c Config) (*Path, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	d := e.DMA
	if used := d.Reserved() + path.ScratchBytes; c.Buffers < 1 || uint64(c.Buffers)+used > d.HeapBytes {
		return nil, fmt.Errorf("%w: %d bytes for eager buffers: expected 1 to %d, as the heap of a rank has %d",
			drivers.ErrConfig, c.Buffers, d.HeapBytes-min(d.HeapBytes, used), d.HeapBytes)
	}
	base := d.Reserve(uint64(c.Buffers), path.HeapAlign)
	region, err := d.Port.Register(base, uint64(c.Buffers), rma.WriteOnly)
	if err != nil {
		return nil, fmt.Errorf("eager buffers: %w", err)
	}
	p := &Path{e: e, base: base, region: region, arrivals: map[uint64]arrival{}, idle: c.Idle}
	core := c.core()
	core.Self, core.Ranks, core.Base = e.ID, e.Size, uint64(region.NLA(base))
	p.core = threshold.New(core)
	e.Add(p, path.Buffered, path.Threshold, path.Empties)
	return p, nil
}

// Stats gives the counters of the core, the time that the rank has spent in handshakes (buffers
// that are made and given up included), and the time spent on telling that buffers may be used
// again.
func (p *Path) Stats() (s threshold.Stats, spent, freeing drivers.Time) {
	return p.core.Stats(), p.spent, p.freeing
}

// Area is where the eager buffers lie.
func (p *Path) Area() rma.NLA { return p.region.NLA(p.base) }

// Name implements path.Path.
func (p *Path) Name() string { return "buffered" }

// Explain implements path.Path.
func (p *Path) Explain() string {
	return fmt.Sprintf("messages of more than %d bytes up to the pair's threshold, while the receiver has an eager buffer for them", path.EagerMax)
}

// EagerLimit implements path.Limiter: the ranks of a pair agree on their threshold.
func (p *Path) EagerLimit(peer int) int { return p.core.Threshold(peer) }

// handshake lets do change the core, and does what the core then asks for. The time is counted.
func (p *Path) handshake(do func(*threshold.Core)) error {
	began := p.e.Proc.Now()
	do(p.core)
	err := p.drain()
	p.spent += p.e.Proc.Now() - began
	return err
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

func (p *Path) do(a threshold.Action) error {
	if a.Resume {
		return p.e.ResumeQueue(a.Peer)
	}
	if a.Message.Kind == threshold.Empty {
		p.emptied = append(p.emptied, emptied{a.Peer, a.Message})
		return nil
	}
	if a.Message.Count > 0 { // buffers were made
		p.e.Proc.Spend(p.e.Cost.Register)
	}
	q := p.e.NewControl(path.Threshold)
	a.Message.Put(q.Buf)
	q.Stops, q.Urgent = a.Last, a.Outside
	switch {
	case a.Outside:
		return p.e.EnqueueFirst(a.Peer, q)
	case a.InOrder:
		return p.e.EnqueueControl(a.Peer, q)
	}
	return p.e.EnqueueAhead(a.Peer, q)
}

// ---- sending ----

// Send implements path.Path.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	if len(op.Buf) <= path.EagerMax && !op.Synchronous {
		return false, nil
	}
	if op.Posted = p.e.Proc.Now(); op.Synchronous {
		return false, nil
	}
	var at uint64
	var ok bool
	if err := p.handshake(func(c *threshold.Core) {
		c.Tick(int64(op.Posted))
		c.Begin()
		at, ok = c.Take(dst, len(op.Buf))
	}); err != nil || !ok {
		return false, err
	}
	if sent, err := p.put(dst, op, rma.NLA(at)); err != nil || !sent {
		p.core.Back(dst)
		return false, err
	}
	p.e.Sent(dst, op)
	q := p.e.NewControl(path.Buffered)
	q.Envelope = op.Envelope
	binary.LittleEndian.PutUint64(q.Buf[0:], at)
	binary.LittleEndian.PutUint64(q.Buf[8:], uint64(len(op.Buf)))
	return true, p.e.EnqueueControl(dst, q)
}

// put puts the bytes of a send into a buffer as soon as the NIC has room; false: the hardware does
// not reach them, and there is no memory to copy them to.
func (p *Path) put(dst int, op *path.Op, to rma.NLA) (bool, error) {
	d := p.e.DMA
	from, ok, err := d.PrepareEager(op.Buf)
	if err != nil || !ok {
		return false, err
	}
	p.waiting = append(p.waiting, put{op: op, dst: dst, to: to, from: from})
	_, err = p.post()
	return true, err
}

// post gives the NIC the puts that wait, in order, as far as it has room, and tells whether it took
// any.
func (p *Path) post() (posted bool, err error) {
	d := p.e.DMA
	for len(p.waiting) > 0 {
		x := p.waiting[0]
		at := x.from.Region.NLA(x.from.At)
		x.handle, err = d.Port.Put(d.Peers[x.dst], at, x.to, len(x.op.Buf), rma.Requester|rma.Completer)
		if errors.Is(err, rma.ErrTryAgain) {
			return posted, nil
		}
		if err != nil {
			return posted, err
		}
		p.puts, p.waiting, posted = append(p.puts, x), p.waiting[1:], true
	}
	return posted, nil
}

// ---- receiving ----

// Deliver implements path.Path.
func (p *Path) Deliver(from int, h path.Header, body []byte) error {
	switch h.Kind {
	case path.Threshold:
		return p.deliverHandshake(from, body)
	case path.Empties:
		return p.deliverEmpties(from, h, body)
	}
	if len(body) != threshold.MessageBytes {
		return peererror.BadField(from, "length of a message to an eager buffer", len(body), "%d bytes", threshold.MessageBytes)
	}
	at, length := binary.LittleEndian.Uint64(body[0:]), binary.LittleEndian.Uint64(body[8:])
	p.core.Tick(int64(p.e.Proc.Now()))
	if err := p.core.Filled(from, at, length); err != nil {
		return err
	}
	h.Length = uint32(length)
	m := p.e.Messages.Get()
	*m = path.Message{Header: h, More: &path.Extra{State: at}}
	p.arrivals[at] = arrival{m, from, p.arrivals[at].landed}
	op, err := p.e.Arrive(from, m)
	if err != nil || op == nil {
		return err
	}
	return p.Bind(op, from, m)
}

func (p *Path) deliverHandshake(from int, body []byte) error {
	m, err := threshold.Parse(body)
	if err != nil {
		return fmt.Errorf("from rank %d: %w", from, err)
	}
	if err := p.core.Allowed(from, m); err != nil {
		return err
	}
	return p.handshake(func(c *threshold.Core) {
		p.e.Proc.Spend(p.e.Cost.Match)
		c.Tick(int64(p.e.Proc.Now()))
		c.Hear(from, m)
	})
}

// Bind implements path.Path.
func (p *Path) Bind(op *path.Op, _ int, m *path.Message) error {
	m.Op = op
	if a := p.arrivals[bufferOf(m)]; a.landed {
		return p.read(a)
	}
	return nil
}

// bufferOf is the address of the buffer of a message.
func bufferOf(m *path.Message) uint64 { return m.More.State.(uint64) }

// read copies a message into the buffer of its receive, and gives its own back.
func (p *Path) read(a arrival) error {
	m := a.m
	at, n := bufferOf(m), uint64(m.Length)
	off := p.base + at - uint64(p.region.NLA(p.base))
	p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(n))
	copy(m.Op.Buf, p.e.DMA.Memory[off:off+n])
	delete(p.arrivals, at)
	p.e.Complete(m, a.from)
	p.core.Tick(int64(p.e.Proc.Now()))
	p.core.Read(a.from, at)
	return p.drain()
}

// ---- notifications and progress ----

// Event implements path.Notified: one of the path's puts, or bytes that came into a buffer.
func (p *Path) Event(ev *rma.Event) (bool, error) {
	if ev.Handle == 0 {
		return p.landed(ev)
	}
	for i := range p.puts {
		if p.puts[i].handle != ev.Handle {
			continue
		}
		if ev.Last {
			done := p.puts[i]
			p.puts = slices.Delete(p.puts, i, i+1)
			p.e.DMA.Release(done.from)
			p.e.End(done.op)
		}
		return true, path.LostMessage(ev)
	}
	return false, nil
}

// landed handles the notification of a put of a peer, if it went into a buffer.
func (p *Path) landed(ev *rma.Event) (bool, error) {
	at, peer, ok := p.core.Locate(uint64(ev.NLA))
	if !ok || !ev.Last {
		return ok, nil
	}
	if err := p.e.OwnMemory(peer, ev); err != nil {
		return true, err
	}
	a := p.arrivals[at]
	a.landed = true
	p.arrivals[at] = a
	if a.m != nil && a.m.Op != nil {
		return true, p.read(a)
	}
	return true, nil
}

// Unclaimed implements path.Claimant.
func (p *Path) Unclaimed(ev *rma.Event) error {
	if ev.Command != rma.CommandPut {
		return nil
	}
	return path.LostMessage(ev)
}

// Progress implements path.Progresser: it posts puts that waited, and takes idle buffers back.
func (p *Path) Progress(now drivers.Time) (bool, error) {
	posted, err := p.post()
	if err != nil || p.idle == 0 || now-p.ticked < p.idle/4 {
		return posted, err
	}
	p.ticked = now
	return posted, p.handshake(func(c *threshold.Core) { c.Tick(int64(now)) })
}

// ---- observing other paths ----

// Arriving implements path.ArrivalObserver: a message by rendezvous shows what the peer does not
// send eagerly.
func (p *Path) Arriving(from int, m *path.Message) error {
	if m.Kind != path.RTS {
		return nil
	}
	return p.handshake(func(c *threshold.Core) { c.Came(from, int(m.Length)) })
}

// LongDone implements path.Profiler.
func (p *Path) LongDone(op *path.Op, peer, bytes int) error {
	now := p.e.Proc.Now()
	beside, left := p.e.Overlap(op)
	return p.handshake(func(c *threshold.Core) {
		c.Tick(int64(now))
		c.Ended(peer, threshold.Sample{Bytes: bytes, Sent: !op.Receive, Beside: int64(beside), Left: int64(left)})
	})
}
