package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// Messages beyond EagerMax that are eager: package threshold says up to which length, and which buffer each has. Here they
// move. The sender puts the bytes into its buffer at the receiver and says so in a message of VELO that is matched like any other;
// the receiver copies them when both are there. The send is done when the bytes have left.

// Eager is how long messages may be eager. Its zero is for thresholds that each channel finds by itself.
type Eager struct {
	// Threshold is that of all channels, from their first such message on, or from the start if All. 0: each channel has its own.
	Threshold int
	All       bool
	// Buffers is the memory of the rank for what others send: bytes at the end of its part of the heap.
	Buffers   int
	Handshake threshold.Handshake
	Policy    threshold.Policy
	// Idle is for how long a buffer is not used before it is taken back; 0: for ever.
	Idle drivers.Time
}

// EagerStats are those of a rank's channels. Spent is the time of its core in handshakes, buffers that are made and go
// included; Freeing is what saying and hearing takes that buffers may be used again.
type EagerStats struct {
	threshold.Stats
	Streams        threshold.StreamStats // under NotReady
	Spent, Freeing drivers.Time
}

// buffering is what a rank keeps of its channels.
type buffering struct {
	core    *threshold.Core
	base    uint64 // of the buffers, in DMA memory
	region  *rma.Region
	arrived map[uint64]arrival // by address of the buffer
	puts    []eagerPut         // under way
	waiting []eagerPut         // that the NIC has no room for yet
	ticked  drivers.Time
	idle    drivers.Time
	empties []emptied // that their peers do not know of yet
	spent   drivers.Time
	freeing drivers.Time
}

// An arrival is what is known of the message in a buffer.
type arrival struct {
	m      *message // it has come; nil: its bytes were faster
	from   int
	landed bool
}

// An eagerPut is bytes on their way.
type eagerPut struct {
	handle rma.Handle
	q      *Request
	dst    int
	region *rma.Region
	at     uint64 // where the bytes lie
	to     rma.NLA
	bounce uint64 // bytes of the heap that stand in for a buffer outside DMA memory
}

// useEager begins with what c.Eager says. Its memory lies in front of what the end of the heap is used for already.
func (r *Rank) useEager(c *RMA, b *bulk) error {
	e := c.Eager
	if e == nil {
		return nil
	}
	if e.Handshake == threshold.NotReady {
		return r.useStreams(c, b)
	}
	if e.Threshold != 0 && e.Threshold <= EagerMax || e.Threshold < 0 {
		return fmt.Errorf("%w: an eager threshold of %d bytes: expected more than the %d that VELO carries", drivers.ErrConfig, e.Threshold, EagerMax)
	}
	if e.Buffers < 1 || uint64(e.Buffers)+b.reserved+2*scratchBytes > c.HeapBytes {
		return fmt.Errorf("%w: %d bytes for eager buffers: expected 1 to %d, as the heap of a rank has %d", drivers.ErrConfig, e.Buffers, c.HeapBytes-min(c.HeapBytes, b.reserved+2*scratchBytes), c.HeapBytes)
	}
	end := c.HeapBase + c.HeapBytes - scratchBytes
	base := (end - b.reserved - uint64(e.Buffers)) &^ (heapAlign - 1)
	region, err := c.Port.Register(base, uint64(e.Buffers), rma.WriteOnly)
	if err != nil {
		return fmt.Errorf("eager buffers: %w", err)
	}
	b.reserved = end - base
	b.eager = &buffering{base: base, region: region, arrived: map[uint64]arrival{}, idle: e.Idle, core: threshold.New(threshold.Config{
		Self: r.id, Ranks: r.size, Handshake: e.Handshake, Base: uint64(region.NLA(base)), Cap: e.Buffers, Least: EagerMax,
		Fixed: e.Threshold, All: e.All, Policy: e.Policy, Idle: int64(e.Idle),
	})}
	return nil
}

