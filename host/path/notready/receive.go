package notready

import (
	"encoding/binary"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// Deliver implements path.Path: a message of the protocol, or one whose bytes are put as soon as
// its receive is ready.
func (p *Path) Deliver(from int, h path.Header, body []byte) error {
	if h.Kind == path.Threshold {
		return p.deliverControl(from, body)
	}
	if len(body) != threshold.MessageBytes {
		return peererror.BadField(from, "length of a message of a stream", len(body), "%d bytes", threshold.MessageBytes)
	}
	length, most := binary.LittleEndian.Uint64(body[8:]), uint64(p.core.Longest(streamOf(from, h.Tag, h.Comm)))
	if length <= path.EagerMax || length > most {
		return peererror.BadField(from, "length of a message of a stream", length, "%d..%d", path.EagerMax+1, most)
	}
	h.Length = uint32(length)
	m := p.e.Messages.Get()
	*m = path.Message{Header: h, More: &path.Extra{}}
	op, err := p.e.Arrive(from, m)
	if err != nil {
		return err
	}
	if want := binary.LittleEndian.Uint64(body[0:]); !m.More.Numbered || uint64(m.More.Number) != want {
		return peererror.BadField(from, "message number in a stream", want,
			"%d (stream open: %t): lost, doubled or out of order", m.More.Number, m.More.Numbered)
	}
	if op == nil {
		return nil
	}
	return p.Bind(op, from, m)
}

func (p *Path) deliverControl(from int, body []byte) error {
	m, err := threshold.Parse(body)
	if err != nil {
		return err
	}
	began := p.e.Proc.Now()
	defer func() { p.spent += p.e.Proc.Now() - began }()
	p.e.Proc.Spend(p.e.Cost.Match)
	p.core.Tick(int64(p.e.Proc.Now()))
	if err := p.core.Allowed(from, m); err != nil {
		return err
	}
	p.core.Hear(from, m)
	return p.drain()
}

// Bind implements path.Path.
func (p *Path) Bind(op *path.Op, from int, m *path.Message) error {
	m.Op = op
	p.arrivals[key{streamOf(from, m.Tag, m.Comm), m.More.Number}] = &arrival{m: m, from: from}
	return p.matched(from, m, true)
}

// matched tells the core that a message of a stream has its receive, which is no longer offered.
func (p *Path) matched(from int, m *path.Message, inside bool) error {
	if m.More == nil || !m.More.Numbered {
		return nil
	}
	p.core.Matched(streamOf(from, m.Tag, m.Comm), m.More.Number, inside)
	return p.drain()
}

// Arriving implements path.ArrivalObserver: it numbers a message that is of a stream, whatever path
// its bytes take.
func (p *Path) Arriving(from int, m *path.Message) error {
	if number, ok := p.core.Came(streamOf(from, m.Tag, m.Comm)); ok {
		if m.More == nil {
			m.More = &path.Extra{}
		}
		m.More.Number, m.More.Numbered = number, true
	}
	return nil
}

// Matched implements path.MatchObserver.
func (p *Path) Matched(from int, _ *path.Op, m *path.Message) error {
	if m.Kind == path.NotReady {
		return nil // see Bind
	}
	return p.matched(from, m, false)
}

// Offer implements path.Offerer: it readies a receive before its message is known, if no receive in
// front of it can get that message, and if its buffer lies as the sender will put.
func (p *Path) Offer(op *path.Op) error {
	from := op.Peer()
	if from == match.Any || op.Envelope.Tag == match.Any || op.Envelope.Wide || p.e.StaysLocal(from) {
		return nil
	}
	l := streamOfOp(op)
	number, address, ok := p.core.Offerable(l, p.e.Match.Fitting(op.Envelope)-1, len(op.Buf))
	at, inside := p.e.DMA.Locate(op.Buf)
	if !ok || !inside || at%pageBytes != address%pageBytes {
		return nil
	}
	op.Holder, op.Number = p, number
	p.gate(key{l, number}).offered = op
	p.core.Offer(l, number)
	return p.drain()
}

// Cancel implements path.Holder: it asks the sender to give back a receive that was readied.
func (p *Path) Cancel(op *path.Op) error {
	p.core.Revoke(streamOfOp(op), op.Number)
	return p.drain()
}

// Waiting implements path.Holder.
func (p *Path) Waiting(*path.Op) (path.Waiting, bool) { return path.Waiting{}, false }

// open puts the buffer of a receive behind a gate. Where it lies otherwise than the sender puts, or
// is too short, a piece of the heap stands in for it.
func (p *Path) open(k key) error {
	d := p.e.DMA
	p.e.Proc.Spend(p.e.Cost.Register)
	p.e.Proc.Sync() // a gate is memory: the hardware must have done what came before it opens
	a := p.arrivals[k]
	if a == nil {
		g := p.gate(k)
		at, _ := d.Locate(g.offered.Buf)
		return g.Open(at, uint64(g.bytes), rma.ReadWrite)
	}
	buf, bytes := a.m.Op.Buf, uint64(a.m.Length)
	address := p.core.Address(k.stream, k.number)
	at, inside := d.Locate(buf)
	if !inside || uint64(len(buf)) < bytes || at%pageBytes != address%pageBytes {
		heap, ok := d.Borrow(path.Receive, bytes+pageBytes)
		if !ok {
			p.opening = append(p.opening, k)
			return nil
		}
		at = heap + (address-heap)%pageBytes
		a.heap, a.n, a.at = heap, bytes+pageBytes, at
	}
	return p.gate(k).Open(at, bytes, rma.ReadWrite)
}

// filled ends a receive whose message is there.
func (p *Path) filled(k key) {
	d := p.e.DMA
	a := p.arrivals[k]
	delete(p.arrivals, k)
	if a.n > 0 {
		bytes := min(uint64(a.m.Length), uint64(len(a.m.Op.Buf)))
		p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(bytes))
		copy(a.m.Op.Buf, d.Memory[a.at:a.at+bytes])
		d.Return(path.Receive, a.heap, a.n)
	}
	if at, inside := d.Locate(a.m.Op.Buf); inside {
		p.gate(k).offset = at % pageBytes
	}
	p.e.Complete(a.m, a.from)
}

