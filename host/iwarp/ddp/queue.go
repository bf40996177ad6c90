package ddp

import (
	"slices"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

// A Buffer is an untagged buffer: memory in pieces, in the order in which a message fills them.
type Buffer struct {
	ID     uint64 // of the caller
	Pieces [][]byte
}

// Len returns the number of bytes of the buffer.
func (b *Buffer) Len() int { return Length(b.Pieces) }

// Length returns the number of bytes of data in pieces.
func Length(pieces [][]byte) (n int) {
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// Scatter copies data into the pieces, beginning at an offset of the buffer.
func (b *Buffer) Scatter(offset int, data []byte) {
	for _, p := range b.Pieces {
		if offset >= len(p) {
			offset -= len(p)
			continue
		}
		n := copy(p[offset:], data)
		data, offset = data[n:], 0
		if len(data) == 0 {
			return
		}
	}
}

// Order is the order in which the lower layer delivers segments.
type Order bool

const (
	AnyOrder Order = false // placement as segments arrive
	InOrder  Order = true  // over TCP without reassembly by the NIC: a gap is an error
)

// A Message is a delivered message.
type Message struct {
	Buffer Buffer
	Length int
	Header Header // of a segment; Last and MO have no meaning
}

// A Queue is the receiving end of one queue number.
type Queue struct {
	order Order
	first uint32 // MSN of the oldest buffer
	ring  []slot
	head  int
	n     int
	done  int // complete messages at the head that were not delivered
}

// slot is a posted buffer and the state of the message that is placed in it.
type slot struct {
	buffer   Buffer
	size     int
	header   Header
	begun    bool
	complete bool
	end      uint64 // length of the message, valid if hasEnd
	hasEnd   bool
	placed   []span // disjoint, sorted, not adjacent
}

type span struct{ from, to uint64 }

// NewQueue returns a queue with space for depth buffers. The first message has MSN 1.
func NewQueue(depth int, order Order) *Queue {
	q := &Queue{order: order, first: 1, ring: make([]slot, max(1, depth))}
	for i := range q.ring {
		q.ring[i].placed = make([]span, 0, 4)
	}
	return q
}

// Post appends a buffer. It returns false if the queue is full.
func (q *Queue) Post(b Buffer) bool {
	if q.n == len(q.ring) {
		return false
	}
	s := q.at(q.n)
	*s = slot{buffer: b, size: b.Len(), placed: s.placed[:0]}
	q.n++
	return true
}

// Posted returns the number of buffers that hold no delivered message.
func (q *Queue) Posted() int { return q.n }

func (q *Queue) at(i int) *slot { return &q.ring[(q.head+i)%len(q.ring)] }

// Place puts the payload of an untagged segment into the buffer of its message. It changes nothing
// if it returns an error.
func (q *Queue) Place(h Header, payload []byte) error {
	s, err := q.find(h.MSN)
	if err != nil {
		return err
	}
	if err := s.check(h, len(payload), q.order); err != nil {
		return err
	}
	s.buffer.Scatter(int(h.MO), payload)
	s.add(span{uint64(h.MO), uint64(h.MO) + uint64(len(payload))})
	if !s.begun {
		s.header, s.begun = h, true
	}
	if h.Last {
		s.end, s.hasEnd = uint64(h.MO)+uint64(len(payload)), true
	}
	s.complete = s.hasEnd && (s.end == 0 || len(s.placed) == 1 && s.placed[0] == span{0, s.end})
	for q.done < q.n && q.at(q.done).complete {
		q.done++
	}
	return nil
}

// find returns the slot of a message. Sequence numbers wrap around, so the sign of their distance
// distinguishes older and newer ones.
func (q *Queue) find(msn uint32) (*slot, error) {
	distance := int32(msn - q.first)
	switch {
	case distance < 0, q.order == InOrder && int(distance) != q.done:
		return nil, term.UntaggedMSNRange
	case int(distance) >= q.n:
		return nil, term.UntaggedNoBuffer
	}
	s := q.at(int(distance))
	if s.complete {
		return nil, term.UntaggedMSNRange
	}
	return s, nil
}

// check implements RFC 5041, section 7.1 for a segment whose buffer exists.
func (s *slot) check(h Header, length int, order Order) error {
	from, to := uint64(h.MO), uint64(h.MO)+uint64(length)
	switch {
	case s.begun && (h.Control != s.header.Control || h.Reserved != s.header.Reserved):
		// DDP does not interpret these octets. RDMAP requires them to be equal in a message.
		return term.UnexpectedOpcode
	case to > 1<<32, s.hasEnd && (h.Last || to > s.end), h.Last && to < s.highest():
		return term.UntaggedInvalidMO
	case order == InOrder && from != s.highest():
		return term.UntaggedInvalidMO
	case to > uint64(s.size):
		return term.UntaggedMessageLarge
	}
	for _, p := range s.placed {
		if from < p.to && p.from < to {
			return term.UntaggedInvalidMO
		}
	}
	return nil
}

// highest returns the end of the bytes that have been placed.
func (s *slot) highest() uint64 {
	if len(s.placed) == 0 {
		return 0
	}
	return s.placed[len(s.placed)-1].to
}

// add merges a range that overlaps no other one.
func (s *slot) add(r span) {
	if r.from == r.to {
		return
	}
	i := 0
	for i < len(s.placed) && s.placed[i].to < r.from {
		i++
	}
	if i < len(s.placed) && s.placed[i].to == r.from {
		s.placed[i].to = r.to
	} else if i < len(s.placed) && s.placed[i].from == r.to {
		s.placed[i].from = r.from
	} else {
		s.placed = slices.Insert(s.placed, i, r)
		return
	}
	if i+1 < len(s.placed) && s.placed[i].to == s.placed[i+1].from {
		s.placed[i].to = s.placed[i+1].to
		s.placed = slices.Delete(s.placed, i+1, i+2)
	}
}

// Deliver returns the next complete message. Messages are delivered in the order of their MSN even
// if later ones are complete.
func (q *Queue) Deliver() (m Message, ok bool) {
	if q.done == 0 {
		return m, false
	}
	s := q.at(0)
	m = Message{Buffer: s.buffer, Length: int(s.end), Header: s.header}
	q.drop()
	q.done--
	return m, true
}

// Incomplete reports whether a message has begun that is not complete.
func (q *Queue) Incomplete() bool {
	for i := range q.n {
		if s := q.at(i); s.begun && !s.complete {
			return true
		}
	}
	return false
}

// Flush removes the oldest buffer without a message, for a stream that has failed.
func (q *Queue) Flush() (b Buffer, ok bool) {
	if q.n == 0 {
		return b, false
	}
	b = q.at(0).buffer
	q.drop()
	q.done = max(0, q.done-1)
	return b, true
}

func (q *Queue) drop() {
	s := q.at(0)
	*s = slot{placed: s.placed[:0]}
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	q.first++
}
