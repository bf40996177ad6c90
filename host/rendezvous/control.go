package rendezvous

import (
	"encoding/binary"
	"fmt"
)

// An ID identifies one end of a transfer in messages: an index and a generation. Sends and receives
// have separate index spaces, so that neither can exhaust the indices that the other needs to make
// progress. No transfer has ID 0.
type ID uint32

const (
	indexBits   = 15
	receiveFlag = 1 << indexBits
	// MaxIDs is the maximum number of concurrent transfers per direction.
	MaxIDs = 1 << indexBits
)

func makeID(index int, generation uint16, receive bool) ID {
	id := ID(generation)<<16 | ID(index)
	if receive {
		id |= receiveFlag
	}
	return id
}

func (id ID) index() int         { return int(id & (receiveFlag - 1)) }
func (id ID) receive() bool      { return id&receiveFlag != 0 }
func (id ID) generation() uint16 { return uint16(id >> 16) }

// String returns "s3.1" for the first use of the send with index 3, "r…" for a receive.
func (id ID) String() string {
	if id == 0 {
		return "-"
	}
	role := "s"
	if id.receive() {
		role = "r"
	}
	return fmt.Sprintf("%s%d.%d", role, id.index(), id.generation())
}

// A Kind is the type of a control message.
type Kind uint8

// The kinds. Protocols may define further kinds from FirstFree on, which are passed to their Hear.
const (
	RTS     Kind = iota + 1 // request to send: announces a message; matched like any message
	CTS                     // clear to send: the receiver asks for the bytes or for their address
	Ready                   // the sender is ready: its address
	FIN                     // the transfer has ended, successfully or not
	Abort                   // the receiver gives up; the sender, which moves the bytes, ends the transfer
	Cancel                  // the sender withdraws its message unless a receive has matched it
	RTR                     // ready to receive: message To+Detail of its counter may be put to an address
	Claim                   // announces a message that is put to the address of an RTR; matched like any message
	Revoke                  // the receiver withdraws its RTRs
	Revoked                 // confirms Revoke: its RTRs are no longer used; follows all claims made before
	FirstFree
)

func (k Kind) String() string {
	if k >= RTS && k < FirstFree {
		return [...]string{"RTS", "CTS", "READY", "FIN", "ABORT", "CANCEL", "RTR", "CLAIM", "REVOKE", "REVOKED"}[k-1]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Control is a control message of a transfer.
type Control struct {
	Kind     Kind
	Protocol uint8 // of an RTS
	Code     Code  // of a FIN
	Detail   uint8 // of a FIN after a fault: the fault code of the hardware
	From, To ID    // IDs of the transfer at the sender and at the receiver of this message
	Address  uint64
	Bytes    uint32
	Envelope Envelope // used by speculation; not encoded by Put, because it is in the message header
}

// ControlBytes is the size of a control message.
//
//	0  from     uint32
//	4  to       uint32
//	8  address  uint64
//	16 bytes    uint32
//	20 kind     uint8
//	21 protocol uint8
//	22 code     uint8
//	23 detail   uint8
const ControlBytes = 24

// Put encodes the message in b, little endian.
func (c Control) Put(b []byte) {
	binary.LittleEndian.PutUint32(b[0:], uint32(c.From))
	binary.LittleEndian.PutUint32(b[4:], uint32(c.To))
	binary.LittleEndian.PutUint64(b[8:], c.Address)
	binary.LittleEndian.PutUint32(b[16:], c.Bytes)
	b[20], b[21], b[22], b[23] = uint8(c.Kind), c.Protocol, uint8(c.Code), c.Detail
}

// Parse decodes a message encoded by Put.
func Parse(b []byte) (Control, error) {
	if len(b) != ControlBytes {
		return Control{}, fmt.Errorf("rendezvous: control message of %d bytes, expected %d", len(b), ControlBytes)
	}
	c := Control{
		From: ID(binary.LittleEndian.Uint32(b[0:])), To: ID(binary.LittleEndian.Uint32(b[4:])),
		Address: binary.LittleEndian.Uint64(b[8:]), Bytes: binary.LittleEndian.Uint32(b[16:]),
		Kind: Kind(b[20]), Protocol: b[21], Code: Code(b[22]), Detail: b[23],
	}
	if c.Kind < RTS {
		return c, fmt.Errorf("rendezvous: control message of kind 0, expected %d or more", RTS)
	}
	return c, nil
}

func (c Control) String() string {
	s := fmt.Sprintf("%v from=%v to=%v bytes=%d", c.Kind, c.From, c.To, c.Bytes)
	if c.Address != 0 {
		s += " address"
	}
	if c.Code != Good {
		s += " " + c.Code.String()
	}
	if c.Kind == RTR {
		s = fmt.Sprintf("RTR from=%v for=%d+%d bytes=%d address", c.From, uint32(c.To), c.Detail, c.Bytes)
	}
	return s
}
