package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// A cache is a directory with one subdirectory per hash. "<hash>.lock" is held while an entry is
// built, in "<hash>.part".
type cache struct {
	dir  string
	tell func(what string)
	log  *logrus.Logger
}

func openCache(tell func(what string)) (cache, error) {
	if tell == nil {
		tell = func(string) {}
	}
	dir, err := userCache("models", "simulators")
	if err != nil {
		return cache{}, err
	}
	c := cache{dir: dir, tell: tell}
	if strings.ContainsAny(c.dir, "\t\n'$#") { // make and its shell would interpret them
		return cache{}, fmt.Errorf("%w: a cache of simulators in %q: make cannot build in a directory whose path has a tab, a line break, ', $ or #; set XDG_CACHE_HOME to another",
			drivers.ErrEnvironment, c.dir)
	}
	return c, makeOwn(c.dir, "simulators")
}

// ProgramCache returns the folder of the user's cache for programs and libraries of a kind that
// nicloop builds and executes. It makes the folder.
func ProgramCache(name, content string) (dir string, err error) {
	if dir, err = userCache(name, content); err != nil {
		return "", err
	}
	return dir, makeOwn(dir, content)
}

func userCache(name, content string) (dir string, err error) {
	base, err := os.UserCacheDir() // $XDG_CACHE_HOME, or ~/.cache
	if err != nil {
		return "", fmt.Errorf("%w: a folder for the cache of %s: %w; set HOME or XDG_CACHE_HOME", drivers.ErrEnvironment, content, err)
	}
	return filepath.Join(base, "nicloop", name), nil
}

// makeOwn makes the folder of a cache. Its entries are executed as this user, so nobody else may
// write them.
func makeOwn(dir, content string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cache of %s: %w", content, err)
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if why := Foreign(d); why != "" {
			return fmt.Errorf("%w: a cache of %s that is safe to run: %s %s; repair that, or set XDG_CACHE_HOME", drivers.ErrEnvironment, content, d, why)
		}
	}
	return nil
}

func (c cache) path(hash string) string { return filepath.Join(c.dir, hash) }

// A thing describes an entry of the cache: a library or a program around it.
type thing struct {
	hash string
	what string // description
	tool string // the version of Verilator
}

// provide returns false if a valid entry exists. Otherwise it calls make to fill a directory, which
// becomes the entry if make succeeds.
func (c cache) provide(ctx context.Context, t thing, make func(dir string) error) (bool, error) {
	if c.use(t.hash) == "" {
		return false, nil
	}
	lock, err := c.lock(ctx, t)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	why := c.use(t.hash)
	if why == "" { // another process has built it meanwhile
		return false, nil
	}
	logs.Layer(c.log, "build").WithFields(logrus.Fields{"what": t.what, "hash": t.hash[:min(12, len(t.hash))], "because": why}).Debug("not in the cache")
	if why != absent {
		c.tell("the cache holds " + t.what + " that is broken: " + why + "; it is built again")
	}
	c.sweep()
	part := c.path(t.hash) + ".part"
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
	if err := seal(part, t); err != nil {
		return false, fmt.Errorf("cache of simulators: %w", err)
	}
	return true, c.install(part, t.hash)
}

// install moves a sealed directory into place atomically, also with respect to a crash of the
// machine.
func (c cache) install(part, hash string) error {
	if err := os.RemoveAll(c.path(hash)); err != nil {
		return err
	}
	if err := os.Rename(part, c.path(hash)); err != nil {
		return err
	}
	return syncPath(c.dir)
}

// use reports what is wrong with an entry; "" if it is valid, in which case its time of last use is
// updated.
func (c cache) use(hash string) string {
	why := check(c.path(hash))
	if why == "" {
		now := time.Now()
		_ = os.Chtimes(c.path(hash), now, now) // used only for pruning
	}
	return why
}

// lock waits for the lock of a thing and reports the wait; closing the file releases it.
func (c cache) lock(ctx context.Context, t thing) (*os.File, error) {
	f, err := os.OpenFile(c.path(t.hash)+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cache of simulators: %w", err)
	}
	for said := false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			holder := strconv.Itoa(os.Getpid()) + "\n"
			if err = f.Truncate(0); err == nil {
				_, err = f.WriteAt([]byte(holder), 0)
			}
			if err != nil {
				f.Close()
				return nil, fmt.Errorf("cache of simulators: %w", err)
			}
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking the cache of simulators: %w", err)
		}
		if !said {
			c.tell("waiting for " + holderOf(f.Name()) + ", which builds " + t.what)
			said = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// holderOf names the holder of a lock.
func holderOf(lock string) string {
	text, err := os.ReadFile(lock)
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}

// sweep removes leftovers of killed builds, whose locks are free.
func (c cache) sweep() {
	parts, _ := filepath.Glob(filepath.Join(c.dir, "*.part"))
	for _, part := range parts {
		c.unlessBusy(strings.TrimSuffix(filepath.Base(part), ".part"), func() { os.RemoveAll(part) })
	}
}

// unlessBusy calls f with the lock of an entry, unless it is held.
func (c cache) unlessBusy(hash string, f func()) bool {
	lock, err := os.OpenFile(c.path(hash)+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	f()
	return true
}
