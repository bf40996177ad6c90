package harness_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

const dma = "design:../../rtl/examples/dma/dma.yaml"

func openDMA(t *testing.T, query string) *harness.System {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sys, err := registry.Open(ctx, dma+query, drivers.Options{Nodes: 1, MemoryBytes: 1 << 16})
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	return sys.(*harness.System)
}

// A piece of work of the engine: a descriptor at index i of a list.
type piece struct{ from, to, bytes uint64 }

const list = 0x8000

func putList(mem []byte, pieces []piece) {
	for i, p := range pieces {
		at, next := list+32*i, uint64(list+32*(i+1))
		if i == len(pieces)-1 {
			next = 0
		}
		for q, v := range []uint64{p.from, p.to, p.bytes, next} {
			binary.LittleEndian.PutUint64(mem[at+8*q:], v)
		}
	}
}

func start(t *testing.T, dev harness.Device) {
	t.Helper()
	require.NoError(t, dev.Set("HEAD_LO", list))
	require.NoError(t, dev.Set("CTRL", 3))
}

// The engine copies a list of pieces, whatever the bus does, and interrupts once.
func TestDMACopies(t *testing.T) {
	for _, query := range []string{"", "?stall=128&stall_seed=3", "?host_rd_latency=40&host_wr_latency=1"} {
		t.Run(query, func(t *testing.T) {
			sys := openDMA(t, query)
			dev := sys.Node(0)
			mem := dev.Memory()
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range mem[:0x4000] {
				mem[i] = byte(rng.Uint32())
			}
			pieces := []piece{{0x0, 0x4000, 0x400}, {0x1008, 0x5018, 0x98}, {0x2038, 0x6000, 8}}
			putList(mem, pieces)
			start(t, dev)
			require.NoError(t, dev.Until(20000))
			for _, p := range pieces {
				require.Equal(t, mem[p.from:p.from+p.bytes], mem[p.to:p.to+p.bytes])
			}
			require.Zero(t, mem[0x5018+0x98], "nothing is written behind a piece")
			bytes, err := dev.Get("BYTES")
			require.NoError(t, err)
			require.Equal(t, uint64(0x400+0x98+8), bytes)
			// ArmIRQ is ordered behind the write that clears the interrupt.
			require.NoError(t, dev.Set("STATUS", 2))
			require.ErrorContains(t, dev.Until(200), "no interrupt within 200 cycles")
		})
	}
}

// A bus error of the engine is reported with the address, and the engine shows it.
func TestDMAOutsideMemory(t *testing.T) {
	sys := openDMA(t, "")
	dev := sys.Node(0)
	putList(dev.Memory(), []piece{{0, 1 << 40, 64}})
	start(t, dev)
	var outside *drivers.DMAError
	require.True(t, errors.As(dev.Until(2000), &outside))
	require.Equal(t, uint64(1<<40), outside.Addr)
	require.NoError(t, dev.Until(100))
	failed, err := dev.Get("STATUS.ERROR")
	require.NoError(t, err)
	require.Equal(t, uint64(1), failed)
	level, err := dev.Lines()
	require.NoError(t, err)
	require.Equal(t, uint64(1), level)
}

func TestNames(t *testing.T) {
	dev := openDMA(t, "").Node(0)
	_, err := dev.Get("STATSU")
	require.ErrorContains(t, err, `did you mean "STATUS"`)
	_, err = dev.Get("STATUS.DOEN")
	require.ErrorContains(t, err, `did you mean "DONE"`)
	require.ErrorIs(t, dev.WritePIO(0, nil), drivers.ErrNotSupported)
}
