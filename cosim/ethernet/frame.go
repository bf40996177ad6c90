package ethernet

import (
	"encoding/binary"
	"net/netip"
)

const (
	etherBytes = 14
	ipBytes    = 20
	udpBytes   = 8
	// overhead is what a cable carries besides a frame: FCS, preamble and gap.
	overhead = 4 + 8 + 12
	minFrame = 60 // without FCS; shorter frames are padded

	// MaxDatagram is the longest payload of a datagram.
	MaxDatagram = 65535 - ipBytes - udpBytes

	etherTypeIPv4 = 0x0800
	protocolUDP   = 17
	hopLimit      = 64
	moreFragments = 0x2000
	offsetMask    = 0x1fff
)

// wireBytes is the number of bytes that a frame occupies on a cable.
func wireBytes(frame int) int { return max(frame, minFrame) + overhead }

// Address returns the IP address of a host.
func Address(host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, byte((host + 1) >> 8), byte(host + 1)})
}

// hostAt is the inverse of Address.
func (n *Network) hostAt(a netip.Addr) (*host, bool) {
	a = a.Unmap()
	if !a.Is4() {
		return nil, false
	}
	b := a.As4()
	i := int(b[2])<<8 + int(b[3]) - 1
	if b[0] != 10 || b[1] != 0 || i < 0 || i >= len(n.hosts) {
		return nil, false
	}
	return n.hosts[i], true
}

// hardware is the MAC address of a host: locally administered, unicast.
func hardware(host int) (mac [6]byte) {
	mac[0] = 0x02
	binary.BigEndian.PutUint16(mac[4:], uint16(host+1))
	return mac
}

// sum adds the 16-bit words of b to a ones' complement sum.
func sum(s uint64, b []byte) uint64 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(b[0])<<8 | uint64(b[1])
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

// checksum is the Internet checksum (RFC 1071) of a sum.
func checksum(s uint64) uint16 {
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}

// pseudoHeader is the part of the checksum of UDP and TCP that is in the header of IP.
func pseudoHeader(protocol uint8, from, to netip.Addr, length int) uint64 {
	a, b := from.As4(), to.As4()
	return sum(sum(uint64(protocol)+uint64(length), a[:]), b[:])
}

// encodeUDP returns a datagram with its header.
func encodeUDP(from, to netip.AddrPort, parts [][]byte, length int, noChecksum bool) []byte {
	b := make([]byte, udpBytes, udpBytes+length)
	binary.BigEndian.PutUint16(b[0:], from.Port())
	binary.BigEndian.PutUint16(b[2:], to.Port())
	binary.BigEndian.PutUint16(b[4:], uint16(udpBytes+length))
	for _, p := range parts {
		b = append(b, p...)
	}
	if noChecksum {
		return b
	}
	c := checksum(sum(pseudoHeader(protocolUDP, from.Addr(), to.Addr(), len(b)), b))
	if c == 0 {
		c = 0xffff // RFC 768: zero means that there is no checksum
	}
	binary.BigEndian.PutUint16(b[6:], c)
	return b
}

// decodeUDP checks a datagram. Without a checksum only its length is checked.
func decodeUDP(from, to netip.Addr, b []byte) (source, destination uint16, payload []byte, ok bool) {
	if len(b) < udpBytes || int(binary.BigEndian.Uint16(b[4:])) != len(b) {
		return 0, 0, nil, false
	}
	if binary.BigEndian.Uint16(b[6:]) != 0 && checksum(sum(pseudoHeader(protocolUDP, from, to, len(b)), b)) != 0 {
		return 0, 0, nil, false
	}
	return binary.BigEndian.Uint16(b[0:]), binary.BigEndian.Uint16(b[2:]), b[udpBytes:], true
}

// fragmentBytes is the payload of every fragment but the last: a multiple of 8.
func (c *Config) fragmentBytes() int { return (c.MTU - ipBytes) &^ 7 }

// fragments is the number of frames of a UDP datagram with its header.
func (c *Config) fragments(length int) int {
	if length <= c.MTU-ipBytes {
		return 1
	}
	step := c.fragmentBytes()
	return (length + step - 1) / step
}

// packet is a decoded IP packet. Its payload aliases the frame.
type packet struct {
	from, to netip.Addr
	protocol uint8
	id       uint16
	offset   int // of the payload in its datagram
	more     bool
	payload  []byte
}

// encodeFrame returns a frame with an IP packet, padded to the shortest length.
func encodeFrame(from, to int, p packet) []byte {
	b := make([]byte, max(minFrame, etherBytes+ipBytes+len(p.payload)))
	src, dst := hardware(from), hardware(to)
	copy(b[0:], dst[:])
	copy(b[6:], src[:])
	binary.BigEndian.PutUint16(b[12:], etherTypeIPv4)
	h := b[etherBytes:][:ipBytes]
	h[0] = 4<<4 | ipBytes/4
	binary.BigEndian.PutUint16(h[2:], uint16(ipBytes+len(p.payload)))
	binary.BigEndian.PutUint16(h[4:], p.id)
	flags := uint16(p.offset / 8)
	if p.more {
		flags |= moreFragments
	}
	binary.BigEndian.PutUint16(h[6:], flags)
	h[8], h[9] = hopLimit, p.protocol
	a, z := p.from.As4(), p.to.As4()
	copy(h[12:], a[:])
	copy(h[16:], z[:])
	binary.BigEndian.PutUint16(h[10:], checksum(sum(0, h)))
	copy(b[etherBytes+ipBytes:], p.payload)
	return b
}

// frameError is the reason for which a host ignores a frame.
type frameError int

const (
	frameValid frameError = iota
	frameForeign
	frameCorrupt
)

// decodeFrame returns the IP packet of a frame for a host.
func decodeFrame(host int, b []byte) (p packet, e frameError) {
	if len(b) < etherBytes+ipBytes || [6]byte(b[:6]) != hardware(host) ||
		binary.BigEndian.Uint16(b[12:]) != etherTypeIPv4 {
		return p, frameForeign
	}
	h := b[etherBytes:]
	length := int(binary.BigEndian.Uint16(h[2:]))
	if h[0] != 4<<4|ipBytes/4 || length < ipBytes || length > len(h) || checksum(sum(0, h[:ipBytes])) != 0 {
		return p, frameCorrupt
	}
	p.from, p.to = netip.AddrFrom4([4]byte(h[12:])), netip.AddrFrom4([4]byte(h[16:]))
	p.protocol = h[9]
	flags := binary.BigEndian.Uint16(h[6:])
	p.id = binary.BigEndian.Uint16(h[4:])
	p.more, p.offset = flags&moreFragments != 0, int(flags&offsetMask)*8
	p.payload = h[ipBytes:length]
	isFragment := p.more || p.offset > 0
	if p.to != Address(host) || p.protocol != protocolUDP && (p.protocol != protocolTCP || isFragment) {
		return p, frameForeign // no host sends fragments of a segment
	}
	return p, frameValid
}
