package rdmap

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// An Opcode is the opcode of an RDMA message (RFC 5040, section 4.3; RFC 7306, section 8.1).
type Opcode uint8

const (
	Write            Opcode = 0x0
	ReadRequest      Opcode = 0x1
	ReadResponse     Opcode = 0x2
	Send             Opcode = 0x3
	SendInvalidate   Opcode = 0x4
	SendSE           Opcode = 0x5
	SendSEInvalidate Opcode = 0x6
	Terminate        Opcode = 0x7
	Immediate        Opcode = 0x8
	ImmediateSE      Opcode = 0x9
	numberOfOpcodes         = 0xa
	controlVersion          = 0x40 // version 1 in the two most significant bits
	versionMask             = 0xc0
	opcodeMask              = 0x0f
	readRequestBytes        = 28

	// ImmediateBytes is the length of Immediate Data.
	ImmediateBytes = 8
)

var opcodeNames = [numberOfOpcodes]string{
	"Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
	"Send with SE and Invalidate", "Terminate", "Immediate Data", "Immediate Data with SE",
}

func (o Opcode) String() string {
	if o < numberOfOpcodes {
		return opcodeNames[o]
	}
	return "reserved opcode"
}

// Queue numbers of untagged messages (RFC 5040, section 4.1).
const (
	QueueSend      = 0
	QueueRead      = 1
	QueueTerminate = 2
)

// IsSend reports whether the message consumes a receive of the peer.
func (o Opcode) IsSend() bool {
	return o >= Send && o <= SendSEInvalidate || o.IsImmediate()
}

// IsImmediate reports whether the message carries Immediate Data, which has a fixed length.
func (o Opcode) IsImmediate() bool { return o == Immediate || o == ImmediateSE }

// Invalidates reports whether the message invalidates an STag of the receiver.
func (o Opcode) Invalidates() bool { return o == SendInvalidate || o == SendSEInvalidate }

// Solicited reports whether the message raises a solicited event at the receiver.
func (o Opcode) Solicited() bool { return o == SendSE || o == SendSEInvalidate || o == ImmediateSE }

func (o Opcode) isTagged() bool { return o == Write || o == ReadResponse }

func (o Opcode) queue() uint32 {
	switch o {
	case ReadRequest:
		return QueueRead
	case Terminate:
		return QueueTerminate
	}
	return QueueSend
}

// Control returns the control field of a message: version 1 and the opcode.
func Control(o Opcode) uint8 { return controlVersion | uint8(o) }

// ParseControl decodes the control field of a segment and checks it against the buffer model and
// the queue number of its DDP header.
func ParseControl(h ddp.Header) (Opcode, error) {
	o := Opcode(h.Control & opcodeMask)
	switch {
	case h.Control&versionMask != controlVersion:
		return o, term.InvalidVersion
	case o >= numberOfOpcodes || o.isTagged() != h.Tagged:
		return o, term.UnexpectedOpcode
	case !h.Tagged && h.QN != o.queue():
		return o, term.UntaggedInvalidQN
	}
	return o, nil
}

// A Read describes the two buffers of an RDMA Read (RFC 5040, section 4.4).
type Read struct {
	SinkSTag   uint32
	SinkTO     uint64
	Length     uint32
	SourceSTag uint32
	SourceTO   uint64
}

// Append appends the encoded payload of a Read Request.
func (r *Read) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, r.SinkSTag)
	b = binary.BigEndian.AppendUint64(b, r.SinkTO)
	b = binary.BigEndian.AppendUint32(b, r.Length)
	b = binary.BigEndian.AppendUint32(b, r.SourceSTag)
	return binary.BigEndian.AppendUint64(b, r.SourceTO)
}

// ParseRead decodes the payload of a Read Request.
func ParseRead(b []byte) (r Read, err error) {
	if len(b) != readRequestBytes {
		return r, term.CatastrophicStream
	}
	return Read{
		SinkSTag: binary.BigEndian.Uint32(b), SinkTO: binary.BigEndian.Uint64(b[4:]),
		Length: binary.BigEndian.Uint32(b[12:]), SourceSTag: binary.BigEndian.Uint32(b[16:]),
		SourceTO: binary.BigEndian.Uint64(b[20:]),
	}, nil
}

