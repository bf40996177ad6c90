package mailbox

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Ring reads the mailbox memory of one process. The hardware, which may be another process, writes
// it at the same time; everything Ring knows comes from the slot headers, no register is read.
type Ring struct {
	mem      []byte
	slots    int
	next     int    // slot of the next packet
	consumed uint32 // packets taken, free-running like register MBOX_RP
}

// Slot is the packet at the front of the mailbox. Payload lies in the ring itself: it is valid
// until Advance.
type Slot struct {
	Header
	Payload []byte
	Credits uint16 // of a credit packet, a response or a piggyback; else 0
	// Err is set if the header holds an impossible field. The slot can be advanced over, but its
	// sender's flow control can no longer be trusted.
	Err error
}

// NewRing makes a Ring over mem, which must hold exactly the given number of slots, zeroed or
// written by a mailbox that starts counting at 1 now.
func NewRing(mem []byte, slots int) (*Ring, error) {
	switch {
	case slots < 1 || slots > MaxSlots:
		return nil, fmt.Errorf("mailbox: a ring of %d slots, expected 1..%d", slots, MaxSlots)
	case len(mem) != slots*regs.SlotBytes:
		return nil, fmt.Errorf("mailbox: %d bytes for a ring of %d slots, expected %d", len(mem), slots, slots*regs.SlotBytes)
	case uintptr(unsafe.Pointer(&mem[0]))%8 != 0:
		return nil, fmt.Errorf("mailbox: ring memory at %p, expected an address aligned to 8 bytes for the header loads", &mem[0])
	case binary.NativeEndian.Uint16([]byte{1, 0}) != 1:
		return nil, fmt.Errorf("mailbox: this host is big endian, expected little endian: the hardware writes little-endian headers")
	}
	return &Ring{mem: mem, slots: slots}, nil
}

// Slots is the size of the ring.
func (r *Ring) Slots() int { return r.slots }

// Consumed counts the packets taken; it is the value for register MBOX_RP.
func (r *Ring) Consumed() uint32 { return r.consumed }

// Peek returns the packet at the front, if one has arrived. The number in its header alone decides:
// the hardware writes the header last, so a header with the expected number vouches for the
// payload. That needs the header to be loaded first, in one piece: the atomic load keeps the
// payload loads behind it.
func (r *Ring) Peek() (Slot, bool) {
	at := r.mem[r.next*regs.SlotBytes:][:regs.SlotBytes:regs.SlotBytes]
	w := atomic.LoadUint64(headerWord(at))
	if regs.Slot(w).Seq() != r.consumed+1 {
		return Slot{}, false
	}
	h, err := DecodeHeader(w)
	if err != nil {
		return Slot{Header: h, Err: err}, true
	}
	s := Slot{Header: h, Payload: at[:h.Length:h.Length]}
	switch {
	case h.Piggyback:
		s.Credits = binary.LittleEndian.Uint16(at[h.Length:])
	case h.Kind == Credit || h.Kind == CreditResponse:
		s.Credits = binary.LittleEndian.Uint16(at)
	}
	return s, true
}

// Advance frees the slot at the front. The hardware learns of it when the caller writes Consumed to
// register MBOX_RP.
func (r *Ring) Advance() {
	r.consumed++
	if r.next++; r.next == r.slots {
		r.next = 0
	}
}
