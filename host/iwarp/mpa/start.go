package mpa

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

const (
	requestKey = "MPA ID Req Frame"
	replyKey   = "MPA ID Rep Frame"
	startBytes = 20 // key, flags, revision and length of the private data

	flagMarkers  = 0x80
	flagCRC      = 0x40
	flagReject   = 0x20
	flagEnhanced = 0x10 // S, of revision 2

	enhancedBytes = 4 // IRD and ORD in front of the private data

	// MaxPrivate is the most private data of a start-up frame, with the words of an enhanced one.
	MaxPrivate = 512
	// Unlimited as IRD or ORD means that the sender does not negotiate it (RFC 6581, section 9.1).
	Unlimited = 0x3fff
)

// RTR is a set of messages with which an initiator may signal that it is ready to receive, so that
// the responder may send first (RFC 6581, section 9.2).
type RTR uint8

const (
	RTRSend  RTR = 1 << iota // FPDU with a zero-length Send
	RTRWrite                 // zero-length RDMA Write
	RTRRead                  // zero-length RDMA Read
)

// A StartFrame is a request or a reply of the start-up phase (RFC 5044, section 7.1).
type StartFrame struct {
	Reply      bool
	Markers    bool // the sender of the frame wants markers in the stream that it receives
	CRC        bool
	Reject     bool // of a reply
	Enhanced   bool // IRD, ORD, PeerToPeer and RTR are valid (RFC 6581, section 6)
	Revision   uint8
	PeerToPeer bool
	RTR        RTR
	IRD, ORD   uint16
	Private    []byte // without the words of an enhanced frame
}

// Append appends the encoded frame. Private data of more than 512 bytes is an error of the caller.
func (f *StartFrame) Append(b []byte) ([]byte, error) {
	length := len(f.Private)
	if f.Enhanced {
		length += enhancedBytes
	}
	if length > MaxPrivate {
		return b, term.InvalidStartFrame
	}
	key := requestKey
	if f.Reply {
		key = replyKey
	}
	b = append(b, key...)
	b = append(b, flag(f.Markers, flagMarkers)|flag(f.CRC, flagCRC)|flag(f.Reject, flagReject)|
		flag(f.Enhanced, flagEnhanced), f.Revision)
	b = binary.BigEndian.AppendUint16(b, uint16(length))
	if f.Enhanced {
		b = binary.BigEndian.AppendUint16(b, f.IRD&Unlimited|bit(f.PeerToPeer, 15)|bit(f.RTR&RTRSend != 0, 14))
		b = binary.BigEndian.AppendUint16(b, f.ORD&Unlimited|bit(f.RTR&RTRWrite != 0, 15)|bit(f.RTR&RTRRead != 0, 14))
	}
	return append(b, f.Private...), nil
}

// ParseStart decodes the start-up frame at the beginning of b, a reply or a request. It returns the
// number of bytes of the frame, or 0 without an error if b does not hold all of it. Private aliases
// b.
//
// A wrong key is detected at its first wrong byte, so that a peer with another protocol does not
// have to send 20 bytes before it is refused.
func ParseStart(b []byte, reply bool) (f StartFrame, used int, err error) {
	key := requestKey
	if reply {
		key = replyKey
	}
	n := min(len(b), len(key))
	if string(b[:n]) != key[:n] {
		return f, 0, term.InvalidStartFrame
	}
	if len(b) < startBytes {
		return f, 0, nil
	}
	flags, length := b[16], int(binary.BigEndian.Uint16(b[18:]))
	f = StartFrame{
		Reply: reply, Revision: b[17], Markers: flags&flagMarkers != 0, CRC: flags&flagCRC != 0,
		Reject: reply && flags&flagReject != 0,
	}
	// Revision 1 reserves the bit of S, and a receiver ignores reserved bits.
	f.Enhanced = f.Revision >= 2 && flags&flagEnhanced != 0
	if f.Revision == 0 || f.Revision > 2 || length > MaxPrivate || f.Enhanced && length < enhancedBytes {
		return f, 0, term.InvalidStartFrame
	}
	if len(b) < startBytes+length {
		return f, 0, nil
	}
	f.Private = b[startBytes : startBytes+length]
	if f.Enhanced {
		f.parseEnhanced()
	}
	return f, startBytes + length, nil
}

func (f *StartFrame) parseEnhanced() {
	ird, ord := binary.BigEndian.Uint16(f.Private), binary.BigEndian.Uint16(f.Private[2:])
	f.Private = f.Private[enhancedBytes:]
	f.IRD, f.ORD = ird&Unlimited, ord&Unlimited
	f.PeerToPeer = ird&0x8000 != 0
	if ird&0x4000 != 0 {
		f.RTR |= RTRSend
	}
	if ord&0x8000 != 0 {
		f.RTR |= RTRWrite
	}
	if ord&0x4000 != 0 {
		f.RTR |= RTRRead
	}
}

func flag(set bool, mask byte) byte {
	if set {
		return mask
	}
	return 0
}

func bit(set bool, n int) uint16 {
	if set {
		return 1 << n
	}
	return 0
}
