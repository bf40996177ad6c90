package bootstrap

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

	"github.com/nicloop/nicloop/drivers"
)

// listenUnix makes a socket at path that only its user reaches, from the moment on at which it is there. Nothing that is there
// already is replaced but a socket of the same user's at which nobody listens.
func listenUnix(path string, uid int) (net.Listener, error) {
	if err := removeStale(path, uid); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".nicloop-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err)
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Link(made, path) // fails if there is something now
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err), l.Close())
	}
	return &unixListener{UnixListener: l, path: path}, nil
}

// A unixListener takes its socket away when it ends.
type unixListener struct {
	*net.UnixListener
	path string
	once sync.Once
}

func (l *unixListener) Close() (err error) {
	l.once.Do(func() { err = errors.Join(l.UnixListener.Close(), os.Remove(l.path)) })
	return err
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
		return fmt.Errorf("%w: bootstrap: somebody listens at %s already", drivers.ErrEnvironment, path)
	}
	return os.Remove(path)
}

// ownSocket tells what makes a path another thing than a socket that is the user's alone.
func ownSocket(path string, uid int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w: bootstrap: %s is no socket", drivers.ErrEnvironment, path)
	case !known || int(owner.Uid) != uid:
		return fmt.Errorf("bootstrap: %s %w (%d): expected one of user %d", path, ErrForeign, owner.Uid, uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: bootstrap: %s has mode %o: others could use it, expected 0600", drivers.ErrEnvironment, path, info.Mode().Perm())
	}
	return nil
}

// dial connects to who listens at an address, and makes sure that over a file it is the same user.
func dial(ctx context.Context, network, address string, uid int) (net.Conn, error) {
	if network == "unix" {
		if err := ownSocket(address, uid); err != nil {
			return nil, err
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err)
	}
	if err := sameUser(c, uid); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// sameUser asks the kernel who is at the other end of a socket in the file system.
func sameUser(c net.Conn, uid int) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	peer, err := peerUID(u)
	if err != nil {
		return fmt.Errorf("%w: bootstrap: %w", drivers.ErrEnvironment, err)
	}
	if peer != uid {
		return fmt.Errorf("bootstrap: the other end %w (%d): expected user %d", ErrForeign, peer, uid)
	}
	return nil
}