// EagerStats gives the counters of the rank's channels; false: its messages beyond EagerMax all go by a rendezvous.
func (r *Rank) EagerStats() (EagerStats, bool) {
	switch {
	case r.streams() != nil:
		return EagerStats{Streams: r.bulk.streams.core.Stats(), Spent: r.bulk.streams.spent}, true
	case r.eager() != nil:
		return EagerStats{Stats: r.bulk.eager.core.Stats(), Spent: r.bulk.eager.spent, Freeing: r.bulk.eager.freeing}, true
	}
	return EagerStats{}, false
}

func (r *Rank) eager() *buffering {
	if r.bulk == nil {
		return nil
	}
	return r.bulk.eager
}

// handshake does something with the core, and what comes of it; the time of that is counted.
func (r *Rank) handshake(do func(*threshold.Core)) error {
	e, began := r.bulk.eager, r.proc.Now()
	do(e.core)
	err := r.drainEager()
	e.spent += r.proc.Now() - began
	return err
}

// drainEager does all that the core asks for.
func (r *Rank) drainEager() error {
	for {
		a, more := r.bulk.eager.core.Next()
		if !more {
			return nil
		}
		if err := r.doEager(a); err != nil {
			return err
		}
	}
}

func (r *Rank) doEager(a threshold.Action) error {
	o := &r.peers[a.Peer].outbound
	if a.Resume {
		o.stopped = false
		return r.push(a.Peer)
	}
	if a.Message.Kind == threshold.Empty {
		e := r.bulk.eager
		e.empties = append(e.empties, emptied{a.Peer, a.Message})
		return nil
	}
	if m := a.Message; m.Count > 0 { // buffers were made
		r.proc.Spend(r.cost.Register)
	}
	q := r.newControl(kindThreshold)
	a.Message.Put(q.buf)
	q.closes, q.outside = a.Last, a.Outside
	switch {
	case a.Outside:
		return r.pass(a.Peer, q)
	case a.InOrder:
		return r.enqueue(a.Peer, q)
	}
	return r.hurry(a.Peer, q)
}

// pass puts a message in front of all that wait in a channel that has stopped.
func (r *Rank) pass(dst int, q *Request) error {
	o := &r.peers[dst].outbound
	q.next, o.head = o.head, q
	if q.next == nil {
		o.tail = q
	}
	r.queued++
	return r.push(dst)
}

// ---- sending ----

// sendBuffered begins a send that has a buffer at its receiver; false: there is none, or nothing here to put it with.
func (r *Rank) sendBuffered(dst int, q *Request) (bool, error) {
	e := r.eager()
	if e == nil {
		return false, nil
	}
	if q.posted = r.proc.Now(); q.synchronous {
		return false, nil
	}
	var at uint64
	var ok bool
	if err := r.handshake(func(c *threshold.Core) {
		c.Tick(int64(q.posted))
		c.Begin()
		at, ok = c.Take(dst, len(q.buf))
	}); err != nil || !ok {
		return false, err
	}
	sent, err := r.put(dst, q, rma.NLA(at))
	if err != nil || !sent {
		e.core.Back(dst)
		return false, err
	}
	r.bulk.core.Sent(dst, told(q))
	m := r.newControl(kindBuffered)
	m.env = q.env
	binary.LittleEndian.PutUint64(m.buf[0:], at)
	binary.LittleEndian.PutUint64(m.buf[8:], uint64(len(q.buf)))
	return true, r.enqueue(dst, m)
}

// put puts the bytes of a send into a buffer, from where they lie if the hardware reaches that, as soon as the NIC has room; false: they
// lie where it does not, and no memory is left to copy them to.
func (r *Rank) put(dst int, q *Request, to rma.NLA) (bool, error) {
	b, n := r.bulk, uint64(len(q.buf))
	p := eagerPut{q: q, dst: dst, to: to}
	var inside bool
	if p.at, inside = locate(b.Memory, q.buf); !inside {
		var ok bool
		if p.at, ok = b.standIn(rendezvous.Early, n); !ok {
			return false, nil
		}
		p.bounce = n
	}
	var err error
	if p.region, err = r.register(p.at, n, rma.ReadOnly); err != nil {
		r.clean(p)
		if errors.Is(err, rendezvous.ErrAgain) {
			err = nil
		}
		return false, err
	}
	if !inside {
		r.proc.Spend(r.cost.CopyByte * drivers.Time(n))
		copy(b.Memory[p.at:], q.buf)
	}
	b.eager.waiting = append(b.eager.waiting, p)
	_, err = r.postPuts()
	return true, err
}

