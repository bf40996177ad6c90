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
	"github.com/nicloop/nicloop/drivers/regs"
)

// What the RTL traces is well-formed: every packet is whole at every point of its
// way, its CRC is good and its latency adds up.
func TestRTL(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	const nodes, packets = 4, 40
	var file bytes.Buffer
	w, err := capture.NewWriter(&file)
	require.NoError(t, err)
	l := capture.NewLatency()
	sys, err := drivers.Open(context.Background(), "rtl:", drivers.Options{Nodes: nodes, MemoryBytes: 1 << 16, Trace: capture.Tee(w, l)})
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
	// node 0 sends to node 3: one step in x, one in y
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

func send(t *testing.T, sys drivers.Timed, nodes, packets int) {
	dst := uint8(nodes - 1)
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
