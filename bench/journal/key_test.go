package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeviceFiles: a changed file that the device names gives another key; a missing file and a
// malformed query are left to the run.
func TestDeviceFiles(t *testing.T) {
	dir := t.TempDir()
	params := filepath.Join(dir, "params.json")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "rtl"), 0o700))
	key := func(device string) string {
		files, err := DeviceFiles(device)
		require.NoError(t, err, device)
		return files
	}
	for file, device := range map[string]string{params: "model:?params=" + params, filepath.Join(dir, "rtl", "top.sv"): "rtl:?src=" + dir} {
		require.NoError(t, os.WriteFile(file, []byte("a"), 0o600))
		first := key(device)
		require.NotEmpty(t, first)
		require.Equal(t, first, key(device))
		require.NoError(t, os.WriteFile(file, []byte("b"), 0o600))
		require.NotEqual(t, first, key(device), file)
	}
	require.Empty(t, key("model:"))
	require.Empty(t, key("model:?params=%zz"))
	require.NotEmpty(t, key("model:?params="+filepath.Join(dir, "missing")))
}

// TestDigest: the hash of a directory depends on names and contents of its files.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	hash := func() string {
		sum, err := Digest(dir)
		require.NoError(t, err)
		return sum
	}
	seen := map[string]bool{hash(): true}
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("same"), 0o600))
		require.False(t, seen[hash()], name)
		seen[hash()] = true
	}
	_, err := Digest(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
