package capture

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// rmaPacket is a packet with its expected decoding.
type rmaPacket struct {
	header regs.Header
	op     regs.RMAOpFields
	ext    regs.RMAExtFields
	body   []byte // extension flit and the rest
	data   []byte // for types with bytes
	word   uint64 // for other types
	fields string // fields of the word in tshark
	text   string // the info column
}

const rmaOther = "||||||||||||" // no quadword with fields

// everyRMA calls f for every type with random fields, and for all lengths of types with bytes.
func everyRMA(f func(rmaPacket)) {
	rng := rand.New(rand.NewPCG(*seed, 3))
	for n := 1; n <= regs.RMAMTU; n++ {
		if testing.Short() && n > 80 && n%16 != 15 && n%16 > 1 {
			continue // lengths around the ends of flits
		}
		f(newRMA(rng, regs.PacketTypeRMAPut, n))
		f(newRMA(rng, regs.PacketTypeRMAGetRsp, n))
		f(newRMA(rng, regs.PacketTypeRMAImmPut, n%8+1))
		f(newRMA(rng, regs.PacketTypeRMANoti, 8))
		f(newRMA(rng, regs.PacketTypeRMAGetReq, n))
		f(newRMA(rng, regs.PacketTypeRMALockReq, 4))
		f(newRMA(rng, regs.PacketTypeRMALockRsp, 4))
		f(newRMA(rng, regs.PacketTypeRMAError, n))
	}
}

// nlaFor returns an NLA with room for n bytes in its page.
func nlaFor(rng *rand.Rand, n int) uint64 {
	return rng.Uint64N(1<<36)<<12 | uint64(rng.IntN(4096-n+1))
}

func newRMA(rng *rand.Rand, t regs.PacketType, n int) rmaPacket {
	bit := func() bool { return rng.IntN(2) == 1 }
	p := rmaPacket{
		op:  regs.RMAOpFields{Last: bit(), NotiRequester: bit(), NotiResponder: bit(), NotiCompleter: bit(), Each: bit()},
		ext: regs.RMAExtFields{NLA: nlaFor(rng, n), Tag: uint16(rng.Uint32())}, fields: rmaOther,
	}
	length := 16
	if movesBytes(t) {
		length = 8 + n
		p.data = make([]byte, n)
		for i := range p.data {
			p.data[i] = byte(rng.Uint32())
		}
		p.text = fmt.Sprintf("%d B at NLA 0x%012x", n, p.ext.NLA)
	} else {
		p.operands(rng, t, n)
	}
	h := regs.HeaderFields{Type: t, Op: uint8(p.op.Pack()), Length: uint16(length), Answer: rng.IntN(2) == 1, Mark: uint8(rng.Uint32()),
		SrcNode: uint16(rng.IntN(4096)), SrcVPID: uint8(rng.IntN(16)), DstNode: uint16(rng.IntN(4096)), DstVPID: uint8(rng.IntN(16))}
	p.header = h.Pack()
	p.body = binary.LittleEndian.AppendUint64(nil, uint64(p.ext.Pack()))
	if p.body = append(p.body, p.data...); p.data == nil {
		p.body = binary.LittleEndian.AppendUint64(p.body, p.word)
	}
	p.text = fmt.Sprintf("RMA %s %d.%d -> %d.%d %s", strings.TrimPrefix(t.String(), "RMA_"), h.SrcNode, h.SrcVPID, h.DstNode, h.DstVPID, p.text)
	if p.op.Last {
		p.text += ", last"
	}
	return p
}

// operands creates the quadword of a packet without bytes.
func (p *rmaPacket) operands(rng *rand.Rand, t regs.PacketType, n int) {
	at := fmt.Sprintf("at NLA 0x%012x", p.ext.NLA)
	switch t {
	case regs.PacketTypeRMANoti:
		p.word = rng.Uint64()
		p.fields = fmt.Sprintf("|||||||||||0x%016x|", p.word)
		p.text = fmt.Sprintf("payload 0x%016x", p.word)
	case regs.PacketTypeRMAGetReq:
		w := regs.RMAGetFields{NLA: nlaFor(rng, n), BytesMinus1: uint16(n - 1)}
		p.word = uint64(w.Pack())
		p.fields = fmt.Sprintf("0x%016x|%d|||||||||||", w.NLA, n-1)
		p.text = fmt.Sprintf("%d B %s to NLA 0x%012x", n, at, w.NLA)
	case regs.PacketTypeRMALockReq:
		w := regs.RMALockFields{Add: rng.Uint32(), Compare: rng.Uint32()}
		p.word = uint64(w.Pack())
		p.fields = fmt.Sprintf("||%d|%d|||||||||", w.Add, w.Compare)
		p.text = fmt.Sprintf("%s, add %d if at most %d", at, w.Add, w.Compare)
	case regs.PacketTypeRMALockRsp:
		w := regs.RMAResultFields{Old: rng.Uint32(), Success: rng.IntN(2) == 1, Tag: p.ext.Tag}
		p.word = uint64(w.Pack())
		p.fields = fmt.Sprintf("||||%d|%s|%d||||||", w.Old, digit(w.Success), w.Tag)
		p.text = fmt.Sprintf("%s, was %d, %s", at, w.Old, map[bool]string{true: "changed", false: "not changed"}[w.Success])
	case regs.PacketTypeRMAError:
		w := regs.RMANotiFields{BytesMinus1: uint32(n - 1), Unit: regs.RMAUnit(1 + rng.IntN(3)), Command: regs.RMACommand(1 + rng.IntN(5)),
			Error: regs.RMAError(1 + rng.IntN(8)), Last: p.op.Last}
		p.word = uint64(w.Pack())
		p.fields = fmt.Sprintf("|||||||%d|%d|%d|%d||%s", w.BytesMinus1, w.Unit, w.Command, w.Error, digit(w.Last))
		p.text = fmt.Sprintf("%v %s, %v of %d B, found by %v", w.Error, at, w.Command, n, w.Unit)
	}
}

