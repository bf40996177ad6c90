package portals

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func samplePackets() []Packet {
	src := Process{NID: 3}
	request := func(h Header, data string) Packet {
		h.Source, h.Length = src, uint64(len(data))
		return Packet{Header: h, Payload: []byte(data)}
	}
	list := []Packet{
		request(Header{Kind: KindPut, Ack: FullAckReq, PT: 7, Bits: 1 << 63, HdrData: 2, Offset: 4, ID: 5, UID: 6}, "abc"),
		{Header: Header{Kind: KindGet, Source: src, Length: 100}},
		request(Header{Kind: KindAtomic, Op: OpMax, Datatype: Int16}, "ab"),
		request(Header{Kind: KindFetchAtomic, Op: OpSum, Datatype: Double}, "01234567"),
		request(Header{Kind: KindSwap, Op: OpCSwapLT, Datatype: UInt8}, "x"),
		{Header: Header{Kind: KindAck, Source: src, Ack: CTAckReq, Silent: true, Length: 12, ID: 1}},
		{Header: Header{Kind: KindReply, NI: 3, Source: Process{1, 2}, Fail: FailDropped, ID: 1}},
	}
	list[4].Operand = [OperandBytes]byte{9, 15: 8}
	return list
}

func TestPacketsSurviveTheWire(t *testing.T) {
	for _, p := range samplePackets() {
		b := p.AppendTo(nil)
		q, err := DecodePacket(b)
		require.NoError(t, err)
		require.Equal(t, p, q)
	}
	require.Equal(t, HeaderBytes+3, len((&samplePackets()[0]).AppendTo(nil)))
}

// Each change of a good packet must be refused by name.
func TestBadPacketsAreRefused(t *testing.T) {
	good := samplePackets()
	for _, c := range []struct {
		sample int
		change func(*Packet)
		want   string
	}{
		{0, func(p *Packet) { p.Kind = 0 }, "a kind from 1 to 7"},
		{0, func(p *Packet) { p.Kind = 8 }, "a kind from 1 to 7"},
		{0, func(p *Packet) { p.Source.NID = NIDAny }, "no wildcard"},
		{6, func(p *Packet) { p.Source.PID = PIDAny }, "no wildcard"},
		{0, func(p *Packet) { p.Source.PID = 1 }, "no PID"},
		{1, func(p *Packet) { p.Ack = CTAckReq }, "no acknowledgement"},
		{5, func(p *Packet) { p.Ack = NoAckReq }, "requested kind"},
		{0, func(p *Packet) { p.Silent = true }, "silent only"},
		{6, func(p *Packet) { p.Fail = failLast }, "known fail type"},
		{0, func(p *Packet) { p.Fail = FailSegv }, "none in a request"},
		{0, func(p *Packet) { p.Length++ }, "4 bytes of data"},
		{1, func(p *Packet) { p.Payload = []byte("x") }, "0 bytes of data"},
		{2, func(p *Packet) { p.Op = OpSwap }, "needs Swap"},
		{2, func(p *Packet) { p.Datatype = 200 }, "unknown"},
		{0, func(p *Packet) { p.Op = OpSum }, "only in atomics"},
	} {
		p := good[c.sample]
		c.change(&p)
		_, err := DecodePacket(p.AppendTo(nil))
		require.ErrorContains(t, err, c.want)
	}
	b := good[0].AppendTo(nil)
	for _, at := range []int{0, 1, 6, 7} {
		bad := bytes.Clone(b)
		bad[at] |= 0x80
		_, err := DecodePacket(bad)
		require.ErrorContains(t, err, "reserved bits")
	}
	_, err := DecodePacket(b[:HeaderBytes-1])
	require.ErrorContains(t, err, "a header has 56")
	_, err = DecodePacket(good[4].AppendTo(nil)[:HeaderBytes+3])
	require.ErrorContains(t, err, "its operand has 16")
}

// FuzzDeliver decodes arbitrary packets and delivers them to an interface with entries, headers and
// operations of all kinds. Nothing may panic, and what was accepted must encode to what was
// decoded.
func FuzzDeliver(f *testing.F) {
	for _, p := range samplePackets() {
		f.Add(p.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePacket(b)
		if err != nil {
			return
		}
		if got := p.AppendTo(nil); !bytes.Equal(got, b) && p.Kind != 0 {
			t.Fatalf("decoded and encoded again: %x, expected %x", got, b)
		}
		for _, o := range []NIOptions{0, NINoMatching, NIPhysical, NIPhysical | NINoMatching} {
			r := newRig(t, o, PTFlowControl)
			any := anyone(0)
			any.IgnoreBits, any.Options, any.Length = ^uint64(0), MEManageLocal, rigMemory-100
			r.me(OverflowList, any)
			r.put(1, "header")
			for _, start := range []func(*Request) (uint32, error){r.ni[0].Put, r.ni[0].Get} {
				_, err := start(&Request{MD: r.md[0], Length: 4, Target: p.Source, Ack: FullAckReq})
				if err != nil { // a source of the other addressing
					return
				}
			}
			for range 3 {
				_ = r.ni[0].Deliver(&p)
			}
			for q := (Packet{}); r.ni[0].Next(&q); {
				if err := q.check(); err != nil {
					t.Fatalf("sends a bad packet: %v", err)
				}
			}
			r.ni[0].AppendState(nil)
		}
	})
}
