package uart

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// What delimits frames on the line, as in RFC 1662: a byte that is one of these inside a frame is sent as
// escape and itself with bit 5 turned.
const (
	flag   = 0x7e
	escape = 0x7d
	turned = 0x20
)

// Sizes of frames, in bytes before stuffing.
const (
	headerBytes = 8
	crcBytes    = 4
	// MaxWords are the quadwords of data that a frame carries at most.
	MaxWords = 16
	maxFrame = headerBytes + 8*MaxWords + crcBytes
	// MaxAddress is behind the last address that a frame can name.
	MaxAddress = uint64(1) << 40
)

// An Op is what a request asks for. The answer carries it with bit 7 set.
type Op uint8

// Requests. All but writes make the bridge forget the sequence number of the write it did last, Hello does nothing else.
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

// reads and writes tell which way the data of a request goes.
func (op Op) reads() bool  { return op == ReadReg || op == ReadMemory || op == Hello }
func (op Op) writes() bool { return op == WriteReg || op == WriteWindow || op == WriteMemory }

// A Status is how a request ended.
type Status uint8

// The statuses. The lower two bits of a bus error are AXI's response.
const (
	StatusOK      Status = 0
	StatusSlave   Status = 2 // SLVERR
	StatusDecode  Status = 3 // DECERR
	StatusUnknown Status = 4 // no such operation
	StatusLength  Status = 5 // words that do not fit the request
	StatusStuck   Status = 6 // the bus behind the bridge has not answered in time
)

// A Frame is a request or an answer.
//
//	byte   0     1    2                 3 … 7            8 …            last 4
//	       seq   op   words or status   address          quadwords      CRC-32 (IEEE 802.3) of all before
//
// All numbers are little-endian. Requests say in byte 2 how many quadwords they carry or want, answers how the request
// ended. An answer repeats sequence number and address. What was read of memory comes from the last quadword to the first, as it
// was read: who sees the last quadword of a slot, which the NIC writes last, sees all of it.
type Frame struct {
	Seq     uint8
	Op      Op
	Count   uint8 // quadwords of a request; Status of an answer
	Address uint64
	Data    []byte // whole quadwords
}

// Answer tells whether f is one.
func (f *Frame) Answer() bool { return f.Op&answerBit != 0 }

// Errors of what came over the line.
var (
	errShort  = errors.New("shorter than a frame")
	errLong   = errors.New("longer than a frame")
	errPart   = errors.New("no whole quadwords")
	errCRC    = errors.New("wrong CRC")
	errEscape = errors.New("an escape before the end")
)

// AppendFrame puts f on the line: between two flags, stuffed. Frames that do not fit are a mistake of the caller.
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

// parse reads what stood between two flags, unstuffed. Data is part of body.
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

// A Decoder finds frames in what comes over a line. Whatever is no frame is dropped and counted, and ends with the next flag.
type Decoder struct {
	body    [maxFrame]byte
	n       int
	long    bool // more has come than a frame has
	escaped bool
	// Dropped counts what stood between two flags and was no frame.
	Dropped uint64
	// Why says what was wrong with the last of them.
	Why error
}

// Feed takes a byte. When it ends a frame, that is returned; its Data is good until the next Feed.
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

// end judges what stood before a flag. Two flags in a row are no frame and no mistake.
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
