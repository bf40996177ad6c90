package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// stocked returns a cache with one entry, and a function that rebuilds it.
func stocked(t *testing.T, tell func(string)) (cache, thing, func(string) error) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c, err := openCache(tell)
	require.NoError(t, err)
	th := thing{hash: strings.Repeat("ab", 32), what: "a thing", tool: "a tool"}
	fill := func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "program"), []byte("#!/bin/true\n"), 0o755), writeFile(filepath.Join(dir, "obj", "x.h"), []byte("// x")))
	}
	made, err := c.provide(context.Background(), th, fill)
	require.NoError(t, err)
	require.True(t, made)
	return c, th, fill
}

// TestCacheHeals: a damaged entry is rebuilt at the next use, which reports the reason.
func TestCacheHeals(t *testing.T) {
	for name, harm := range map[string]func(program string) error{
		"truncated":      func(p string) error { return os.Truncate(p, 5) },
		"emptied":        func(p string) error { return os.Truncate(p, 0) },
		"gone":           os.Remove,
		"not executable": func(p string) error { return os.Chmod(p, 0o644) },
		"other contents": func(p string) error { return os.WriteFile(p, []byte("#!/bin/trux\n"), 0o755) },
		"a link":         func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/bin/true", p)) },
		"for all":        func(p string) error { return os.Chmod(p, 0o777) },
		"no list":        func(p string) error { return os.Remove(filepath.Join(filepath.Dir(p), manifestFile)) },
		"half a list": func(p string) error {
			return os.Truncate(filepath.Join(filepath.Dir(p), manifestFile), 20)
		},
		"another header": func(p string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(p), "obj", "x.h"), []byte("// y"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			c, th, fill := stocked(t, func(what string) { said = append(said, what) })
			program := filepath.Join(c.path(th.hash), "program")
			require.NoError(t, harm(program))
			list, err := VerifyStock()
			require.NoError(t, err)
			require.NotEmpty(t, list[0].Wrong)

			made, err := c.provide(context.Background(), th, fill)
			require.NoError(t, err)
			require.True(t, made, "built again")
			require.Len(t, said, 1)
			require.Contains(t, said[0], "a thing that is broken: ")
			text, err := os.ReadFile(program)
			require.NoError(t, err)
			require.Equal(t, "#!/bin/true\n", string(text))
			made, err = c.provide(context.Background(), th, fill)
			require.NoError(t, err)
			require.False(t, made, "and only once")
		})
	}
}

// TestStrangersSimulator: an entry that another user could have written is not executed, whichever
// part of its path that user owns.
func TestStrangersSimulator(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	c, th, fill := stocked(t, nil)
	require.NoError(t, os.Chown(filepath.Join(c.path(th.hash), "program"), 4711, 4711))
	require.Contains(t, check(c.path(th.hash)), "belongs to user 4711")
	made, err := c.provide(context.Background(), th, fill)
	require.NoError(t, err)
	require.True(t, made)
	require.NoError(t, os.Chown(c.path(th.hash), 4711, 4711))
	require.Contains(t, check(c.path(th.hash)), "belongs to user 4711")

	require.NoError(t, os.Chown(c.dir, 4711, 4711))
	_, err = Build(context.Background(), smallSpec(""))
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "belongs to user 4711, and would be run as user 0")
}

func TestCacheOfAll(t *testing.T) {
	c, _, _ := stocked(t, nil)
	require.NoError(t, os.Chmod(c.dir, 0o777))
	_, err := openCache(nil)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "may be written by others (mode 0777)")
}

// TestUmask: files writable by the group because of the umask are repaired, not rejected.
func TestUmask(t *testing.T) {
	before := syscall.Umask(0o002)
	defer syscall.Umask(before)
	c, th, _ := stocked(t, nil)
	require.Empty(t, check(c.path(th.hash)))
}

// TestNothingHalf: a build that fails for lack of disk space leaves no entry.
func TestNothingHalf(t *testing.T) {
	c, _, _ := stocked(t, nil)
	half := thing{hash: "half", what: "half a thing"}
	_, err := c.provide(context.Background(), half, func(dir string) error { return writeFile(filepath.Join(dir, "program"), nil) })
	require.ErrorContains(t, err, "is empty: is the disk full?")
	require.Equal(t, absent, check(c.path("half")))
}

