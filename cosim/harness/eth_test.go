package harness_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// Memory of a node of rtl/examples/eth: rings, then buffers of 2048 bytes.
const (
	ethTX, ethRX               = 0x0, 0x1000
	ethTXBuffers, ethRXBuffers = 0x20000, 0x40000
	ethEntries, ethBuffer      = 64, 2048
)

func openEth(t *testing.T, query string) (*harness.System, [2]harness.Device) {
	t.Helper()
	opened, err := registry.Open(t.Context(), "design:../../rtl/examples/eth/eth.yaml"+query,
		drivers.Options{Nodes: 2, MemoryBytes: 1 << 19})
	require.NoError(t, err)
	t.Cleanup(func() { opened.Close() })
	sys := opened.(*harness.System)
	devs := [2]harness.Device{sys.Node(0), sys.Node(1)}
	for _, dev := range devs {
		for i := range ethEntries {
			binary.LittleEndian.PutUint64(dev.Memory()[ethTX+16*i:], uint64(ethTXBuffers+ethBuffer*i))
			binary.LittleEndian.PutUint64(dev.Memory()[ethRX+16*i:], uint64(ethRXBuffers+ethBuffer*i))
		}
		require.NoError(t, dev.Set("TX_BASE", ethTX))
		require.NoError(t, dev.Set("RX_BASE", ethRX))
		require.NoError(t, dev.Set("CTRL", 3))
	}
	return sys, devs
}

// Frames of every length class arrive unchanged, in order, and nothing is written behind them.
func TestEthFrames(t *testing.T) {
	needsDeep(t)
	for _, query := range []string{"", "?stall=100&stall_seed=9"} {
		t.Run(query, func(t *testing.T) { ethFrames(t, query) })
	}
}

func ethFrames(t *testing.T, query string) {
	sys, devs := openEth(t, query)
	rng := rand.New(rand.NewPCG(5, 6))
	require.NoError(t, devs[1].Set("RX_TAIL", ethEntries))
	lengths := []int{1, 7, 8, 9, 60, 63, 64, 65, 128, 1514, 2047, 2048}
	for i, n := range lengths {
		frame := devs[0].Memory()[ethTXBuffers+ethBuffer*i:][:n]
		for k := range frame {
			frame[k] = byte(rng.Uint32())
		}
		binary.LittleEndian.PutUint64(devs[0].Memory()[ethTX+16*i+8:], uint64(n))
	}
	require.NoError(t, devs[0].Set("TX_TAIL", uint64(len(lengths))))
	require.NoError(t, let(sys, 60_000))
	got, err := devs[1].Get("RX_HEAD")
	require.NoError(t, err)
	require.EqualValues(t, len(lengths), got)
	for i, n := range lengths {
		stored := binary.LittleEndian.Uint64(devs[1].Memory()[ethRX+16*i+8:])
		require.EqualValues(t, n, stored, "length of frame %d", i)
		sent, received := devs[0].Memory()[ethTXBuffers+ethBuffer*i:], devs[1].Memory()[ethRXBuffers+ethBuffer*i:]
		require.Equal(t, sent[:n], received[:n], "frame %d", i)
	}
	for node, want := range []uint64{1, 2} { // STATUS.TX of the sender, RX of the receiver
		status, err := devs[node].Get("STATUS")
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
}

// A frame without a buffer is dropped whole and counted; the next one with a buffer is stored.
func TestEthDrops(t *testing.T) {
	needsDeep(t)
	sys, devs := openEth(t, "")
	for i := range 3 {
		binary.LittleEndian.PutUint64(devs[0].Memory()[ethTX+16*i+8:], uint64(100+i))
	}
	require.NoError(t, devs[0].Set("TX_TAIL", 2))
	require.NoError(t, let(sys, 2000))
	require.NoError(t, devs[1].Set("RX_TAIL", 1))
	require.NoError(t, devs[0].Set("TX_TAIL", 3))
	require.NoError(t, devs[1].Until(2000))
	for name, want := range map[string]uint64{"DROPPED": 2, "RX_HEAD": 1} {
		got, err := devs[1].Get(name)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	require.EqualValues(t, 102, binary.LittleEndian.Uint64(devs[1].Memory()[ethRX+8:]))
}
