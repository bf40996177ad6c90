package suite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/registry"
)

// TestCyclesFile: the committed baseline is valid and has no entry of a test or device that does
// not exist any more, or whose cycles depend on the wall clock.
func TestCyclesFile(t *testing.T) {
	base, err := Cycles()
	require.NoError(t, err)
	known := map[string]bool{}
	for _, x := range List() {
		known[x.Name] = !x.WallClock
	}
	require.Greater(t, len(base.Entries()), 400)
	for _, e := range base.Entries() {
		require.True(t, known[e.Test], "%s on %s: no such test, or one of the wall clock; delete the line", e.Test, e.Kind)
		require.Equal(t, registry.Kind(e.Kind), e.Kind)
		require.NoError(t, registry.Validate(e.Kind))
	}
}
