package mpa

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

const (
	headBytes   = 2
	crcBytes    = 4
	markerBytes = 4
	// markerPeriod counts octets of the stream, markers included (RFC 5044, section 4.3).
	markerPeriod = 512

	// MaxULPDU is the longest ULPDU that is sent. With its markers it has fewer than 64 KB, so the
	// distance in a marker, which has 16 bits, cannot overflow.
	MaxULPDU = 64768
	// MaxFPDU is the number of bytes after which Receiver.Next never asks for more.
	MaxFPDU = (headBytes+0xffff+3+crcBytes)*markerPeriod/(markerPeriod-markerBytes) + 2*markerBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ULPDULimit returns MULPDU: the longest ULPDU whose FPDU fits into one TCP segment of emss bytes
// (RFC 5044, section 4.5). It is 0 if nothing fits.
func ULPDULimit(emss int, markers bool) int {
	n := emss - (headBytes + crcBytes) - emss%4
	if markers {
		n -= markerBytes * ((emss + markerPeriod - 1) / markerPeriod)
	}
	return max(0, min(n, MaxULPDU))
}

// A Sender frames ULPDUs. The zero value sends without markers and CRC. All FPDUs of a connection
// go through one Sender, in the order of the stream, because markers depend on the position.
type Sender struct {
	Markers bool
	CRC     bool

	position int // in the stream since the start-up phase, modulo markerPeriod
}

// Append appends the FPDU of the ULPDU that consists of a header and pieces of payload. It does not
// allocate if b has the capacity.
func (s *Sender) Append(b, header []byte, payload ...[]byte) []byte {
	start := len(b)
	length := len(header)
	for _, p := range payload {
		length += len(p)
	}
	if length > 0xffff {
		panic("mpa: ULPDU longer than its 16-bit length field")
	}
	w := marked{b: b, fpdu: -1, position: s.position, markers: s.Markers}
	// A marker between two FPDUs belongs to the second one, with distance 0, and to its CRC.
	w.mark()
	w.fpdu = len(w.b)
	head := [headBytes]byte{byte(length >> 8), byte(length)}
	w.write(head[:])
	w.write(header)
	for _, p := range payload {
		w.write(p)
	}
	var zero [3]byte
	w.write(zero[:padding(length)])
	w.mark()
	var sum uint32
	if s.CRC {
		sum = crc32.Checksum(w.b[start:], castagnoli)
	}
	// The remainder is sent with its reflected bytes in order, as in iSCSI: least significant first.
	w.b = binary.LittleEndian.AppendUint32(w.b, sum)
	s.position = (w.position + crcBytes) % markerPeriod
	return w.b
}

// marked inserts markers while it appends.
type marked struct {
	b        []byte
	fpdu     int // index of the ULPDU length field in b, -1 before it is written
	position int // in the stream, modulo markerPeriod
	markers  bool
}

// mark appends the marker that is due at the current position, if one is.
func (w *marked) mark() {
	if !w.markers || w.position%markerPeriod != 0 {
		return
	}
	distance := 0
	if w.fpdu >= 0 {
		distance = len(w.b) - w.fpdu
	}
	w.b = append(w.b, 0, 0, byte(distance>>8), byte(distance))
	w.position += markerBytes
}

func (w *marked) write(data []byte) {
	if !w.markers {
		w.b = append(w.b, data...)
		w.position += len(data)
		return
	}
	for len(data) > 0 {
		w.mark()
		n := min(len(data), markerPeriod-w.position%markerPeriod)
		w.b = append(w.b, data[:n]...)
		w.position += n
		data = data[n:]
	}
}

func padding(length int) int { return -(headBytes + length) & 3 }

// A Receiver finds FPDUs in a stream. Set Markers and CRC before the first call.
type Receiver struct {
	Markers bool
	CRC     bool

	position int
	scratch  []byte // ULPDU without its markers
	failed   error
}

// Next returns the ULPDU of the FPDU at the beginning of stream, and the number of bytes of the
// FPDU. If stream does not hold all of it, used is 0 and the caller passes a longer stream with the
// same beginning. The ULPDU aliases stream or, with markers, memory that the next call overwrites.
//
// An error is final: the receiver cannot find the start of the next FPDU reliably.
func (r *Receiver) Next(stream []byte) (ulpdu []byte, used int, err error) {
	if r.failed != nil {
		return nil, 0, r.failed
	}
	ulpdu, used, err = r.next(stream)
	r.failed = err
	r.position = (r.position + used) % markerPeriod
	return ulpdu, used, err
}

func (r *Receiver) next(stream []byte) (ulpdu []byte, used int, err error) {
	lead := 0
	if r.Markers && r.position == 0 {
		lead = markerBytes
	}
	if len(stream) < lead+headBytes {
		return nil, 0, nil
	}
	length := int(binary.BigEndian.Uint16(stream[lead:]))
	plain := headBytes + length + padding(length) + crcBytes
	total, first := lead+plain, 0 // first is the distance of the first marker in the FPDU
	if r.Markers {
		if length > MaxULPDU {
			return nil, 0, term.MarkerMismatch
		}
		first = markerPeriod - (r.position+lead)%markerPeriod
		if plain > first {
			total += markerBytes * ((plain-first-1)/(markerPeriod-markerBytes) + 1)
		}
		if !markersAgree(stream, lead, first, total) {
			return nil, 0, term.MarkerMismatch
		}
	}
	if len(stream) < total {
		return nil, 0, nil
	}
	if r.CRC {
		sum := crc32.Checksum(stream[:total-crcBytes], castagnoli)
		if sum != binary.LittleEndian.Uint32(stream[total-crcBytes:]) {
			return nil, 0, term.CRCMismatch
		}
	}
	if !r.Markers {
		return stream[headBytes : headBytes+length], total, nil
	}
	return r.unmark(stream[lead:total], first)[headBytes:][:length], total, nil
}

// markersAgree checks the markers of an FPDU that have been received. It is called before the FPDU
// is complete: otherwise a wrong length would make the receiver wait for bytes that never arrive.
func markersAgree(stream []byte, lead, first, total int) bool {
	if lead > 0 && binary.BigEndian.Uint16(stream[2:]) != 0 {
		return false
	}
	for at := lead + first; at+markerBytes <= min(len(stream), total); at += markerPeriod {
		if int(binary.BigEndian.Uint16(stream[at+2:])) != at-lead {
			return false
		}
	}
	return true
}

// unmark copies an FPDU without its markers.
func (r *Receiver) unmark(fpdu []byte, first int) []byte {
	r.scratch = r.scratch[:0]
	for len(fpdu) > first {
		r.scratch = append(r.scratch, fpdu[:first]...)
		fpdu = fpdu[first+markerBytes:]
		first = markerPeriod - markerBytes
	}
	r.scratch = append(r.scratch, fpdu...)
	return r.scratch
}

// Close returns the error of a stream that ended while left bytes of an FPDU were pending: nil at
// the end of an FPDU.
func (r *Receiver) Close(left int) error {
	if r.failed == nil && left > 0 {
		r.failed = term.StreamLost
	}
	return r.failed
}
