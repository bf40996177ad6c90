package bridge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/usersock"
)

// A listener accepts one simulator on a socket in a directory that only this user can enter.
//
// The socket type is SEQPACKET, not STREAM: a batch is a message, so neither end has to find its
// boundaries, and truncation is detected immediately.
type listener struct {
	fd     int
	dir    string
	remove func() error // removes dir
	path   string
}

func listen() (*listener, error) {
	dir, remove, err := usersock.TempDir("nicloop-bridge-")
	if err != nil {
		return nil, err
	}
	l := &listener{fd: -1, dir: dir, remove: remove, path: filepath.Join(dir, "bridge")}
	if l.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		l.close()
		return nil, os.NewSyscallError("socket", err)
	}
	if err = unix.Bind(l.fd, &unix.SockaddrUnix{Name: l.path}); err != nil {
		l.close()
		return nil, fmt.Errorf("binding %s: %w", l.path, err)
	}
	if err = os.Chmod(l.path, 0o600); err == nil {
		err = os.NewSyscallError("listen", unix.Listen(l.fd, 1))
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *listener) close() {
	if l.fd >= 0 {
		_ = unix.Close(l.fd)
	}
	_ = l.remove()
}

// accept waits for the simulator; gone is closed if it exits.
func (l *listener) accept(ctx context.Context, gone <-chan struct{}, patience time.Duration) (conn, error) {
	const look = 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += look {
		ready := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(ready, int(look.Milliseconds())); n > 0 {
			fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC)
			return conn{fd}, os.NewSyscallError("accept", err)
		}
		select {
		case <-ctx.Done():
			return conn{}, ctx.Err()
		case <-gone:
			return conn{}, drivers.ErrPeerDied
		default:
		}
		if waited > patience {
			return conn{}, fmt.Errorf("%w: it has not connected for %v", drivers.ErrStarved, patience)
		}
	}
}
