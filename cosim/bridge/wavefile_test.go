package bridge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The wave library removes whatever has the name of the file, so links are resolved first: the link
// stays and its target receives the waves.
func TestWavesFollowLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.fst")
	require.NoError(t, os.Symlink("target.fst", link))
	for range 2 { // at first the target does not exist
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
