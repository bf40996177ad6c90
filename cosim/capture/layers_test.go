package capture

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// wire returns a packet's bytes.
func wire(t testing.TB, h regs.Header, payload []byte) []byte {
	list := read(t, capture(t, flits(0, drivers.PointInject, 0, h, payload)))
	require.Len(t, list, 1)
	return list[0].data
}

// everyVELO calls f for each kind, length and piggyback that a VELO packet may have.
func everyVELO(f func(h regs.Header, credits uint16)) {
	for kind := regs.KindData; kind <= regs.KindCreditResponse; kind++ {
		for length := range uint16(regs.VELOPayload + 1) {
			for _, piggyback := range []bool{false, true} {
				if piggyback && length > regs.VELOPayload-2 {
					continue
				}
				f(velo(regs.HeaderFields{Kind: kind, Length: length, Piggyback: piggyback,
					SrcNode: 7, SrcVPID: 2, DstNode: 1, DstVPID: 15, Answer: length&1 == 1, Mark: uint8(length)}), 0x1200+length)
			}
		}
	}
}

func TestLayers(t *testing.T) {
	everyVELO(func(h regs.Header, credits uint16) {
		payload := pattern(h, credits)
		p := gopacket.NewPacket(wire(t, h, payload), LayerTypeNicLoop, gopacket.Default)
		require.Nil(t, p.ErrorLayer())
		require.Len(t, p.Layers(), 3)
		head := p.Layer(LayerTypeNicLoop).(*NicLoop)
		require.Equal(t, h, head.Header)
		body := p.Layer(LayerTypeVELO).(*VELO)
		require.Equal(t, payload[:h.Length()], body.Data)
		wantCredits, has := uint16(0), h.Piggyback()
		switch {
		case has:
			wantCredits = credits
		case h.Length() == 2 && (h.Kind() == regs.KindCredit || h.Kind() == regs.KindCreditResponse):
			wantCredits, has = 0x0201, true
		}
		require.Equal(t, []any{has, wantCredits}, []any{body.HasCredits, body.Credits})
		require.True(t, p.Layer(LayerTypeTail).(*Tail).Valid(head))
		require.Equal(t, p.Data(), serialize(t, &NicLoop{Header: h},
			func(n *NicLoop) gopacket.SerializableLayer {
				return &VELO{Packet: n, Data: body.Data, Credits: body.Credits}
			}))
	})
}

// serialize creates the packet with gopacket; its CRC is computed.
func serialize(t testing.TB, n *NicLoop, body func(*NicLoop) gopacket.SerializableLayer) []byte {
	b := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{ComputeChecksums: true}, n, body(n), &Tail{Tail: regs.TailFields{PDID: 0xd0, Life: 3}.Pack()}))
	return b.Bytes()
}

func TestBadCRC(t *testing.T) {
	h := velo(regs.HeaderFields{Length: 9})
	data := wire(t, h, pattern(h, 0))
	for i := range data[:len(data)-4] {
		bad := append([]byte(nil), data...)
		bad[i] ^= 1
		if i == 0 || i == 3 { // virtual channel and marks are not covered
			continue
		}
		p := gopacket.NewPacket(bad, LayerTypeNicLoop, gopacket.Default)
		head, ok := p.Layer(LayerTypeNicLoop).(*NicLoop)
		tail, whole := p.Layer(LayerTypeTail).(*Tail)
		require.True(t, !ok || !whole || !tail.Valid(head), "byte %d", i)
	}
}

