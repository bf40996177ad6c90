package ring

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/reuse"
	"github.com/nicloop/nicloop/rma"
)

// A word is what follows the header of a message about a ring: wordBytes, little endian.
//
//	0  purpose  uint8
//	1  entry    uint8    into which the bytes of this message go
//	2  entries  uint16   of the ring that is granted; 0: there is none
//	4  length   uint32   of this message
//	8  base     uint64   NLA of the ring that is granted
//	16 free     uint64   entries of the other direction that are given back, as bits
type word struct {
	purpose purpose
	entry   uint8
	entries uint16
	length  uint32
	base    uint64
	free    uint64
}

type purpose uint8

const (
	announce purpose = iota // a message whose bytes go into an entry
	ask                     // for a ring
	grant
	giveBack
)

// AddressEnd is behind the last network logical address that the hardware has.
const AddressEnd = 1 << 48

const wordBytes = path.ControlBytes

func (w word) put(b []byte) {
	b[0], b[1] = byte(w.purpose), w.entry
	binary.LittleEndian.PutUint16(b[2:], w.entries)
	binary.LittleEndian.PutUint32(b[4:], w.length)
	binary.LittleEndian.PutUint64(b[8:], w.base)
	binary.LittleEndian.PutUint64(b[16:], w.free)
}

func parseWord(from int, kind path.Kind, b []byte) (w word, err error) {
	if len(b) != wordBytes {
		return w, peererror.BadField(from, "length of a message about a ring", len(b), "%d bytes", wordBytes)
	}
	w = word{
		purpose: purpose(b[0]), entry: b[1], entries: binary.LittleEndian.Uint16(b[2:]), length: binary.LittleEndian.Uint32(b[4:]),
		base: binary.LittleEndian.Uint64(b[8:]), free: binary.LittleEndian.Uint64(b[16:]),
	}
	if w.purpose > giveBack || (w.purpose == announce) != (kind == path.Ring) {
		return w, peererror.BadField(from, "purpose of a message about a ring", w.purpose,
			"0 if and only if it carries a message, 1..%d else", giveBack)
	}
	return w, nil
}

// ---- sending ----

// Send implements path.Path.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	if op.Synchronous || len(op.Buf) < p.From || len(op.Buf) > p.Longest {
		return false, nil
	}
	to := &p.senders[dst]
	if to.Ask() {
		if err := p.tell(dst, word{purpose: ask}); err != nil {
			return false, err
		}
	}
	entry, ok := to.Take()
	if !ok {
		p.stats.Other++
		return false, nil
	}
	s, ok, err := p.put(dst, entry, op)
	if !ok || err != nil {
		to.Cancel(entry)
		p.stats.Other++
		return false, err
	}
	p.e.Sent(dst, op)
	q := p.e.NewControl(path.Ring)
	q.Envelope = op.Envelope
	word{entry: uint8(entry), length: uint32(len(op.Buf)), free: p.rings[dst].Back()}.put(q.Buf)
	if err := p.e.EnqueueControl(dst, q); err != nil {
		return true, err
	}
	if !s.held { // the bytes are in the intermediate buffer
		p.ops[len(p.ops)-1].op = nil
		p.e.End(op)
	}
	return true, nil
}

// put puts the bytes of a send into an entry; not ok: there is nothing to put them with now.
func (p *Path) put(dst, entry int, op *path.Op) (s source, ok bool, err error) {
	s, ok, err = p.acquire(op.Buf)
	if err != nil || !ok {
		return s, false, err
	}
	p.fill(s, op.Buf)
	d := p.e.DMA
	at := rma.NLA(p.senders[dst].Base + uint64(entry)*p.entryBytes())
	h, err := d.Port.Put(d.Peers[dst], s.nla, at, len(op.Buf), rma.Requester|rma.Completer)
	if err != nil {
		p.release(s)
		if errors.Is(err, rma.ErrTryAgain) {
			err = nil
		}
		return s, false, err
	}
	p.count(s)
	p.ops = append(p.ops, operation{handle: h, op: op, source: s})
	op.Holder = p
	return s, true, nil
}

// tell sends a word about a ring.
func (p *Path) tell(dst int, w word) error {
	q := p.e.NewControl(path.RingControl)
	q.Envelope = match.Envelope{Source: int32(dst)}
	w.put(q.Buf)
	return p.e.EnqueueAhead(dst, q)
}

// Cancel implements path.Holder: a send whose bytes have been put is not cancelled.
func (p *Path) Cancel(*path.Op) error { return nil }

// Waiting implements path.Holder.
func (p *Path) Waiting(op *path.Op) (path.Waiting, bool) {
	return path.Waiting{
		For: "rendezvous", Peer: op.Peer(), Tag: int(op.Envelope.Tag), Of: len(op.Buf),
		State: "an eager message whose bytes have not left its buffer",
	}, true
}

// ---- receiving ----

// Deliver implements path.Path: a message about rings, or the header of one that goes by a ring.
func (p *Path) Deliver(from int, h path.Header, body []byte) error {
	w, err := parseWord(from, h.Kind, body)
	if err != nil {
		return err
	}
	if w.free != 0 {
		if err := p.senders[from].Free(w.free); err != nil {
			return peererror.BadField(from, "entries of a ring that are free again", fmt.Sprintf("%#x", w.free), "entries in use (%v)", err)
		}
	}
	switch w.purpose {
	case ask:
		if !p.rings[from].Ask() {
			return peererror.BadField(from, "request for a ring", "a second one", "one for as long as the world lasts")
		}
		return p.grant(from)
	case grant:
		return p.granted(from, w)
	case announce:
		return p.announced(from, h, w)
	}
	return nil
}