// postPuts gives the NIC what waits, in order, as far as it has room, and tells whether it took any.
func (r *Rank) postPuts() (posted bool, err error) {
	e := r.bulk.eager
	for len(e.waiting) > 0 {
		p := e.waiting[0]
		p.handle, err = r.bulk.Port.Put(r.bulk.Peers[p.dst], p.region.NLA(p.at), p.to, len(p.q.buf), rma.Requester|rma.Completer)
		if errors.Is(err, rma.ErrTryAgain) {
			return posted, nil
		}
		if err != nil {
			return posted, err
		}
		e.puts, e.waiting, posted = append(e.puts, p), e.waiting[1:], true
	}
	return posted, nil
}

// clean gives back what a put had.
func (r *Rank) clean(p eagerPut) {
	if p.bounce > 0 {
		r.bulk.putBack(rendezvous.Early, p.at, p.bounce)
	}
	if p.region != nil {
		r.bulk.Port.Release(p.region)
	}
}

// ---- receiving ----

// fileBuffered handles a message whose bytes are, or will be, in a buffer here.
func (r *Rank) fileBuffered(from int, h header, b []byte) error {
	e := r.eager()
	if e == nil || len(b) != threshold.MessageBytes {
		return fmt.Errorf("%w: rank %d sends to an eager buffer of rank %d, which has none: all ranks need the same thresholds", drivers.ErrConfig, from, r.id)
	}
	at := binary.LittleEndian.Uint64(b[0:])
	length := binary.LittleEndian.Uint64(b[8:])
	e.core.Tick(int64(r.proc.Now()))
	if err := e.core.Filled(from, at, length); err != nil {
		return err
	}
	h.length = uint32(length)
	r.came(from, h)
	r.proc.Spend(r.cost.Match)
	m := r.messages.get()
	*m = message{header: h, more: &extra{at: at}}
	e.arrived[at] = arrival{m, from, e.arrived[at].landed}
	q, ok := r.match.Arrive(h.envelope(from), m)
	if !ok {
		r.stats.Unexpected++
		return nil
	}
	if err := r.overtaken(q); err != nil {
		return err
	}
	return r.bindBuffered(q, m)
}

// fileThreshold hands a message of a handshake over.
func (r *Rank) fileThreshold(from int, b []byte) error {
	m, err := threshold.Parse(b)
	if n := r.streams(); err == nil && n != nil {
		began := r.proc.Now()
		defer func() { n.spent += r.proc.Now() - began }()
		r.proc.Spend(r.cost.Match)
		n.core.Tick(int64(r.proc.Now()))
		if err := n.core.Allowed(from, m); err != nil {
			return err
		}
		n.core.Hear(from, m)
		return r.drainStreams()
	}
	if err == nil && r.eager() == nil {
		err = fmt.Errorf("%w: it has eager buffers, and rank %d has none: all ranks need the same thresholds", drivers.ErrConfig, r.id)
	}
	if err != nil {
		return fmt.Errorf("from rank %d: %w", from, err)
	}
	if err := r.eager().core.Allowed(from, m); err != nil {
		return err
	}
	return r.handshake(func(c *threshold.Core) {
		r.proc.Spend(r.cost.Match)
		c.Tick(int64(r.proc.Now()))
		c.Hear(from, m)
	})
}

// bindBuffered gives a message to the receive that it matches.
func (r *Rank) bindBuffered(q *Request, m *message) error {
	m.req = q
	if a := r.bulk.eager.arrived[m.more.at]; a.landed {
		return r.read(a)
	}
	return nil
}

// read copies a message to where it belongs, and gives its buffer back.
func (r *Rank) read(a arrival) error {
	e, m := r.bulk.eager, a.m
	at, n := m.more.at, uint64(m.length)
	off := e.base + at - uint64(e.region.NLA(e.base))
	r.proc.Spend(r.cost.CopyByte * drivers.Time(n))
	copy(m.req.buf, r.bulk.Memory[off:off+n])
	delete(e.arrived, at)
	r.complete(m, a.from)
	e.core.Tick(int64(r.proc.Now()))
	e.core.Read(a.from, at)
	return r.drainEager()
}

