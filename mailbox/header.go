package mailbox

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Header is a decoded slot header.
type Header = regs.SlotFields

const (
	payloadBytes = regs.VELOPayload
	creditBytes  = 2
	slotReserved = 6 << 29 // mask of bits 30..31 of a slot header
)

// DecodeHeader decodes a slot header. It returns an error if no hardware can have written it or no
// process may have sent it.
func DecodeHeader(w uint64) (Header, error) {
	h := regs.Slot(w).Fields()
	if w&slotReserved != 0 {
		return h, fmt.Errorf("mailbox: slot header %#016x: reserved bits 30..31 are %d, expected 0: is this memory a mailbox?", w, w&slotReserved>>30)
	}
	return h, checkHeader(h)
}

// EncodeHeader is the inverse of DecodeHeader, with the same errors.
func EncodeHeader(h Header) (uint64, error) {
	if err := checkHeader(h); err != nil {
		return 0, err
	}
	if h.SrcVPID >= regs.VPIDs || h.SrcNode >= 1<<12 {
		return 0, fmt.Errorf("mailbox: source node %d, VPID %d, expected at most 4095 and %d", h.SrcNode, h.SrcVPID, regs.VPIDs-1)
	}
	return uint64(h.Pack()), nil
}

// checkHeader verifies the payload length and flags of each kind of packet.
func checkHeader(h Header) error {
	most, expected := payloadBytes, ""
	switch {
	case h.Kind > CreditResponse:
		expected = "kind 0..3"
	case h.Kind != Data && h.Piggyback:
		expected = "a piggyback only on data packets"
	case h.Kind == CreditRequest && h.Length != 0:
		expected = "an empty payload"
	case (h.Kind == Credit || h.Kind == CreditResponse) && h.Length != creditBytes:
		expected = "a payload of 2 bytes"
	case h.Piggyback:
		most -= creditBytes
		fallthrough
	default:
		if int(h.Length) > most {
			expected = fmt.Sprintf("at most %d payload bytes", most)
		}
	}
	if expected == "" {
		return nil
	}
	return fmt.Errorf("mailbox: packet %d from node %d VPID %d: kind %v, %d payload bytes, piggyback %v, expected %s: sender and receiver disagree about the protocol",
		h.Seq, h.SrcNode, h.SrcVPID, h.Kind, h.Length, h.Piggyback, expected)
}

// WriteSlot fills one slot as the hardware does: payload and credits first, then the header with
// one store. It is for hardware models and tests. credits is used only if the header has Piggyback
// set.
func WriteSlot(slot []byte, h Header, payload []byte, credits uint16) error {
	if len(slot) != regs.SlotBytes || int(h.Length) != len(payload) {
		return fmt.Errorf("mailbox: a slot of %d bytes and a payload of %d, expected %d and %d as its header says", len(slot), len(payload), regs.SlotBytes, h.Length)
	}
	w, err := EncodeHeader(h)
	if err != nil {
		return err
	}
	copy(slot, payload)
	if h.Piggyback {
		PutCredits(slot[h.Length:], credits)
	}
	atomic.StoreUint64(headerWord(slot), w)
	return nil
}

// PutCredits writes the two credit bytes of a credit packet, a response or a piggyback.
func PutCredits(b []byte, credits uint16) { binary.LittleEndian.PutUint16(b, credits) }

// headerWord returns the last quadword of a slot. NewRing has checked its alignment and byte order.
func headerWord(slot []byte) *uint64 {
	return (*uint64)(unsafe.Pointer(&slot[regs.SlotHdrOff]))
}
