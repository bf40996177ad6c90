// Package local is the path of messages that stay in memory: to the rank itself, and to ranks of
// the same node (the FC paper's LiMIC, sections 3 and 7.2). They bypass the NIC and take no
// credits.
//
// [Add] adds it to an engine; it must be the first path. One [Memory] serves all ranks of a world,
// which may run in parallel.
package local

import (
	"slices"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/path"
)

// A Memory carries messages between ranks of one node through memory that they share.
type Memory struct {
	node  []int // by rank
	boxes []box // by receiver
}

// box holds the messages for one rank, in the order in which they become visible, and its
// synchronous sends that have matched.
type box struct {
	sync.Mutex
	waiting []parcel
	matched []*path.Op
}

type parcel struct {
	visible drivers.Time // to the receiver
	from    int
	header  path.Header
	wide    path.Wide
	data    []byte
	send    *path.Op // a synchronous one, which waits for the match
}

// NewMemory makes the shared memory of a world whose rank i lives on node[i]; ranks of another
// program, which do not share it, on one below 0.
func NewMemory(node []int) *Memory {
	return &Memory{node: node, boxes: make([]box, len(node))}
}

// A Path moves messages to the rank itself and, with a Memory, to ranks of its node.
type Path struct {
	e      *path.Engine
	memory *Memory // nil: only messages to the rank itself
}

// Add adds the path to an engine.
func Add(e *path.Engine) *Path {
	p := &Path{e: e}
	e.Add(p, path.Local)
	return p
}

// Share lets messages to ranks of the same node bypass the NIC.
func (p *Path) Share(m *Memory) { p.memory = m }

// Reaches tells whether messages to a rank stay in memory.
func (p *Path) Reaches(rank int) bool { return rank == p.e.ID || p.isNeighbour(rank) }

func (p *Path) isNeighbour(rank int) bool {
	m := p.memory
	return m != nil && m.node[rank] >= 0 && m.node[rank] == m.node[p.e.ID]
}

// Name implements path.Path.
func (p *Path) Name() string { return "local" }

// Explain implements path.Path.
func (p *Path) Explain() string {
	if p.memory == nil {
		return "messages to the rank itself"
	}
	return "messages to the rank itself and to ranks of the same node"
}

// Send implements path.Path: it copies the message, which is all unless the send is synchronous.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	switch {
	case dst == p.e.ID:
		p.sendSelf(op)
	case p.isNeighbour(dst):
		p.sendNeighbour(dst, op)
	default:
		return false, nil
	}
	return true, nil
}

func headerOf(op *path.Op) path.Header {
	return path.Header{Tag: op.Envelope.Tag, Length: uint32(len(op.Buf)), Comm: op.Envelope.Comm, Kind: path.Local}
}

func (p *Path) sendNeighbour(dst int, op *path.Op) {
	e := p.e
	e.Proc.Spend(e.Cost.CopyByte * drivers.Time(len(op.Buf)))
	x := parcel{visible: e.Proc.Now() + e.Cost.Wake, from: e.ID, data: slices.Clone(op.Buf), header: headerOf(op), wide: path.WideOf(&op.Envelope)}
	if op.Synchronous {
		x.send = op
	}
	b := &p.memory.boxes[dst]
	b.Lock()
	// Senders run at times of their own: the message that is visible first stands first.
	i := len(b.waiting)
	for i > 0 && b.waiting[i-1].visible > x.visible {
		i--
	}
	b.waiting = slices.Insert(b.waiting, i, x)
	b.Unlock()
	e.Proc.Wake(dst, x.visible)
	op.Done = !op.Synchronous
	e.Stats.LocalMessages++
}

// sendSelf gives a message to a receive of this rank, now or when that is posted.
func (p *Path) sendSelf(op *path.Op) {
	e := p.e
	e.Proc.Spend(e.Cost.CopyByte*drivers.Time(len(op.Buf)) + e.Cost.Match)
	m := e.Messages.Get()
	*m = path.Message{Header: headerOf(op), Got: uint32(len(op.Buf))}
	if op.Done = !op.Synchronous; op.Synchronous {
		m.More = &path.Extra{State: op}
	}
	m.SetWide(path.WideOf(&op.Envelope))
	if to, ok := e.Match.Arrive(m.Envelope(e.ID), m); ok {
		m.Data = op.Buf
		p.take(to, m, e.ID)
		return
	}
	m.Data = slices.Clone(op.Buf)
	e.Stats.Unexpected++
}

// Deliver implements path.Path: local messages are not sent over the network.
func (p *Path) Deliver(from int, h path.Header, _ []byte) error {
	return peererror.BadField(from, "kind of a message header", h.Kind, "one that is sent over the network")
}

// Bind implements path.Path.
func (p *Path) Bind(op *path.Op, from int, m *path.Message) error {
	p.take(op, m, from)
	return nil
}

// Flush takes one message out of the shared memory, if one is visible, and ends synchronous sends
// that have matched.
func (p *Path) Flush(bool) (bool, error) {
	if p.memory == nil {
		return false, nil
	}
	x, ok, ended := p.next()
	if !ok {
		return ended, nil
	}
	e := p.e
	e.Proc.Spend(e.Cost.Match)
	m := e.Messages.Get()
	*m = path.Message{Header: x.header, Got: x.header.Length, Data: x.data}
	if x.send != nil {
		m.More = &path.Extra{State: x.send}
	}
	m.SetWide(x.wide)
	op, ok := e.Match.Arrive(m.Envelope(x.from), m)
	if !ok {
		e.Stats.Unexpected++
		return true, nil
	}
	p.take(op, m, x.from)
	return true, nil
}

// next removes the first message from the rank's box, if it is visible.
func (p *Path) next() (x parcel, ok, ended bool) {
	b := &p.memory.boxes[p.e.ID]
	b.Lock()
	defer b.Unlock()
	for i, op := range b.matched {
		b.matched[i] = nil
		p.e.End(op)
	}
	ended = len(b.matched) > 0
	b.matched = b.matched[:0]
	if len(b.waiting) == 0 || b.waiting[0].visible > p.e.Proc.Now() {
		return x, false, ended
	}
	x = b.waiting[0]
	b.waiting = slices.Delete(b.waiting, 0, 1)
	return x, true, ended
}

// take copies a message into the buffer of its receive.
func (p *Path) take(op *path.Op, m *path.Message, from int) {
	e := p.e
	e.Proc.Spend(e.Cost.CopyByte * drivers.Time(m.Length))
	copy(op.Buf, m.Data)
	m.Op, m.Data = op, nil
	if m.More != nil && m.More.State != nil {
		p.endSynchronous(from, m.More.State.(*path.Op))
	}
	e.Complete(m, from)
}

func (p *Path) endSynchronous(from int, send *path.Op) {
	if from == p.e.ID {
		p.e.End(send)
		return
	}
	b := &p.memory.boxes[from] // the operations of another rank are its own
	b.Lock()
	b.matched = append(b.matched, send)
	b.Unlock()
	p.e.Proc.Wake(from, p.e.Proc.Now()+p.e.Cost.Wake)
}

// Wake implements path.Waker: the next message becomes visible.
func (p *Path) Wake() drivers.Time {
	if p.memory == nil {
		return drivers.Never
	}
	b := &p.memory.boxes[p.e.ID]
	b.Lock()
	defer b.Unlock()
	switch {
	case len(b.matched) > 0:
		return p.e.Proc.Now()
	case len(b.waiting) > 0:
		return b.waiting[0].visible
	}
	return drivers.Never
}
