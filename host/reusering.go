package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/reuse"
	"github.com/nicloop/nicloop/rma"
)

// What two ranks say of rings: behind the message header, in ringBytes, little endian.
//
//	0  what     uint8
//	1  entry    uint8    where the bytes of this message go
//	2  entries  uint16   of the ring that is granted; 0: there is none
//	4  length   uint32   of this message
//	8  base     uint64   NLA of the ring that is granted
//	16 free     uint64   entries of the other direction that are given back, as bits
type ringWord struct {
	what    ringDeed
	entry   uint8
	entries uint16
	length  uint32
	base    uint64
	free    uint64
}

type ringDeed uint8

const (
	ringMessage ringDeed = iota
	ringAsk
	ringGrant
	ringFree
)

// nlaEnd is behind the last address that the hardware has.
const nlaEnd = 1 << 48

const ringBytes = 24 // as long as a control message, whose buffers it uses

func (w ringWord) put(b []byte) {
	b[0], b[1] = byte(w.what), w.entry
	binary.LittleEndian.PutUint16(b[2:], w.entries)
	binary.LittleEndian.PutUint32(b[4:], w.length)
	binary.LittleEndian.PutUint64(b[8:], w.base)
	binary.LittleEndian.PutUint64(b[16:], w.free)
}

func parseRing(from int, kind uint8, b []byte) (w ringWord, err error) {
	if len(b) != ringBytes {
		return w, drivers.BadField(from, "length of a message about a ring", len(b), "%d bytes", ringBytes)
	}
	w = ringWord{
		what: ringDeed(b[0]), entry: b[1], entries: binary.LittleEndian.Uint16(b[2:]),
		length: binary.LittleEndian.Uint32(b[4:]), base: binary.LittleEndian.Uint64(b[8:]), free: binary.LittleEndian.Uint64(b[16:]),
	}
	if w.what > ringFree || (w.what == ringMessage) != (kind == kindRing) {
		return w, drivers.BadField(from, "purpose of a message about a ring", w.what, "0 if and only if it carries a message, 1..%d else", ringFree)
	}
	return w, nil
}

// ---- sending ----

// sendByRing sends a message by the ring of its receiver; false: it has to go otherwise.
func (r *Rank) sendByRing(dst int, q *Request) (bool, error) {
	u := r.reuse
	if u == nil || q.synchronous || len(q.buf) < u.From || len(q.buf) > u.Longest {
		return false, nil
	}
	to := &u.senders[dst]
	if to.Ask() {
		if err := r.tellRing(dst, ringWord{what: ringAsk}); err != nil {
			return false, err
		}
	}
	entry, ok := to.Take()
	if !ok {
		u.stats.Other++
		return false, nil
	}
	s, ok, err := r.source(q.buf)
	if err != nil || !ok {
		to.Cancel(entry)
		u.stats.Other++
		return false, err
	}
	r.fill(s, q.buf)
	h, err := r.bulk.Port.Put(r.bulk.Peers[dst], s.nla, rma.NLA(to.Base+uint64(entry)*u.entryBytes()), len(q.buf), rma.Requester|rma.Completer)
	if err != nil {
		to.Cancel(entry)
		u.giveBack(s)
		u.stats.Other++
		if errors.Is(err, rma.ErrTryAgain) {
			err = nil
		}
		return false, err
	}
	u.count(s)
	u.ops = append(u.ops, reuseOp{handle: h, q: q, source: s})
	q.put = true
	r.bulk.core.Sent(dst, told(q))
	c := r.newControl(kindRing)
	c.env = q.env
	ringWord{entry: uint8(entry), length: uint32(len(q.buf)), free: u.rings[dst].Back()}.put(c.buf)
	if err := r.enqueue(dst, c); err != nil {
		return true, err
	}
	if !s.held { // the bytes are in the intermediate buffer
		u.ops[len(u.ops)-1].q = nil
		r.end(q)
	}
	return true, nil
}

