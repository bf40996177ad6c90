package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// words is the trace of a TLP: header dwords as numbers, payload as in memory.
func words(node uint16, point uint8, at drivers.Cycle, dwords ...uint32) (list []drivers.TraceEvent) {
	for i := 0; i < len(dwords); i += 2 {
		e := drivers.TraceEvent{Cycle: at + drivers.Cycle(i/2), Node: node, Point: point, Data: uint64(dwords[i])}
		if i == 0 {
			e.Flags |= drivers.TraceHead
		}
		if i+1 < len(dwords) {
			e.Data |= uint64(dwords[i+1]) << 32
			e.VC = 1
		}
		if i+2 >= len(dwords) {
			e.Flags |= drivers.TraceTail
		}
		list = append(list, e)
	}
	return list
}

// Every kind of TLP in use, in both directions and with both header lengths, interleaved: fields
// are correct and errors are reported.
func TestTLPs(t *testing.T) {
	const down, up = drivers.PointTLPDown, drivers.PointTLPUp
	read := words(1, down, 100, 0x00000002, 0x000007ff, 0xd0000058)
	write := words(1, up, 100, 0x60000003, 0x030000f3, 0x00000001, 0x00000040, 0x44332211, 0x88776655, 0x000000aa)
	file := capture(t,
		[]drivers.TraceEvent{write[0], read[0], write[1], read[1], write[2], write[3]},
		words(0, down, 200, 0x4a000002, 0x00000008, 0x03000518, 0x03020100, 0x07060504),
		words(0, down, 300, 0x0a000000, 0x00002040, 0x03000600),
		words(0, down, 400, 0x4a004002, 0x00000008, 0x03000700, 1, 2),
		words(0, down, 500, 0x40000004, 0x000000ff, 0xa0000000, 1, 2, 3),
		words(0, up, 600, 0x00000010, 0x030009ff, 0x00000fe0),
		words(0, up, 700, 0x34000001, 0, 0, 0),
		words(0, up, 800, 0x40000001, 0x0300000f, 0xfee00000, 5))
	names := []string{"frame.interface_name", "nicloop_tlp.kind", "nicloop_tlp.length", "nicloop_tlp.tag", "nicloop_tlp.address", "nicloop_tlp.place", "nicloop_tlp.count",
		"nicloop_tlp.payload", "_ws.expert.message"}
	require.Equal(t, []string{
		"node1.pcie.down|MRd|2|7|0x00000000d0000058|registers|||",
		"node1.pcie.up|MWr|3|0|0x0000000100000040|memory||1122334455667788aa000000|",
		"node0.pcie.down|CplD|2|5|||8|0001020304050607|",
		"node0.pcie.down|Cpl|0|6|||64||completion says UR",
		"node0.pcie.down|CplD|2|7|||8|0100000002000000|Poisoned",
		"node0.pcie.down|MWr|4|0|0x00000000a0000000|send windows||010000000200000003000000|24 bytes, expected 28",
		"node0.pcie.up|MRd|16|9|0x0000000000000fe0|memory|||A request crosses 4 KB",
		"node0.pcie.up||1||||||format and type 0x34 are not known",
		"node0.pcie.up|MWr|1|0|0x00000000fee00000|interrupt||05000000|",
	}, fields(t, file, "nicloop_tlp", names...))
	require.Empty(t, fields(t, file, "_ws.lua.error || nicloop", "frame.number"))
	require.Regexp(t, `TLP \d+ MRd tag 7, 2 dwords at 0xd0000058, registers$`, tshark(t, file)[0])
}
