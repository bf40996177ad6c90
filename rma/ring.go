package rma

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// seqMask: sequence numbers have 14 bits. A ring is shorter than their range, so an old
// notification never looks new.
const seqMask = 1<<14 - 1

// ring reads the notification ring of one process while the hardware, possibly another process,
// writes it. It reads no register.
type ring struct {
	words    []uint64 // two per notification
	next     int      // index of the next notification's first word
	consumed uint32   // consumed notifications, free-running like register NOTI_RP
}

func newRing(mem []byte, base uint64, slots int) (*ring, error) {
	size := uint64(slots) * regs.NotiBytes
	switch {
	case slots < 1 || slots > MaxNotiSlots:
		return nil, fmt.Errorf("%w: a ring of %d notifications: expected 1..%d", drivers.ErrConfig, slots, MaxNotiSlots)
	case base%regs.NotiBytes != 0 || base > uint64(len(mem)) || size > uint64(len(mem))-base:
		return nil, fmt.Errorf("%w: ring of %d notifications at 0x%x: expected %d-byte alignment inside %d bytes of memory",
			drivers.ErrConfig, slots, base, regs.NotiBytes, len(mem))
	case binary.NativeEndian.Uint16([]byte{1, 0}) != 1:
		return nil, fmt.Errorf("rma: this host is big endian, expected little endian: the hardware writes little-endian notifications")
	}
	at := mem[base : base+size]
	if uintptr(unsafe.Pointer(&at[0]))%8 != 0 {
		return nil, fmt.Errorf("rma: ring memory at %p, expected an address aligned to 8 bytes for its loads", &at[0])
	}
	return &ring{words: unsafe.Slice((*uint64)(unsafe.Pointer(&at[0])), 2*slots)}, nil
}

// take takes the next notification, if one has arrived. The hardware writes the second word last,
// so its sequence number implies that both are valid. The atomic load orders the load of the first
// word after it.
func (r *ring) take() (w0, w1 uint64, ok bool) {
	w1 = atomic.LoadUint64(&r.words[r.next+1])
	if uint32(regs.RMANoti(w1).Seq()) != (r.consumed+1)&seqMask {
		return 0, 0, false
	}
	w0 = r.words[r.next]
	r.consumed++
	if r.next += 2; r.next == len(r.words) {
		r.next = 0
	}
	return w0, w1, true
}

// A notification is a decoded pair of words.
type notification struct {
	regs.RMANotiFields
	tag     uint16
	nla     NLA
	payload uint64
	own     bool // it belongs to an operation of this process
}

// decode decodes a notification, or returns an error if no NIC can have written it.
func decode(w0, w1 uint64) (notification, error) {
	n := notification{RMANotiFields: regs.RMANoti(w1).Fields()}
	switch {
	case n.Error == regs.RMAErrorOverflow:
		return n, &OverflowError{w0}
	case n.Unit == 0:
		return n, &NotificationError{w0, w1, "no unit"}
	case n.Error > regs.RMAErrorDomain:
		return n, &NotificationError{w0, w1, "unknown error"}
	case n.Error != regs.RMAErrorBadCommand && (n.Command < CommandPut || n.Command > CommandFetchCompareAdd):
		return n, &NotificationError{w0, w1, "unknown command"}
	}
	returns := n.Command == CommandGet || n.Command == CommandFetchCompareAdd
	if n.Error == 0 && n.Unit == UnitResponder && !returns {
		return n, &NotificationError{w0, w1, "a responder notification of a command without a response"}
	}
	arrival := n.Error == 0 && n.Unit == UnitCompleter
	n.own = n.Error != 0 || n.Unit == UnitRequester || arrival && returns
	switch {
	case arrival && n.Command == CommandNotify:
		n.payload = w0
	case arrival && n.Command == CommandFetchCompareAdd:
		n.payload, n.tag = w0, regs.RMAResult(w0).Tag()
	default:
		n.nla, n.tag = NLA(regs.RMAExt(w0).NLA()), regs.RMAExt(w0).Tag()
	}
	return n, nil
}

// An OverflowError reports that notifications were dropped: the ring was full for longer than it
// may stall other processes (register HOLD). Operations that a dropped notification would have
// completed are never done.
type OverflowError struct {
	Dropped uint64 // number of this process's dropped notifications since reset
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("rma: notifications were dropped, %d up to now: the ring was full for longer than it may hold others", e.Dropped)
}

// A NotificationError reports ring contents that no NIC writes.
type NotificationError struct {
	W0, W1 uint64
	What   string
}

func (e *NotificationError) Error() string {
	return fmt.Sprintf("rma: notification 0x%016x 0x%016x: %s; has something else written to the ring?", e.W0, e.W1, e.What)
}
