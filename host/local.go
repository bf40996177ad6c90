package host

import (
	"slices"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// A Local carries messages between ranks of one node through memory that they
// share, without the NIC and without credits (the FC paper's LiMIC, sections 3
// and 7.2). One Local serves a world, whose ranks may run side by side.
type Local struct {
	node  []int // by rank
	boxes []box // by receiver
}

// box holds the messages for one rank, in the order in which they become visible, and its synchronous
// sends that have matched.
type box struct {
	sync.Mutex
	waiting []parcel
	matched []*Request
}

type parcel struct {
	at   drivers.Time // when the receiver can see it
	from int
	header
	data []byte
	more *extra // of a synchronous send
}

// NewLocal makes the shared memory of a world whose rank i lives on node[i]; ranks of another program, which do not
// share it, on one below 0.
func NewLocal(node []int) *Local {
	return &Local{node: node, boxes: make([]box, len(node))}
}

// UseLocal lets messages to ranks of the same node bypass the NIC.
func (r *Rank) UseLocal(l *Local) { r.local = l }

func (r *Rank) isLocal(dst int) bool {
	return r.local != nil && r.local.node[dst] >= 0 && r.local.node[dst] == r.local.node[r.id]
}

// sendLocal copies a message into the shared memory; that is all there is to it, unless the send is
// synchronous.
func (r *Rank) sendLocal(dst int, q *Request, synchronous bool) {
	r.proc.Spend(r.cost.CopyByte * drivers.Time(len(q.buf)))
	l := r.local
	p := parcel{
		at: r.proc.Now() + r.cost.Wake, from: r.id, data: slices.Clone(q.buf),
		header: header{tag: q.env.Tag, length: uint32(len(q.buf)), comm: q.env.Comm},
	}
	if synchronous {
		p.more = &extra{send: q}
	}
	b := &l.boxes[dst]
	b.Lock()
	// Senders run at times of their own: what is visible first stands first.
	i := len(b.waiting)
	for i > 0 && b.waiting[i-1].at > p.at {
		i--
	}
	b.waiting = slices.Insert(b.waiting, i, p)
	b.Unlock()
	r.proc.Wake(dst, p.at)
	q.done = !synchronous
	r.stats.LocalMessages++
}

// sendSelf gives a message to a receive of this rank, now or when that comes.
func (r *Rank) sendSelf(q *Request, synchronous bool) {
	r.proc.Spend(r.cost.CopyByte*drivers.Time(len(q.buf)) + r.cost.Match)
	m := r.messages.get()
	*m = message{header: header{tag: q.env.Tag, length: uint32(len(q.buf)), comm: q.env.Comm}, got: uint32(len(q.buf))}
	if q.done = !synchronous; synchronous {
		m.more = &extra{send: q}
	}
	if to, ok := r.match.Arrive(m.envelope(r.id), m); ok {
		m.data = q.buf
		r.takeLocal(to, m, r.id)
		return
	}
	m.data = slices.Clone(q.buf)
	r.stats.Unexpected++
}

// progressLocal takes one message out of the shared memory, if one is visible, and hears of sends that have matched.
func (r *Rank) progressLocal() bool {
	if r.local == nil {
		return false
	}
	b := &r.local.boxes[r.id]
	b.Lock()
	for i, q := range b.matched {
		b.matched[i] = nil
		r.end(q)
	}
	got := len(b.matched) > 0
	b.matched = b.matched[:0]
	if len(b.waiting) == 0 || b.waiting[0].at > r.proc.Now() {
		b.Unlock()
		return got
	}
	p := b.waiting[0]
	b.waiting = slices.Delete(b.waiting, 0, 1)
	b.Unlock()
	r.proc.Spend(r.cost.Match)
	m := r.messages.get()
	*m = message{header: p.header, got: p.length, data: p.data, more: p.more}
	q, ok := r.match.Arrive(p.envelope(p.from), m)
	if !ok {
		r.stats.Unexpected++
		return true
	}
	r.takeLocal(q, m, p.from)
	return true
}

// takeLocal copies a whole message into the buffer of its receive.
func (r *Rank) takeLocal(q *Request, m *message, from int) {
	r.proc.Spend(r.cost.CopyByte * drivers.Time(m.length))
	copy(q.buf, m.data)
	m.req, m.data = q, nil
	switch {
	case m.more == nil:
	case from == r.id:
		r.end(m.more.send)
	default: // another rank's requests are its own
		b := &r.local.boxes[from]
		b.Lock()
		b.matched = append(b.matched, m.more.send)
		b.Unlock()
		r.proc.Wake(from, r.proc.Now()+r.cost.Wake)
	}
	r.complete(m, from)
}

// nextWake is when there is something to do that no packet announces: a local message becomes
// visible, or the rendezvous core has something to ask for again.
func (r *Rank) nextWake() drivers.Time {
	at := drivers.Never
	if r.bulk != nil {
		at = min(drivers.Time(r.bulk.core.Deadline()), r.streamsWake())
	}
	if r.local == nil {
		return at
	}
	b := &r.local.boxes[r.id]
	b.Lock()
	defer b.Unlock()
	switch {
	case len(b.matched) > 0:
		return r.proc.Now()
	case len(b.waiting) > 0:
		return min(at, b.waiting[0].at)
	}
	return at
}
