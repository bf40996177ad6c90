package capture_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// TestRTL: traces of the RTL are well-formed: every packet is complete at every point of its path,
// its CRC is correct and its latencies add up.
func TestRTL(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	const nodes, packets = 4, 40
	var file bytes.Buffer
	w, err := capture.NewWriter(&file)
	require.NoError(t, err)
	l := capture.NewLatency()
	sys, err := registry.Open(context.Background(), "rtl:", drivers.Options{Nodes: nodes, MemoryBytes: 1 << 16, Trace: capture.Tee(w, l)})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	send(t, sys.(drivers.Timed), nodes, packets)
	require.NoError(t, sys.Close())
	require.NoError(t, w.Close())

	seen := map[string]int{}
	r, err := pcapgo.NewNgReader(&file, pcapgo.NgReaderOptions{})
	require.NoError(t, err)
	source := gopacket.NewPacketSource(r, capture.LayerTypeNicLoop)
	for {
		p, err := source.NextPacket()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Nil(t, p.ErrorLayer())
		head := p.Layer(capture.LayerTypeNicLoop).(*capture.NicLoop)
		require.True(t, p.Layer(capture.LayerTypeTail).(*capture.Tail).Valid(head))
		i, err := r.Interface(p.Metadata().InterfaceIndex)
		require.NoError(t, err)
		seen[i.Name]++
	}
	// node 0 sends to node 3: one hop in x, one in y
	require.Equal(t, map[string]int{"node0.inject": packets, "node0.x+": packets, "node1.y+": packets, "node3.eject": packets}, seen)
	blocks := l.Summary()
	require.Len(t, blocks, 7)
	sum := 0.0
	for _, b := range blocks {
		require.EqualValues(t, packets, b.Count, b.Name)
		sum += b.Mean
		t.Logf("%-34s %6.1f cycles (%d to %d)", b.Name, b.Mean, b.Min, b.Max)
	}
	total := blocks[6].Mean
	require.InDelta(t, total, sum-total, 1e-6)
}

// The stages of one packet agree with the blocks of the statistics.
func TestStagesAgreeWithBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	l, f := capture.NewLatency(), &capture.Flight{}
	sys, err := registry.Open(context.Background(), "rtl:", drivers.Options{Nodes: 4, MemoryBytes: 1 << 16, Trace: capture.Tee(l, f)})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	f.Keep()
	send(t, sys.(drivers.Timed), 4, 1)
	const clock = 1 // ps: times are cycles
	end := drivers.Time(sys.(drivers.Timed).Now())
	require.NoError(t, sys.Close())
	s, err := f.Stages(capture.Trip{Dst: 3, End: end, ClockPS: clock, Ring: capture.Range{Bytes: 64}})
	require.NoError(t, err)
	b := l.Summary()
	require.Len(t, s, 12)
	require.Len(t, b, 7)
	// The statistics begin when the line is taken, in the cycle after its last beat. 0 call, 1
	// burst, 2 requester, 3 router, 4 link, 5 router, 6 link, 7 last router, 8 the other flits, 9
	// completer, 10 write, 11 poll
	for i, want := range []drivers.Time{s[2].Time - clock, s[3].Time, s[4].Time + s[5].Time, s[6].Time + s[7].Time, s[8].Time} {
		require.EqualValues(t, want, b[i].Mean, b[i].Name)
	}
	// The statistics include the acknowledgement of the write; software does not wait for it.
	require.Greater(t, b[5].Mean, float64(s[9].Time+s[10].Time))
}

func send(t *testing.T, sys drivers.Timed, nodes, packets int) {
	dst := uint8(nodes - 1)
	sys.PostReg(0, 0, regs.PDID(0), 1)
	sys.PostReg(int(dst), 0, regs.PDID(0), 1)
	sys.PostReg(int(dst), 0, regs.MboxSlots(0), uint64(packets))
	sys.PostReg(int(dst), 0, regs.MboxCtrl(0), regs.MboxCtrlEnable)
	sys.PostReg(0, 0, regs.MboxCtrl(0), regs.MboxCtrlWindow)
	for _, n := range []int{0, int(dst)} {
		_, err := sys.Device(n).ReadReg(regs.Scratch)
		require.NoError(t, err)
	}
	for i := range packets {
		line := make([]byte, i%57)
		sys.PostPIO(0, sys.Now()+drivers.Cycle(10*i), uint32(regs.PioFields{Length: uint8(len(line)), DstNode: dst}.Pack()), line)
	}
	var stop drivers.Stop
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle)
}
