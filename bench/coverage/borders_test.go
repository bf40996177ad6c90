package coverage

import (
	"context"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/rma/conformance"
	"github.com/stretchr/testify/require"
)

// The conformance cases of RMA cover every border point.
func TestConformanceReachesAllBorders(t *testing.T) {
	var f FunctionalSink
	for _, c := range conformance.Cases() {
		if c.Name != "boundaries" && c.Name != "sizes" {
			continue
		}
		sys, err := f.Open(context.Background(), "model:", drivers.Options{Nodes: c.Nodes, MemoryBytes: c.Memory})
		require.NoError(t, err)
		require.NoError(t, c.Run(sys.(drivers.Timed), 1))
		require.NoError(t, sys.Close())
	}
	seen := f.points()
	for _, p := range borderPoints() {
		require.NotZero(t, seen[p], "%v", p)
	}
	known := New().known
	for p := range seen {
		require.True(t, known[p], "%v is seen, but not among those that there are", p)
	}
}
