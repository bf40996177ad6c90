package bridge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The library that writes waves removes what it finds under the name, so a link is followed before
// it gets that: the link stays and its target has the waves.
func TestWavesFollowLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.fst")
	require.NoError(t, os.Symlink("target.fst", link))
	for range 2 { // the target is not there at first
		args, err := waveArgs(link, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"--waves", filepath.Join(dir, "target.fst")}, args)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "target.fst"), nil, 0o644))
	}
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink("/dev/full", link))
	_, err := waveArgs(link, nil)
	require.ErrorContains(t, err, "no plain file")
}
