package uart

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Framing as in RFC 1662: a flag or escape byte inside a frame is sent as an escape, followed by
// the byte with bit 5 inverted.
const (
	flag   = 0x7e
	escape = 0x7d
	turned = 0x20
)

// Sizes of frames, in bytes before stuffing.
const (
	headerBytes = 8
	crcBytes    = 4
	// MaxWords is the maximum number of data quadwords in a frame.
	MaxWords = 16
	maxFrame = headerBytes + 8*MaxWords + crcBytes
	// MaxAddress is one more than the last address that a frame can express.
	MaxAddress = uint64(1) << 40
)

// An Op is the operation that a request asks for. Its answer has bit 7 set.
type Op uint8

// Requests. Every request except writes makes the bridge discard the sequence number of its last
// write; Hello has no other effect.
const (
	Hello       Op = 0x01
	ReadReg     Op = 0x10
	ReadMemory  Op = 0x12
	WriteReg    Op = 0x20
	WriteWindow Op = 0x21
	WriteMemory Op = 0x22
	answerBit   Op = 0x80
)

var opNames = map[Op]string{
	Hello: "hello", ReadReg: "read of a register", ReadMemory: "read of memory",
	WriteReg: "write of a register", WriteWindow: "write to the send windows", WriteMemory: "write of memory",
}

func (op Op) String() string {
	if name, ok := opNames[op&^answerBit]; ok {
		return name
	}
	return fmt.Sprintf("operation 0x%02x", uint8(op))
}

// reads and writes report the direction of a request's data.
func (op Op) reads() bool  { return op == ReadReg || op == ReadMemory || op == Hello }
func (op Op) writes() bool { return op == WriteReg || op == WriteWindow || op == WriteMemory }

// A Status is the result of a request.
type Status uint8

// Status codes. The lower two bits of a bus error are the AXI response.
const (
	StatusOK      Status = 0
	StatusSlave   Status = 2 // SLVERR
	StatusDecode  Status = 3 // DECERR
	StatusUnknown Status = 4 // unknown operation
	StatusLength  Status = 5 // number of words does not fit the request
	StatusStuck   Status = 6 // the bus behind the bridge timed out
)

// A Frame is a request or an answer.
//
//	byte   0     1    2                 3 … 7            8 …            last 4
//	       seq   op   words or status   address          quadwords      CRC-32 (IEEE 802.3) of all before
//
// All numbers are little-endian. Byte 2 of a request is the number of quadwords that it carries or
// wants; in an answer it is the status. An answer repeats sequence number and address. The bridge
// reads memory from the last quadword to the first and sends it in this order, so if the last
// quadword of a slot, which the NIC writes last, is present, the whole slot is.
type Frame struct {
	Seq     uint8
	Op      Op
	Count   uint8 // number of quadwords of a request; Status of an answer
	Address uint64
	Data    []byte // whole quadwords
}

// Answer reports whether f is an answer.
func (f *Frame) Answer() bool { return f.Op&answerBit != 0 }

// Errors of received frames.
var (
	errShort  = errors.New("shorter than a frame")
	errLong   = errors.New("longer than a frame")
	errPart   = errors.New("no whole quadwords")
	errCRC    = errors.New("wrong CRC")
	errEscape = errors.New("an escape before the end")
)

// AppendFrame appends the encoding of f, stuffed and between two flags. It panics if f is too long.
func AppendFrame(line []byte, f *Frame) []byte {
	if len(f.Data) > 8*MaxWords || len(f.Data)%8 != 0 || f.Address >= MaxAddress {
		panic(fmt.Sprintf("uart: a frame of %d bytes for address 0x%x", len(f.Data), f.Address))
	}
	var body [maxFrame]byte
	binary.LittleEndian.PutUint64(body[:], uint64(f.Seq)|uint64(f.Op)<<8|uint64(f.Count)<<16|f.Address<<24)
	n := headerBytes + copy(body[headerBytes:], f.Data)
	binary.LittleEndian.PutUint32(body[n:], crc32.ChecksumIEEE(body[:n]))
	line = append(line, flag)
	for _, b := range body[:n+crcBytes] {
		if b == flag || b == escape {
			line = append(line, escape)
			b ^= turned
		}
		line = append(line, b)
	}
	return append(line, flag)
}

// parse decodes the unstuffed bytes between two flags. Data aliases body.
func parse(body []byte) (Frame, error) {
	switch n := len(body); {
	case n < headerBytes+crcBytes:
		return Frame{}, errShort
	case n > maxFrame:
		return Frame{}, errLong
	case (n-headerBytes-crcBytes)%8 != 0:
		return Frame{}, errPart
	}
	n := len(body) - crcBytes
	if crc32.ChecksumIEEE(body[:n]) != binary.LittleEndian.Uint32(body[n:]) {
		return Frame{}, errCRC
	}
	h := binary.LittleEndian.Uint64(body)
	return Frame{Seq: uint8(h), Op: Op(h >> 8), Count: uint8(h >> 16), Address: h >> 24, Data: body[headerBytes:n]}, nil
}

// A Decoder finds frames in received bytes. It drops and counts everything else, and resynchronises
// at the next flag.
type Decoder struct {
	body    [maxFrame]byte
	n       int
	long    bool // more bytes received than a frame has
	escaped bool
	// Dropped counts byte sequences between two flags that were not frames.
	Dropped uint64
	// Why is the error of the last dropped one.
	Why error
}

// Feed processes a byte. It returns a frame when one is complete; Data is valid until the next
// Feed.
func (d *Decoder) Feed(b byte) (f Frame, ok bool) {
	switch {
	case b == flag:
		f, ok = d.end()
		d.n, d.long, d.escaped = 0, false, false
		return f, ok
	case b == escape && !d.escaped:
		d.escaped = true
		return f, false
	case d.escaped:
		b ^= turned
		d.escaped = false
	}
	if d.n == len(d.body) {
		d.long = true
		return f, false
	}
	d.body[d.n] = b
	d.n++
	return f, false
}

// end checks the bytes before a flag. Two consecutive flags are neither a frame nor an error.
func (d *Decoder) end() (f Frame, ok bool) {
	var err error
	switch {
	case d.escaped:
		err = errEscape
	case d.long:
		err = errLong
	case d.n == 0:
		return f, false
	default:
		f, err = parse(d.body[:d.n])
	}
	if err != nil {
		d.Dropped++
		d.Why = err
	}
	return f, err == nil
}
