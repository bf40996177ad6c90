package record

import (
	"bytes"
	"context"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/stretchr/testify/require"
)

// A board finds its memory at an address that is not 0, behind an IOMMU, or in huge pages anywhere,
// each board in others; so does the simulated NIC that replays what it did.
func TestReplayWhereMemoryWas(t *testing.T) {
	const far, grain = 5 << 40, 1 << 14
	for name, segments := range map[string][][]drivers.Segment{
		"at an address": {{{Addr: 1 << 20, Bytes: memoryBytes}}, {{Addr: 1 << 20, Bytes: memoryBytes}}},
		"in pieces": {
			{{Off: 0, Addr: far + 4*grain, Bytes: grain}, {Off: grain, Addr: far, Bytes: memoryBytes - grain}},
			{{Off: 0, Addr: far - grain, Bytes: grain}, {Off: grain, Addr: 1 << 30, Bytes: memoryBytes - grain}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := drivers.Options{Nodes: 2, MemoryBytes: memoryBytes, Segments: segments}
			body, err := registry.Open(context.Background(), "ideal:", opt)
			require.NoError(t, err)
			var log bytes.Buffer
			sys := New(body, &log, nil)
			traffic(t, sys)
			require.NoError(t, sys.Close())
			meta, err := Read(log.Bytes())
			require.NoError(t, err)
			require.Equal(t, segments, meta.Segments)
			require.Equal(t, opt, Shape(&meta))

			target, err := registry.Open(context.Background(), "ideal:?latency=200", Shape(&meta))
			require.NoError(t, err)
			rep, err := Replay(context.Background(), log.Bytes(), target.(drivers.Timed), Config{})
			require.NoError(t, err)
			require.Nil(t, rep.Divergence, "%v", rep.Divergence)
			require.Greater(t, rep.Bytes, 1000)
			require.NoError(t, target.Close())

			other := open2(t, "ideal:")
			defer other.Close()
			_, err = Replay(context.Background(), log.Bytes(), other.(drivers.Timed), Config{})
			require.ErrorIs(t, err, drivers.ErrConfig)
			require.ErrorContains(t, err, "finds its memory at")
		})
	}
}
