package socket

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"

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

// Datagram is a DatagramPort over a UDP socket of IPv4.
type Datagram struct {
	reader, writer attempt
	parts          [][]byte
	to             unix.SockaddrInet4
	from           netip.AddrPort
}

// NewDatagram returns the port of a bound socket. The socket must be of network "udp4".
func NewDatagram(c *net.UDPConn) (*Datagram, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	d := &Datagram{}
	d.reader.raw, d.writer.raw = raw, raw
	d.reader.call = func(fd uintptr) bool {
		var from unix.Sockaddr
		d.reader.n, from, d.reader.err = unix.Recvfrom(int(fd), d.reader.b, 0)
		if a, ok := from.(*unix.SockaddrInet4); ok {
			d.from = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
		}
		return true
	}
	d.writer.call = func(fd uintptr) bool {
		d.writer.n, d.writer.err = unix.SendmsgBuffers(int(fd), d.parts, nil, &d.to, 0)
		return true
	}
	return d, nil
}

// Send passes the parts to the kernel as one datagram, without copying them together.
func (d *Datagram) Send(to netip.AddrPort, parts [][]byte) (bool, error) {
	d.to = unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().Unmap().As4()}
	d.parts = parts
	if err := d.writer.raw.Write(d.writer.call); err != nil {
		return false, err
	}
	n, err := d.writer.result()
	return n > 0, err
}

// Receive returns a datagram. Errors that an earlier datagram has caused, such as a port that
// nobody has bound, are no datagram.
func (d *Datagram) Receive(b []byte) (int, netip.AddrPort, bool) {
	d.reader.b = b
	if d.reader.raw.Read(d.reader.call) != nil || d.reader.err != nil {
		return 0, netip.AddrPort{}, false
	}
	return d.reader.n, d.from, true
}
