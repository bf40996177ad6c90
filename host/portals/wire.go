package portals

import (
	"encoding/binary"
	"fmt"
)

// Kind is the kind of a packet.
type Kind uint8

const (
	KindPut Kind = iota + 1
	KindGet
	KindAtomic
	KindFetchAtomic
	KindSwap
	KindAck
	KindReply
)

var kindNames = [...]string{"", "PUT", "GET", "ATOMIC", "FETCH_ATOMIC", "SWAP", "ACK", "REPLY"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

func (k Kind) isRequest() bool { return k >= KindPut && k <= KindSwap }
func (k Kind) hasReply() bool  { return k == KindGet || k == KindFetchAtomic || k == KindSwap }
func (k Kind) isAtomic() bool  { return k >= KindAtomic && k <= KindSwap }

func (k Kind) targetEvent() EventKind {
	switch k {
	case KindPut:
		return EventPut
	case KindGet:
		return EventGet
	case KindAtomic:
		return EventAtomic
	}
	return EventFetchAtomic
}

// AckReq is the acknowledgement that an operation asks for (3.15.1).
type AckReq uint8

const (
	NoAckReq AckReq = iota
	FullAckReq
	CTAckReq
	OCAckReq
)

// A Header is everything of a packet but its data.
type Header struct {
	Kind     Kind
	NI       uint8 // which of the four interfaces of the target
	Ack      AckReq
	Silent   bool // of an ACK: it only ends the operation and raises no event (MEAckDisable)
	PT       uint8
	Fail     Fail // of ACK and REPLY
	Op       Op
	Datatype Datatype
	Source   Process
	Bits     uint64
	HdrData  uint64
	Length   uint64 // requested length; of ACK and REPLY what was delivered
	Offset   uint64 // remote offset; of ACK and REPLY the one that was used
	ID       uint32 // operation of the initiator
	UID      uint32
}

// HeaderBytes is the length of an encoded header: the payload of a VELO message, less the 8 bytes
// that are left to the layer that addresses it.
const HeaderBytes = 56

// OperandBytes is the length of the operand that follows the header of a conditional swap.
const OperandBytes = 16

// A Packet is what the network carries.
type Packet struct {
	Header
	Target  Process // not encoded: the layer below addresses by it
	Operand [OperandBytes]byte
	Payload []byte
}

// AppendTo appends the encoded packet: header, operand of a conditional swap, data.
//
//	byte 0       kind | interface << 4
//	byte 1       ack request | silent << 2
//	byte 2..5    PT, fail type, atomic operation, datatype
//	byte 6..7    0
//	byte 8..15   source: NID, PID
//	byte 16..55  match bits, header data, length, offset (8 each), operation ID, UID (4 each)
//
// All numbers are little-endian.
func (p *Packet) AppendTo(b []byte) []byte {
	var h [HeaderBytes]byte
	h[0], h[1] = byte(p.Kind)|p.NI<<4, byte(p.Ack)
	if p.Silent {
		h[1] |= 1 << 2
	}
	h[2], h[3], h[4], h[5] = p.PT, byte(p.Fail), byte(p.Op), byte(p.Datatype)
	le := binary.LittleEndian
	le.PutUint32(h[8:], p.Source.NID)
	le.PutUint32(h[12:], p.Source.PID)
	le.PutUint64(h[16:], p.Bits)
	le.PutUint64(h[24:], p.HdrData)
	le.PutUint64(h[32:], p.Length)
	le.PutUint64(h[40:], p.Offset)
	le.PutUint32(h[48:], p.ID)
	le.PutUint32(h[52:], p.UID)
	b = append(b, h[:]...)
	if p.hasOperand() {
		b = append(b, p.Operand[:]...)
	}
	return append(b, p.Payload...)
}

func (h *Header) hasOperand() bool { return h.Kind == KindSwap && h.Op != OpSwap }

// DecodePacket is the inverse of AppendTo. The payload aliases b. Everything that no interface
// sends is an error.
func DecodePacket(b []byte) (p Packet, err error) {
	if len(b) < HeaderBytes {
		return p, fmt.Errorf("portals: packet of %d bytes: a header has %d", len(b), HeaderBytes)
	}
	if b[0]>>6 != 0 || b[1]>>3 != 0 || b[6] != 0 || b[7] != 0 {
		return p, fmt.Errorf("portals: reserved bits of a header are not 0: % x", b[:8])
	}
	le := binary.LittleEndian
	p.Header = Header{
		Kind: Kind(b[0] & 15), NI: b[0] >> 4, Ack: AckReq(b[1] & 3), Silent: b[1]>>2&1 != 0,
		PT: b[2], Fail: Fail(b[3]), Op: Op(b[4]), Datatype: Datatype(b[5]),
		Source: Process{le.Uint32(b[8:]), le.Uint32(b[12:])},
		Bits:   le.Uint64(b[16:]), HdrData: le.Uint64(b[24:]), Length: le.Uint64(b[32:]), Offset: le.Uint64(b[40:]),
		ID: le.Uint32(b[48:]), UID: le.Uint32(b[52:]),
	}
	rest := b[HeaderBytes:]
	if p.hasOperand() {
		if len(rest) < OperandBytes {
			return p, fmt.Errorf("portals: %d bytes after the header of a conditional swap: its operand has %d",
				len(rest), OperandBytes)
		}
		copy(p.Operand[:], rest)
		rest = rest[OperandBytes:]
	}
	if len(rest) > 0 {
		p.Payload = rest
	}
	return p, p.check()
}

// check verifies that an interface can have sent the packet.
func (p *Packet) check() error {
	expected := ""
	data := p.Length
	if p.Kind == KindGet || p.Kind == KindAck {
		data = 0
	}
	switch {
	case p.Kind < KindPut || p.Kind > KindReply:
		expected = "a kind from 1 to 7"
	case p.Source.NID == NIDAny || p.NI&uint8(NIPhysical) != 0 && p.Source.PID == PIDAny:
		expected = "a source that is no wildcard"
	case p.NI&uint8(NIPhysical) == 0 && p.Source.PID != 0:
		expected = "no PID with logical addressing"
	case p.Ack != NoAckReq && p.Kind != KindPut && p.Kind != KindAtomic && p.Kind != KindAck:
		expected = "no acknowledgement of an operation with a reply"
	case p.Kind == KindAck && p.Ack == NoAckReq:
		expected = "the requested kind in an acknowledgement"
	case p.Silent && p.Kind != KindAck:
		expected = "silent only in an acknowledgement"
	case p.Fail >= failLast || p.Fail != FailNone && p.Kind.isRequest():
		expected = "a known fail type, and none in a request"
	case uint64(len(p.Payload)) != data:
		expected = fmt.Sprintf("%d bytes of data", data)
	case p.Kind.isAtomic():
		return checkAtomic(p.Kind, p.Op, p.Datatype, p.Length)
	case p.Op != 0 || p.Datatype != 0:
		expected = "an operation and a datatype only in atomics"
	}
	if expected != "" {
		return fmt.Errorf("portals: bad packet %+v with %d bytes of data: expected %s", p.Header, len(p.Payload), expected)
	}
	return nil
}
