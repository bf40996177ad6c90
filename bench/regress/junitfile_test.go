package regress

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// -x FILE writes through a link, into a device and into a pipe, and replaces none of them.
func TestJUnitKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, os.Symlink("results.xml", link))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	defer reader.Close()
	for name, kind := range map[string]fs.FileMode{link: fs.ModeSymlink, pipe: fs.ModeNamedPipe} {
		j, err := NewJUnit(name)
		require.NoError(t, err)
		require.NoError(t, j.Add(&Outcome{Status: Passed}))
		require.NoError(t, j.Close(nil))
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, kind, info.Mode().Type(), name)
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.xml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "<testcase")
	b := make([]byte, 1<<16)
	n, err := reader.Read(b)
	require.NoError(t, err)
	require.Equal(t, string(text), string(b[:n]), "a pipe gets the results once, when they are whole")

	full := filepath.Join(dir, "full")
	require.NoError(t, os.Symlink("/dev/full", full))
	j, err := NewJUnit(full)
	if err == nil {
		require.NoError(t, j.Add(&Outcome{Status: Passed}))
		err = j.Close(nil)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	info, err := os.Stat("/dev/full")
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeDevice)
}
