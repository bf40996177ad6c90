package rma

import (
	"fmt"
	"math/bits"

	"github.com/nicloop/nicloop/drivers/regs"
)

// An operation's entry in the table; used again by later ones.
type operation struct {
	handle Handle // generation << 16 | index; of the present or the last use
	number uint64 // of its descriptor, in order of posting
	awaits Notify // local notifications still to come; 0: done
	shows  Notify // of them, those the caller asked for
	silent bool   // it awaits what the hardware was not asked to tell: a later one's notification says it
	// fault is the first one; the operation's last event carries it.
	faulted bool
	fault   FaultError
	peer    Peer
	command Command
}

// operations are those under way, by index. A tag is an index and the low bits
// of a generation.
type operations struct {
	table []operation
	free  indexQueue
	ibits int
	// Descriptors of a process leave the NIC in order, so a notification of one
	// says that those before it have left. left < posted waits in the NIC.
	posted, left uint64
	silent       indexQueue // those of which nobody tells, in order of posting
}

// indexQueue gives entries out one after the other, so that generations of one lie far apart.
type indexQueue struct {
	buf     []uint16
	head, n int
}

func (q *indexQueue) push(i uint16) {
	q.buf[(q.head+q.n)%len(q.buf)] = i
	q.n++
}

func (q *indexQueue) pop() uint16 {
	i := q.buf[q.head]
	q.head = (q.head + 1) % len(q.buf)
	q.n--
	return i
}

const indexBits = 16 // of a handle

func (o *operations) init(n int) {
	o.table = make([]operation, n)
	o.free.buf, o.silent.buf = make([]uint16, n), make([]uint16, n)
	o.ibits = bits.Len(uint(n - 1))
	for i := range o.table {
		o.table[i].handle = Handle(i)
		o.free.push(uint16(i))
	}
}

// begin takes an entry, if there is one here and one for the descriptor in the NIC.
func (o *operations) begin(c Command, to Peer, nf, done Notify) *operation {
	awaits := done | nf&Requester
	if len(o.table) > regs.RMADepth {
		awaits |= Requester // it must be known when the descriptor has left
	}
	if o.free.n == 0 || o.posted-o.left >= regs.RMADepth {
		return nil
	}
	i := o.free.pop()
	op := &o.table[i]
	o.posted++
	*op = operation{
		handle: op.handle + 1<<indexBits, number: o.posted, peer: to, command: c,
		awaits: awaits, shows: nf,
	}
	return op
}

// hush has the hardware tell nothing of an operation that has just begun, if there is room for a later one whose
// notification does. Without that room nobody would ever make some.
func (o *operations) hush(op *operation) {
	if o.free.n == 0 || o.posted-o.left >= regs.RMADepth {
		return
	}
	op.silent = true
	o.silent.push(uint16(op.handle))
}

// tag is what the hardware brings back.
func (o *operations) tag(op *operation) uint16 {
	return uint16(op.handle>>indexBits)<<o.ibits | uint16(op.handle)&(1<<o.ibits-1)
}

// lookup finds the operation of a tag. If its entry is in use again already,
// the operation is nil and the handle still the old one's.
func (o *operations) lookup(tag uint16) (*operation, Handle, error) {
	i := int(tag & (1<<o.ibits - 1))
	if i >= len(o.table) {
		return nil, 0, fmt.Errorf("rma: a notification has tag 0x%x, of operation %d of %d; has something else written to the ring?", tag, i, len(o.table))
	}
	op := &o.table[i]
	generation := op.handle >> indexBits
	age := (generation - Handle(tag>>o.ibits)) & (1<<(16-o.ibits) - 1)
	switch {
	case age >= generation:
		return nil, 0, fmt.Errorf("rma: a notification has tag 0x%x, which no operation had yet; has something else written to the ring?", tag)
	case age > 0:
		return nil, op.handle - age<<indexBits, nil
	}
	return op, op.handle, nil
}

// arrived takes note that some of what an operation awaits will not come any
// more; it tells whether the operation is done now.
func (o *operations) arrived(op *operation, which Notify) bool {
	if which == 0 {
		return false
	}
	o.left = max(o.left, op.number)
	o.settle()
	if op.awaits == 0 { // it was silent, and has left
		return true
	}
	if op.awaits &^= which; op.awaits != 0 {
		return false
	}
	o.free.push(uint16(op.handle))
	return true
}

// settle ends the silent operations that have left.
func (o *operations) settle() {
	for o.silent.n > 0 {
		op := &o.table[o.silent.buf[o.silent.head]]
		if op.number > o.left {
			return
		}
		o.free.push(o.silent.pop())
		op.awaits, op.silent = 0, false
	}
}

func (o *operations) done(h Handle) bool {
	i := int(h & (1<<indexBits - 1))
	if h == 0 || i >= len(o.table) || h > o.table[i].handle {
		panic(fmt.Sprintf("rma: handle 0x%x is not one of this port's", uint64(h)))
	}
	op := &o.table[i]
	return h != op.handle || op.awaits == 0
}