// grant opens the ring of a sender. If nothing can be registered now it has none for good: its
// messages are left to other paths.
func (p *Path) grant(to int) error {
	w := word{purpose: grant}
	ok, err := p.openArea()
	if err != nil {
		return err
	}
	if ok {
		w.base, w.entries = uint64(p.area.NLA(p.entryAt(to, 0))), uint16(p.Entries)
		p.rings[to].Open(w.base, p.Entries)
	}
	return p.tell(to, w)
}

func (p *Path) granted(from int, w word) error {
	if end := uint64(w.entries) * p.entryBytes(); w.base > AddressEnd-end || w.base == 0 && w.entries > 0 {
		return peererror.BadField(from, "base of a ring", fmt.Sprintf("0x%x", w.base), "registered memory for %d entries", w.entries)
	}
	if err := p.senders[from].Grant(w.base, int(w.entries)); err != nil {
		return peererror.BadField(from, "entries of a ring", w.entries, "at most %d, as an answer", reuse.MaxEntries)
	}
	return nil
}

// announced matches a message whose bytes go, or have gone, into an entry.
func (p *Path) announced(from int, h path.Header, w word) error {
	m := p.e.Messages.Get()
	h.Length = w.length
	*m = path.Message{Header: h, Entry: int32(w.entry)}
	if int(w.length) > p.Longest {
		return peererror.BadField(from, "length of a message in a ring", w.length, "at most %d", p.Longest)
	}
	whole, err := p.rings[from].Header(int(w.entry), m)
	if err != nil {
		return peererror.BadField(from, "entry of a message in a ring", w.entry, "one that the sender may fill (%v)", err)
	}
	if m.Op, err = p.e.Arrive(from, m); err != nil || m.Op == nil || !whole {
		return err
	}
	return p.read(from, m)
}

// Bind implements path.Path.
func (p *Path) Bind(op *path.Op, from int, m *path.Message) error {
	m.Op = op
	if !p.rings[from].Whole(int(m.Entry)) {
		return nil
	}
	return p.read(from, m)
}

// read copies a message out of its entry and ends its receive.
func (p *Path) read(from int, m *path.Message) error {
	n := min(int(m.Length), len(m.Op.Buf))
	p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(n))
	at := p.entryAt(from, int(m.Entry))
	copy(m.Op.Buf, p.e.DMA.Memory[at:at+uint64(n)])
	r := &p.rings[from]
	r.Read(int(m.Entry))
	p.e.Complete(m, from)
	if !r.Due() {
		return nil
	}
	p.stats.Frees++
	return p.tell(from, word{purpose: giveBack, free: r.Back()})
}

// ---- notifications ----

// Event implements path.Notified: one of the path's operations, or bytes that came into a ring.
func (p *Path) Event(ev *rma.Event) (bool, error) {
	if ev.Handle == 0 {
		return p.arrived(ev)
	}
	for i := range p.ops {
		if p.ops[i].handle != ev.Handle {
			continue
		}
		if ev.Err != nil {
			return true, fmt.Errorf("host: rank %d puts or gets without a rendezvous: %w", p.e.ID, ev.Err)
		}
		if ev.Last {
			done := p.ops[i]
			p.ops[i] = p.ops[len(p.ops)-1]
			p.ops = p.ops[:len(p.ops)-1]
			p.done(&done)
		}
		return true, nil
	}
	return false, nil
}

// Unclaimed implements path.Claimant: a put was refused when its bytes had left.
func (p *Path) Unclaimed(ev *rma.Event) error {
	if ev.Handle == 0 {
		return nil
	}
	return fmt.Errorf("host: rank %d put bytes that were refused when they had left: %w", p.e.ID, ev.Err)
}

func (p *Path) done(o *operation) {
	if o.into != nil && o.transfer.Late {
		o.transfer.copies = append(o.transfer.copies, *o)
		return
	}
	p.finish(o)
}

// finish ends an operation whose bytes have arrived.
func (p *Path) finish(o *operation) {
	if o.into != nil {
		p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(len(o.into)))
		copy(o.into, p.e.DMA.Memory[p.stageAt(o.source.stage):])
	}
	if o.source != (source{}) {
		p.release(o.source)
		p.releaseRegistrations()
	}
	if o.op != nil {
		p.e.End(o.op)
	}
	if o.transfer != nil {
		o.transfer.inProgress--
	}
}

// arrived handles the notification of a put of a peer, if it went into a ring.
func (p *Path) arrived(ev *rma.Event) (bool, error) {
	if p.area == nil || ev.Unit != regs.RMAUnitCompleter || !ev.Last {
		return false, nil
	}
	number := (uint64(ev.NLA) - uint64(p.area.NLA(p.base))) / p.entryBytes()
	if number >= uint64((p.e.Size-1)*p.Entries) {
		return false, nil
	}
	from := int(number) / p.Entries
	if from >= p.e.ID {
		from++
	}
	if err := p.e.OwnMemory(from, ev); err != nil {
		return true, err
	}
	entry := number % uint64(p.Entries)
	m, whole, err := p.rings[from].Bytes(int(entry))
	if err != nil {
		return true, peererror.BadField(from, "target of a put into a ring", entry, "an entry that the sender may fill (%v)", err)
	}
	if whole && m.Op != nil {
		return true, p.read(from, m)
	}
	return true, nil
}
