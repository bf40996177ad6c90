package host

import "github.com/nicloop/nicloop/drivers"

// Contents can write messages again from a name for their bytes. A program that makes what it sends and checks what it gets knows it
// by heart; a rank that has Contents keeps such a message by its name while it waits for its receive. In a linear alltoall each rank sends all
// before it receives, so a thousand ranks would hold a million messages, 2 GB of 2 KB. No time of the simulation depends on it.
type Contents interface {
	// Name gives the name by which Write writes the very bytes that have come from a rank; not ok: they are others, which must be kept.
	Name(from int, b []byte) (name int32, ok bool)
	Write(from int, name int32, b []byte)
}

// UseContents has unexpected messages kept by name from now on, where that can be; nil: none. Those that are kept must have been received
// before there are other Contents.
func (r *Rank) UseContents(c Contents) { r.contents = c }

// arrived: all bytes are here of an unexpected message.
func (r *Rank) arrived(m *message, from int) {
	if r.contents == nil || m.length == 0 {
		return
	}
	if name, ok := r.contents.Name(from, m.data); ok {
		r.spare.put(m.data)
		m.data, m.kind, m.entry = nil, kindNamed, name
	}
}

// unpacked gives the bytes of an unexpected message, in a buffer of its own.
func (r *Rank) unpacked(m *message, from int) []byte {
	if m.kind == kindNamed {
		m.kind, m.data = kindEager, r.spare.get(int(m.length))
		r.contents.Write(from, m.entry, m.data)
	}
	return m.data
}

// takeEager gives an unexpected message, or what has come of it, to a receive that was posted later.
func (r *Rank) takeEager(q *Request, m *message, from int) {
	r.proc.Spend(r.cost.CopyByte * drivers.Time(m.got))
	copy(q.buf, r.unpacked(m, from)[:m.got])
	if m.data != nil {
		r.spare.put(m.data)
	}
	m.req, m.data = q, nil
	if m.got == m.length {
		r.complete(m, from)
	}
}
