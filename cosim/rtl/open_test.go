package rtl

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		uri  string
		opt  drivers.Options
		want string
	}{
		{"rtl:", drivers.Options{Nodes: 65}, "65 nodes: rtl: holds 1..64 nodes"},
		{"rtl:", drivers.Options{}, "0 nodes: rtl: holds 1..64"},
		{"rtl:", drivers.Options{Nodes: -1}, "-1 nodes: rtl: holds 1..64"},
		{"rtl:?dims=8x9x1", drivers.Options{}, "72 nodes: rtl: holds 1..64"},
		{"rtl:?dims=2x2x1", drivers.Options{Nodes: 3}, "dims=2x2x1 is a mesh of 4 nodes, but 3 are asked for"},
		{"rtl:?dims=2by2", drivers.Options{}, "dims=2by2: expected XxYxZ"},
		{"rtl:?vc_depth=1", drivers.Options{Nodes: 2}, "vc_depth=1: expected a number 2..128"},
		{"rtl:?host_wr_latency=soon", drivers.Options{Nodes: 2}, "host_wr_latency=soon: expected a number"},
		{"rtl:?patience=1ms", drivers.Options{Nodes: 2}, "patience=1ms: expected a duration of at least 1s"},
		{"rtl:?link_errors=2", drivers.Options{Nodes: 2}, "link_errors=2: expected a chance per word from 0 to 0.5"},
		{"rtl:?link_losses=often", drivers.Options{Nodes: 2}, "link_losses=often: expected a chance per word"},
		{"rtl:?link_seed=-1", drivers.Options{Nodes: 2}, "link_seed=-1: expected a number of at most 64 bits"},
		{"rtl:?spin=1s", drivers.Options{Nodes: 2}, "spin=1s: expected a duration of at most 10ms"},
		{"rtl:file", drivers.Options{}, "rtl:file: expected no path"},
		{"rtl:?vc_dept=8", drivers.Options{}, `unknown key "vc_dept", did you mean "vc_depth"?`},
		{"rtl:?plusargs=seed", drivers.Options{Nodes: 2}, `plusarg "seed": expected it to start with +`},
		{"rtl:", drivers.Options{Nodes: 2, MemoryBytes: 100}, "DMA memory of 100 bytes per node: expected 4096.."},
		{"rtl:", drivers.Options{Nodes: 2, Waves: &drivers.WaveWindow{From: 5, To: 5, File: "x"}}, "expected a file and a window that is not empty"},
	} {
		_, err := registry.Open(context.Background(), c.uri, c.opt)
		require.ErrorIs(t, err, drivers.ErrConfig, c.uri)
		require.ErrorContains(t, err, c.want)
	}
}

func TestParse(t *testing.T) {
	r, err := parse("", map[string]string{"plusargs": "+a,+b=1", "vc_depth": "8", "spin": "0s", "patience": "5s"}, drivers.Options{Nodes: 6})
	require.NoError(t, err)
	require.Equal(t, []string{"+a", "+b=1"}, r.cfg.Plusargs)
	require.Equal(t, [3]int{3, 2, 1}, r.cfg.Dims)
	require.Equal(t, 5, r.spec.Ports)
	require.Equal(t, 8, r.spec.VCDepth)
	require.Negative(t, r.cfg.Spin)
	require.Equal(t, 5*time.Second, r.cfg.Patience)
	require.Equal(t, defaultMemory, r.cfg.MemoryBytes)
	require.Equal(t, "rtl:?dims=3x2x1&patience=5s&plusargs=%2Ba%2C%2Bb%3D1&spin=0s&vc_depth=8", machine.URI("rtl", r.cfg.Dims, r.keys))
}