// TestWaitingSaysSo: waiting for another process's build is reported with its holder and purpose.
func TestWaitingSaysSo(t *testing.T) {
	var mu sync.Mutex
	var said []string
	c, th, fill := stocked(t, func(what string) { mu.Lock(); said = append(said, what); mu.Unlock() })
	require.NoError(t, os.RemoveAll(c.path(th.hash)))
	lock, err := c.lock(context.Background(), th)
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := c.provide(context.Background(), th, fill)
		done <- err
	}()
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(said) == 1 }, 5*time.Second, 10*time.Millisecond)
	lock.Close()
	require.NoError(t, <-done)
	require.Regexp(t, `^waiting for process \d+, which builds a thing$`, said[0])
}

// TestPrune: recently used entries and entries being built are kept.
func TestPrune(t *testing.T) {
	c, th, fill := stocked(t, nil)
	for i, hash := range []string{"old", "older", "busy"} {
		_, err := c.provide(context.Background(), thing{hash: hash}, fill)
		require.NoError(t, err)
		when := time.Now().Add(-time.Duration(i+1) * time.Hour)
		require.NoError(t, os.Chtimes(c.path(hash), when, when))
	}
	lock, err := c.lock(context.Background(), thing{hash: "busy"})
	require.NoError(t, err)
	defer lock.Close()
	left := func() (names []string) {
		list, err := ListStock()
		require.NoError(t, err)
		for _, s := range list {
			names = append(names, s.Hash)
		}
		return names
	}
	require.Equal(t, []string{th.hash, "old", "older", "busy"}, left())
	c.prune(90*time.Minute, 1<<30)
	require.Equal(t, []string{th.hash, "old", "busy"}, left())
	c.prune(24*time.Hour, sizeOf(c.path(th.hash)))
	require.Equal(t, []string{th.hash, "busy"}, left())
	removed, err := CleanStock(0)
	require.NoError(t, err)
	require.Len(t, removed, 1)
	require.Equal(t, []string{"busy"}, left())
}

// TestWithoutTools: built simulators run without tools; other builds report the missing tool.
func TestWithoutTools(t *testing.T) {
	if testing.Short() {
		t.Skip("builds simulators")
	}
	ownCache(t)
	built, err := Build(context.Background(), smallSpec(""))
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	found, err := Build(context.Background(), smallSpec(""))
	require.NoError(t, err)
	require.Equal(t, built.Program, found.Program)
	require.Equal(t, built.Hash, found.Hash)
	require.Equal(t, built.Tool, found.Tool)
	_, err = Build(context.Background(), smallSpec("// changed"))
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "apt-get install verilator")
	require.NoError(t, os.Truncate(built.Program, 3))
	_, err = Build(context.Background(), smallSpec(""))
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "program has 3 bytes")
}

// The path of the cache may contain spaces, because make is not given the path. Characters that
// make and its shell would interpret are refused before the build.
func TestCacheInAPathWithSpaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	t.Setenv("XDG_CACHE_HOME", dir)
	_, err := openCache(nil)
	require.NoError(t, err)
	for _, name := range []string{"a\tb", "a\nb", "a'b", "a$b", "a#b"} {
		t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), name))
		_, err = openCache(nil)
		require.ErrorIs(t, err, drivers.ErrEnvironment)
		require.ErrorContains(t, err, "XDG_CACHE_HOME")
	}

	// The check in Verilator's makefiles, which splits the path at spaces.
	tools, err := findTools(t.Context())
	if err != nil {
		t.Skip(err)
	}
	makefile := "ifneq ($(words $(CURDIR)),1)\n$(error spaces in $(CURDIR))\nendif\nall:\n\t: >built\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600))
	require.NoError(t, newBuildLog(filepath.Join(dir, "log"), nil).make(t.Context(), dir, tools, &report{}, "all"))
	require.FileExists(t, filepath.Join(dir, "built"))
}

// A library that others could have written is not executed either.
func TestProgramCacheOfOthers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, err := ProgramCache("libraries", "libraries")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = ProgramCache("libraries", "libraries")
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "a cache of libraries that is safe to run: "+dir+" may be written by others (mode 0777)")
}
