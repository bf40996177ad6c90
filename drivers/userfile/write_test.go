package userfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

// onlyThese checks that no temporary file is left.
func onlyThese(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, f := range list {
		got = append(got, f.Name())
	}
	require.ElementsMatch(t, names, got)
}

// A regular file is replaced as a whole, keeps its mode, and stays as it is if its content fails.
func TestRegularFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	require.NoError(t, WriteBytes(name, []byte("one")))
	require.NoError(t, os.Chmod(name, 0o600))
	require.NoError(t, WriteBytes(name, []byte("two")))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	failed := errors.New("failed")
	require.ErrorIs(t, Write(name, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return failed
	}), failed)
	require.Equal(t, "two", text(t, name))
	onlyThese(t, dir, "file")
	require.Error(t, WriteBytes(filepath.Join(dir, "no", "folder"), nil))
	require.Error(t, WriteBytes(dir, nil), "a directory")
}

// A link stays and what it names changes, also if that is not there yet.
func TestLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	target, link, chain := filepath.Join(dir, "sub", "target"), filepath.Join(dir, "link"), filepath.Join(dir, "chain")
	require.NoError(t, os.Symlink("sub/target", link))
	require.NoError(t, os.Symlink("link", chain))
	for _, content := range []string{"new", "changed"} {
		require.NoError(t, WriteBytes(chain, []byte(content)))
		require.Equal(t, content, text(t, target))
	}
	for _, l := range []string{link, chain} {
		info, err := os.Lstat(l)
		require.NoError(t, err)
		require.Equal(t, fs.ModeSymlink, info.Mode().Type())
	}
	require.ErrorIs(t, Check(chain, false), ErrExists)
	f, err := Create(chain, true)
	require.NoError(t, err)
	require.Error(t, Close(f, errors.New("failed")))
	require.NoFileExists(t, target)
	onlyThese(t, dir, "sub", "link", "chain")
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.ErrorContains(t, WriteBytes(filepath.Join(dir, "loop"), nil), "too many symbolic links")
}

// Devices and pipes are written in place, need no --force, and stay whatever happens.
func TestSpecialFilesStay(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink("/dev/full", link))
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, WriteBytes(pipe, []byte("through")))
	b := make([]byte, 7)
	_, err = io.ReadFull(reader, b)
	require.NoError(t, err)
	require.Equal(t, "through", string(b))
	require.ErrorIs(t, WriteBytes(link, []byte("x")), syscall.ENOSPC)
	for _, name := range []string{pipe, link, "/dev/null"} {
		require.False(t, IsReplaced(name), name)
		require.NoError(t, Check(name, false), name)
		f, err := Create(name, false)
		require.NoError(t, err)
		require.Error(t, Close(f, errors.New("failed")))
	}
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	require.Equal(t, fs.ModeNamedPipe, info.Mode().Type())
	onlyThese(t, dir, "pipe", "link")
}

// What another run wrote is kept without --force.
func TestForce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	f, err := Create(name, false)
	require.NoError(t, err)
	require.NoError(t, Close(f, nil))
	_, err = Create(name, false)
	require.ErrorIs(t, err, ErrExists)
	f, err = Create(name, true)
	require.NoError(t, err)
	require.NoError(t, Close(f, nil))
}

// After a failure the content stays, unless it is empty or could not be written.
func TestCloseAfterFailure(t *testing.T) {
	name, failed := filepath.Join(t.TempDir(), "file"), errors.New("failed")
	f, err := Create(name, false)
	require.NoError(t, err)
	_, err = f.WriteString("packets")
	require.NoError(t, err)
	require.Equal(t, failed.Error(), Close(f, failed).Error())
	require.Equal(t, "packets", text(t, name))
	for _, err := range []error{&fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}, nil} {
		f, err2 := Create(name, true)
		require.NoError(t, err2)
		if err != nil {
			_, err2 = f.WriteString("packets")
			require.NoError(t, err2)
		}
		require.ErrorIs(t, Close(f, errors.Join(failed, err)), failed)
		require.NoFileExists(t, name)
	}
}

// A file that may not be written is not replaced.
func TestReadOnlyFiles(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everything")
	}
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("kept"), 0o400))
	require.ErrorIs(t, WriteBytes(name, []byte("lost")), fs.ErrPermission)
	require.Equal(t, "kept", text(t, name))
}
