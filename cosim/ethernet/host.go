package ethernet

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/nicloop/nicloop/drivers"
)

// Errors of sockets.
var (
	ErrTooLong = errors.New("ethernet: datagram too long")
	ErrBound   = errors.New("ethernet: port is in use")
)

// host is a machine with one cable.
type host struct {
	network   *Network
	index     int
	up        port         // towards the switch
	down      port         // of the switch, towards this host
	cpuFree   drivers.Time // end of the work that the core has accepted
	nextID    uint16       // identification of IP datagrams
	sockets   map[uint16]*Socket
	streams   map[streamKey]*Stream
	listeners map[uint16]*Listener
	nextPort  uint16 // of a stream that Dial opens

	partial      map[reassemblyKey]*reassembly
	partialBytes int
}

// received is a datagram in a socket buffer.
type received struct {
	from netip.AddrPort
	data []byte
}

// Socket is a bound UDP socket. It is a DatagramPort of host/iwarp.
type Socket struct {
	host   *host
	local  netip.AddrPort
	queue  []received
	queued int // bytes, including datagrams that the core has not processed
}

// host checks the number of a host.
func (n *Network) host(i int) (*host, error) {
	if i < 0 || i >= len(n.hosts) {
		return nil, refuse("host", i, fmt.Sprintf("0 to %d", len(n.hosts)-1))
	}
	return n.hosts[i], nil
}

// Bind returns the socket of a port of a host.
func (n *Network) Bind(host int, port uint16) (*Socket, error) {
	h, err := n.host(host)
	if err != nil {
		return nil, err
	}
	if h.sockets[port] != nil {
		return nil, fmt.Errorf("%w: port %d of host %d", ErrBound, port, host)
	}
	s := &Socket{host: h, local: netip.AddrPortFrom(Address(host), port)}
	h.sockets[port] = s
	return s, nil
}

// Address returns the address of a socket.
func (s *Socket) Address() netip.AddrPort { return s.local }

// Send sends the parts as one datagram. It returns false if the send buffer of the host is full. A
// datagram of any length is accepted by an empty one.
func (s *Socket) Send(to netip.AddrPort, parts [][]byte) (bool, error) {
	n, h := s.host.network, s.host
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	if length > MaxDatagram {
		return false, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, length, MaxDatagram)
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	frames := n.config.fragments(udpBytes + length)
	size := udpBytes + length + frames*(etherBytes+ipBytes+overhead)
	if h.up.queued > 0 && h.up.queued+size > n.config.SendBuffer {
		return false, nil
	}
	n.counters.Sent++
	peer, ok := n.hostAt(to.Addr())
	if !ok {
		n.counters.Unroutable++
		return true, nil
	}
	h.work(n.config.SendCost)
	datagram := encodeUDP(s.local, to, parts, length, n.config.NoChecksum)
	if peer == h {
		h.accept(s.local.Addr(), datagram)
		return true, nil
	}
	h.sendFragments(peer, s.local.Addr(), to.Addr(), datagram)
	return true, nil
}

// work occupies the core for a time.
func (h *host) work(t drivers.Time) { h.cpuFree = max(h.cpuFree, h.network.now) + t }

// sendFragments transmits the frames of a datagram. The core prepares the next frame while the
// cable transmits the last one.
func (h *host) sendFragments(peer *host, from, to netip.Addr, datagram []byte) {
	n := h.network
	step := len(datagram)
	if n.config.fragments(step) > 1 {
		step = n.config.fragmentBytes()
	}
	id := h.nextID
	h.nextID++
	for offset := 0; offset < len(datagram); offset += step {
		end := min(offset+step, len(datagram))
		h.sendFrame(peer, packet{
			from: from, to: to, protocol: protocolUDP, id: id, offset: offset, more: end < len(datagram),
			payload: datagram[offset:end],
		})
	}
}

// sendFrame transmits an IP packet when the core has processed it.
func (h *host) sendFrame(peer *host, p packet) {
	n := h.network
	data := encodeFrame(h.index, peer.index, p)
	h.work(n.config.FrameCost)
	size := wireBytes(len(data))
	at := n.transmit(&h.up, h.cpuFree, size)
	n.schedule(at, event{kind: frameLeftHost, host: h, data: data, size: size})
	n.schedule(at+n.config.Cable+n.config.SwitchLatency, event{kind: frameAtSwitch, host: peer, data: data})
}

// receive processes a frame.
func (h *host) receive(data []byte) {
	n := h.network
	p, failure := decodeFrame(h.index, data)
	switch failure {
	case frameForeign:
		n.counters.Foreign++
		return
	case frameCorrupt:
		n.counters.BadHeader++
		return
	}
	h.work(n.config.FrameCost)
	if p.protocol == protocolTCP {
		h.acceptSegment(p.from, p.payload)
		return
	}
	datagram := p.payload
	if p.more || p.offset > 0 {
		if datagram = h.reassemble(&p); datagram == nil {
			return
		}
	}
	h.accept(p.from, datagram)
}

// accept passes a datagram to its socket when the core has processed it.
func (h *host) accept(from netip.Addr, datagram []byte) {
	n := h.network
	source, destination, payload, ok := decodeUDP(from, Address(h.index), datagram)
	if !ok {
		n.counters.BadChecksum++
		return
	}
	s := h.sockets[destination]
	if s == nil {
		n.counters.NoSocket++
		return
	}
	if s.queued > 0 && s.queued+len(payload) > n.config.ReceiveBuffer {
		n.counters.SocketFull++
		return
	}
	s.queued += len(payload)
	h.work(n.config.ReceiveCost)
	d := received{netip.AddrPortFrom(from, source), payload}
	n.schedule(h.cpuFree, event{kind: datagramReady, host: h, socket: s, datagram: d})
}

// Receive returns the next datagram. If b is shorter, the rest is discarded.
func (s *Socket) Receive(b []byte) (int, netip.AddrPort, bool) {
	if len(s.queue) == 0 {
		return 0, netip.AddrPort{}, false
	}
	d := s.queue[0]
	s.queue[0] = received{}
	s.queue = s.queue[1:]
	s.queued -= len(d.data)
	return copy(b, d.data), d.from, true
}
