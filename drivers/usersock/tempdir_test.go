package usersock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLongTempDir: a TMPDIR that is too long for the path of a socket does not keep a program from
// listening.
func TestLongTempDir(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 80))
	require.NoError(t, os.Mkdir(long, 0o700))
	t.Setenv("TMPDIR", long)
	dir, remove, err := TempDir("nicloop-test-")
	require.NoError(t, err)
	l, err := Listen(filepath.Join(dir, "device"), os.Getuid())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, remove())
	require.NoDirExists(t, dir)
}

// TestOrphans: the directory of a program that died is removed by the next one, one that is in use
// is not.
func TestOrphans(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "o")
	require.NoError(t, err)
	defer os.RemoveAll(base)
	t.Setenv("TMPDIR", base)
	used, remove, err := TempDir("n-")
	require.NoError(t, err)
	orphan, young, foreign := filepath.Join(base, "n-1"), filepath.Join(base, "n-2"), filepath.Join(base, "n-3")
	for _, dir := range []string{orphan, young, foreign} {
		require.NoError(t, os.Mkdir(dir, 0o700))
		if dir != foreign { // another program's: it has no lock
			require.NoError(t, os.WriteFile(filepath.Join(dir, ownerLock), nil, 0o600))
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{used, orphan, foreign} {
		require.NoError(t, os.Chtimes(dir, old, old))
	}
	_, removeOther, err := TempDir("n-")
	require.NoError(t, err)
	require.NoDirExists(t, orphan)
	require.DirExists(t, used)
	require.DirExists(t, young)
	require.DirExists(t, foreign)
	require.NoError(t, removeOther())
	require.NoError(t, remove())
}
