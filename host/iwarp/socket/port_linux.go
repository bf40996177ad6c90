package socket

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt runs one system call on a descriptor without waiting for readiness. The runtime's poller
// would otherwise park the goroutine, which drives all queue pairs of a device.
type attempt struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

// result translates the error of a call that would have blocked into no progress.
func (a *attempt) result() (int, error) {
	if errors.Is(a.err, unix.EAGAIN) || errors.Is(a.err, unix.EINTR) {
		return 0, nil
	}
	return max(a.n, 0), a.err
}

// stream is a StreamPort over TCP.
type stream struct{ reader, writer attempt }

func newStream(c *net.TCPConn) (*stream, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &stream{}
	s.reader.raw, s.writer.raw = raw, raw
	s.reader.call = func(fd uintptr) bool {
		s.reader.n, s.reader.err = unix.Read(int(fd), s.reader.b)
		return true
	}
	s.writer.call = func(fd uintptr) bool {
		s.writer.n, s.writer.err = unix.Write(int(fd), s.writer.b)
		return true
	}
	return s, nil
}

func (s *stream) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s.reader.b = b
	if err := s.reader.raw.Read(s.reader.call); err != nil {
		return 0, err
	}
	n, err := s.reader.result()
	if s.reader.n == 0 && s.reader.err == nil {
		return 0, io.EOF
	}
	return n, err
}

func (s *stream) Write(b []byte) (int, error) {
	s.writer.b = b
	if err := s.writer.raw.Write(s.writer.call); err != nil {
		return 0, err
	}
	return s.writer.result()
}

// maxParts is the most parts of a datagram: two headers, a scatter-gather list and a CRC.
const maxParts = 16

// Datagram is a DatagramPort over a UDP socket of IPv4. It calls the kernel with structures of its
// own, because package unix allocates its structures for every call.
type Datagram struct {
	reader, writer message
}

// message is the argument of sendmsg or recvmsg.
type message struct {
	raw     syscall.RawConn
	call    func(fd uintptr) bool
	header  unix.Msghdr
	address unix.RawSockaddrInet4
	vector  [maxParts]unix.Iovec
	n       int
	errno   syscall.Errno
}

func (m *message) init(raw syscall.RawConn, trap uintptr) {
	m.raw = raw
	m.header.Name = (*byte)(unsafe.Pointer(&m.address))
	m.header.Iov = &m.vector[0]
	m.call = func(fd uintptr) bool {
		m.header.Namelen = unix.SizeofSockaddrInet4
		n, _, errno := unix.Syscall(trap, fd, uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
		m.n, m.errno = int(n), errno
		return true
	}
}

func (m *message) set(i int, b []byte) {
	m.vector[i].Base = unsafe.SliceData(b)
	m.vector[i].SetLen(len(b))
}

// NewDatagram returns the port of a bound socket. The socket must be of network "udp4".
func NewDatagram(c *net.UDPConn) (*Datagram, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	d := &Datagram{}
	d.reader.init(raw, unix.SYS_RECVMSG)
	d.writer.init(raw, unix.SYS_SENDMSG)
	return d, nil
}

// Send passes the parts to the kernel as one datagram, without copying them together.
func (d *Datagram) Send(to netip.AddrPort, parts [][]byte) (bool, error) {
	w := &d.writer
	if len(parts) > maxParts {
		return false, unix.EMSGSIZE
	}
	w.address.Family, w.address.Addr = unix.AF_INET, to.Addr().Unmap().As4()
	w.address.Port = swap(to.Port())
	for i, p := range parts {
		w.set(i, p)
	}
	w.header.SetIovlen(len(parts))
	if err := w.raw.Write(w.call); err != nil {
		return false, err
	}
	switch w.errno {
	case 0:
		return true, nil
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS:
		return false, nil
	}
	return false, w.errno
}

// Receive returns a datagram. It ignores errors that an earlier datagram caused, such as ICMP's
// port unreachable.
func (d *Datagram) Receive(b []byte) (int, netip.AddrPort, bool) {
	r := &d.reader
	r.set(0, b)
	r.header.SetIovlen(1)
	if r.raw.Read(r.call) != nil || r.errno != 0 {
		return 0, netip.AddrPort{}, false
	}
	return r.n, netip.AddrPortFrom(netip.AddrFrom4(r.address.Addr), swap(r.address.Port)), true
}

// swap converts a port between host and network order on any machine.
func swap(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
}
