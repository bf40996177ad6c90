package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/rma"
)

// A Rendezvous is how messages too long for VELO travel.
type Rendezvous string

// The rendezvous protocols. All begin with an RTS over VELO that is matched like
// any message.
const (
	// RGET: the receiver gets the message in one operation (FC paper, section 3).
	RGET Rendezvous = "rget"
	// RPUT: the receiver answers with a CTS, the sender puts.
	RPUT Rendezvous = "rput"
	// Chunked: the receiver gets chunks, a bounded number at a time over all the
	// messages it receives, so that nobody can send faster than it takes (RDRP paper).
	Chunked Rendezvous = "chunked"
)

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
}

// maxGet is the longest single operation.
const maxGet = 8 << 20

// A transfer is one end of a rendezvous.
type transfer struct {
	q      *Request
	id     uint32
	peer   int
	send   bool
	region *rma.Region
	at     uint64 // of the data in DMA memory
	bounce uint64 // bytes of the heap that stand in for a buffer outside DMA memory
	bytes  int    // to move
	status Status
	err    error

	remote   rma.NLA
	remoteID uint32
	issued   int // bytes asked for
	finished int // bytes that have arrived
}

// A pending operation: what a handle stands for.
type pending struct {
	handle rma.Handle
	t      *transfer
	bytes  int
}

// bulk is a rank's rendezvous state.
type bulk struct {
	RMA
	heap      heap
	transfers []*transfer // by id; nil when free
	pulls     []*transfer // receives with bytes left to ask for, in turn
	puts      []*transfer // sends that may put
	ops       []pending
	event     rma.Event
}

// UseRMA lets a rank send and receive messages of any size.
func (r *Rank) UseRMA(c RMA) error {
	switch c.Protocol {
	case RGET:
		c.Chunk, c.Outstanding = maxGet, 1<<30
	case RPUT:
	case Chunked:
		if c.Chunk < 1 || c.Chunk > maxGet || c.Outstanding < 1 {
			return fmt.Errorf("%w: chunks of %d bytes, %d at a time: expected 1 to %d bytes and at least 1", drivers.ErrConfig, c.Chunk, c.Outstanding, maxGet)
		}
	default:
		return fmt.Errorf("%w: rendezvous %q: expected rget, rput or chunked", drivers.ErrConfig, c.Protocol)
	}
	r.bulk = &bulk{RMA: c, heap: newHeap(c.HeapBase, c.HeapBytes)}
	return nil
}

// Alloc gives n bytes of DMA memory, which long messages are sent from and
// received into without a copy.
func (r *Rank) Alloc(n int) ([]byte, error) {
	if r.bulk == nil {
		return make([]byte, n), nil
	}
	at, err := r.bulk.heap.alloc(uint64(n))
	if err != nil {
		return nil, err
	}
	return r.bulk.Memory[at : at+uint64(n) : at+uint64(n)], nil
}

// FreeAll takes back everything that Alloc has given. No request may be under way.
func (r *Rank) FreeAll() {
	if r.bulk != nil {
		r.bulk.heap = newHeap(r.bulk.HeapBase, r.bulk.HeapBytes)
	}
}

// newTransfer registers buf, or a stand-in for it, and gives the transfer an id.
func (r *Rank) newTransfer(q *Request, peer, bytes int) (*transfer, error) {
	b := r.bulk
	t := &transfer{q: q, peer: peer, send: !q.receive, bytes: bytes}
	q.long = t
	if bytes > 0 {
		if err := r.place(t, q.buf[:bytes]); err != nil {
			return nil, err
		}
	}
	for i, old := range b.transfers {
		if old == nil {
			t.id = uint32(i)
			b.transfers[i] = t
			return t, nil
		}
	}
	t.id = uint32(len(b.transfers))
	b.transfers = append(b.transfers, t)
	return t, nil
}

// place finds where in DMA memory the data lies, and registers that.
func (r *Rank) place(t *transfer, buf []byte) (err error) {
	b := r.bulk
	at, inside := locate(b.Memory, buf)
	if !inside {
		if at, err = b.heap.alloc(uint64(len(buf))); err != nil {
			return err
		}
		t.bounce = uint64(len(buf))
		if t.send {
			r.proc.Spend(r.cost.CopyByte * drivers.Time(len(buf)))
			copy(b.Memory[at:], buf)
		}
	}
	t.at = at
	rights := rma.WriteOnly
	if t.send {
		rights = rma.ReadOnly
	}
	r.proc.Spend(r.cost.Register)
	t.region, err = b.Port.Register(at, uint64(len(buf)), rights)
	return err
}

