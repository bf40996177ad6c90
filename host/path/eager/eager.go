// Package eager is the path of short messages: up to [path.EagerMax] bytes, cut into VELO packets
// behind a 16-byte header (FC paper, sections 3 and 5.3: 37 packets for 2 KB) and reassembled at
// the receiver. It takes every send that no other path has taken.
package eager

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/path"
)

// Contents can write messages again from a name for their bytes. A program that generates what it
// sends and checks what it receives knows all messages; a rank that has Contents keeps such a
// message by its name while it waits for its receive. In a linear alltoall each rank sends all
// before it receives, so a thousand ranks would hold a million messages, 2 GB of 2 KB. No time of
// the simulation depends on it.
type Contents interface {
	// Name gives the name from which Write writes exactly the bytes that have come from a rank; not
	// ok: they are others, which must be kept.
	Name(from int, b []byte) (name int32, ok bool)
	Write(from int, name int32, b []byte)
}

// A Path moves messages through VELO.
type Path struct {
	e        *path.Engine
	spare    path.Buffers // of unexpected messages
	contents Contents
}

// Add adds the path to an engine.
func Add(e *path.Engine) *Path {
	p := &Path{e: e}
	e.AddFallback(p, path.Eager, path.Named)
	return p
}

// UseContents keeps unexpected messages by name from now on, where that is possible; nil: none.
// Those that are kept must have been received before there are other Contents.
func (p *Path) UseContents(c Contents) { p.contents = c }

// LargestHeld is how many buffers of the largest size unexpected messages hold.
func (p *Path) LargestHeld() int { return p.spare.LargestHeld() }

// Name implements path.Path.
func (p *Path) Name() string { return "eager" }

// Explain implements path.Path.
func (p *Path) Explain() string { return fmt.Sprintf("messages of up to %d bytes", path.EagerMax) }

// Send implements path.Path.
func (p *Path) Send(dst int, op *path.Op) (bool, error) {
	if len(op.Buf) > path.EagerMax || op.Synchronous {
		return false, fmt.Errorf("%w: message of %d bytes: at most %d travel over VELO, and this world has no RMA",
			drivers.ErrConfig, len(op.Buf), path.EagerMax)
	}
	p.e.Sent(dst, op)
	return true, p.e.Enqueue(dst, op)
}

// Deliver implements path.Path: it matches a message with a posted receive, or finds room for it.
func (p *Path) Deliver(from int, h path.Header, body []byte) error {
	m := p.e.Messages.Get()
	*m = path.Message{Header: h}
	op, err := p.e.Arrive(from, m)
	if err != nil {
		return err
	}
	m.Op = op
	if op == nil && h.Length > 0 {
		m.Data = p.spare.Get(int(h.Length))
	}
	p.e.SetPartial(from, m)
	return p.Continue(from, m, body)
}

// Continue implements path.Assembler.
func (p *Path) Continue(from int, m *path.Message, b []byte) error {
	if m.Got+uint32(len(b)) > m.Length {
		return peererror.BadField(from, fmt.Sprintf("bytes of message %d", m.Seq), m.Got+uint32(len(b)), "the %d of its header", m.Length)
	}
	// What a receive buffer cannot hold is discarded; the receive reports it.
	to := m.Data
	if m.Op != nil {
		to = m.Op.Buf
	}
	copy(to[min(len(to), int(m.Got)):], b)
	if m.Got += uint32(len(b)); m.Got < m.Length {
		return nil
	}
	p.e.SetPartial(from, nil)
	if m.Op != nil {
		p.e.Complete(m, from)
	} else {
		p.keepByName(m, from)
	}
	return nil
}

// keepByName drops the bytes of an unexpected message that Contents can write again.
func (p *Path) keepByName(m *path.Message, from int) {
	if p.contents == nil || m.Length == 0 {
		return
	}
	if name, ok := p.contents.Name(from, m.Data); ok {
		p.spare.Put(m.Data)
		m.Data, m.Kind, m.Entry = nil, path.Named, name
	}
}

// dataOf gives the bytes of an unexpected message.
func (p *Path) dataOf(m *path.Message, from int) []byte {
	if m.Kind == path.Named {
		m.Kind, m.Data = path.Eager, p.spare.Get(int(m.Length))
		p.contents.Write(from, m.Entry, m.Data)
	}
	return m.Data
}

// Bind implements path.Path: the message, or what has arrived of it, is copied.
func (p *Path) Bind(op *path.Op, from int, m *path.Message) error {
	p.e.Proc.Spend(p.e.Cost.CopyByte * drivers.Time(m.Got))
	copy(op.Buf, p.dataOf(m, from)[:m.Got])
	if m.Data != nil {
		p.spare.Put(m.Data)
	}
	m.Op, m.Data = op, nil
	if m.Got == m.Length {
		p.e.Complete(m, from)
	}
	return nil
}