// tellRing sends a word about a ring.
func (r *Rank) tellRing(dst int, w ringWord) error {
	q := r.newControl(kindRingControl)
	q.env = match.Envelope{Source: int32(dst)}
	w.put(q.buf)
	return r.hurry(dst, q)
}

// ---- receiving ----

// fileRing handles a message about rings, or the header of one that goes by a ring.
func (r *Rank) fileRing(from int, h header, b []byte) error {
	w, err := parseRing(from, h.kind, b)
	if err != nil {
		return err
	}
	u := r.reuse
	if u == nil {
		return fmt.Errorf("%w: rank %d sends eager messages by RMA, and rank %d does not: all ranks of a world must say the same", drivers.ErrConfig, from, r.id)
	}
	if w.free != 0 {
		if err := u.senders[from].Free(w.free); err != nil {
			return drivers.BadField(from, "entries of a ring that are free again", fmt.Sprintf("%#x", w.free), "entries in use (%v)", err)
		}
	}
	switch w.what {
	case ringAsk:
		if !u.rings[from].Ask() {
			return drivers.BadField(from, "request for a ring", "a second one", "one for as long as the world lasts")
		}
		return r.grantRing(from)
	case ringGrant:
		if end := uint64(w.entries) * u.entryBytes(); w.base > nlaEnd-end || w.base == 0 && w.entries > 0 {
			return drivers.BadField(from, "base of a ring", fmt.Sprintf("0x%x", w.base), "registered memory for %d entries", w.entries)
		}
		if err := u.senders[from].Grant(w.base, int(w.entries)); err != nil {
			return drivers.BadField(from, "entries of a ring", w.entries, "at most %d, as an answer", reuse.MaxEntries)
		}
		return nil
	case ringMessage:
		return r.fileRingMessage(from, h, w)
	}
	return nil
}

// grantRing opens the ring of a sender. If nothing can be registered now it has none for good: what it sends goes otherwise.
func (r *Rank) grantRing(to int) error {
	u := r.reuse
	w := ringWord{what: ringGrant}
	ok, err := r.openArea()
	if err != nil {
		return err
	}
	if ok {
		w.base, w.entries = uint64(u.area.NLA(r.entryAt(to, 0))), uint16(u.Entries)
		u.rings[to].Open(w.base, u.Entries)
	}
	return r.tellRing(to, w)
}

// fileRingMessage matches a message whose bytes go, or have come, into an entry.
func (r *Rank) fileRingMessage(from int, h header, w ringWord) error {
	m := r.messages.get()
	h.length = w.length
	*m = message{header: h, entry: int32(w.entry)}
	if int(w.length) > r.reuse.Longest {
		return drivers.BadField(from, "length of a message in a ring", w.length, "at most %d", r.reuse.Longest)
	}
	complete, err := r.reuse.rings[from].Header(int(w.entry), m)
	if err != nil {
		return drivers.BadField(from, "entry of a message in a ring", w.entry, "one that the sender may fill (%v)", err)
	}
	r.came(from, h)
	r.proc.Spend(r.cost.Match)
	q, ok := r.match.Arrive(h.envelope(from), m)
	if !ok {
		r.stats.Unexpected++
		return nil
	}
	m.req = q
	if err := r.overtaken(q); err != nil || !complete {
		return err
	}
	return r.readEntry(from, m)
}

// bindRing gives a message by a ring to a receive that was posted later.
func (r *Rank) bindRing(q *Request, from int, m *message) error {
	m.req = q
	if !r.reuse.rings[from].Whole(int(m.entry)) {
		return nil
	}
	return r.readEntry(from, m)
}

