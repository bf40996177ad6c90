package rtl

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/inside"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// exchange sends lines to and fro over bad wires and tells where and when it all came to.
func exchange(t *testing.T, keys string) (now []drivers.Cycle, memory []byte, seen traceSink) {
	sys := openTimed(t, "rtl:?link_errors=1e-2&link_seed=5"+keys, drivers.Options{Nodes: 2, Trace: &seen, MemoryBytes: 1 << 14})
	for node := range 2 {
		openMailbox(sys, node, 3, 0x1000, 64)
	}
	var stop drivers.Stop
	require.NoError(t, sys.Run(100, &stop))
	for i := range 40 {
		for node := range 2 {
			send(sys, node, 1-node, 3, bytes.Repeat([]byte{byte(i)}, 1+i))
		}
		require.NoError(t, sys.Run(sys.Now()+drivers.Cycle(10*i), &stop))
		now = append(now, stop.Now)
	}
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle)
	for node := range 2 {
		v, err := sys.Device(node).ReadReg(regs.MboxWP(3))
		require.NoError(t, err)
		require.Equal(t, uint64(40), v)
		memory = append(memory, sys.Device(node).Memory()...)
	}
	return append(now, stop.Now), memory, seen
}

// The real nodes do the same in this process as in their own, to the cycle and the byte.
func TestInside(t *testing.T) {
	if err := inside.Supported(); err != nil {
		t.Skip(err)
	}
	now, memory, seen := exchange(t, "")
	hereNow, hereMemory, hereSeen := exchange(t, "&inside=1")
	require.Equal(t, now, hereNow)
	require.True(t, bytes.Equal(memory, hereMemory))
	require.Equal(t, seen, hereSeen)
}

func TestInsideRefusals(t *testing.T) {
	_, err := drivers.Open(context.Background(), "rtl:?inside=2", drivers.Options{Nodes: 2})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "inside=2: expected a number 0..1")
	_, err = drivers.Open(context.Background(), "rtl:?inside=1", drivers.Options{Nodes: 2, Checkpoints: &drivers.Checkpoints{Every: 1, Last: 1, File: "x"}})
	require.ErrorIs(t, err, drivers.ErrNotSupported, "and before anything is built")

	if inside.Supported() == nil {
		r, err := parse("", map[string]string{"inside": "1"}, drivers.Options{Nodes: 2, Threads: 2})
		require.NoError(t, err)
		require.True(t, r.cfg.Inside && r.spec.Shared)
		require.Empty(t, r.cfg.Args, "one thread")
		require.Equal(t, "rtl:?dims=2x1x1&inside=1", r.uri())
	}
}
