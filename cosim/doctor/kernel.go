package doctor

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// memfd tries the anonymous memory that both ends of the bridge map.
func memfd() Tool {
	t := Tool{Name: "memfd", Need: "DMA memory shared with the simulator"}
	fd, err := unix.MemfdCreate("nicloop-doctor", unix.MFD_CLOEXEC)
	if err != nil {
		return t.fail(fmt.Errorf("memfd_create: %w", err), "run on Linux 3.17 or newer, outside of a sandbox that forbids memfd_create")
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 4096); err != nil {
		return t.fail(fmt.Errorf("ftruncate of a memfd: %w", err), "free memory")
	}
	m, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return t.fail(fmt.Errorf("mmap of a memfd: %w", err), "raise the limit of address space (ulimit -v)")
	}
	if err := unix.Munmap(m); err != nil {
		return t.fail(fmt.Errorf("munmap: %w", err), "")
	}
	t.OK = true
	return t
}

// sockets tries what the bridge talks through: a Unix socket that keeps messages
// apart and passes a descriptor.
func sockets() Tool {
	t := Tool{Name: "unix socket", Need: "talking to the simulator"}
	if err := passDescriptor(); err != nil {
		return t.fail(err, "run outside of a sandbox that forbids Unix sockets")
	}
	t.OK = true
	return t
}

func passDescriptor() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if err := unix.Sendmsg(pair[0], []byte{1}, unix.UnixRights(pair[0]), nil, 0); err != nil {
		return fmt.Errorf("sending a descriptor: %w", err)
	}
	data, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[1], data, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return fmt.Errorf("receiving a descriptor: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("expected one control message, found %d: %w", len(messages), errors.Join(err))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	return err
}
