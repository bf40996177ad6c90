package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// makeImage runs scripts/vm-image, which downloads packages.
func makeImage(args ...string) ([]byte, error) {
	return exec.Command("../../scripts/vm-image", args...).CombinedOutput()
}

// TestImageMadeTwice: of two concurrent builds of the same image, one does the work; both succeed.
func TestImageMadeTwice(t *testing.T) {
	needAll(t)
	dir := filepath.Join(t.TempDir(), "vm")
	var said [2][]byte
	var failed [2]error
	var both sync.WaitGroup
	for i := range said {
		both.Go(func() { said[i], failed[i] = makeImage(dir) })
	}
	both.Wait()
	found := 0
	for i := range said {
		require.NoError(t, failed[i], "%s", said[i])
		if string(said[i]) == "vm-image: "+dir+" is there\n" {
			found++
		}
	}
	require.Equal(t, 1, found, "%s%s", said[0], said[1])
	require.NoError(t, CheckImage(dir))
}

// TestImageOnFullDisk: a full disk leaves the old image intact, and the error states the space
// needed.
func TestImageOnFullDisk(t *testing.T) {
	needAll(t)
	if os.Geteuid() != 0 {
		t.Skip("mounts a small disk: root alone can")
	}
	disk := t.TempDir()
	require.NoError(t, unix.Mount("none", disk, "tmpfs", 0, "size=4m"))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(disk, 0)) })
	dir := filepath.Join(disk, "vm")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "format"), []byte(imageFormat+"\n"), 0o644))
	said, err := makeImage("--again", dir)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 3, exit.ExitCode())
	require.Contains(t, string(said), "expected 20 MB of room")
	require.NoError(t, CheckImage(dir), "what was there before is untouched")
	left, err := filepath.Glob(filepath.Join(disk, "*.new"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestForeignImage: an image that others may have written is not booted.
func TestForeignImage(t *testing.T) {
	for _, of := range []string{".", "vmlinuz", "initrd.gz"} {
		dir := t.TempDir()
		for _, name := range []string{"vmlinuz", "initrd.gz", "format"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(imageFormat), 0o644))
		}
		require.NoError(t, CheckImage(dir))
		require.NoError(t, os.Chmod(filepath.Join(dir, of), 0o777))
		err := CheckImage(dir)
		require.ErrorIs(t, err, drivers.ErrEnvironment)
		require.ErrorContains(t, err, "may be written by others (mode 0777)")
	}
}
