package rma

import (
	"fmt"
	"math/bits"

	"github.com/nicloop/nicloop/drivers/regs"
)

// An operation is an entry of the table of operations; later operations reuse it.
type operation struct {
	handle Handle // generation << 16 | index, of the current or the last use
	number uint64 // of its descriptor, in order of posting
	awaits Notify // local notifications that are still outstanding; 0: done
	shows  Notify // notifications that the caller requested
	silent bool   // it raises no notification; that of a later operation implies its completion
	// fault is the first fault; the operation's last event reports it.
	faulted bool
	fault   FaultError
	peer    Peer
	command Command
}

// operations is the table of operations. A tag consists of an index and the low bits of a
// generation.
type operations struct {
	table []operation
	free  indexQueue
	ibits int
	// Descriptors of a process leave the NIC in order, so a notification of one implies that all
	// earlier ones have left. posted - left descriptors are queued in the NIC.
	posted, left uint64
	silent       indexQueue // operations without notification, in order of posting
}

// indexQueue is a FIFO of free entries, so that an entry is reused as late as possible.
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

// begin allocates an entry, or returns nil if the table or the NIC's descriptor queue is full.
func (o *operations) begin(c Command, to Peer, nf, done Notify) *operation {
	awaits := done | nf&Requester
	if len(o.table) > regs.RMADepth {
		awaits |= Requester // shows when the descriptor has left the queue
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

// suppressNotifications suppresses all notifications of an operation that has just begun, provided
// that one more operation can be posted: its notification will complete this one. Without room for
// it, no notification would ever free an entry.
func (o *operations) suppressNotifications(op *operation) {
	if o.free.n == 0 || o.posted-o.left >= regs.RMADepth {
		return
	}
	op.silent = true
	o.silent.push(uint16(op.handle))
}

// tag returns the tag that the NIC echoes in notifications.
func (o *operations) tag(op *operation) uint16 {
	return uint16(op.handle>>indexBits)<<o.ibits | uint16(op.handle)&(1<<o.ibits-1)
}

// lookup returns the operation of a tag. If its entry has been reused, the operation is nil and the
// handle is that of the previous use.
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

// complete removes notifications from those that an operation awaits, and reports whether the
// operation is done.
func (o *operations) complete(op *operation, which Notify) bool {
	if which == 0 {
		return false
	}
	o.left = max(o.left, op.number)
	o.completeSilent()
	if op.awaits == 0 { // completeSilent has completed it: it was silent and has left
		return true
	}
	if op.awaits &^= which; op.awaits != 0 {
		return false
	}
	o.free.push(uint16(op.handle))
	return true
}

// completeSilent completes the silent operations whose descriptors have left the NIC.
func (o *operations) completeSilent() {
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
