// Package term defines the error codes of iWARP as a Terminate message carries them: layer, error
// type and error number. All layers return them, so a receiver of a faulty segment can report the
// code to its peer unchanged.
package term

import "fmt"

// Layers of a code (RFC 5040, section 4.8).
const (
	LayerRDMAP = 0
	LayerDDP   = 1
	LayerLLP   = 2 // lower layer protocol: MPA
)

// A Code is an error code: layer in bits 15 to 12, error type in bits 11 to 8, number in bits 7 to
// 0. This is the order of the first two bytes of a Terminate message. A Code is an error.
type Code uint16

// Errors of RDMAP.
const (
	RDMAPCatastrophic     Code = 0x0000 // any number; this implementation sends 0
	InvalidSTag           Code = 0x0100
	BaseBounds            Code = 0x0101
	AccessRights          Code = 0x0102
	STagNotAssociated     Code = 0x0103
	TOWrap                Code = 0x0104
	ProtectNotInvalidated Code = 0x0109
	ProtectUnspecified    Code = 0x01ff
	InvalidVersion        Code = 0x0205
	UnexpectedOpcode      Code = 0x0206
	CatastrophicStream    Code = 0x0207
	CatastrophicGlobal    Code = 0x0208
	InvalidateFailed      Code = 0x0209
	OperationUnspecified  Code = 0x02ff
)

// Errors of DDP: tagged buffers (0x11) and untagged buffers (0x12).
const (
	DDPCatastrophic      Code = 0x1000
	TaggedInvalidSTag    Code = 0x1100
	TaggedBaseBounds     Code = 0x1101
	TaggedNotAssociated  Code = 0x1102
	TaggedTOWrap         Code = 0x1103
	TaggedVersion        Code = 0x1104
	UntaggedInvalidQN    Code = 0x1201
	UntaggedNoBuffer     Code = 0x1202
	UntaggedMSNRange     Code = 0x1203
	UntaggedInvalidMO    Code = 0x1204
	UntaggedMessageLarge Code = 0x1205
	UntaggedVersion      Code = 0x1206
)

// Errors of MPA. The last three exist since enhanced connection establishment.
const (
	StreamLost        Code = 0x2001
	CRCMismatch       Code = 0x2002
	MarkerMismatch    Code = 0x2003 // markers and ULPDU length disagree on the start of an FPDU
	InvalidStartFrame Code = 0x2004
	MPACatastrophic   Code = 0x2005
	InsufficientIRD   Code = 0x2006
	NoMatchingRTR     Code = 0x2007
)

const (
	rfc5040 = "RFC 5040, section 4.8"
	rfc5041 = "RFC 5041, section 7.2"
	rfc5044 = "RFC 5044, section 8"
	rfc6581 = "RFC 6581, section 8"
)

// An Entry describes one code.
type Entry struct {
	Code   Code
	Text   string
	Source string // RFC and section that define the code
}

var entries = [...]Entry{
	{RDMAPCatastrophic, "RDMAP: local catastrophic error", rfc5040},
	{InvalidSTag, "RDMAP: invalid STag", rfc5040},
	{BaseBounds, "RDMAP: base or bounds violation", rfc5040},
	{AccessRights, "RDMAP: access rights violation", rfc5040},
	{STagNotAssociated, "RDMAP: STag not associated with the stream", rfc5040},
	{TOWrap, "RDMAP: tagged offset wraps around", rfc5040},
	{ProtectNotInvalidated, "RDMAP: STag cannot be invalidated (protection)", rfc5040},
	{ProtectUnspecified, "RDMAP: unspecified protection error", rfc5040},
	{InvalidVersion, "RDMAP: invalid version", rfc5040},
	{UnexpectedOpcode, "RDMAP: unexpected opcode", rfc5040},
	{CatastrophicStream, "RDMAP: catastrophic error of the stream", rfc5040},
	{CatastrophicGlobal, "RDMAP: catastrophic global error", rfc5040},
	{InvalidateFailed, "RDMAP: STag cannot be invalidated", rfc5040},
	{OperationUnspecified, "RDMAP: unspecified operation error", rfc5040},
	{DDPCatastrophic, "DDP: local catastrophic error", rfc5041},
	{TaggedInvalidSTag, "DDP: invalid STag", rfc5041},
	{TaggedBaseBounds, "DDP: base or bounds violation", rfc5041},
	{TaggedNotAssociated, "DDP: STag not associated with the stream", rfc5041},
	{TaggedTOWrap, "DDP: tagged offset wraps around", rfc5041},
	{TaggedVersion, "DDP: invalid version of a tagged segment", rfc5041},
	{UntaggedInvalidQN, "DDP: invalid queue number", rfc5041},
	{UntaggedNoBuffer, "DDP: invalid MSN, no buffer available", rfc5041},
	{UntaggedMSNRange, "DDP: invalid MSN, out of range", rfc5041},
	{UntaggedInvalidMO, "DDP: invalid message offset", rfc5041},
	{UntaggedMessageLarge, "DDP: message too long for the buffer", rfc5041},
	{UntaggedVersion, "DDP: invalid version of an untagged segment", rfc5041},
	{StreamLost, "MPA: TCP connection closed, terminated or lost", rfc5044},
	{CRCMismatch, "MPA: CRC mismatch", rfc5044},
	{MarkerMismatch, "MPA: marker and ULPDU length disagree", rfc5044},
	{InvalidStartFrame, "MPA: invalid request or reply frame", rfc5044},
	{MPACatastrophic, "MPA: local catastrophic error", rfc6581},
	{InsufficientIRD, "MPA: insufficient IRD resources", rfc6581},
	{NoMatchingRTR, "MPA: no matching RTR option", rfc6581},
}

// Entries returns the table of all codes.
func Entries() []Entry { return entries[:] }

// Layer returns the layer that detected the error.
func (c Code) Layer() uint8 { return uint8(c >> 12) }

// Type returns the error type, which each layer defines for itself.
func (c Code) Type() uint8 { return uint8(c>>8) & 0xf }

// Number returns the error number within its type.
func (c Code) Number() uint8 { return uint8(c) }

// Defined reports whether an RFC defines the code.
func (c Code) Defined() bool { return c.entry() != nil }

// Swapped exchanges layer and error type. The siw driver of Linux declares them as bit fields in
// host order, so it sends them exchanged on little-endian machines: 0x2103 for UntaggedMSNRange.
func (c Code) Swapped() Code { return c&0x00ff | c&0xf000>>4 | c&0x0f00<<4 }

func (c Code) entry() *Entry {
	for i := range entries {
		e := &entries[i]
		if e.Code == c || c&0xff00 == RDMAPCatastrophic && e.Code == RDMAPCatastrophic {
			return e
		}
	}
	return nil
}

func (c Code) Error() string {
	text, source := "undefined error code", "no RFC"
	if e := c.entry(); e != nil {
		text, source = e.Text, e.Source
	}
	return fmt.Sprintf("%s (layer %d, type %d, code 0x%02x; %s)", text, c.Layer(), c.Type(), c.Number(), source)
}
