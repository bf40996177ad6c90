package path

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
)

// HeaderBytes is the size of the header in front of every message.
const HeaderBytes = 16

// EagerMax is the longest message that travels over VELO.
const EagerMax = 2048

// Packets is the number of VELO packets of a message of n bytes.
func Packets(n int) int { return (n + HeaderBytes + regs.VELOPayload - 1) / regs.VELOPayload }

// A Header is in front of every message: 16 bytes, little endian.
//
//	0  tag      int32
//	4  length   uint32   bytes of the message
//	8  sequence uint32   messages from this sender to this receiver, from 0
//	12 comm     uint16   communicator
//	14 kind     uint8    what follows
//	15 magic    uint8    guards against reading payload as a header
type Header struct {
	Tag    int32
	Length uint32
	Seq    uint32
	Comm   uint16
	Kind   Kind
}

// A Kind says what follows a header.
type Kind uint8

// The kinds of messages. Each belongs to one path.
const (
	Eager       Kind = iota // eager: the message itself
	RTS                     // rendezvous: request to send
	Rendezvous              // rendezvous: about a transfer that has begun
	Ring                    // ring: the bytes of this message go into a ring
	RingControl             // ring: about the ring itself
	Buffered                // buffered: the bytes of this message go into an eager buffer
	Threshold               // buffered, notready: about the threshold of a pair or a stream
	Empties                 // buffered: eager buffers that may be used again
	NotReady                // notready: the bytes are put when the receive is ready

	// Local is never sent: the message of a rank of the same node.
	Local
	// Named is never sent: an eager message whose bytes a program can write again.
	Named
	kinds

	sentKinds = Local
)

func (k Kind) String() string {
	if k < kinds {
		return [...]string{"eager", "RTS", "rendezvous", "ring", "ring control", "buffered", "threshold", "empties", "not ready", "local", "named"}[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// carriesMessage tells whether a message of the kind is to be matched by a receive.
func (k Kind) carriesMessage() bool {
	switch k {
	case Rendezvous, RingControl, Threshold, Empties:
		return false
	}
	return true
}

const headerMagic = 0x4e // "N"

// Put encodes h.
func (h Header) Put(b []byte) {
	binary.LittleEndian.PutUint32(b[0:], uint32(h.Tag))
	binary.LittleEndian.PutUint32(b[4:], h.Length)
	binary.LittleEndian.PutUint32(b[8:], h.Seq)
	binary.LittleEndian.PutUint16(b[12:], h.Comm)
	b[14], b[15] = byte(h.Kind), headerMagic
}

// ParseHeader decodes the header of a message from a rank.
func ParseHeader(from int, b []byte) (Header, error) {
	if len(b) < HeaderBytes {
		return Header{}, drivers.BadField(from, "length of a message's first packet", len(b),
			"at least the %d bytes of its header", HeaderBytes)
	}
	if b[15] != headerMagic || Kind(b[14]) >= sentKinds {
		return Header{}, drivers.BadField(from, "magic and kind of a message header",
			fmt.Sprintf("0x%x and %d", b[15], b[14]), "0x%x and 0 to %d", headerMagic, sentKinds-1)
	}
	h := Header{
		Tag:    int32(binary.LittleEndian.Uint32(b[0:])),
		Length: binary.LittleEndian.Uint32(b[4:]),
		Seq:    binary.LittleEndian.Uint32(b[8:]),
		Comm:   binary.LittleEndian.Uint16(b[12:]),
		Kind:   Kind(b[14]),
	}
	if h.Kind == Eager && h.Length > EagerMax {
		return h, drivers.BadField(from, "length of a message header", h.Length, "at most %d", EagerMax)
	}
	return h, nil
}

// Envelope is what a receive matches.
func (h Header) Envelope(source int) match.Envelope {
	return match.Envelope{Source: int32(source), Tag: h.Tag, Comm: h.Comm}
}

// A Message has been announced by another rank. It fills a cache line of 64 bytes.
type Message struct {
	Header
	Got   uint32 // bytes that have arrived, of an eager message
	Entry int32  // of a ring, into which the bytes go; of a Named message, its name
	Op    *Op    // the receive that it matched, or nil
	Data  []byte // of an unexpected message
	More  *Extra
}

// An Extra is what few messages have.
type Extra struct {
	State    any // of the message's path
	Number   uint16
	Numbered bool // by a path that counts the messages of a stream: see package path/notready
}
