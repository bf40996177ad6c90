package rtl

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/record"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/selftest"
)

// pieces returns segments like huge pages on a board: at high addresses, in any order, and
// different per node.
func pieces(nodes int) (all [][]drivers.Segment) {
	const count = selftest.MemoryBytes / segment.Grain
	for n := range uint64(nodes) {
		var list []drivers.Segment
		for i := range uint64(count) {
			list = append(list, drivers.Segment{Off: i * segment.Grain, Addr: (n+3)<<40 + (count-i)<<21, Bytes: segment.Grain})
		}
		all = append(all, list)
	}
	return all
}

// TestMemoryInPieces: a NIC with segmented memory passes all self-tests, and a replay uses the same
// segments.
func TestMemoryInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("builds simulators")
	}
	ctx := context.Background()
	opt := drivers.Options{Nodes: 2, MemoryBytes: selftest.MemoryBytes, Segments: pieces(2)}
	for _, uri := range []string{"rtl:", "rtl:?inside=1", "rtl:?bus=pcie", "rtl:?bus=axi", "model:"} {
		t.Run(uri, func(t *testing.T) {
			sys, err := registry.Open(ctx, uri, opt)
			require.NoError(t, err)
			var log bytes.Buffer
			recorded := record.New(sys, &log, nil)
			results, err := selftest.Run(ctx, recorded, selftest.Config{Seed: 1, Samples: 16})
			require.NoError(t, err)
			for _, r := range results {
				require.NotEqual(t, selftest.Failed, r.Outcome, "%s of node %d: %+v", r.Check, r.Node, r.Fault)
			}
			require.NoError(t, recorded.Close())

			meta, err := record.Read(log.Bytes())
			require.NoError(t, err)
			require.Equal(t, opt, record.Shape(&meta))
			again, err := record.Replay(ctx, log.Bytes(), openTimed(t, uri, record.Shape(&meta)), record.Config{})
			require.NoError(t, err)
			require.Nil(t, again.Divergence, "%v", again.Divergence)
		})
	}
	wrong := opt
	wrong.Segments = pieces(2)
	wrong.Segments[1][3].Addr = wrong.Segments[1][4].Addr
	for _, uri := range []string{"rtl:", "model:", "ideal:"} {
		_, err := registry.Open(ctx, uri, wrong)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, "node 1: segments at 0x40001800000 and 0x40001800000 overlap")
	}
}
