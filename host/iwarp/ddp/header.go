package ddp

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

const (
	// Version is the only version of DDP.
	Version = 1
	// TaggedBytes and UntaggedBytes are the lengths of the headers (RFC 5041, sections 4.2, 4.3).
	TaggedBytes   = 14
	UntaggedBytes = 18

	controlTagged  = 0x80
	controlLast    = 0x40
	controlVersion = 0x03
)

// A Header is the header of a segment.
type Header struct {
	Tagged  bool
	Last    bool  // last segment of its message
	Control uint8 // first octet reserved for the upper layer: the control field of RDMAP

	// Tagged buffer model
	STag uint32
	TO   uint64 // tagged offset

	// Untagged buffer model
	Reserved uint32 // octets 2 to 5 reserved for the upper layer: the STag to invalidate
	QN       uint32 // queue number
	MSN      uint32 // message sequence number; the first message of a queue has 1
	MO       uint32 // message offset
}

// Bytes returns the length of the encoded header.
func (h *Header) Bytes() int {
	if h.Tagged {
		return TaggedBytes
	}
	return UntaggedBytes
}

// HeaderBytes returns the length of the header that begins with the octet control.
func HeaderBytes(control byte) int {
	h := Header{Tagged: control&controlTagged != 0}
	return h.Bytes()
}

// Append appends the encoded header.
func (h *Header) Append(b []byte) []byte {
	control := byte(Version)
	if h.Last {
		control |= controlLast
	}
	if h.Tagged {
		b = append(b, control|controlTagged, h.Control)
		b = binary.BigEndian.AppendUint32(b, h.STag)
		return binary.BigEndian.AppendUint64(b, h.TO)
	}
	b = append(b, control, h.Control)
	b = binary.BigEndian.AppendUint32(b, h.Reserved)
	b = binary.BigEndian.AppendUint32(b, h.QN)
	b = binary.BigEndian.AppendUint32(b, h.MSN)
	return binary.BigEndian.AppendUint32(b, h.MO)
}

// Parse decodes the segment in b. The payload aliases b.
//
// DDP has no code for a segment that is shorter than its header. The error is the one of MPA for a
// wrong length, because that is its cause; Linux's siw sends the same.
func Parse(b []byte) (h Header, payload []byte, err error) {
	if len(b) < 2 {
		return h, nil, term.MarkerMismatch
	}
	h = Header{Tagged: b[0]&controlTagged != 0, Last: b[0]&controlLast != 0, Control: b[1]}
	if b[0]&controlVersion != Version {
		if h.Tagged {
			return h, nil, term.TaggedVersion
		}
		return h, nil, term.UntaggedVersion
	}
	n := h.Bytes()
	if len(b) < n {
		return h, nil, term.MarkerMismatch
	}
	if h.Tagged {
		h.STag, h.TO = binary.BigEndian.Uint32(b[2:]), binary.BigEndian.Uint64(b[6:])
	} else {
		h.Reserved, h.QN = binary.BigEndian.Uint32(b[2:]), binary.BigEndian.Uint32(b[6:])
		h.MSN, h.MO = binary.BigEndian.Uint32(b[10:]), binary.BigEndian.Uint32(b[14:])
	}
	return h, b[n:], nil
}

// A Segmenter divides a message into segments (RFC 5041, section 5.1.1). The zero value has no
// segments.
type Segmenter struct {
	header  Header
	length  int // of the message
	offset  int // of the next segment
	payload int // most bytes of a segment
	pending bool
}

// Segment returns the segmenter of a message of length bytes. The header is the one of the first
// segment; limit is the longest ULPDU, header included.
func Segment(h Header, length, limit int) Segmenter {
	if limit <= h.Bytes() {
		panic("ddp: MULPDU leaves no space for payload")
	}
	return Segmenter{header: h, length: length, payload: limit - h.Bytes(), pending: true}
}

// Pending reports whether segments are left.
func (s *Segmenter) Pending() bool { return s.pending }

// Next returns the header of the next segment and the range of the message that it carries. An
// empty message has one segment. ok is false after the last one.
func (s *Segmenter) Next() (h Header, from, to int, ok bool) {
	if !s.pending {
		return h, 0, 0, false
	}
	from, to = s.offset, min(s.offset+s.payload, s.length)
	h = s.header
	h.Last = to == s.length
	if h.Tagged {
		h.TO += uint64(from)
	} else {
		h.MO += uint32(from)
	}
	s.offset, s.pending = to, !h.Last
	return h, from, to, true
}