// digit is a bit as printed by tshark.
func digit(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

func TestRMALayers(t *testing.T) {
	everyRMA(func(want rmaPacket) {
		p := gopacket.NewPacket(wire(t, want.header, want.body), LayerTypeNicLoop, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		require.Len(t, p.Layers(), 3)
		head, body := p.Layer(LayerTypeNicLoop).(*NicLoop), p.Layer(LayerTypeRMA).(*RMA)
		require.Equal(t, want.op, body.Op().Fields())
		require.Equal(t, want.ext, body.Ext.Fields())
		require.Equal(t, want.data, body.Data)
		require.Equal(t, want.word, body.Word)
		require.True(t, p.Layer(LayerTypeTail).(*Tail).Valid(head))
		require.Equal(t, p.Data(), serialize(t, &NicLoop{Header: want.header}, func(n *NicLoop) gopacket.SerializableLayer {
			return &RMA{Packet: n, Ext: body.Ext, Data: body.Data, Word: body.Word}
		}))
	})
}

func TestRMAMalformed(t *testing.T) {
	for _, c := range []struct {
		typ    regs.PacketType
		length uint16
		text   string
	}{
		{regs.PacketTypeRMAPut, 8, "RMA_PUT of length 8, expected 9 to 264"},
		{regs.PacketTypeRMAPut, 265, "RMA_PUT of length 265, expected 9 to 264"},
		{regs.PacketTypeRMAGetRsp, 0, "RMA_GET_RSP of length 0, expected 9 to 264"},
		{regs.PacketTypeRMAImmPut, 17, "RMA_IMM_PUT of length 17, expected 9 to 16"},
		{regs.PacketTypeRMAGetReq, 17, "RMA_GET_REQ of length 17, expected 16 to 16"},
		{regs.PacketTypeRMANoti, 8, "RMA_NOTI of length 8, expected 16 to 16"},
	} {
		h := regs.HeaderFields{Type: c.typ, Length: c.length}.Pack()
		p := gopacket.NewPacket(wire(t, h, make([]byte, c.length)), LayerTypeNicLoop, gopacket.Default)
		require.NotNil(t, p.ErrorLayer(), c.text)
		require.ErrorContains(t, p.ErrorLayer().Error(), c.text)
		body := RMA{Packet: &NicLoop{Header: h}}
		require.Error(t, body.DecodeFromBytes(make([]byte, 600), gopacket.NilDecodeFeedback))
	}
	alone := gopacket.NewPacket(make([]byte, 24), LayerTypeRMA, gopacket.Default)
	require.ErrorContains(t, alone.ErrorLayer().Error(), "without its header")
	short := RMA{Packet: &NicLoop{Header: regs.HeaderFields{Type: regs.PacketTypeRMAPut, Length: 16}.Pack()}}
	require.ErrorContains(t, short.DecodeFromBytes(make([]byte, 8), gopacket.NilDecodeFeedback), "8 bytes, its header announces 16")
}

// A parser that reuses its layers decodes RMA without allocation, too.
func TestRMAParser(t *testing.T) {
	want := newRMA(rand.New(rand.NewPCG(1, 1)), regs.PacketTypeRMAPut, 77)
	data := wire(t, want.header, want.body)
	var head NicLoop
	body := RMA{Packet: &head}
	var tail Tail
	parser := gopacket.NewDecodingLayerParser(LayerTypeNicLoop, &head, &body, &tail)
	var decoded []gopacket.LayerType
	require.NoError(t, parser.DecodeLayers(data, &decoded))
	require.Equal(t, []gopacket.LayerType{LayerTypeNicLoop, LayerTypeRMA, LayerTypeTail}, decoded)
	require.Equal(t, want.data, body.Data)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = parser.DecodeLayers(data, &decoded) }))
}

