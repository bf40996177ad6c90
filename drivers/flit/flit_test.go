package flit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regs"
)

func TestCounts(t *testing.T) {
	for _, tc := range []struct {
		length    uint16
		piggyback bool
		bytes     int
		total     int
	}{
		{0, false, 0, 2}, {0, true, 2, 3}, {1, false, 1, 3}, {6, true, 8, 3}, {7, true, 9, 4},
		{8, false, 8, 3}, {54, true, 56, 9}, {56, false, 56, 9}, {512, false, 512, 66},
	} {
		h := regs.HeaderFields{Length: tc.length, Piggyback: tc.piggyback}.Pack()
		require.Equal(t, tc.bytes, Bytes(h))
		require.Equal(t, tc.total, Total(h))
		require.Equal(t, tc.total-2, Payload(h))
	}
}

func TestCRC(t *testing.T) {
	// What the network may change must not count, everything else must.
	h := regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 8, SrcNode: 1, DstNode: 2}.Pack()
	payload := []byte("12345678")
	tail := regs.TailFields{PDID: 0x1234, Life: 7}.Pack()
	want := CRC(h, payload, tail)

	marked := h.Fields()
	marked.Answer, marked.Mark = true, 0xa5
	require.Equal(t, want, CRC(marked.Pack(), payload, tail), "answer and mark bits must not count")

	moved := h.Fields()
	moved.DstVPID = 1
	require.NotEqual(t, want, CRC(moved.Pack(), payload, tail))
	require.NotEqual(t, want, CRC(h, []byte("12345679"), tail))

	other := tail.Fields()
	other.CRC = 5
	require.Equal(t, want, CRC(h, payload, other.Pack()), "the CRC must not count")
	require.Equal(t, want, Close(h, payload, other.Pack()).CRC())
	other.PDID++
	require.NotEqual(t, want, CRC(h, payload, other.Pack()))

	// CRC-32 of sixteen zero bytes, from the definition: an empty packet of zeros.
	require.Equal(t, uint32(0xecbb4b55), CRC(0, nil, 0))
}

func TestNoAllocation(t *testing.T) {
	payload := make([]byte, 56)
	require.Zero(t, testing.AllocsPerRun(100, func() { CRC(1, payload, 0) }))
}
