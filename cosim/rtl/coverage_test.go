package rtl

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// TestCoverageKey: a counting node is a separate model, and every system writes to a file of its
// own.
func TestCoverageKey(t *testing.T) {
	dir := t.TempDir()
	keys := map[string]string{"coverage": dir}
	r, err := parse("", keys, drivers.Options{Nodes: 2})
	require.NoError(t, err)
	require.True(t, r.spec.Coverage)
	require.NoError(t, r.countInto(dir))
	require.NoError(t, r.countInto(dir))
	files, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, []string{"--coverage", "--coverage"}, []string{r.cfg.Args[0], r.cfg.Args[2]})
	require.ErrorIs(t, r.countInto(filepath.Join(dir, "nowhere")), drivers.ErrEnvironment)

	_, err = parse("", keys, drivers.Options{Nodes: 2, Checkpoints: &drivers.Checkpoints{Every: 1, Last: 1, File: "x"}})
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.False(t, registry.CanRepeat("rtl:?coverage="+dir))
	require.True(t, registry.CanRepeat("rtl:"))
}
