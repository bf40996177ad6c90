package bridge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// A conn is this end of the socket, a blocking descriptor.
type conn struct{ fd int }

// setPatience sets the timeout of every later read and write.
func (c conn) setPatience(d time.Duration) error {
	tv := unix.NsecToTimeval(int64(d))
	if err := unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return os.NewSyscallError("SO_RCVTIMEO", err)
	}
	return os.NewSyscallError("SO_SNDTIMEO", unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv))
}

// receive reads one message. io.EOF: the peer has exited; ErrStarved: no message within the
// timeout.
func (c conn) receive(b []byte) ([]byte, error) {
	for {
		n, err := unix.Read(c.fd, b)
		switch {
		case err == nil && n > maxMessage:
			return nil, fmt.Errorf("%w: a message of more than %d bytes", drivers.ErrProtocol, maxMessage)
		case err == nil && n > 0:
			return b[:n], nil
		case err == nil:
			return nil, io.EOF
		case errors.Is(err, unix.EAGAIN):
			return nil, drivers.ErrStarved
		case errors.Is(err, unix.ECONNRESET):
			// The peer exited without reading everything. This is reported once, before its last
			// messages, which the next read returns.
		case !errors.Is(err, unix.EINTR):
			return nil, os.NewSyscallError("read", err)
		}
	}
}

// send writes one message, with a descriptor if fd is not negative.
func (c conn) send(b []byte, fd int) error {
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	for {
		err := unix.Sendmsg(c.fd, b, rights, nil, unix.MSG_NOSIGNAL)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.ENOTCONN):
			return io.EOF
		case errors.Is(err, unix.EAGAIN):
			return drivers.ErrStarved
		case !errors.Is(err, unix.EINTR):
			return os.NewSyscallError("sendmsg", err)
		}
	}
}

// write is send without a descriptor: the path of every batch.
func (c conn) write(b []byte) error {
	for {
		_, err := unix.Write(c.fd, b)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET):
			return io.EOF
		case errors.Is(err, unix.EAGAIN):
			return drivers.ErrStarved
		case !errors.Is(err, unix.EINTR):
			return os.NewSyscallError("write", err)
		}
	}
}

// hangUp wakes a blocked receive; the descriptor stays open.
func (c conn) hangUp() { _ = unix.Shutdown(c.fd, unix.SHUT_RDWR) }

func (c conn) close() { _ = unix.Close(c.fd) }

// checkPeer refuses a peer of another user or, if pid is not 0, of another process.
func (c conn) checkPeer(pid int) error {
	cred, err := unix.GetsockoptUcred(c.fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return os.NewSyscallError("SO_PEERCRED", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: the process that connected runs as user %d, expected %d", drivers.ErrProtocol, cred.Uid, os.Geteuid())
	}
	if pid != 0 && int(cred.Pid) != pid {
		return fmt.Errorf("%w: process %d connected, expected the simulator, %d", drivers.ErrProtocol, cred.Pid, pid)
	}
	return nil
}
