package usersock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

const (
	longestPath   = 107 // of a unix socket (sun_path of Linux, without its NUL)
	longestSocket = 64  // of what TempDir and Listen append to the folder of temporary files
	ownerLock     = ".owner"
	youngest      = time.Minute // a younger directory may not be locked yet
)

// TempDir makes a directory for sockets that only this user can enter. If TMPDIR is too long for
// the path of a socket it is in /tmp. The directory is locked by its owner: TempDir also removes
// directories of the same prefix whose owner has died without removing them.
func TempDir(prefix string) (dir string, remove func() error, err error) {
	base := os.TempDir()
	if len(base) > longestPath-longestSocket {
		base = "/tmp"
	}
	removeOrphans(base, prefix)
	if dir, err = os.MkdirTemp(base, prefix); err != nil { // mode 0700
		return "", nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ownerLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		lock.Close()
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("%w: locking %s: %w", drivers.ErrEnvironment, dir, err)
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// removeOrphans removes the directories of this user that nobody holds a lock of any more. What
// cannot be removed stays.
func removeOrphans(base, prefix string) {
	list, _ := filepath.Glob(filepath.Join(base, prefix+"[0-9]*"))
	for _, dir := range list {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < youngest || !ownedByUser(info) {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, ownerLock), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
