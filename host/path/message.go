package path

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/match"
)

// HeaderBytes is the size of the header in front of every message.
const HeaderBytes = 16

// EagerMax is the longest message that travels over VELO.
const EagerMax = 2048

// Packets is the number of VELO packets of a message of n bytes.
func Packets(n int) int { return (n + HeaderBytes + regs.VELOPayload - 1) / regs.VELOPayload }

// extensionBytes follow the header of a message with a wide envelope. With them, the header and
// ControlBytes still fit into one packet.
const extensionBytes = 16

// headerBytes is the length of the header of a message with that envelope.
func headerBytes(e *match.Envelope) int {
	if e.Wide {
		return HeaderBytes + extensionBytes
	}
	return HeaderBytes
}

// A Header is in front of every message: 16 bytes, little endian.
//
//	0  tag      int32
//	4  length   uint32   bytes of the message
//	8  sequence uint32   messages from this sender to this receiver, from 0
//	12 comm     uint16   communicator
//	14 kind     uint8    what follows; bit 7: an extension does
//	15 magic    uint8    guards against reading payload as a header
//
// A message with a wide envelope has an extension behind it:
//
//	16 high     uint32   upper half of the tag
//	20          uint32   0
//	24 data     uint64   of the sender, for the receiver
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

const extended = 1 << 7 // in the byte of the kind

// Put encodes h.
func (h Header) Put(b []byte) {
	binary.LittleEndian.PutUint32(b[0:], uint32(h.Tag))
	binary.LittleEndian.PutUint32(b[4:], h.Length)
	binary.LittleEndian.PutUint32(b[8:], h.Seq)
	binary.LittleEndian.PutUint16(b[12:], h.Comm)
	b[14], b[15] = byte(h.Kind), headerMagic
}

// putExtension encodes the extension of a header.
func putExtension(b []byte, e *match.Envelope) {
	b[14] |= extended
	binary.LittleEndian.PutUint32(b[16:], e.High)
	binary.LittleEndian.PutUint32(b[20:], 0)
	binary.LittleEndian.PutUint64(b[24:], e.Bits)
}

// parseExtension decodes it, if there is one, and gives what follows the header.
func parseExtension(from int, b []byte) (w Wide, body []byte, err error) {
	if b[14]&extended == 0 {
		return w, b[HeaderBytes:], nil
	}
	if len(b) < HeaderBytes+extensionBytes {
		return w, nil, peererror.BadField(from, "length of the first packet of a message with a wide tag", len(b),
			"at least the %d bytes of its header", HeaderBytes+extensionBytes)
	}
	if z := binary.LittleEndian.Uint32(b[20:]); z != 0 {
		return w, nil, peererror.BadField(from, "reserved bytes of a message header", z, "0")
	}
	w = Wide{Set: true, High: binary.LittleEndian.Uint32(b[16:]), Data: binary.LittleEndian.Uint64(b[24:])}
	return w, b[HeaderBytes+extensionBytes:], nil
}

// ParseHeader decodes the header of a message from a rank.
func ParseHeader(from int, b []byte) (Header, error) {
	if len(b) < HeaderBytes {
		return Header{}, peererror.BadField(from, "length of a message's first packet", len(b),
			"at least the %d bytes of its header", HeaderBytes)
	}
	if b[15] != headerMagic || Kind(b[14]&^extended) >= sentKinds {
		return Header{}, peererror.BadField(from, "magic and kind of a message header",
			fmt.Sprintf("0x%x and %d", b[15], b[14]), "0x%x and 0 to %d", headerMagic, sentKinds-1)
	}
	h := Header{
		Tag:    int32(binary.LittleEndian.Uint32(b[0:])),
		Length: binary.LittleEndian.Uint32(b[4:]),
		Seq:    binary.LittleEndian.Uint32(b[8:]),
		Comm:   binary.LittleEndian.Uint16(b[12:]),
		Kind:   Kind(b[14] &^ extended),
	}
	if h.Kind == Eager && h.Length > EagerMax {
		return h, peererror.BadField(from, "length of a message header", h.Length, "at most %d", EagerMax)
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

// Envelope is what a receive matches.
func (m *Message) Envelope(source int) match.Envelope {
	e := m.Header.Envelope(source)
	if m.More != nil && m.More.Wide.Set {
		e.Wide, e.High, e.Bits = true, m.More.Wide.High, m.More.Wide.Data
	}
	return e
}

// SetWide gives the message what a wide envelope has besides the fields of a header.
func (m *Message) SetWide(w Wide) {
	if !w.Set {
		return
	}
	if m.More == nil {
		m.More = &Extra{}
	}
	m.More.Wide = w
}

// ReceivedFrom describes the message to its receive.
func (m *Message) ReceivedFrom(from int, bytes uint32) Received {
	r := Received{Valid: true, From: from, Tag: m.Tag, Bytes: bytes}
	if m.More != nil {
		r.Wide = m.More.Wide
	}
	return r
}

// A Wide is what a wide envelope has besides the fields of a header.
type Wide struct {
	Set  bool
	High uint32 // upper half of the tag
	Data uint64 // of the sender
}

// WideOf is that part of an envelope.
func WideOf(e *match.Envelope) Wide {
	if !e.Wide {
		return Wide{}
	}
	return Wide{Set: true, High: e.High, Data: e.Bits}
}

// An Extra is what few messages have.
type Extra struct {
	Wide     Wide
	State    any // of the message's path
	Number   uint16
	Numbered bool // by a path that counts the messages of a stream: see package path/notready
}
