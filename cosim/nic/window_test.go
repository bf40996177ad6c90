package nic

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

var lineOf5 = regs.PioFields{Length: 20, DstNode: 1, DstVPID: 5, SrcVPID: 3} // of three quadwords

// newPair is two nodes whose processes 3 and 5 are open.
func newPair(t *testing.T, change ...func(*Config)) *rig {
	r := newRig(t, 2, change...)
	for node := range 2 {
		r.openProcess(node, 3)
		r.openProcess(node, 5)
	}
	return r
}

func (r *rig) window(node int, vpid uint8) (taken, waiting, refused, wrong uint64) {
	v := r.reg(node, regs.VELOWindow(vpid))
	return regs.VELOWindowTaken.Of(v), regs.VELOWindowWaiting.Of(v),
		regs.VELOWindowRefused.Of(v), regs.VELOWindowWrong.Of(v)
}

// rtl/README.md, Sending: max(1, ceil(bytes / 8)) quadwords, where bytes = length + 2 with
// piggyback; a descriptor has three.
func TestAnnouncedQuadwords(t *testing.T) {
	for _, tc := range []struct {
		length    uint8
		piggyback bool
		want      uint8
	}{
		{0, false, 1 << 0}, {1, false, 1}, {8, false, 1}, {9, false, 3}, {16, false, 3}, {56, false, 1<<7 - 1},
		{0, true, 1}, {6, true, 1}, {7, true, 3}, {54, true, 1<<7 - 1}, {63, false, 1<<8 - 1},
	} {
		off := regs.PioFields{Length: tc.length, Piggyback: tc.piggyback}.Pack()
		require.Equal(t, tc.want, announced(uint32(off)), "%+v", tc)
	}
	require.EqualValues(t, 7, announced(regs.Descriptors(3)))
}

