package usersock

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// stale leaves a socket at path at which nobody listens.
func stale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.NoError(t, os.Chmod(path, 0o600))
}

// Of several servers that start over a stale socket one gets it, and can be reached; the others
// fail.
func TestOneServerWins(t *testing.T) {
	const servers = 3
	path := filepath.Join(t.TempDir(), "s")
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		stale(t, path)
		var all sync.WaitGroup
		got := make([]*Listener, servers)
		begin := make(chan bool)
		for i := range got {
			all.Go(func() {
				<-begin
				if l, err := Listen(path, os.Geteuid()); err == nil {
					got[i] = l
				}
			})
		}
		close(begin)
		all.Wait()
		var winner *Listener
		for _, l := range got {
			if l != nil {
				require.Nil(t, winner, "round %d: two servers at one path", round)
				winner = l
			}
		}
		require.NotNil(t, winner, "round %d: no server", round)
		c, err := Dial(context.Background(), path, os.Geteuid())
		require.NoError(t, err, "round %d", round)
		c.Close()
		require.NoError(t, winner.Close())
		require.NoFileExists(t, path)
	}
}

// A server that ends leaves the socket of its successor alone.
func TestCloseLeavesTheSuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := Listen(path, os.Geteuid())
	require.NoError(t, err)
	require.NoError(t, first.UnixListener.Close()) // it does not answer any more, as if its program had died
	second, err := Listen(path, os.Geteuid())
	require.NoError(t, err)
	_ = first.Close()
	c, err := Dial(context.Background(), path, os.Geteuid())
	require.NoError(t, err)
	c.Close()
	require.NoError(t, second.Close())
	require.NoFileExists(t, path)
	require.NoError(t, second.Close(), "twice")
}

// A directory that somebody keeps locked is an error after a while, not a hang.
func TestLockedDirectory(t *testing.T) {
	dir := t.TempDir()
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, syscall.Flock(int(d.Fd()), syscall.LOCK_EX))
	began := time.Now()
	_, err = lockDir(filepath.Join(dir, "s"), 50*time.Millisecond)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "is locked")
	require.Less(t, time.Since(began), 5*time.Second)
}
