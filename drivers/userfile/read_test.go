package userfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(name, []byte("12345678"), 0o600))
	data, err := Read(name, 8)
	require.NoError(t, err)
	require.Equal(t, "12345678", string(data))

	_, err = Read(name, 7)
	require.ErrorIs(t, err, drivers.ErrConfig)
	for _, bad := range []string{"/dev/zero", dir, filepath.Join(dir, "missing")} {
		_, err := Read(bad, TextLimit)
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
		require.ErrorContains(t, err, bad)
	}

	sparse := filepath.Join(dir, "sparse")
	require.NoError(t, os.WriteFile(sparse, nil, 0o600))
	require.NoError(t, os.Truncate(sparse, 1<<42))
	_, err = Read(sparse, 1<<43)
	var memory *limits.MemoryError
	require.ErrorAs(t, err, &memory)
}

// TestPipe: a pipe is read to its end, and no further than the limit.
func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	for _, c := range []struct {
		limit int64
		ok    bool
	}{{4, true}, {3, false}} {
		go func() { _ = os.WriteFile(name, []byte("1234"), 0) }()
		data, err := Read(name, c.limit)
		if c.ok {
			require.NoError(t, err)
			require.Equal(t, "1234", string(data))
		} else {
			require.ErrorIs(t, err, drivers.ErrConfig)
		}
	}
}
