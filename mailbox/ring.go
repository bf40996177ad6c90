package mailbox

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Ring reads the mailbox memory of one process while the hardware, possibly another process, writes
// it. It uses only the slot headers and reads no register.
type Ring struct {
	mem      []byte
	slots    int
	next     int    // slot of the next packet
	consumed uint32 // consumed packets, free-running like register MBOX_RP
}

// Slot is the packet at the head of the mailbox. Payload points into the ring and is valid until
// Advance.
type Slot struct {
	Header
	Payload []byte
	Credits uint16 // of a credit packet, a response or a piggyback; otherwise 0
	// Err is set if a header field is invalid. The caller can advance past the slot, but can no
	// longer trust the flow control of its sender.
	Err error
}

// NewRing returns a Ring over mem, which must hold exactly the given number of slots. The memory
// must be zero, or written by a mailbox whose sequence numbers start at 1.
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

// Slots returns the size of the ring.
func (r *Ring) Slots() int { return r.slots }

// Consumed returns the number of consumed packets, which is the value for register MBOX_RP.
func (r *Ring) Consumed() uint32 { return r.consumed }

// Peek returns the packet at the head, if one has arrived. The hardware writes the header last, so
// the expected sequence number in the header implies that the payload is complete. The header must
// therefore be loaded first and in one piece: the atomic load orders the payload loads after it.
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

// Advance frees the slot at the head. The hardware may reuse it when the caller has written
// Consumed to register MBOX_RP.
func (r *Ring) Advance() {
	r.consumed++
	if r.next++; r.next == r.slots {
		r.next = 0
	}
}
