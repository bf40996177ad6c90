package regs

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeaderRoundTrip(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		f := HeaderFields{
			Answer: r.UintN(2) == 1, Type: PacketType(r.UintN(16)), Kind: Kind(r.UintN(4)), Piggyback: r.UintN(2) == 1,
			Length: uint16(r.UintN(1024)), Op: uint8(r.UintN(64)), Mark: uint8(r.UintN(256)),
			SrcVPID: uint8(r.UintN(16)), SrcNode: uint16(r.UintN(4096)), DstVPID: uint8(r.UintN(16)), DstNode: uint16(r.UintN(4096)),
		}
		require.Equal(t, f, f.Pack().Fields(), "seed %d: go test -run TestHeaderRoundTrip ./drivers/regs", seed)
	}
}

// Every word is a permutation of its named bits: unpacking all ones and packing again gives them
// all.
func TestFormatsCoverTheirWords(t *testing.T) {
	require.Equal(t, ^Header(0), (^Header(0)).Fields().Pack())
	require.Equal(t, Slot(0xffffffff_3fffffff), (^Slot(0)).Fields().Pack())
	require.Equal(t, ^Tail(0), (^Tail(0)).Fields().Pack())
	require.Equal(t, Pio(0x1fffffff), (^Pio(0)).Fields().Pack())
}

// The numbers of this test are written by hand from the description, not through the generator.
func TestKnownWords(t *testing.T) {
	h := HeaderFields{Type: PacketTypeVELO, Kind: KindCredit, Length: 8, SrcVPID: 2, SrcNode: 1, DstVPID: 3, DstNode: 5}.Pack()
	require.Equal(t, Header(0x0053_0012_0000_0822), h)
	p := PioFields{Piggyback: true, Length: 54, DstVPID: 3, DstNode: 5, SrcVPID: 2}.Pack()
	require.Equal(t, Pio(0x4000000|5<<19|3<<15|1<<12|54<<6), p)
	require.Equal(t, uint32(0x13018), MboxWP(3))
	require.Equal(t, uint32(0x2f000), MboxRP(15))
}

func TestPackRefusesWhatDoesNotFit(t *testing.T) {
	require.PanicsWithValue(t, "regs: Header.DstNode = 4096 does not fit 12 bits", func() { HeaderFields{DstNode: 4096}.Pack() })
	require.PanicsWithValue(t, "regs: copy 16, expected 0..15", func() { MboxBase(16) })
}

func TestByAddress(t *testing.T) {
	for _, reg := range Registers() {
		for i := range int(reg.Count) {
			got, index, ok := ByAddress(reg.Address(i))
			require.True(t, ok)
			require.Equal(t, reg.Name, got.Name)
			require.Equal(t, i, index)
		}
	}
	for _, hole := range []uint32{0x38, 0x4, 0x10028, 0x20020, 0x50200, ^uint32(0)} {
		_, _, ok := ByAddress(hole)
		require.False(t, ok, "%#x", hole)
	}
	require.Equal(t, "MBOX_RP[7]", Describe(0x27000))
	require.Equal(t, "CYCLES", Describe(Cycles))
	require.Equal(t, "0x38?", Describe(0x38))
}

func TestBits(t *testing.T) {
	require.Equal(t, uint64(16), ParamsVPIDs.Of(16<<12|1<<20|2))
	require.Equal(t, uint64(0xff000), ParamsVPIDs.Mask())
}

// TestFarAddresses: an address holds any node that headers can name, and is that of the send window
// where its field can.
func TestFarAddresses(t *testing.T) {
	p := PioFields{Byte: 24, Length: 17, Piggyback: true, Kind: KindCreditResponse, DstVPID: 11, SrcVPID: 15}
	for node := range HeaderNodes {
		w, to := Sent(p.Pack().To(node))
		if p.DstNode = uint8(node % NodeMax); node != to || w != p.Pack() {
			t.Fatalf("node %d: address %#x is of node %d, %+v", node, p.Pack().To(node), to, w.Fields())
		}
		if node < NodeMax && p.Pack().To(node) != uint32(p.Pack()) {
			t.Fatalf("node %d: address %#x, expected %#x", node, p.Pack().To(node), uint32(p.Pack()))
		}
	}
}
