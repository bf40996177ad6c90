package ethernet

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeaderBits: a host ignores a frame with any flipped bit in its destination, its type or its
// IP header.
func TestHeaderBits(t *testing.T) {
	p := packet{from: Address(0), to: Address(1), protocol: protocolUDP, id: 7, payload: make([]byte, 100)}
	frame := encodeFrame(0, 1, p)
	_, e := decodeFrame(1, frame)
	require.Equal(t, frameValid, e)
	for bit := range (etherBytes + ipBytes) * 8 {
		if bit/8 >= 6 && bit/8 < 12 {
			continue // the source address is not read
		}
		bad := bytes.Clone(frame)
		bad[bit/8] ^= 1 << (bit % 8)
		_, e := decodeFrame(1, bad)
		require.NotEqual(t, frameValid, e, "bit %d of byte %d", bit%8, bit/8)
	}
	for n := range etherBytes + ipBytes {
		_, e := decodeFrame(1, frame[:n])
		require.NotEqual(t, frameValid, e)
	}
}

// TestZeroChecksum: a checksum that is computed as zero is sent as 0xffff, because zero means that
// there is none (RFC 768).
func TestZeroChecksum(t *testing.T) {
	from, to := netip.AddrPortFrom(Address(0), 1), netip.AddrPortFrom(Address(1), 2)
	payload := []byte{0, 0, 5}
	b := encodeUDP(from, to, [][]byte{payload}, len(payload), false)
	copy(payload, b[6:8]) // the sum of all words becomes 0xffff
	b = encodeUDP(from, to, [][]byte{payload}, len(payload), false)
	require.Equal(t, uint16(0xffff), binary.BigEndian.Uint16(b[6:]))
	_, _, data, ok := decodeUDP(from.Addr(), to.Addr(), b)
	require.True(t, ok)
	require.Equal(t, payload, data)
}

// TestCorruptionBehindCapture: the sender's capture has the frames as they were sent, and a
// duplicate does not share the corruption of its original.
func TestCorruptionBehindCapture(t *testing.T) {
	n := open(t, Config{Corrupt: 1, Duplicate: 1})
	a, b := bind(t, n, 0), bind(t, n, 1)
	want := pattern(500, 2)
	for range 20 {
		send(t, a, b.Address(), want)
		settle(n)
		data, _ := receive(t, b)
		require.True(t, bytes.Equal(want, data))
	}
}