// ---- events ----

// eagerEvent takes a notification that is about an eager message; false: it is not.
func (r *Rank) eagerEvent(ev *rma.Event) (bool, error) {
	e := r.eager()
	if e == nil {
		return r.streamEvent(ev)
	}
	if ev.Handle == 0 {
		return r.landed(ev)
	}
	for i := range e.puts {
		if e.puts[i].handle != ev.Handle {
			continue
		}
		if ev.Last {
			p := e.puts[i]
			e.puts = append(e.puts[:i], e.puts[i+1:]...)
			r.clean(p)
			r.end(p.q)
		}
		return true, eagerFault(ev)
	}
	return false, nil
}

// eagerFault: what a put into a buffer meets nobody can repair, as its message has gone.
func eagerFault(ev *rma.Event) error {
	if ev.Err == nil {
		return nil
	}
	return fmt.Errorf("an eager message is lost: %w", ev.Err)
}

// landed: the bytes of a message are all there, if they are in a buffer.
func (r *Rank) landed(ev *rma.Event) (bool, error) {
	e := r.bulk.eager
	at, peer, ok := e.core.Locate(uint64(ev.NLA))
	if !ok || !ev.Last {
		return ok, nil
	}
	if err := r.ownMemory(peer, ev); err != nil {
		return true, err
	}
	a := e.arrived[at]
	a.landed = true
	e.arrived[at] = a
	if a.m != nil && a.m.req != nil {
		return true, r.read(a)
	}
	return true, nil
}

// ownMemory checks that what came into memory that is kept for one peer came from that peer.
func (r *Rank) ownMemory(peer int, ev *rma.Event) error {
	if ev.Peer == r.bulk.Peers[peer] {
		return nil
	}
	return &drivers.PeerError{
		Peer: ev.Peer.String(), Field: "target of a put", Value: fmt.Sprintf("NLA 0x%x", uint64(ev.NLA)),
		Expected: fmt.Sprintf("memory of its own: this is kept for rank %d", peer),
	}
}

// progressEager posts puts that waited, and has buffers taken back that were idle, a few times in their time.
func (r *Rank) progressEager() (bool, error) {
	e, now := r.eager(), r.proc.Now()
	if e == nil {
		return r.progressStreams()
	}
	posted, err := r.postPuts()
	if err != nil || e.idle == 0 || now-e.ticked < e.idle/4 {
		return posted, err
	}
	e.ticked = now
	return posted, r.handshake(func(c *threshold.Core) { c.Tick(int64(now)) })
}

// ---- profile ----

// waits notes that the rank waits, and tells whether it has before; calls nest.
func (r *Rank) waits() (already bool) {
	if already = r.waitsFrom != 0; !already {
		r.waitsFrom = r.proc.Now()
	}
	return already
}

// first is the first error of two.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (r *Rank) waited(already bool) error {
	if already {
		return nil
	}
	r.waitsFrom = 0
	return r.tellEmpties()
}

// profile tells the core of a message that went by a rendezvous: how long the application did something else beside it, and
// what was left when it waited.
func (r *Rank) profile(q *Request, peer, bytes int) error {
	n := r.streams()
	if r.eager() == nil && n == nil {
		return nil
	}
	now := r.proc.Now()
	s := threshold.Sample{Bytes: bytes, Sent: !q.receive, Beside: int64(now - q.posted)}
	if r.waitsFrom != 0 {
		s.Beside = int64(max(r.waitsFrom-q.posted, 0))
		s.Left = int64(now - max(r.waitsFrom, q.posted))
	}
	if n != nil {
		n.core.Tick(int64(now))
		n.core.Ended(streamOf(peer, q.env.Tag, q.env.Comm), s)
		return r.drainStreams()
	}
	return r.handshake(func(c *threshold.Core) {
		c.Tick(int64(now))
		c.Ended(peer, s)
	})
}
