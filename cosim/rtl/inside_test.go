package rtl

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/inside"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// seen is the final state of a run.
type seen struct {
	now    []drivers.Cycle
	memory []byte
	trace  traceSink
}

// exchange lets pairs of neighbours exchange lines over faulty wires.
func exchange(t *testing.T, keys string, nodes, threads int, traced bool) (s seen) {
	opt := drivers.Options{Nodes: nodes, Threads: threads, MemoryBytes: 1 << 14}
	if traced {
		opt.Trace = &s.trace
	}
	sys := openTimed(t, "rtl:?link_errors=1e-2&link_seed=5"+keys, opt)
	for node := range nodes {
		openMailbox(sys, node, 3, 0x1000, 64)
	}
	var stop drivers.Stop
	require.NoError(t, sys.Run(100, &stop))
	for i := range 40 {
		for node := range nodes {
			send(sys, node, node^1, 3, bytes.Repeat([]byte{byte(i)}, 1+i))
		}
		require.NoError(t, sys.Run(sys.Now()+drivers.Cycle(10*i), &stop))
		s.now = append(s.now, stop.Now)
	}
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle)
	for node := range nodes {
		v, err := sys.Device(node).ReadReg(regs.MboxWP(3))
		require.NoError(t, err)
		require.Equal(t, uint64(40), v)
		s.memory = append(s.memory, sys.Device(node).Memory()...)
	}
	s.now = append(s.now, stop.Now)
	return s
}

// TestInside: the real nodes behave the same in this process as in a separate one, to the cycle and
// the byte, on any number of threads.
func TestInside(t *testing.T) {
	if err := inside.Supported(); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		nodes, threads int
		traced         bool
	}{{2, 1, true}, {8, 2, false}, {8, 2, true}} {
		t.Run(fmt.Sprintf("nodes=%d/threads=%d/traced=%v", c.nodes, c.threads, c.traced), func(t *testing.T) {
			require.Equal(t, exchange(t, "", c.nodes, 1, c.traced), exchange(t, "&inside=1", c.nodes, c.threads, c.traced))
		})
	}
}

func TestInsideRefusals(t *testing.T) {
	_, err := registry.Open(context.Background(), "rtl:?inside=2", drivers.Options{Nodes: 2})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "inside=2: expected a number 0..1")
	_, err = registry.Open(context.Background(), "rtl:?inside=1", drivers.Options{Nodes: 2, Checkpoints: &drivers.Checkpoints{Every: 1, Last: 1, File: "x"}})
	require.ErrorIs(t, err, drivers.ErrNotSupported, "and before anything is built")

	if inside.Supported() == nil {
		r, err := parse("", map[string]string{"inside": "1"}, drivers.Options{Nodes: 2, Threads: 2})
		require.NoError(t, err)
		require.True(t, r.cfg.Inside && r.spec.Shared)
		require.Equal(t, []string{"--threads", "2"}, r.cfg.Args)
		require.Equal(t, "rtl:?dims=2x1x1&inside=1", machine.URI("rtl", r.cfg.Dims, r.keys))
	}
}
