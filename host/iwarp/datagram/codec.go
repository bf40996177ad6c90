package datagram

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

const (
	crcBytes = 4
	// MaxDatagram is the largest payload of a UDP datagram over IPv4 without options.
	MaxDatagram = 65535 - 20 - 8
	// MaxUD and MaxRD are the longest messages; longer ones are divided by the application.
	MaxUD = MaxDatagram - ddp.UntaggedBytes - crcBytes
	MaxRD = MaxUD - reliableBytes

	// QueueError is the queue number of error messages.
	QueueError = rdmap.QueueTerminate
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal appends the CRC of all bytes behind start. It has the byte order of MPA.
func Seal(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// CRC returns the encoded CRC of a datagram in parts, for senders with vectored output.
func CRC(header []byte, parts [][]byte) (sum [crcBytes]byte) {
	c := crc32.Update(0, castagnoli, header)
	for _, p := range parts {
		c = crc32.Update(c, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(sum[:], c)
	return sum
}

// Open checks the CRC of a datagram and removes it. The error of a datagram that is too short for
// a CRC is the same, because both are signs of corruption and are treated alike: the datagram is
// counted and dropped.
func Open(b []byte) ([]byte, error) {
	n := len(b) - crcBytes
	if n < 0 || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, term.CRCMismatch
	}
	return b[:n:n], nil
}

// Append appends the segment of a message without its CRC. Header and payload are separate for
// senders with vectored output; they append nothing but the header.
func Append(b []byte, o rdmap.Opcode, msn, invalidate uint32) []byte {
	h := ddp.Header{Last: true, Control: rdmap.Control(o), MSN: msn, Reserved: invalidate}
	return h.Append(b)
}

// AppendError appends the segment of an error message about message msn of the peer.
func AppendError(b []byte, msn uint32, code term.Code) []byte {
	h := ddp.Header{Last: true, Control: rdmap.Control(rdmap.Terminate), QN: QueueError, MSN: msn}
	r := rdmap.Report{Code: code}
	return r.Append(h.Append(b))
}

// A Message is a decoded segment.
type Message struct {
	Opcode     rdmap.Opcode
	MSN        uint32
	Invalidate uint32
	Payload    []byte
	Error      term.Code // of an error message, which has the opcode Terminate
}

// Parse decodes a segment whose CRC was checked. The payload aliases b. Tagged messages and Read
// Requests do not exist over datagrams.
func Parse(b []byte) (m Message, err error) {
	h, payload, err := ddp.Parse(b)
	if err != nil {
		return m, err
	}
	o, err := rdmap.ParseControl(h)
	switch {
	case err != nil:
		return m, err
	case !o.IsSend() && o != rdmap.Terminate:
		return m, term.UnexpectedOpcode
	case !h.Last || h.MO != 0:
		return m, term.UntaggedInvalidMO
	case o.IsImmediate() && len(payload) != rdmap.ImmediateBytes:
		return m, term.CatastrophicStream
	}
	m = Message{Opcode: o, MSN: h.MSN, Payload: payload}
	if o.Invalidates() {
		m.Invalidate = h.Reserved
	}
	if o == rdmap.Terminate {
		r, err := rdmap.ParseReport(payload)
		if err != nil {
			return m, err
		}
		m.Error = r.Code
	}
	return m, nil
}

// IsError reports whether a datagram to a queue pair of type RD is an error message. It has no RD
// header: it is sent once, by a queue pair that takes part in no reliable exchange any more. The
// first byte of an RD header differs from every DDP control field.
func IsError(b []byte) bool {
	return len(b) > 1 && b[0] != kindData && b[0] != kindAck && b[1] == rdmap.Control(rdmap.Terminate)
}
