package usersock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// ErrForeign: a socket, or who is at its other end, belongs to another user.
var ErrForeign = errors.New("belongs to another user")

// Listen makes a socket at path that only its user reaches, from the moment on at which it is
// there. Nothing that is there already is replaced but a socket of the same user's at which nobody
// listens.
func Listen(path string, uid int) (*Listener, error) {
	unlock, err := lockDir(path, lockFor)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(path, uid); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".nicloop-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	l.SetUnlinkOnClose(false)
	var socket fs.FileInfo
	if err = os.Chmod(made, 0o600); err == nil {
		socket, err = os.Lstat(made)
	}
	if err == nil {
		err = os.Link(made, path) // fails if there is something now
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", drivers.ErrEnvironment, err), l.Close())
	}
	return &Listener{UnixListener: l, path: path, socket: socket}, nil
}

// lockFor is how long a directory may be locked by others.
const lockFor = 10 * time.Second

// lockDir locks the directory of a path. Two servers that start at a time must not both find the
// socket stale, and one that ends must not remove its successor's. The lock is on the directory
// itself, so it leaves no file behind, and the kernel drops it when its program dies.
func lockDir(path string, patience time.Duration) (unlock func(), err error) {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { d.Close() }, nil
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			d.Close()
			return nil, fmt.Errorf("%w: locking %s: %w", drivers.ErrEnvironment, d.Name(), err)
		case time.Since(began) >= patience:
			d.Close()
			return nil, fmt.Errorf("%w: %s is locked by another program for %v", drivers.ErrEnvironment, d.Name(), patience)
		}
	}
}

// A Listener takes its socket away when it ends.
type Listener struct {
	*net.UnixListener
	path   string
	socket fs.FileInfo
	once   sync.Once
}

// Path is where the socket is.
func (l *Listener) Path() string { return l.path }

// Close ends the listening.
func (l *Listener) Close() (err error) {
	l.once.Do(func() { err = errors.Join(l.UnixListener.Close(), l.remove()) })
	return err
}

// remove removes the socket, if it is still this listener's.
func (l *Listener) remove() error {
	unlock, err := lockDir(l.path, lockFor)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := os.Lstat(l.path)
	if err != nil || !os.SameFile(info, l.socket) {
		return nil
	}
	// File systems give inode numbers out again, so it may be a successor's nevertheless. This
	// listener is closed: whoever answers is another one.
	if c, err := net.Dial("unix", l.path); err == nil {
		return c.Close()
	}
	return os.Remove(l.path)
}

func removeStale(path string, uid int) error {
	switch err := ownSocket(path, uid); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return fmt.Errorf("%w: somebody listens at %s already", drivers.ErrEnvironment, path)
	}
	return os.Remove(path)
}

// ownSocket tells what makes a path another thing than a socket that is the user's alone.
func ownSocket(path string, uid int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w: %s is no socket", drivers.ErrEnvironment, path)
	case !known || int(owner.Uid) != uid:
		return fmt.Errorf("%s %w (%d): expected one of user %d", path, ErrForeign, owner.Uid, uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: %s has mode %o: others could use it, expected 0600", drivers.ErrEnvironment, path, info.Mode().Perm())
	}
	return nil
}

// Dial tries for backlogFor to get into the queue of a listener.
const (
	backlogFor   = 5 * time.Second
	backlogPause = 2 * time.Millisecond
)

// Dial connects to who listens at path, and makes sure that it is the same user.
func Dial(ctx context.Context, path string, uid int) (*net.UnixConn, error) {
	if err := ownSocket(path, uid); err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	// EAGAIN: more programs are connecting than the listener has accepted. It takes them one by one.
	for began := time.Now(); errors.Is(err, syscall.EAGAIN) && time.Since(began) < backlogFor && ctx.Err() == nil; {
		time.Sleep(backlogPause)
		c, err = d.DialContext(ctx, "unix", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	if err := SameUser(c, uid); err != nil {
		c.Close()
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// SameUser asks the kernel who is at the other end of a socket in the file system.
func SameUser(c net.Conn, uid int) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	peer, err := peerUID(u)
	if err != nil {
		return fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	if peer != uid {
		return fmt.Errorf("the other end %w (%d): expected user %d", ErrForeign, peer, uid)
	}
	return nil
}