// LongDone implements path.Profiler.
func (p *Path) LongDone(op *path.Op, peer, bytes int) error {
	beside, left := p.e.Overlap(op)
	p.core.Tick(int64(p.e.Proc.Now()))
	p.core.Ended(streamOf(peer, op.Envelope.Tag, op.Envelope.Comm),
		threshold.Sample{Bytes: bytes, Sent: !op.Receive, Beside: int64(beside), Left: int64(left)})
	return p.drain()
}

// Progress implements path.Progresser: it posts what waited for room or for memory, repeats what
// was refused, and asks whether the hardware has dropped the mappings of gates that were shut.
func (p *Path) Progress(now drivers.Time) (bool, error) {
	if p.core.Deadline() <= int64(now) {
		p.core.Tick(int64(now))
		if err := p.drain(); err != nil {
			return false, err
		}
	}
	moved, err := p.post()
	if err != nil {
		return moved, err
	}
	opening := p.opening
	p.opening = nil
	for _, k := range opening {
		if err := p.open(k); err != nil {
			return moved, err
		}
	}
	for i := 0; i < len(p.shutting); {
		clear, err := p.shut(i)
		if err != nil {
			return moved, err
		}
		if moved = moved || clear; !clear {
			i++
		}
	}
	return moved, nil
}

// shut tells the core of a gate in the list of those that are being shut, if the hardware has
// dropped its mapping. It removes the gate from the list.
func (p *Path) shut(i int) (clear bool, err error) {
	k := p.shutting[i]
	g := p.gate(k)
	if clear, err = g.Clear(); err != nil || !clear {
		return false, err
	}
	p.shutting = slices.Delete(p.shutting, i, i+1)
	p.core.Shut(k.stream, k.number, uint64(g.NLA(g.offset)))
	return true, p.drain()
}

// Wake implements path.Waker.
func (p *Path) Wake() drivers.Time {
	at := drivers.Time(p.core.Deadline())
	if len(p.shutting)+len(p.opening) > 0 {
		at = min(at, p.e.Proc.Now()+retryAfter/8)
	}
	return at
}