func TestMalformed(t *testing.T) {
	h := velo(regs.HeaderFields{Length: 9})
	data := wire(t, h, pattern(h, 0))
	long := velo(regs.HeaderFields{Length: 57})
	for text, bad := range map[string][]byte{
		"packet of 8 bytes, expected at least 16":     data[:8],
		"packet of 24 bytes, its header announces 32": data[:24],
		"packet of 40 bytes, its header announces 32": append(data, make([]byte, 8)...),
		"VELO of length 57, expected 0 to 56":         wire(t, long, make([]byte, 57)),
		"packet of 31 bytes, its header announces 32": data[:31],
	} {
		p := gopacket.NewPacket(bad, LayerTypeNicLoop, gopacket.Default)
		require.NotNil(t, p.ErrorLayer(), text)
		require.ErrorContains(t, p.ErrorLayer().Error(), text)
	}
	alone := gopacket.NewPacket(data, LayerTypeVELO, gopacket.Default)
	require.ErrorContains(t, alone.ErrorLayer().Error(), "without its header")
}

func TestUnknownTypeIsPayload(t *testing.T) {
	h := regs.HeaderFields{Type: 15, Length: 512}.Pack()
	p := gopacket.NewPacket(wire(t, h, make([]byte, 512)), LayerTypeNicLoop, gopacket.Default)
	require.Nil(t, p.ErrorLayer())
	require.NotNil(t, p.ApplicationLayer())
}

// A parser that reuses its layers decodes without allocation.
func TestParser(t *testing.T) {
	h := velo(regs.HeaderFields{Length: 5, Piggyback: true})
	data := wire(t, h, pattern(h, 0x304))
	var head NicLoop
	body := VELO{Packet: &head}
	var tail Tail
	parser := gopacket.NewDecodingLayerParser(LayerTypeNicLoop, &head, &body, &tail)
	var decoded []gopacket.LayerType
	require.NoError(t, parser.DecodeLayers(data, &decoded))
	require.Equal(t, []gopacket.LayerType{LayerTypeNicLoop, LayerTypeVELO, LayerTypeTail}, decoded)
	require.EqualValues(t, 0x304, body.Credits)
	require.True(t, tail.Valid(&head))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = parser.DecodeLayers(data, &decoded) }))
}

func FuzzLayers(f *testing.F) {
	everyVELO(func(h regs.Header, credits uint16) {
		if h.Length()%13 == 0 {
			f.Add(wire(f, h, pattern(h, credits)))
		}
	})
	everyRMA(func(r rmaPacket) { f.Add(wire(f, r.header, r.body)) })
	f.Fuzz(func(t *testing.T, data []byte) {
		p := gopacket.NewPacket(data, LayerTypeNicLoop, gopacket.DecodeOptions{SkipDecodeRecovery: true})
		_ = p.String()
		n := 0
		for _, l := range p.Layers() {
			n += len(l.LayerContents())
		}
		if p.ErrorLayer() == nil && n != len(data) {
			t.Fatalf("%d of %d bytes decoded", n, len(data))
		}
		for _, alone := range []gopacket.LayerType{LayerTypeVELO, LayerTypeRMA, LayerTypeTail} {
			_ = gopacket.NewPacket(data, alone, gopacket.DecodeOptions{SkipDecodeRecovery: true})
		}
		encodesAgain(t, p)
	})
}

// encodesAgain: a packet that was decoded without error is encoded to the same bytes, except those
// without meaning: padding, reserved bits and the CRC.
func encodesAgain(t *testing.T, p gopacket.Packet) {
	head, ok := p.Layer(LayerTypeNicLoop).(*NicLoop)
	if !ok || p.ErrorLayer() != nil {
		return
	}
	var again []byte
	switch body := p.Layers()[1].(type) {
	case *VELO:
		again = serialize(t, head, func(*NicLoop) gopacket.SerializableLayer { return body })
	case *RMA:
		again = serialize(t, head, func(*NicLoop) gopacket.SerializableLayer { return body })
	default:
		return
	}
	n := regs.FlitBytes + flit.Bytes(head.Header)
	if body, ok := p.Layers()[1].(*RMA); ok {
		n = regs.FlitBytes + extBytes + max(len(body.Data), regs.FlitBytes)
		n = min(n, regs.FlitBytes+int(head.Header.Length()))
	}
	require.Equal(t, p.Data()[:n], again[:n])
	require.Equal(t, len(p.Data()), len(again))
}
