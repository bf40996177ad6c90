// Package flit knows how a packet is cut into 64-bit flits: a header, the
// payload (with the two credit bytes of a piggyback right after it) padded with
// zeros to whole flits, and a tail with the CRC.
//
// It promises no more than arithmetic: no state, no allocation. The caller
// passes payloads of the length that the header gives.
package flit

import (
	"hash/crc32"

	"github.com/nicloop/nicloop/drivers/regs"
)

// unchecked are the header bits that the network may change on the way, and
// that the CRC therefore counts as 0: answer and mark.
var unchecked = regs.HeaderFields{Answer: true, Mark: 0xff}.Pack()

// Bytes is the number of bytes between header and tail without padding.
func Bytes(h regs.Header) int {
	n := int(h.Length())
	if h.Piggyback() {
		n += 2
	}
	return n
}

// Payload is the number of flits between header and tail.
func Payload(h regs.Header) int { return (Bytes(h) + regs.FlitBytes - 1) / regs.FlitBytes }

// Total is the number of flits of the whole packet.
func Total(h regs.Header) int { return Payload(h) + 2 }

// CRC computes the CRC-32 of the tail. padded is the payload in whole flits; of the tail its other
// fields count.
func CRC(h regs.Header, padded []byte, tail regs.Tail) uint32 {
	crc := crc32.Update(^update(^uint32(0), uint64(h&^unchecked)), crc32.IEEETable, padded)
	return ^update(^crc, uint64(tail)&^crcMask)
}

const crcMask = 1<<32 - 1

// update adds a flit to the CRC register; by hand, since a buffer for the library would escape.
func update(crc uint32, w uint64) uint32 {
	for range regs.FlitBytes {
		crc = crc32.IEEETable[byte(crc)^byte(w)] ^ crc>>8
		w >>= 8
	}
	return crc
}

// Close is a packet's tail: of a tail without a CRC, that with the right one.
func Close(h regs.Header, padded []byte, tail regs.Tail) regs.Tail {
	return tail&^crcMask | regs.Tail(CRC(h, padded, tail))
}
