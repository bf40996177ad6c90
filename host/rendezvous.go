package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
)

// A Rendezvous names how messages too long for VELO travel: package rendezvous says how.
type Rendezvous string

// The rendezvous protocols.
const (
	RGET    Rendezvous = "rget"
	RPUT    Rendezvous = "rput"
	Chunked Rendezvous = "chunked"
	// Spec is RGET whose receivers tell where a message shall go before they know of it (SPEC, section 4.2).
	Spec Rendezvous = "spec"
)

// Protocols are all of them.
func Protocols() []Rendezvous { return []Rendezvous{RGET, RPUT, Chunked, Spec} }

// RMA is what a rank has for long messages.
type RMA struct {
	Port        *rma.Port
	Peers       []rma.Peer // by rank
	Memory      []byte     // the node's DMA memory
	HeapBase    uint64     // the rank's part of it
	HeapBytes   uint64
	Protocol    Rendezvous
	Chunk       int // bytes of one get of Chunked
	Outstanding int // gets under way of Chunked
	// Speculation is what Spec works by; a zero is the default.
	Speculation rendezvous.Speculation
	// Protocols are more than those four; Choose picks among all of them, message by
	// message, instead of Protocol.
	Protocols []rendezvous.Protocol
	Choose    rendezvous.Policy
	// Patience is how long what is refused because the hardware has yet to forget something is asked for again; 0: 10 ms.
	Patience drivers.Time
	// Reuse has eager messages go by RMA; all ranks of a world must have the same.
	Reuse Reuse
	// Eager lets messages beyond EagerMax be eager; nil: none are.
	Eager *Eager
}

// What is refused is asked for again after retry, for patience at most unless RMA says otherwise.
const (
	retry    = drivers.Microsecond
	patience = 10 * drivers.Millisecond
)

// bulk is the shell around a rank's rendezvous core: its port, its heap, and which operation of the
// port is whose.
type bulk struct {
	RMA
	core      *rendezvous.Core
	heap      heap
	transfers freeList[transfer]
	held      [3]int // stand-ins for buffers outside DMA memory, by class
	bounced   uint64 // their bytes
	hint      uint8
	ops       []pending
	event     rma.Event
	scratch   *rma.Region       // where fences read to, the end of the heap
	reserved  uint64            // bytes in front of it, for Reuse
	given     map[uint64]uint64 // what Alloc has given, and Free has not taken back
	eager     *buffering        // nil: there are no eager buffers
	again     int               // see LengthenGets
	streams   *streaming        // nil: nobody puts before a receiver is ready
}

const scratchBytes = heapAlign

// A transfer is what the shell keeps of one end of a rendezvous.
type transfer struct {
	q      *Request
	end    *rendezvous.End
	rts    *Request // of a send, until it may go: its position in the order of messages
	class  rendezvous.Class
	region *rma.Region
	at     uint64 // of the data in DMA memory
	bounce uint64 // bytes of the heap that stand in for a buffer outside DMA memory
	status Status
	err    error // a receive too short for its message
	alone  bool  // a receive that was cancelled before a message matched it
}

// A pending operation: what a handle stands for. A put is kept until its transfer ends, since nothing
// but its faults is told.
type pending struct {
	handle rma.Handle
	t      *transfer
	verb   rendezvous.Do
	bytes  int
	put    bool
}

// UseRMA lets a rank send and receive messages of any size.
func (r *Rank) UseRMA(c RMA) error {
	if c.Protocol == Chunked && (c.Chunk < 1 || c.Chunk > rendezvous.MaxStep || c.Outstanding < 1) {
		return fmt.Errorf("%w: chunks of %d bytes, %d at a time: expected 1 to %d bytes and at least 1", drivers.ErrConfig, c.Chunk, c.Outstanding, rendezvous.MaxStep)
	}
	if c.Port == nil || len(c.Peers) != r.size || c.HeapBase > uint64(len(c.Memory)) || c.HeapBytes > uint64(len(c.Memory))-c.HeapBase {
		return fmt.Errorf("%w: RMA with port %p, %d peers and a heap of %d bytes at %d of %d: expected a port, %d peers and a heap inside memory",
			drivers.ErrConfig, c.Port, len(c.Peers), c.HeapBytes, c.HeapBase, len(c.Memory), r.size)
	}
	// What a peer may choose a rank must be able to follow, so all ranks know all protocols.
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
		return fmt.Errorf("%w: rendezvous %q: expected rget, rput, chunked or spec", drivers.ErrConfig, c.Protocol)
	}
	if c.HeapBytes < 2*scratchBytes {
		return fmt.Errorf("%w: %d bytes of DMA memory for a rank: expected at least %d", drivers.ErrConfig, c.HeapBytes, 2*scratchBytes)
	}
	if c.Patience == 0 {
		c.Patience = patience
	}
	cfg := rendezvous.Config{Protocols: known, Choose: c.Choose, Retry: int64(retry), Patience: int64(c.Patience)}
	if c.Protocol == Spec {
		cfg.Speculation = &c.Speculation
	}
	b := &bulk{RMA: c, core: rendezvous.New(cfg)}
	if err := r.openReuse(c.Reuse, b); err != nil {
		return err
	}
	if err := r.useEager(&c, b); err != nil {
		return err
	}
	b.clear()
	r.bulk = b
	return nil
}

