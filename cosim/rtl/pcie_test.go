package rtl

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

func TestBusKeys(t *testing.T) {
	for uri, want := range map[string]string{
		"rtl:?bus=isa":                        "bus=isa: expected axi or pcie",
		"rtl:?mps=256":                        "mps is of PCIe: expected bus=pcie",
		"rtl:?bus=pcie&mps=300":               "mps=300: expected one of [128 256 512]",
		"rtl:?bus=pcie&mrrs=64":               "mrrs=64: expected a number 128..4096",
		"rtl:?phy=7series":                    "phy is of PCIe: expected bus=pcie",
		"rtl:?bus=pcie&phy=8series":           "phy=8series: expected one of [litepcie litepcie128 7series 7series128]",
		"rtl:?bus=pcie&bus_seed=x":            "bus_seed=x: expected a number",
		"rtl:?bus=pcie&bus_lost=2":            "bus_lost=2: expected a chance",
		"rtl:?bus=pcie&host_wr_latency=4":     "a posted write has no answer",
		"rtl:?bus=pcie&host_rd_latency=40000": "host_rd_latency=40000: expected a number 1..30000",
		"rtl:?bus=pcie&uart=pty&noise_seed=1": "has no bus",
	} {
		_, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2})
		require.ErrorContains(t, err, want, uri)
	}
}

// TestPCIe sends over TLPs, identically in two runs and differently with another seed, and removes
// a NIC.
func TestPCIe(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	run := func(uri string) (drivers.Cycle, []byte) {
		var file bytes.Buffer
		w, err := capture.NewWriter(&file)
		require.NoError(t, err)
		sys := openTimed(t, uri, drivers.Options{Nodes: 2, Trace: w})
		require.False(t, sys.Device(0).Capabilities().Has(drivers.CanAnswerWrites))
		openMailbox(sys, 0, 1, 0x1000, 16)
		openMailbox(sys, 1, 1, 0x1000, 16)
		for i := range 12 {
			send(sys, i%2, 1-i%2, 1, []byte{byte(i), 99})
		}
		var stop drivers.Stop
		require.NoError(t, sys.Run(drivers.Forever, &stop))
		require.True(t, stop.Quiet && stop.Idle)
		for n := range 2 {
			for i := range 6 {
				require.Equal(t, []byte{byte(2*i + 1 - n), 99}, sys.Device(n).Memory()[0x1000+64*i:][:2], "node %d, slot %d", n, i)
			}
		}
		v, err := sys.Device(1).ReadReg(simregs.RootMalformed)
		require.NoError(t, err)
		require.Zero(t, v)
		require.NoError(t, sys.Device(1).WriteReg(simregs.RootCtrl, simregs.RootRemoved))
		_, err = sys.Device(1).ReadReg(regs.Magic)
		require.ErrorIs(t, err, drivers.ErrPeerDied)
		magic, err := sys.Device(0).ReadReg(regs.Magic)
		require.NoError(t, err)
		require.Equal(t, regs.MagicValue, magic)
		require.NoError(t, w.Close())
		return stop.Now, file.Bytes()
	}
	const wild = "rtl:?bus=pcie&bus_seed=5"
	at, file := run(wild)
	again, same := run(wild)
	require.Equal(t, at, again)
	require.Equal(t, file, same, "the same seed brings the same TLPs at the same cycles")
	_, other := run("rtl:?bus=pcie&bus_seed=6")
	require.NotEqual(t, file, other)
}