// A Report is the payload of a Terminate message (RFC 5040, section 4.8): the code, and the headers
// of the segment in which the error was detected.
type Report struct {
	Code   term.Code
	Length uint16 // of the DDP segment, if HasLength
	// Header is the DDP header as it was received, if any, and ReadRequest the payload that follows
	// it, if the segment was a Read Request. Both alias the decoded message.
	HasLength   bool
	Header      []byte
	ReadRequest []byte
	// Swapped: the peer sent layer and type exchanged, as siw does. Code is in the right order.
	Swapped bool
}

const (
	reportLength  = 0x80 // M: the length of the segment is present
	reportHeader  = 0x40 // D: the DDP header is present
	reportRequest = 0x20 // R: the RDMAP header, that of a Read Request, is present
	reportMask    = 0xe0
	reportBytes   = 4
	// maxReport is the length of the longest payload of a Terminate message.
	maxReport = reportBytes + 2 + ddp.UntaggedBytes + readRequestBytes
)

// Append appends the encoded report.
func (r *Report) Append(b []byte) []byte {
	var present byte
	if r.HasLength {
		present |= reportLength
	}
	if r.Header != nil {
		present |= reportHeader
	}
	if r.ReadRequest != nil {
		present |= reportRequest
	}
	b = binary.BigEndian.AppendUint16(b, uint16(r.Code))
	b = append(b, present, 0)
	if r.HasLength {
		b = binary.BigEndian.AppendUint16(b, r.Length)
	}
	b = append(b, r.Header...)
	return append(b, r.ReadRequest...)
}

// ParseReport decodes the payload of a Terminate message.
//
// Linux's siw declares layer, type and the presence bits as C bit fields, so a little-endian
// machine sends the two nibbles exchanged and the presence bits mirrored into the low bits. Such a
// message is recognised by its presence bits or, without headers, by a code that only makes sense
// exchanged.
func ParseReport(b []byte) (r Report, err error) {
	if len(b) < reportBytes {
		return r, term.CatastrophicStream
	}
	r.Code = term.Code(binary.BigEndian.Uint16(b))
	present := b[2]
	switch {
	case present&reportMask == 0 && present&0x07 != 0:
		r.Swapped = true
		present = present&1<<7 | present&2<<5 | present&4<<3
	case present == 0 && !r.Code.Defined() && r.Code.Swapped().Defined():
		r.Swapped = true
	}
	if r.Swapped {
		r.Code = r.Code.Swapped()
	}
	b = b[reportBytes:]
	take := func(n int) []byte {
		if len(b) < n {
			err = term.CatastrophicStream
			return nil
		}
		part := b[:n:n]
		b = b[n:]
		return part
	}
	if present&reportLength != 0 {
		if p := take(2); p != nil {
			r.Length, r.HasLength = binary.BigEndian.Uint16(p), true
		}
	}
	if present&reportHeader != 0 && len(b) > 0 {
		r.Header = take(ddp.HeaderBytes(b[0]))
	}
	if present&reportRequest != 0 {
		r.ReadRequest = take(readRequestBytes)
	}
	return r, err
}

// protectionCode returns the code that RDMAP reports for a violation by a Read Request, or DDP for
// one by a tagged segment.
func protectionCode(v ddp.Violation, tagged bool) term.Code {
	switch v {
	case ddp.InvalidSTag:
		return pick(tagged, term.TaggedInvalidSTag, term.InvalidSTag)
	case ddp.NotAssociated:
		return pick(tagged, term.TaggedNotAssociated, term.STagNotAssociated)
	case ddp.OutOfBounds:
		return pick(tagged, term.TaggedBaseBounds, term.BaseBounds)
	case ddp.Wraps:
		return pick(tagged, term.TaggedTOWrap, term.TOWrap)
	case ddp.NoRight: // DDP has no access rights: the error is RDMAP's for both models
		return term.AccessRights
	}
	return term.ProtectUnspecified
}

func pick(tagged bool, a, b term.Code) term.Code {
	if tagged {
		return a
	}
	return b
}
