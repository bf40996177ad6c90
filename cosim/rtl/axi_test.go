package rtl

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

func TestAXIKeys(t *testing.T) {
	for uri, want := range map[string]string{
		"rtl:?ratio=2/1":               "ratio is that of a host's own clock: expected bus=axi",
		"rtl:?bus=pcie&ratio=2/1":      "ratio is that of a host's own clock: expected bus=axi",
		"rtl:?bus=axi&ratio=2":         "ratio=2: expected cycles",
		"rtl:?bus=axi&ratio=0/1":       "ratio=0/1: expected cycles",
		"rtl:?bus=axi&ratio=9/1":       "no side more than 8 times the other",
		"rtl:?bus=axi&ratio=65/64":     "numbers 1..64",
		"rtl:?bus=axi&bus_seed=x":      "bus_seed=x: expected a number",
		"rtl:?bus=axi&mps=256":         "mps is of PCIe: expected bus=pcie",
		"rtl:?bus=axi&bus_lost=1e-3":   "bus_lost is of PCIe: expected bus=pcie",
		"rtl:?bus=axi&uart=pty&baud=1": "has no bus",
	} {
		_, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2})
		require.ErrorContains(t, err, want, uri)
	}
}

// TestAXIRepeats: messages and interrupts in both directions and the counters of the board's page.
// The same key gives the same words in the same cycles, also in this process, and with waves, which
// keep every node's clocks running.
func TestAXIRepeats(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	run := func(uri string, opt drivers.Options) (drivers.Cycle, []byte) {
		var file bytes.Buffer
		w, err := capture.NewWriter(&file)
		require.NoError(t, err)
		opt.Nodes, opt.Trace = 2, w
		sys := openTimed(t, uri, opt)
		require.True(t, sys.Device(0).Capabilities().Has(drivers.CanAnswerWrites))
		for n := range 2 {
			openMailbox(sys, n, 1, 0x1000, 16)
		}
		var stop drivers.Stop
		for i := range 12 {
			send(sys, i%2, 1-i%2, 1, []byte{byte(i), 99})
			if i%4 == 3 { // all sleep in between
				require.NoError(t, sys.Run(drivers.Forever, &stop))
				require.True(t, stop.Quiet && stop.Idle)
				require.NoError(t, sys.Run(stop.Now+997, &stop))
			}
		}
		for n := range 2 {
			for i := range 6 {
				require.Equal(t, []byte{byte(2*i + 1 - n), 99}, sys.Device(n).Memory()[0x1000+64*i:][:2], "node %d, slot %d", n, i)
			}
		}
		var bus *drivers.BusError
		_, err = sys.Device(0).ReadReg(1 << 21)
		require.ErrorAs(t, err, &bus)
		v, err := sys.Device(1).ReadReg(simregs.AXIControl)
		require.NoError(t, err)
		require.EqualValues(t, simregs.AXIOpen|simregs.AXISettled, v)
		v, err = sys.Device(1).ReadReg(simregs.AXIStrays)
		require.NoError(t, err)
		require.Zero(t, v)
		magic, err := sys.Device(0).ReadReg(regs.Magic)
		require.NoError(t, err)
		require.Equal(t, regs.MagicValue, magic)
		require.NoError(t, sys.Run(drivers.Forever, &stop))
		require.NoError(t, w.Close())
		return stop.Now, file.Bytes()
	}
	for _, uri := range []string{"rtl:?bus=axi", "rtl:?bus=axi&bus_seed=5&ratio=3/7"} {
		at, file := run(uri, drivers.Options{})
		again, same := run(uri, drivers.Options{})
		require.Equal(t, at, again)
		require.Equal(t, file, same, "the same words in the same cycles")
		waves := filepath.Join(t.TempDir(), "all.fst")
		again, same = run(uri, drivers.Options{Waves: &drivers.WaveWindow{File: waves, From: 0, To: 2000}})
		require.Equal(t, at, again, "with waves: %s", uri)
		require.Equal(t, file, same, "with waves")
		info, err := os.Stat(waves)
		require.NoError(t, err)
		require.Greater(t, info.Size(), int64(10000))
		_, other := run(uri+"&host_rd_latency=50&host_wr_latency=40", drivers.Options{})
		require.NotEqual(t, file, other)
	}
	_, fast := run("rtl:?bus=axi&ratio=8/1", drivers.Options{})
	_, slow := run("rtl:?bus=axi&ratio=1/8", drivers.Options{})
	require.NotEqual(t, fast, slow)
	at, file := run("rtl:?bus=axi&bus_seed=7", drivers.Options{})
	again, same := run("rtl:?bus=axi&bus_seed=7&inside=1", drivers.Options{})
	require.Equal(t, at, again)
	require.Equal(t, file, same, "in this process")
}
