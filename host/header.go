package host

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
)

// HeaderBytes is the size of the header in front of every message.
const HeaderBytes = 16

// EagerMax is the longest message that travels over VELO.
const EagerMax = 2048

// header is the message header: 16 bytes, little endian.
//
//	0  tag      int32
//	4  length   uint32   bytes of the message
//	8  sequence uint32   messages from this sender to this receiver, from 0
//	12 comm     uint16   communicator
//	14 kind     uint8    what follows
//	15 magic    uint8    guards against reading payload as a header
type header struct {
	tag    int32
	length uint32
	seq    uint32
	comm   uint16
	kind   uint8
}

// The kinds of messages.
const (
	kindEager       uint8 = iota // the message itself
	kindRTS                      // request to send: a message waits (control follows)
	kindControl                  // about a transfer that has begun (control follows)
	kindRing                     // a message whose bytes go into a ring (reusering.go)
	kindRingControl              // about rings
	kindBuffered                 // a message whose bytes go to an eager buffer (its address and length follow)
	kindThreshold                // about a channel's threshold (package threshold says what)
	kindEmpties                  // eager buffers of a generation (the tag) that may be used again (their addresses and lengths follow)
	kindNotReady                 // a message whose bytes are put when its receive is ready (its number in its stream and its length follow)
)

// kindNamed is never sent: an eager message that has come, and whose bytes Contents can write again.
const kindNamed uint8 = 0xff

const headerMagic = 0x4e // "N"

func (h header) put(b []byte) {
	binary.LittleEndian.PutUint32(b[0:], uint32(h.tag))
	binary.LittleEndian.PutUint32(b[4:], h.length)
	binary.LittleEndian.PutUint32(b[8:], h.seq)
	binary.LittleEndian.PutUint16(b[12:], h.comm)
	b[14], b[15] = h.kind, headerMagic
}

// parseHeader reads the header of a message from a rank.
func parseHeader(from int, b []byte) (header, error) {
	if len(b) < HeaderBytes {
		return header{}, drivers.BadField(from, "length of a message's first packet", len(b), "at least the %d bytes of its header", HeaderBytes)
	}
	if b[15] != headerMagic || b[14] > kindNotReady {
		return header{}, drivers.BadField(from, "magic and kind of a message header", fmt.Sprintf("0x%x and %d", b[15], b[14]),
			"0x%x and 0 to %d", headerMagic, kindNotReady)
	}
	h := header{
		tag:    int32(binary.LittleEndian.Uint32(b[0:])),
		length: binary.LittleEndian.Uint32(b[4:]),
		seq:    binary.LittleEndian.Uint32(b[8:]),
		comm:   binary.LittleEndian.Uint16(b[12:]),
		kind:   b[14],
	}
	if h.kind == kindEager && h.length > EagerMax {
		return h, drivers.BadField(from, "length of a message header", h.length, "at most %d", EagerMax)
	}
	return h, nil
}

func (h header) envelope(source int) match.Envelope {
	return match.Envelope{Source: int32(source), Tag: h.tag, Comm: h.comm}
}
