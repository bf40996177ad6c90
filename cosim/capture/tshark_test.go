package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture/tsharktest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

func tshark(t *testing.T, file []byte, args ...string) []string {
	t.Helper()
	return tsharktest.Run(t, Dissector(), file, args...)
}

func fields(t *testing.T, file []byte, filter string, names ...string) []string {
	t.Helper()
	return tsharktest.Fields(t, Dissector(), file, filter, names...)
}

// Every kind, length and piggyback: all fields are correct, and no packet is malformed.
func TestDissector(t *testing.T) {
	var all [][]drivers.TraceEvent
	var want []string
	at := drivers.Cycle(0)
	everyVELO(func(h regs.Header, credits uint16) {
		payload := pattern(h, credits)
		all = append(all, flits(3, drivers.PointLink1+1, at, h, payload))
		at += 20
		data, text := "", ""
		if h.Length() > 0 {
			data = fmt.Sprintf("%x", payload[:h.Length()])
		}
		if h.Piggyback() {
			text = fmt.Sprint(credits)
		} else if h.Length() == 2 && (h.Kind() == regs.KindCredit || h.Kind() == regs.KindCreditResponse) {
			text = fmt.Sprint(0x0201)
		}
		bit := map[bool]int{true: 1}
		want = append(want, fmt.Sprintf("node3.x-|1|%d|%d|%d|%d|7|2|1|15|%d|%s|%s|%d|good", h.Kind(), bit[h.Piggyback()], h.Length(), bit[h.Answer()],
			h.Mark(), data, text, flit.Total(h)))
	})
	file := capture(t, all...)
	names := []string{"frame.interface_name", "nicloop.type", "nicloop.kind", "nicloop.piggyback", "nicloop.length", "nicloop.answer",
		"nicloop.src_node", "nicloop.src_vpid", "nicloop.dst_node", "nicloop.dst_vpid", "nicloop.mark", "nicloop.payload",
		"nicloop.credits", "nicloop.flits", "nicloop.crc.status"}
	require.Equal(t, want, fields(t, file, "nicloop", names...))
	require.Empty(t, fields(t, file, "_ws.malformed || _ws.expert || !nicloop", "frame.number"))
}

func TestDissectorColumns(t *testing.T) {
	credit := velo(regs.HeaderFields{Kind: regs.KindCreditResponse, Length: 2, SrcNode: 3, SrcVPID: 1, DstVPID: 9})
	data := velo(regs.HeaderFields{Length: 8, Piggyback: true, DstNode: 2, DstVPID: 4})
	file := capture(t, flits(3, drivers.PointInject, 0, credit, []byte{5, 0}), flits(0, drivers.PointInject, 100, data, pattern(data, 7)))
	lines := tshark(t, file)
	require.Len(t, lines, 2)
	require.Regexp(t, `0\.000000000 +3\.1 . 0\.9 +NicLoop \d+ VELO CREDIT_RESPONSE, 2 bytes, 5 credits$`, lines[0])
	require.Regexp(t, `0\.000000647 +0\.0 . 2\.4 +NicLoop \d+ VELO DATA, 8 bytes, 7 credits piggybacked$`, lines[1])
	tree := strings.Join(tshark(t, file, "-V"), "\n")
	for _, part := range []string{"kind: CREDIT_RESPONSE (3)", "type: VELO (1)", "piggyback: True", "CRC status: good", "credits: 7"} {
		require.Contains(t, tree, part)
	}
}

// Errors in a packet are reported with their position.
func TestDissectorErrors(t *testing.T) {
	good := velo(regs.HeaderFields{Length: 20, DstNode: 1})
	crc := flits(0, drivers.PointInject, 0, good, pattern(good, 0))
	crc[2].Data ^= 1 << 40
	short := flits(0, drivers.PointInject, 100, good, pattern(good, 0))
	short = append(short[:2], short[3:]...)
	long := velo(regs.HeaderFields{Length: 57})
	full := velo(regs.HeaderFields{Length: 55, Piggyback: true})
	odd := regs.HeaderFields{Type: 15, Length: 4}.Pack()
	rma := regs.HeaderFields{Type: regs.PacketTypeRMAPut, Length: 512, DstNode: 1}.Pack()
	file := capture(t, crc, short,
		flits(0, drivers.PointInject, 200, long, make([]byte, 57)), flits(0, drivers.PointInject, 300, full, make([]byte, 57)),
		flits(0, drivers.PointInject, 400, odd, nil), flits(0, drivers.PointInject, 500, rma, make([]byte, 512)),
		flits(1, drivers.PointEject, 600, good, pattern(good, 0))[:3])
	got := fields(t, file, "nicloop", "frame.number", "nicloop.crc.status", "_ws.expert.message")
	require.Len(t, got, 7)
	for i, want := range []string{
		`^1\|bad\|CRC is 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8}$`,
		`^2\|\|32 bytes, expected 40$`,
		`^3\|\|length is 57, expected 0 to 56$`,
		`^4\|\|length is 55, expected 0 to 54$`,
		`^5\|good\|packet type 15 is not known`,
		`^6\|\|length is 512, expected 9 to 264$`,
		`^7\|\|3 of 5 flits seen$`,
	} {
		require.Regexp(t, want, got[i])
	}
	numbers := func(filter string) string { return strings.Join(fields(t, file, filter, "frame.number"), " ") }
	require.Equal(t, "1", numbers("nicloop.expert.crc"))
	require.Equal(t, "2 3 4 6", numbers("nicloop.expert.length"))
	require.Equal(t, "1 2 3 4 5 6", numbers("_ws.expert.severity == error"))
	require.Empty(t, numbers("_ws.lua.error"))
}