// Alloc gives n bytes of DMA memory, which long messages are sent from and
// received into without a copy.
func (r *Rank) Alloc(n int) ([]byte, error) {
	switch {
	case n < 0 || n > MaxBytes:
		return nil, fmt.Errorf("%w: memory of %d bytes: expected 0 to %d", drivers.ErrConfig, n, MaxBytes)
	case n == 0: // of which Free has nothing to take back
		return []byte{}, nil
	case r.bulk == nil:
		return make([]byte, n), nil
	}
	at, err := r.bulk.heap.alloc(uint64(n))
	if err != nil {
		return nil, err
	}
	r.bulk.given[at] = uint64(n)
	return r.bulk.Memory[at : at+uint64(n) : at+uint64(n)], nil
}

// clear makes the heap anew.
func (b *bulk) clear() {
	b.heap = newHeap(b.HeapBase, b.HeapBytes-scratchBytes-b.reserved)
	b.given = map[uint64]uint64{}
}

// Free takes back one buffer that Alloc has given, whole. No request may use it: a send from it that is under way is refused if it is seen.
func (r *Rank) Free(buf []byte) error {
	b := r.bulk
	if b == nil || cap(buf) == 0 {
		return nil
	}
	at, inside := locate(b.Memory, buf[:min(1, cap(buf))])
	n, given := b.given[at]
	switch {
	case !inside || !given || n != uint64(len(buf)):
		return fmt.Errorf("%w: %d bytes are given back: expected all of what Alloc gave, once", drivers.ErrConfig, len(buf))
	case r.reuse != nil && r.reuse.table.Held(at, n):
		return fmt.Errorf("%w: %d bytes are given back that a send is reading: wait for it first", drivers.ErrConfig, len(buf))
	}
	delete(b.given, at)
	b.heap.free(at, n)
	r.forgetMemory(at, n)
	return r.unmapStale()
}

// FreeAll takes back everything that Alloc has given. No request may be under way.
func (r *Rank) FreeAll() {
	if r.bulk != nil {
		r.bulk.clear()
		r.forgetMemory(r.bulk.HeapBase, r.bulk.HeapBytes-scratchBytes-r.bulk.reserved)
	}
}

// Hint is told to RMA.Choose with every long message that is sent from now on.
func (r *Rank) Hint(h uint8) {
	if r.bulk != nil {
		r.bulk.hint = h
	}
}

// sendLong begins the rendezvous of a send. Its RTS takes its position in the order of the messages to
// dst now, and goes when the core has one.
func (r *Rank) sendLong(dst int, q *Request) error {
	b := r.bulk
	if b == nil {
		return fmt.Errorf("%w: message of %d bytes: at most %d travel over VELO, and this world has no RMA", drivers.ErrConfig, len(q.buf), EagerMax)
	}
	b.core.Tick(int64(r.proc.Now()))
	t := b.transfers.get()
	*t = transfer{q: q, rts: r.newControl(kindRTS)}
	t.rts.env, t.rts.held = q.env, true
	q.long = t
	_, reachable := locate(b.Memory, q.buf)
	t.end = b.core.Send(rendezvous.Message{Peer: dst, Bytes: len(q.buf), Reachable: reachable, Hint: b.hint, Blocks: q.blocks, Envelope: told(q)}, t)
	r.peers[dst].outbound.held++
	r.held++
	if err := r.enqueue(dst, t.rts); err != nil {
		return err
	}
	return r.drain()
}

// receiveLong begins to fetch a message whose RTS has matched q.
func (r *Rank) receiveLong(q *Request, from, tag int, c rendezvous.Control) error {
	b := r.bulk
	b.core.Tick(int64(r.proc.Now()))
	t := q.long
	offer := t != nil
	if !offer {
		t = b.transfers.get()
		*t = transfer{q: q}
	}
	t.status = Status{Source: q.comm.local(from), Tag: tag, Bytes: int(c.Bytes)}
	if int(c.Bytes) > len(q.buf) {
		t.err = truncated(int(c.Bytes), t.status.Source, tag, len(q.buf))
	}
	if q.long = t; offer {
		b.core.Matched(t.end, c)
	} else {
		t.end = b.core.Receive(from, c, len(q.buf), t)
	}
	return r.drain()
}
