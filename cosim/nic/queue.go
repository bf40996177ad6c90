package nic

import "github.com/nicloop/nicloop/drivers"

// A queue is a FIFO that reuses its buffer.
type queue[T any] struct {
	buf  []T // a power of two long
	head int
	n    int
}

func (q *queue[T]) at(i int) *T { return &q.buf[(q.head+i)&(len(q.buf)-1)] }

func (q *queue[T]) first() *T { return q.at(0) }

// grow appends an element and returns it. Its content is that of an element dropped before.
func (q *queue[T]) grow() *T {
	if q.n == len(q.buf) {
		bigger := make([]T, max(8, 2*q.n))
		for i := range q.n {
			bigger[i] = *q.at(i)
		}
		q.buf, q.head = bigger, 0
	}
	q.n++
	return q.at(q.n - 1)
}

func (q *queue[T]) drop() {
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
}

// posted is a command that waits for its cycle.
type posted interface{ due() drivers.Cycle }

// post inserts c behind all commands that are due at the same cycle or earlier.
func post[T posted](q *queue[T], c T) {
	q.grow()
	i := q.n - 1
	for ; i > 0 && (*q.at(i - 1)).due() > c.due(); i-- {
		*q.at(i) = *q.at(i - 1)
	}
	*q.at(i) = c
}

// A stall counts the cycles for which a condition holds, without an event per cycle.
type stall struct {
	on    bool
	since drivers.Cycle
	total uint64
}

func (s *stall) begin(now drivers.Cycle) {
	if !s.on {
		s.on, s.since = true, now
	}
}

func (s *stall) end(now drivers.Cycle) {
	if s.on {
		s.total += uint64(now - s.since)
		s.on = false
	}
}

func (s *stall) count(now drivers.Cycle) uint64 {
	if s.on {
		return s.total + uint64(now-s.since)
	}
	return s.total
}