// readEntry copies a message out of its entry and ends its receive.
func (r *Rank) readEntry(from int, m *message) error {
	u := r.reuse
	n := min(int(m.length), len(m.req.buf))
	r.proc.Spend(r.cost.CopyByte * drivers.Time(n))
	at := r.entryAt(from, int(m.entry))
	copy(m.req.buf, r.bulk.Memory[at:at+uint64(n)])
	ring := &u.rings[from]
	ring.Read(int(m.entry))
	r.complete(m, from)
	if !ring.Due() {
		return nil
	}
	u.stats.Frees++
	return r.tellRing(from, ringWord{what: ringFree, free: ring.Back()})
}

// CheckRings counts the entries of the ring from one rank to another, when nothing is under way between them.
func CheckRings(from, to *Rank) error {
	if from.reuse == nil || to.reuse == nil {
		return nil
	}
	if err := reuse.Check(&from.reuse.senders[to.id], &to.reuse.rings[from.id]); err != nil {
		return fmt.Errorf("from rank %d to rank %d: %w", from.id, to.id, err)
	}
	return nil
}

// reuseHappened takes an event of an operation, or of bytes that came into a ring; false: it is of something else.
func (r *Rank) reuseHappened(ev *rma.Event) (bool, error) {
	u := r.reuse
	if u == nil {
		return false, nil
	}
	if ev.Handle == 0 {
		return r.bytesCame(ev)
	}
	for i := range u.ops {
		op := &u.ops[i]
		if op.handle != ev.Handle {
			continue
		}
		if ev.Err != nil {
			return true, fmt.Errorf("host: rank %d puts or gets without a rendezvous: %w", r.id, ev.Err)
		}
		if ev.Last {
			done := *op
			u.ops[i] = u.ops[len(u.ops)-1]
			u.ops = u.ops[:len(u.ops)-1]
			r.reuseDone(&done)
		}
		return true, nil
	}
	// Of a rendezvous everything is known until its fence is back.
	if ev.Err != nil && !r.bulk.knows(ev.Handle) {
		return true, fmt.Errorf("host: rank %d put bytes that were refused when they had left: %w", r.id, ev.Err)
	}
	return false, nil
}

// knows tells whether an operation is of a rendezvous.
func (b *bulk) knows(h rma.Handle) bool {
	for i := range b.ops {
		if b.ops[i].handle == h {
			return true
		}
	}
	return false
}

func (r *Rank) reuseDone(op *reuseOp) {
	if op.into != nil && op.window.late {
		op.window.copies = append(op.window.copies, *op)
		return
	}
	r.reuseCopied(op)
}

// reuseCopied ends an operation whose bytes have come.
func (r *Rank) reuseCopied(op *reuseOp) {
	u := r.reuse
	if op.into != nil {
		r.proc.Spend(r.cost.CopyByte * drivers.Time(len(op.into)))
		copy(op.into, r.bulk.Memory[r.stageAt(op.source.stage):])
	}
	if op.source != (source{}) {
		u.giveBack(op.source)
		r.releaseReused()
	}
	if op.q != nil {
		r.end(op.q)
	}
	if op.window != nil {
		op.window.under--
	}
}

// bytesCame: a peer's put into a ring is there.
func (r *Rank) bytesCame(ev *rma.Event) (bool, error) {
	u := r.reuse
	if u.area == nil || ev.Unit != regs.RMAUnitCompleter || !ev.Last {
		return false, nil
	}
	off := uint64(ev.NLA) - uint64(u.area.NLA(u.at))
	number := off / u.entryBytes()
	if number >= uint64((r.size-1)*u.Entries) {
		return false, nil
	}
	from := int(number) / u.Entries
	if from >= r.id {
		from++
	}
	if err := r.ownMemory(from, ev); err != nil {
		return true, err
	}
	m, complete, err := u.rings[from].Bytes(int(number % uint64(u.Entries)))
	if err != nil {
		return true, drivers.BadField(from, "target of a put into a ring", number%uint64(u.Entries), "an entry that the sender may fill (%v)", err)
	}
	if complete && m.req != nil {
		return true, r.readEntry(from, m)
	}
	return true, nil
}
