package ethernet

import (
	"encoding/binary"
	"net/netip"
)

const (
	tcpBytes    = 20
	protocolTCP = 6

	flagFIN = 0x01
	flagSYN = 0x02
	flagRST = 0x04
	flagPSH = 0x08
	flagACK = 0x10

	// windowShift is the window scale of both ends (RFC 7323): windows are multiples of 128 bytes.
	windowShift = 7
	maxUnscaled = 0xffff
	maxWindow   = maxUnscaled << windowShift
)

// segment is a part of a stream, in the format of TCP (RFC 9293).
type segment struct {
	from                netip.Addr // set by decodeSegment
	source, destination uint16
	seq, ack            uint32
	flags               uint8
	window              int // bytes
	payload             []byte
}

// end is the sequence number behind a segment.
func (g *segment) end() uint32 {
	end := g.seq + uint32(len(g.payload))
	if g.flags&flagFIN != 0 {
		end++
	}
	return end
}

// distance is the number of bytes from sequence number a to b, negative if b is before a.
func distance(a, b uint32) int { return int(int32(b - a)) }

// encodeSegment returns a segment with its header. A SYN has the options of both ends: the longest
// segment and the window scale.
func encodeSegment(from, to netip.Addr, g *segment, longest int) []byte {
	header := tcpBytes
	if g.flags&flagSYN != 0 {
		header += 8
	}
	b := make([]byte, header+len(g.payload))
	binary.BigEndian.PutUint16(b[0:], g.source)
	binary.BigEndian.PutUint16(b[2:], g.destination)
	binary.BigEndian.PutUint32(b[4:], g.seq)
	binary.BigEndian.PutUint32(b[8:], g.ack)
	b[12], b[13] = byte(header/4)<<4, g.flags
	window := g.window >> windowShift
	if g.flags&flagSYN != 0 { // windows of a SYN are not scaled
		window = g.window
		copy(b[tcpBytes:], []byte{2, 4, byte(longest >> 8), byte(longest), 1, 3, 3, windowShift})
	}
	binary.BigEndian.PutUint16(b[14:], uint16(window))
	copy(b[header:], g.payload)
	binary.BigEndian.PutUint16(b[16:], checksum(sum(pseudoHeader(protocolTCP, from, to, len(b)), b)))
	return b
}

// decodeSegment checks a segment. Its payload aliases b.
func decodeSegment(from, to netip.Addr, b []byte) (g segment, ok bool) {
	if len(b) < tcpBytes || checksum(sum(pseudoHeader(protocolTCP, from, to, len(b)), b)) != 0 {
		return g, false
	}
	header := int(b[12]>>4) * 4
	if header < tcpBytes || header > len(b) {
		return g, false
	}
	g = segment{
		from: from, source: binary.BigEndian.Uint16(b[0:]), destination: binary.BigEndian.Uint16(b[2:]),
		seq: binary.BigEndian.Uint32(b[4:]), ack: binary.BigEndian.Uint32(b[8:]), flags: b[13],
		window: int(binary.BigEndian.Uint16(b[14:])), payload: b[header:],
	}
	if g.flags&flagSYN == 0 {
		g.window <<= windowShift
	}
	return g, true
}