// finish ends a transfer and its request.
func (r *Rank) finish(t *transfer) {
	b, q := r.bulk, t.q
	if t.bounce > 0 {
		if !t.send {
			r.proc.Spend(r.cost.CopyByte * drivers.Time(t.bytes))
			copy(q.buf, b.Memory[t.at:t.at+uint64(t.bytes)])
		}
		b.heap.free(t.at, t.bounce)
	}
	if t.region != nil {
		b.Port.Release(t.region)
	}
	b.transfers[t.id] = nil
	q.long = nil
	r.end(q)
	if q.err == nil {
		q.err = t.err
	}
	if q.receive {
		q.status = t.status
		r.stats.MessagesReceived++
		r.stats.BytesReceived += uint64(t.bytes)
	}
}

// ---- messages of the protocols ----

// An rts says that a message waits at its sender; a cts where a receiver wants
// it; a fin that a transfer is over without a notification, or has failed.
type control struct {
	id   uint32 // of the sender of this control message
	peer uint32 // of its receiver; unused in an RTS
	nla  rma.NLA
	n    uint32
	code uint32 // of a FIN: 0 good
}

const controlBytes = 24

func (c control) put(b []byte) {
	binary.LittleEndian.PutUint32(b[0:], c.id)
	binary.LittleEndian.PutUint32(b[4:], c.peer)
	binary.LittleEndian.PutUint64(b[8:], uint64(c.nla))
	binary.LittleEndian.PutUint32(b[16:], c.n)
	binary.LittleEndian.PutUint32(b[20:], c.code)
}

func parseControl(b []byte) (control, error) {
	if len(b) != controlBytes {
		return control{}, fmt.Errorf("host: rendezvous message of %d bytes, expected %d", len(b), controlBytes)
	}
	return control{
		id:   binary.LittleEndian.Uint32(b[0:]),
		peer: binary.LittleEndian.Uint32(b[4:]),
		nla:  rma.NLA(binary.LittleEndian.Uint64(b[8:])),
		n:    binary.LittleEndian.Uint32(b[16:]),
		code: binary.LittleEndian.Uint32(b[20:]),
	}, nil
}

// sendControl queues a rendezvous message behind what goes to the same rank.
func (r *Rank) sendControl(kind uint8, to int, c control) error {
	q := &Request{rank: r, kind: kind, buf: make([]byte, controlBytes), packets: Packets(controlBytes)}
	c.put(q.buf)
	return r.enqueue(to, q)
}

// ---- sending ----

// sendLong begins the rendezvous of a send. The RTS stands in the order of the
// messages to dst.
func (r *Rank) sendLong(dst int, q *Request) error {
	if r.bulk == nil {
		return fmt.Errorf("%w: message of %d bytes: at most %d travel over VELO, and this world has no RMA", drivers.ErrConfig, len(q.buf), EagerMax)
	}
	t, err := r.newTransfer(q, dst, len(q.buf))
	if err != nil {
		return err
	}
	c := control{id: t.id, n: uint32(len(q.buf))}
	if r.bulk.Protocol != RPUT {
		c.nla = t.region.NLA(t.at)
	}
	rts := &Request{rank: r, kind: kindRTS, env: q.env, buf: make([]byte, controlBytes), packets: Packets(controlBytes)}
	c.put(rts.buf)
	return r.enqueue(dst, rts)
}

// clearToSend is what a CTS does at the sender.
func (r *Rank) clearToSend(from int, c control) error {
	t, err := r.transferOf(from, c.peer)
	if err != nil {
		return err
	}
	t.remote, t.remoteID, t.bytes = c.nla, c.id, int(c.n)
	r.bulk.puts = append(r.bulk.puts, t)
	return r.issue()
}

// finished is what a FIN does at the sender of a message.
func (r *Rank) finished(from int, c control) error {
	t, err := r.transferOf(from, c.peer)
	if err != nil {
		return err
	}
	if c.code != 0 {
		t.err = fmt.Errorf("host: rank %d could not take the message: RMA error %d", from, c.code)
	}
	r.finish(t)
	return nil
}

func (r *Rank) transferOf(from int, id uint32) (*transfer, error) {
	if r.bulk == nil || int(id) >= len(r.bulk.transfers) || r.bulk.transfers[id] == nil || r.bulk.transfers[id].peer != from {
		return nil, fmt.Errorf("host: rank %d speaks of transfer %d, which is not under way with it", from, id)
	}
	return r.bulk.transfers[id], nil
}

// ---- receiving ----

