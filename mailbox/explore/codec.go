package explore

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/mailbox"
)

// A state is encoded as flows, mailboxes, queues of the network and, if messages are counted, the
// data packets sent. The structure is fixed by what has been read so far, so two encodings are
// equal if and only if the states are. The numbers of data packets are not in it: those of a pair
// are consecutive.

// codec encodes and decodes the states of one world.
type codec struct {
	counted bool  // messages are bounded, so how many were sent is part of the state
	order   []int // of the processes: as they are
	ends    []int // [process]: where its flow control's state ended when last written
	starts  []int // [process]: where its flow control's state began when last loaded
	queues  int   // and where they ended
	number  []int // decoding: next number per pair
}

func newCodec(w *World, counted bool) *codec {
	c := &codec{counted: counted, order: make([]int, w.procs), ends: make([]int, w.procs), starts: make([]int, w.procs), number: make([]int, w.procs*w.procs)}
	for i := range c.order {
		c.order[i] = i
	}
	return c
}

// append writes the state of a world to an empty b.
func (c *codec) append(b []byte, w *World) []byte {
	for p, f := range w.flows {
		b = f.AppendState(b)
		c.ends[p] = len(b)
	}
	return c.appendQueues(b, w, c.order, c.order)
}

// appendQueues writes all but the flow controls, the processes in some order; position is its
// inverse.
func (c *codec) appendQueues(b []byte, w *World, order, position []int) []byte {
	for _, p := range order {
		b = c.appendQueue(b, w.mailbox[p], position)
	}
	for _, from := range order {
		for _, to := range order {
			if from == to {
				continue
			}
			pair := w.pair(from, to)
			b = c.appendQueue(b, w.network[pair], nil)
			if c.counted {
				b = binary.AppendUvarint(b, uint64(w.sent[pair]))
			}
		}
	}
	return b
}

// Bits of the first number of an encoded packet.
const (
	kindMask      = 3
	piggybackFlag = 4
	fromShift     = 3
)

func carries(kind mailbox.Kind, piggyback bool) bool {
	return piggyback || kind == mailbox.Credit || kind == mailbox.CreditResponse
}

func (c *codec) appendQueue(b []byte, q []packet, position []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(q)))
	for _, p := range q {
		head := uint64(p.kind)
		if p.piggyback {
			head |= piggybackFlag
		}
		if position != nil {
			head |= uint64(position[p.from]) << fromShift
		}
		b = binary.AppendUvarint(b, head)
		if carries(p.kind, p.piggyback) {
			b = binary.AppendUvarint(b, uint64(p.credits))
		}
	}
	return b
}

// load is the inverse of append for the identical order of processes.
func (c *codec) load(b []byte, w *World) {
	rest := b
	for p, f := range w.flows {
		c.starts[p] = len(b) - len(rest)
		rest = f.LoadState(rest)
	}
	c.queues = len(b) - len(rest)
	c.loadQueues(rest, w)
}

// reload loads the state that was loaded last again, after an event of one process.
func (c *codec) reload(b []byte, w *World, actor int) {
	w.flows[actor].LoadState(b[c.starts[actor]:])
	c.loadQueues(b[c.queues:], w)
}

func (c *codec) loadQueues(b []byte, w *World) {
	clear(c.number)
	for at := range w.procs {
		b = c.loadQueue(b, w, &w.mailbox[at], -1, at)
	}
	for from := range w.procs {
		for to := range w.procs {
			if from == to {
				continue
			}
			pair := w.pair(from, to)
			b = c.loadQueue(b, w, &w.network[pair], from, to)
			w.sent[pair], w.received[pair] = c.number[pair], 0
			if c.counted {
				w.sent[pair] = int(number(&b))
				c.renumber(w, from, to, w.sent[pair]-c.number[pair])
			}
		}
	}
}

func (c *codec) loadQueue(b []byte, w *World, q *[]packet, from, to int) []byte {
	*q = (*q)[:0]
	for n := number(&b); n > 0; n-- {
		head := number(&b)
		p := packet{from: from, kind: mailbox.Kind(head & kindMask), piggyback: head&piggybackFlag != 0}
		if from < 0 {
			p.from = int(head >> fromShift)
		}
		if carries(p.kind, p.piggyback) {
			p.credits = uint16(number(&b))
		}
		if p.kind == mailbox.Data {
			pair := w.pair(p.from, to)
			c.number[pair]++
			p.number = c.number[pair]
		}
		*q = append(*q, p)
	}
	return b
}

// renumber shifts the data packets of a pair behind those received before.
func (c *codec) renumber(w *World, from, to, received int) {
	w.received[w.pair(from, to)] = received
	for i := range w.mailbox[to] {
		if p := &w.mailbox[to][i]; p.from == from {
			p.number += received
		}
	}
	for i := range w.network[w.pair(from, to)] {
		w.network[w.pair(from, to)][i].number += received
	}
}

func number(b *[]byte) uint64 {
	if first := (*b)[0]; first < 0x80 { // nearly all of them
		*b = (*b)[1:]
		return uint64(first)
	}
	v, n := binary.Uvarint(*b)
	*b = (*b)[n:]
	return v
}