// Sending: an answer follows two cycles behind the last beat, and a header is offered to the
// network then.
func TestHeaderIsOfferedTwoCyclesBehindTheLastBeat(t *testing.T) {
	for _, bytes := range []int{1, 8, 9, 56} {
		r := newPair(t)
		at := r.Now() + 10
		off := regs.PioFields{Length: uint8(bytes), DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack()
		r.PostPIO(0, at, uint32(off), make([]byte, bytes))
		r.idle()
		beats := drivers.Cycle((bytes + 7) / 8)
		lastBeat := at + 2 + beats // fetched at + 1, address at + 2
		require.Equal(t, lastBeat+2, r.net.departed[0].at, "%d bytes", bytes)
	}
}

// Sending: the writes of a line may be cut as a bus likes, at any quadword, in any order.
func TestLineInPieces(t *testing.T) {
	payload := []byte("a line of 20 bytes!!")
	whole := slices.Concat(payload, make([]byte, 4))
	for _, tc := range []struct {
		name  string
		order [][2]int // first and past quadword of each piece
	}{
		{"whole", [][2]int{{0, 3}}},
		{"quadwords in order", [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{"backwards", [][2]int{{2, 3}, {1, 2}, {0, 1}}},
		{"two pieces", [][2]int{{1, 3}, {0, 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			for i, piece := range tc.order {
				require.Empty(t, r.net.departed, "not before all of it has come")
				if i == len(tc.order)-1 && i > 0 {
					require.NotZero(t, r.reg(0, regs.VELOWindow(3))&regs.VELOWindowBegun)
				}
				f := lineOf5
				f.Byte = uint8(8 * piece[0])
				r.PostPIO(0, r.Now(), uint32(f.Pack()), whole[8*piece[0]:8*piece[1]])
				r.run(r.Now() + 20)
			}
			r.idle()
			h, got := r.slot(1, 5, 0)
			require.Equal(t, regs.SlotFields{SrcVPID: 3, Length: 20, Seq: 1}, h)
			require.Equal(t, whole, got[:24])
			taken, waiting, refused, wrong := r.window(0, 3)
			require.Equal(t, []uint64{1, 0, 0, 0}, []uint64{taken, waiting, refused, wrong})
			require.EqualValues(t, len(tc.order), r.PIOTaken(0, 3))
		})
	}
}

// Sending: what is written behind the announced quadwords is ignored.
func TestQuadwordsBehindTheLineAreIgnored(t *testing.T) {
	r := newPair(t)
	f := lineOf5
	f.Byte = 24
	r.PostPIO(0, r.Now(), uint32(f.Pack()), make([]byte, 16))
	r.idle()
	require.Empty(t, r.net.departed)
	require.Zero(t, r.reg(0, regs.VELOWindow(3)))
	require.EqualValues(t, 1, r.PIOTaken(0, 3))
}

// Sending: a piece of another line, or a word for the second time, means that the first line was
// given up. It is forgotten, and lines are refused from then on.
func TestLineGivenUp(t *testing.T) {
	other := regs.PioFields{Length: 8, DstNode: 1, DstVPID: 5, SrcVPID: 3}
	for _, tc := range []struct {
		name   string
		second regs.PioFields
	}{
		{"word for the second time", lineOf5},
		{"another line", other},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			r.PostPIO(0, r.Now(), uint32(lineOf5.Pack()), make([]byte, 8))
			r.PostPIO(0, r.Now(), uint32(tc.second.Pack()), make([]byte, 8))
			r.settle()
			require.NotZero(t, r.reg(0, regs.VELOWindow(3))&regs.VELOWindowRetry)

			r.set(0, regs.VELOWindow(3), 0) // acknowledges
			require.Zero(t, r.reg(0, regs.VELOWindow(3))&(regs.VELOWindowRetry|regs.VELOWindowBegun))
			r.PostPIO(0, r.Now(), uint32(other.Pack()), make([]byte, 8))
			r.idle()
			require.Len(t, r.net.departed, 1)
		})
	}
}

// Sending: a process has VELO_LINES entries. A line that finds none is refused, and so are all that
// follow in the same window, with OKAY, until software writes VELO_WINDOW.
func TestRefusedLines(t *testing.T) {
	r := newPair(t)
	r.net.noCredit[SourceVELO] = true
	for range regs.VELOLines + 3 {
		r.send(0, 3, 1, 5, []byte("x"))
	}
	r.settle()
	taken, waiting, refused, _ := r.window(0, 3)
	require.Equal(t, []uint64{regs.VELOLines, regs.VELOLines, 3}, []uint64{taken, waiting, refused})
	require.NotZero(t, r.reg(0, regs.VELOWindow(3))&regs.VELOWindowRetry)
	require.EqualValues(t, 3, r.PIOTaken(0, 3), "refused lines need no entry")

	r.send(0, 5, 1, 5, []byte("y")) // another process has entries of its own
	r.settle()
	_, waiting, refused, _ = r.window(0, 5)
	require.Equal(t, []uint64{1, 0}, []uint64{waiting, refused})

	r.net.noCredit[SourceVELO] = false
	r.idle()
	r.send(0, 3, 1, 5, []byte("z"))
	r.idle()
	_, _, refused, _ = r.window(0, 3)
	require.EqualValues(t, 4, refused, "refused although there are free entries")
	r.set(0, regs.VELOWindow(3), 0)
	r.set(1, regs.MboxRP(5), 16) // its mailbox is full
	r.send(0, 3, 1, 5, []byte("z"))
	r.idle()
	taken, waiting, refused, _ = r.window(0, 3)
	require.Equal(t, []uint64{regs.VELOLines + 1, 0, 0}, []uint64{taken, waiting, refused})
}

// Sending: a line that is whole and wrong is discarded for good: TX_DROPPED, ERROR_INFO,
// VELO_WINDOW.wrong, and the piece that ended it answers SLVERR.
func TestWrongLines(t *testing.T) {
	for _, tc := range []struct {
		name   string
		line   regs.PioFields
		bytes  int
		reason regs.DropReason
		wrong  uint64
	}{
		{"57 bytes", regs.PioFields{Length: 57, DstNode: 1, SrcVPID: 3}, 64, regs.DropReasonBadLength, 1},
		{"55 bytes and piggyback", regs.PioFields{Length: 55, Piggyback: true, DstNode: 1, SrcVPID: 3}, 64,
			regs.DropReasonBadLength, 1},
		{"no such node", regs.PioFields{Length: 8, DstNode: 2, SrcVPID: 3}, 8, regs.DropReasonNoSuchNode, 1},
		{"leaves its line", regs.PioFields{Length: 20, Byte: 56, DstNode: 1, SrcVPID: 3}, 16, regs.DropReasonBadLength, 0},
		{"cuts a word", regs.PioFields{Length: 20, Byte: 2, DstNode: 1, SrcVPID: 3}, 8, regs.DropReasonBadLength, 0},
		{"window off", regs.PioFields{Length: 8, DstNode: 1, SrcVPID: 9}, 8, regs.DropReasonWindowOff, 0},
		{"no domain", regs.PioFields{Length: 8, DstNode: 1, SrcVPID: 10}, 8, regs.DropReasonDomain, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			r.openMailbox(0, 10, 4)
			off := uint32(tc.line.Pack())
			r.PostPIO(0, r.Now(), off, make([]byte, tc.bytes))
			var bus *drivers.BusError
			require.ErrorAs(t, r.lost(), &bus)
			require.Equal(t, drivers.BusError{Port: "pio", Off: off, Write: true, Resp: drivers.RespSLVERR}, *bus)
			require.EqualValues(t, 1, r.reg(0, regs.TXDropped))
			info := r.reg(0, regs.ErrorInfo)
			require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(info))
			require.EqualValues(t, tc.line.SrcVPID, regs.ErrorInfoSrc.Of(info))
			require.NotZero(t, r.reg(0, regs.IRQStatus)&regs.IRQStatusError)
			_, _, _, wrong := r.window(0, tc.line.SrcVPID)
			require.Equal(t, tc.wrong, wrong)
			require.Empty(t, r.net.departed)
			require.EqualValues(t, 1, r.PIOTaken(0, int(tc.line.SrcVPID)))
		})
	}
}