// receiveLong begins to fetch a message whose RTS has matched q.
func (r *Rank) receiveLong(q *Request, from int, tag int, c control) error {
	n := min(int(c.n), len(q.buf))
	t, err := r.newTransfer(q, from, n)
	if err != nil {
		return err
	}
	t.remote, t.remoteID = c.nla, c.id
	t.status = Status{Source: from, Tag: tag, Bytes: int(c.n)}
	if int(c.n) > len(q.buf) {
		t.err = truncated(int(c.n), from, tag, len(q.buf))
	}
	switch {
	case n == 0:
		r.finish(t)
		return r.sendControl(kindFIN, from, control{peer: c.id})
	case r.bulk.Protocol == RPUT:
		return r.sendControl(kindCTS, from, control{id: t.id, peer: c.id, nla: t.region.NLA(t.at), n: uint32(n)})
	}
	r.bulk.pulls = append(r.bulk.pulls, t)
	return r.issue()
}

// issue posts the operations that may be posted now.
func (r *Rank) issue() error {
	for _, next := range []func() (bool, error){r.put, r.pull} {
		for {
			more, err := next()
			if errors.Is(err, rma.ErrTryAgain) {
				return nil // an operation under way will make room
			}
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
}

// pull asks for one more chunk; the receives take turns.
func (r *Rank) pull() (bool, error) {
	b := r.bulk
	if len(b.pulls) == 0 || len(b.ops) >= b.Outstanding {
		return false, nil
	}
	t := b.pulls[0]
	n := min(b.Chunk, t.bytes-t.issued)
	last := t.issued+n == t.bytes
	nf := rma.Completer
	if last {
		nf |= rma.Responder // the sender's completion: gets of a pair are served in order
	}
	off := uint64(t.issued)
	h, err := b.Port.Get(b.Peers[t.peer], t.region.NLA(t.at+off), t.remote+rma.NLA(off), n, nf)
	if err != nil {
		return false, err
	}
	t.issued += n
	b.ops = append(b.ops, pending{h, t, n})
	b.pulls = b.pulls[1:]
	if !last {
		b.pulls = append(b.pulls, t)
	}
	return true, nil
}

// put sends what a CTS asked for.
func (r *Rank) put() (bool, error) {
	b := r.bulk
	if len(b.puts) == 0 {
		return false, nil
	}
	t := b.puts[0]
	n := min(maxGet, t.bytes-t.issued)
	off := uint64(t.issued)
	h, err := b.Port.Put(b.Peers[t.peer], t.region.NLA(t.at+off), t.remote+rma.NLA(off), n, rma.Requester|rma.Completer)
	if err != nil {
		return false, err
	}
	b.ops = append(b.ops, pending{h, t, n})
	if t.issued += n; t.issued == t.bytes {
		b.puts = b.puts[1:]
	}
	return true, nil
}

// progressRMA takes one notification, if there is one.
func (r *Rank) progressRMA() (bool, error) {
	b := r.bulk
	if b == nil {
		return false, nil
	}
	ok, err := b.Port.Poll(&b.event)
	if err != nil || !ok {
		return ok, err
	}
	r.proc.Spend(r.cost.Take)
	if b.event.Handle != 0 {
		err = r.ownEvent(&b.event)
	} else {
		err = r.peerEvent(&b.event)
	}
	if err != nil {
		return true, err
	}
	return true, r.issue()
}

// ownEvent: one of this rank's operations has ended.
func (r *Rank) ownEvent(ev *rma.Event) error {
	b := r.bulk
	for i, op := range b.ops {
		if op.handle != ev.Handle {
			continue
		}
		if !ev.Last && ev.Err == nil {
			return nil
		}
		b.ops = append(b.ops[:i], b.ops[i+1:]...)
		t := op.t
		t.finished += op.bytes
		if ev.Err != nil && t.err == nil {
			t.err = ev.Err
		}
		if t.finished == t.bytes {
			return r.ended(t)
		}
		return nil
	}
	return nil // its operation ended with an error before
}

// ended: all operations of a transfer that this rank drives are over.
func (r *Rank) ended(t *transfer) error {
	failed := t.err != nil && !errors.Is(t.err, ErrTruncated)
	peer, id := t.peer, t.remoteID
	r.finish(t)
	if failed {
		return r.sendControl(kindFIN, peer, control{peer: id, code: 1})
	}
	return nil
}

// peerEvent: a peer's operation has touched this rank's memory.
func (r *Rank) peerEvent(ev *rma.Event) error {
	if !ev.Last {
		return nil
	}
	for _, t := range r.bulk.transfers {
		if t == nil || r.bulk.Peers[t.peer] != ev.Peer || t.region == nil {
			continue
		}
		from := t.region.NLA(t.at)
		if ev.NLA < from || ev.NLA >= from+rma.NLA(t.bytes) {
			continue
		}
		// A sender whose message was read, or a receiver whose message was written.
		if t.send == (ev.Unit == rma.UnitResponder) {
			if t.finished += ev.Bytes; t.send || ev.NLA+rma.NLA(ev.Bytes) == from+rma.NLA(t.bytes) {
				r.finish(t)
			}
			return nil
		}
	}
	return nil
}
