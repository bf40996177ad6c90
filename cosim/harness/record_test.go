package harness_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/record"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/translog"
)

// recordedDMA is the log of one copy by the example design.
func recordedDMA(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dma.log")
	sys, err := registry.Open(t.Context(), "record:"+file+"!"+dma, drivers.Options{Nodes: 1, MemoryBytes: 1 << 16})
	require.NoError(t, err)
	dev := sys.Device(0)
	copy(dev.Memory(), "copied by the engine")
	putList(dev.Memory(), []piece{{0, 0x4000, 64}})
	require.NoError(t, dev.WriteReg(0x10, list))
	require.NoError(t, dev.WriteReg(0x04, 3))
	w, err := dev.Await(drivers.Interrupt)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, w.Wait(ctx))
	v, err := dev.ReadReg(0x0c)
	require.NoError(t, err)
	require.Equal(t, uint64(64), v)
	require.NoError(t, dev.WriteReg(0x08, 2))
	require.NoError(t, sys.Close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

// A recording of a design replays on the design with other latencies, and not on another design.
// Its text has the names of the design's registers.
func TestRecording(t *testing.T) {
	data := recordedDMA(t)
	for _, query := range []string{"", "?host_rd_latency=90"} {
		rep, err := record.Replay(t.Context(), data, openDMA(t, query), record.Config{})
		require.NoError(t, err)
		require.Nil(t, rep.Divergence)
		require.NotZero(t, rep.Reads)
		require.NotZero(t, rep.Bytes)
	}
	var text bytes.Buffer
	require.NoError(t, translog.Dump(&text, data))
	require.Contains(t, text.String(), "HEAD_LO = 0x8000")
	require.Contains(t, text.String(), "read BYTES -> 0x40")

	_, err := record.Replay(t.Context(), data, openProber(t, "", drivers.Options{}), record.Config{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "a log of dma")
}

// A replay names the register of the design in which it finds something else than was recorded.
func TestReplayDiffers(t *testing.T) {
	data := recordedDMA(t)
	r, err := translog.NewReader(data)
	require.NoError(t, err)
	var changed bytes.Buffer
	w := translog.NewWriter(&changed, r.Meta)
	var o translog.Op
	for err = r.Next(&o); err == nil; err = r.Next(&o) {
		if o.Kind == translog.ReadReg && o.Off == 0x0c {
			o.Value = 63
		}
		w.Append(&o)
	}
	require.NoError(t, w.Close())
	rep, err := record.Replay(t.Context(), changed.Bytes(), openDMA(t, ""), record.Config{})
	require.NoError(t, err)
	require.NotNil(t, rep.Divergence)
	require.Equal(t, "BYTES", rep.Divergence.Where)
	require.Equal(t, "0x40", rep.Divergence.Found)
}

// A design whose time passes by itself is used as a board is.
func TestFreeRunning(t *testing.T) {
	for _, query := range []string{"?clock=wall", "?clock=wall&inside=1"} {
		if strings.Contains(query, "inside") && !*deep {
			continue // the shared object is a build of its own
		}
		sys, err := registry.Open(t.Context(), dma+query, drivers.Options{Nodes: 1, MemoryBytes: 1 << 16, Needs: drivers.CanFreeRun | drivers.CanDMA | drivers.CanInterrupt})
		require.NoError(t, err)
		dev := sys.Device(0)
		copy(dev.Memory(), "copied by the engine")
		putList(dev.Memory(), []piece{{0, 0x4000, 64}})
		require.NoError(t, dev.WriteReg(0x10, list))
		require.NoError(t, dev.WriteReg(0x04, 3))
		w, err := dev.Await(drivers.Interrupt)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		require.NoError(t, w.Wait(ctx))
		cancel()
		require.NoError(t, w.Close())
		require.Equal(t, "copied by the engine", string(dev.Memory()[0x4000:][:20]))
		require.NoError(t, sys.Close())
	}
}