// Sending: a piece that cannot be is discarded with the line that is in parts.
func TestImpossiblePieceDiscardsTheLineInParts(t *testing.T) {
	r := newPair(t)
	r.PostPIO(0, r.Now(), uint32(lineOf5.Pack()), make([]byte, 8))
	r.settle()
	f := lineOf5
	f.Byte = 56
	r.PostPIO(0, r.Now(), uint32(f.Pack()), make([]byte, 16))
	require.Error(t, r.lost())
	require.Zero(t, r.reg(0, regs.VELOWindow(3))&(regs.VELOWindowBegun|regs.VELOWindowRetry))
}

// Sending: a window that goes off forgets its part of a line, and what it counted.
func TestWindowOffForgetsItsPart(t *testing.T) {
	r := newPair(t)
	r.send(0, 3, 1, 5, []byte("x"))
	r.PostPIO(0, r.Now(), uint32(lineOf5.Pack()), make([]byte, 8))
	r.settle()
	require.NotZero(t, r.reg(0, regs.VELOWindow(3))&regs.VELOWindowBegun)
	r.set(0, regs.MboxCtrl(3), regs.MboxCtrlEnable)
	require.Zero(t, r.reg(0, regs.VELOWindow(3)), "0 while it is off")
	r.set(0, regs.MboxCtrl(3), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	require.Zero(t, r.reg(0, regs.VELOWindow(3)))
	f := lineOf5
	f.Byte = 8
	r.PostPIO(0, r.Now(), uint32(f.Pack()), make([]byte, 16))
	r.settle()
	require.Len(t, r.net.departed, 1, "the first quadword was forgotten")
}

// Sending: lines of all processes leave in the order in which they were taken.
func TestLinesLeaveInOrder(t *testing.T) {
	r := newPair(t)
	for i := range 10 {
		r.send(0, []uint8{3, 5}[i%3%2], 1, 5, []byte{byte(i)})
	}
	r.idle()
	for i := range 10 {
		h, payload := r.slot(1, 5, i)
		require.EqualValues(t, i, payload[0])
		require.EqualValues(t, []uint8{3, 5}[i%3%2], h.SrcVPID)
		require.EqualValues(t, i+1, h.Seq)
	}
	require.EqualValues(t, 10, r.reg(0, regs.TXPackets))
}

// Flit channel: a 56-byte packet is 9 flits and a requester sends one in 9 cycles.
func TestPacketOf56BytesEvery9Cycles(t *testing.T) {
	r := newPair(t)
	for range 4 {
		r.send(0, 3, 1, 5, make([]byte, 56))
	}
	r.idle()
	for i := 1; i < 4; i++ {
		require.EqualValues(t, 9, r.net.departed[i].at-r.net.departed[i-1].at)
	}
}

// TX_STALL counts the cycles in which the requester held a flit and had no credit.
func TestTXStall(t *testing.T) {
	r := newPair(t)
	r.net.noCredit[SourceVELO] = true
	r.send(0, 3, 1, 5, []byte("x"))
	start := r.Now()
	r.run(start + 105)
	first := r.reg(0, regs.TXStall)
	require.InDelta(t, 100, first, 8)
	r.net.noCredit[SourceVELO] = false
	r.idle()
	sent := r.reg(0, regs.TXStall)
	require.Greater(t, sent, first)
	r.run(r.Now() + 50)
	require.Equal(t, sent, r.reg(0, regs.TXStall), "it ends when the packet has left")
}

// Machines of more nodes than the field of an address can name take the rest from above the window.
func TestSendToNodeAboveTheWindow(t *testing.T) {
	r := newRig(t, 70, func(c *Config) { c.Memory = 1 << 17 })
	r.openProcess(0, 3)
	r.openProcess(69, 5)
	off := regs.PioFields{Length: 8, DstVPID: 5, SrcVPID: 3}.Pack().To(69)
	r.PostPIO(0, r.Now(), off, []byte("far away"))
	r.idle()
	_, payload := r.slot(69, 5, 0)
	require.Equal(t, "far away", string(payload[:8]))
}