// Every type: all fields are correct, no packet is malformed, and the info column describes it.
func TestDissectorRMA(t *testing.T) {
	var all [][]drivers.TraceEvent
	var want, texts []string
	at := drivers.Cycle(0)
	everyRMA(func(p rmaPacket) {
		all = append(all, flits(3, drivers.PointEject, at, p.header, p.body))
		at += 100
		o, n := p.op, len(p.data)
		if f := regs.PacketType(p.header.Type()); f == regs.PacketTypeRMALockReq || f == regs.PacketTypeRMALockRsp {
			n = 4
		} else if f == regs.PacketTypeRMAGetReq {
			n = int(regs.RMAGet(p.word).BytesMinus1()) + 1
		} else if f == regs.PacketTypeRMAError {
			n = int(regs.RMANoti(p.word).BytesMinus1()) + 1
		}
		moved := ""
		if n > 0 {
			moved = fmt.Sprint(n)
		}
		tables := fmt.Sprint(p.ext.NLA >> 44)
		if p.header.Type() == regs.PacketTypeRMAGetReq {
			tables += fmt.Sprint(",", regs.RMAGet(p.word).NLA()>>44)
		}
		want = append(want, fmt.Sprintf("%d|%d|%d|%s|%s|%s|%s|%s|0x%016x|%s|%d|%x|%s|%s|good", p.header.Type(), p.header.Length(), p.header.Op(),
			digit(o.Last), digit(o.NotiRequester), digit(o.NotiResponder), digit(o.NotiCompleter), digit(o.Each),
			p.ext.NLA, tables, p.ext.Tag, p.data, moved, p.fields))
		texts = append(texts, p.text)
	})
	file := capture(t, all...)
	names := strings.Fields(`nicloop.type nicloop.length nicloop.op nicloop.rma_op.last nicloop.rma_op.noti_requester
		nicloop.rma_op.noti_responder nicloop.rma_op.noti_completer nicloop.rma_op.each nicloop.rma_ext.nla nicloop.nla.table
		nicloop.rma_ext.tag nicloop.payload nicloop.rma.bytes nicloop.rma_get.nla nicloop.rma_get.bytes_minus_1 nicloop.rma_lock.add
		nicloop.rma_lock.compare nicloop.rma_result.old nicloop.rma_result.success nicloop.rma_result.tag nicloop.rma_noti.bytes_minus_1
		nicloop.rma_noti.unit nicloop.rma_noti.command nicloop.rma_noti.error nicloop.rma.notification nicloop.rma_noti.last nicloop.crc.status`)
	require.Equal(t, want, fields(t, file, "nicloop", names...))
	require.Equal(t, texts, fields(t, file, "nicloop", "_ws.col.Info"))
	require.Empty(t, fields(t, file, "_ws.malformed || _ws.expert || !nicloop", "frame.number"))
}

// Errors in an RMA packet are reported.
func TestDissectorRMAErrors(t *testing.T) {
	put := regs.HeaderFields{Type: regs.PacketTypeRMAPut, Length: 40}.Pack()
	body := make([]byte, 40)
	body[0], body[1] = 0xf0, 0x0f // NLA 0xff0: 16 bytes to the end of the page
	get := regs.HeaderFields{Type: regs.PacketTypeRMAGetReq, Length: 16}.Pack()
	long := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(regs.RMAGetFields{BytesMinus1: regs.RMAMTU}.Pack()))
	bad := flits(0, drivers.PointInject, 200, put, make([]byte, 40))
	bad[3].Data++
	short := flits(0, drivers.PointInject, 300, put, make([]byte, 40))
	file := capture(t, flits(0, drivers.PointInject, 0, put, body), flits(0, drivers.PointInject, 100, get, long), bad,
		append(short[:2], short[4:]...), flits(0, drivers.PointInject, 400, regs.HeaderFields{Type: regs.PacketTypeRMAError, Length: 8}.Pack(), make([]byte, 8)),
		flits(1, drivers.PointEject, 500, put, body)[:3])
	got := fields(t, file, "nicloop", "frame.number", "nicloop.crc.status", "_ws.expert.message")
	require.Len(t, got, 6)
	for i, want := range []string{
		`^1\|good\|32 bytes at NLA 0x000000000ff0 cross 4 KB$`,
		`^2\|good\|257 bytes asked for, expected at most 256$`,
		`^3\|bad\|CRC is 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8}$`,
		`^4\|\|40 bytes, expected 56$`,
		`^5\|\|length is 8, expected 16 to 16$`,
		`^6\|\|3 of 7 flits seen$`,
	} {
		require.Regexp(t, want, got[i])
	}
	require.Empty(t, fields(t, file, "_ws.lua.error", "frame.number"))
}
