package socket

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/nicloop/nicloop/host/iwarp"
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

const (
	// maxSegments is the most datagrams of one call (UDP_MAX_SEGMENTS of Linux before 6.9).
	maxSegments = 64
	// maxParts is the most parts of a call. A datagram has a header, a scatter-gather list and a CRC.
	maxParts = maxSegments * (iwarp.MaxSGE + 2)
)

// Datagram is a DatagramPort over a UDP socket of IPv4. It calls the kernel with structures of its
// own, because package unix allocates its structures for every call.
//
// Linux can divide one call into datagrams of one length (UDP_SEGMENT), and join datagrams of one
// length that arrive together (UDP_GRO). Both are used if the kernel has them.
type Datagram struct {
	reader, writer message
	segments       int    // that one call can send
	rest           []byte // datagrams that arrived with the last one
	restFrom       netip.AddrPort
	restBytes      int // of each of them
	joined         []byte
}

// message is the argument of sendmsg or recvmsg.
type message struct {
	raw     syscall.RawConn
	call    func(fd uintptr) bool
	header  unix.Msghdr
	address unix.RawSockaddrInet4
	vector  [maxParts]unix.Iovec
	control [controlBytes]byte
	n       int
	errno   syscall.Errno
}

// controlBytes is the space of a control message with a length of datagrams. Sending, it is a
// uint16; received, an int32.
const controlBytes = 64

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
	err = raw.Control(func(fd uintptr) {
		if _, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT); err == nil {
			d.segments = maxSegments
		}
		if unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil {
			d.joined = make([]byte, maxJoined)
		}
	})
	return d, err
}

// maxJoined is the longest result of a receiving call: a payload of UDP over IPv4.
const maxJoined = 65535 - 20 - 8

// MaxSegments is the most datagrams of SendSegments.
func (d *Datagram) MaxSegments() int { return d.segments }

// Send passes the parts to the kernel as one datagram, without copying them together.
func (d *Datagram) Send(to netip.AddrPort, parts [][]byte) (bool, error) {
	d.writer.header.Control = nil
	d.writer.header.SetControllen(0)
	return d.send(to, parts)
}

// SendSegments passes several datagrams to the kernel in one call.
func (d *Datagram) SendSegments(to netip.AddrPort, bytes int, parts [][]byte) (bool, error) {
	w := &d.writer
	c := (*unix.Cmsghdr)(unsafe.Pointer(&w.control[0]))
	c.Level, c.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	c.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(w.control[unix.CmsgLen(0):], uint16(bytes))
	w.header.Control = &w.control[0]
	w.header.SetControllen(unix.CmsgSpace(2))
	accepted, err := d.send(to, parts)
	if err == unix.EIO || err == unix.EINVAL || err == unix.EOPNOTSUPP { // by this device, not by the kernel
		d.segments = 0
		return false, nil
	}
	return accepted, err
}

func (d *Datagram) send(to netip.AddrPort, parts [][]byte) (bool, error) {
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
	if len(d.rest) > 0 {
		return d.next(b), d.restFrom, true
	}
	r := &d.reader
	into := b
	if d.joined != nil && len(b) < len(d.joined) {
		into = d.joined // datagrams that are joined may need more than one of the caller's buffers
	}
	r.set(0, into)
	r.header.SetIovlen(1)
	r.header.Control = &r.control[0]
	r.header.SetControllen(len(r.control))
	if r.raw.Read(r.call) != nil || r.errno != 0 {
		return 0, netip.AddrPort{}, false
	}
	from := netip.AddrPortFrom(netip.AddrFrom4(r.address.Addr), swap(r.address.Port))
	each := r.segmentBytes()
	if each == 0 || each >= r.n {
		each = r.n
	}
	n := each
	if &into[0] != &b[0] {
		n = copy(b, into[:each])
		d.rest = into[each:r.n]
	} else if each < r.n {
		d.rest = d.joined[:copy(d.joined, into[each:r.n])]
	}
	d.restFrom, d.restBytes = from, each
	return n, from, true
}

// next returns a datagram that arrived with an earlier one.
func (d *Datagram) next(b []byte) int {
	each := min(d.restBytes, len(d.rest))
	n := copy(b, d.rest[:each])
	d.rest = d.rest[each:]
	return n
}

// segmentBytes returns the length of the datagrams that one call has received, or 0.
func (m *message) segmentBytes() int {
	space := int(m.header.Controllen)
	for at := 0; at+unix.SizeofCmsghdr <= space; {
		c := (*unix.Cmsghdr)(unsafe.Pointer(&m.control[at]))
		length := int(c.Len)
		if length < unix.SizeofCmsghdr || at+length > space {
			return 0
		}
		if c.Level == unix.IPPROTO_UDP && c.Type == unix.UDP_GRO && length >= unix.CmsgLen(4) {
			return int(int32(binary.NativeEndian.Uint32(m.control[at+unix.CmsgLen(0):])))
		}
		at += unix.CmsgSpace(length - unix.CmsgLen(0))
	}
	return 0
}

// swap converts a port between host and network order on any machine.
func swap(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
}
