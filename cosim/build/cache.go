package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A cache is a folder with one directory per hash. Beside "<hash>" stand
// "<hash>.lock", held while it is built, and "<hash>.part", where that happens.
type cache struct{ dir string }

func openCache() (cache, error) {
	base, err := os.UserCacheDir() // $XDG_CACHE_HOME, or ~/.cache
	if err != nil {
		return cache{}, fmt.Errorf("%w: a folder for the cache of simulators: %w; set HOME or XDG_CACHE_HOME", drivers.ErrEnvironment, err)
	}
	c := cache{filepath.Join(base, "nicloop", "models")}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return cache{}, fmt.Errorf("model cache: %w", err)
	}
	return c, nil
}

func (c cache) place(hash string) string { return filepath.Join(c.dir, hash) }

// provide calls make, unless the entry exists, to fill a directory that becomes the
// entry if make succeeds. It reports whether make was called.
func (c cache) provide(ctx context.Context, hash string, make func(dir string) error) (bool, error) {
	if c.has(hash) {
		return false, nil
	}
	lock, err := c.lock(ctx, hash)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if c.has(hash) { // another process was faster
		return false, nil
	}
	c.sweep()
	part := c.place(hash) + ".part"
	defer os.RemoveAll(part)
	if err := os.RemoveAll(part); err != nil {
		return false, err
	}
	if err := os.MkdirAll(part, 0o755); err != nil {
		return false, err
	}
	if err := make(part); err != nil {
		return false, err
	}
	return true, os.Rename(part, c.place(hash))
}

func (c cache) has(hash string) bool {
	_, err := os.Stat(c.place(hash))
	return err == nil
}

// lock waits for the lock of hash; closing the file gives it back.
func (c cache) lock(ctx context.Context, hash string) (*os.File, error) {
	f, err := os.OpenFile(c.place(hash)+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking the model cache: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sweep removes what builds left that were killed: their locks are free.
func (c cache) sweep() {
	parts, _ := filepath.Glob(filepath.Join(c.dir, "*.part"))
	for _, part := range parts {
		f, err := os.OpenFile(strings.TrimSuffix(part, ".part")+".lock", os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(part)
		}
		f.Close()
	}
}
