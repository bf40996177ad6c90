package ethernet

import (
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/nicloop/nicloop/drivers"
)

// Errors of streams.
var (
	ErrReset = errors.New("ethernet: the peer has reset the stream")
	ErrLost  = errors.New("ethernet: the peer of the stream does not answer")
)

const (
	firstDialPort = 49152 // of the dynamic ports (RFC 6335)
	maxAttempts   = 15    // transmissions of a segment; TCP_RETR2 of Linux
	maxBackoff    = 9     // doublings of RetransmitTime
)

type streamState uint8

const (
	streamDialing   streamState = iota // sent a SYN
	streamAccepting                    // received a SYN
	streamOpen
	streamFailed
)

// streamKey names a stream of a host.
type streamKey struct {
	port   uint16
	remote netip.AddrPort
}

// Listener accepts streams at a port of a host.
type Listener struct {
	local netip.AddrPort
	ready []*Stream
}

// Listen returns a listener.
func (n *Network) Listen(host int, port uint16) (*Listener, error) {
	h, err := n.host(host)
	if err != nil {
		return nil, err
	}
	if h.listeners[port] != nil {
		return nil, fmt.Errorf("%w: port %d of host %d", ErrBound, port, host)
	}
	l := &Listener{local: netip.AddrPortFrom(Address(host), port)}
	h.listeners[port] = l
	return l, nil
}

// Address returns the address for Dial.
func (l *Listener) Address() netip.AddrPort { return l.local }

// Accept returns the next stream that a peer has opened, if there is one.
func (l *Listener) Accept() (*Stream, bool) {
	if len(l.ready) == 0 {
		return nil, false
	}
	s := l.ready[0]
	l.ready = l.ready[1:]
	return s, true
}

// Stream is a reliable byte stream between two hosts. It is a StreamPort of host/iwarp.
type Stream struct {
	host   *host
	remote netip.AddrPort
	port   uint16
	state  streamState
	err    error
	sender
	receiver
}

// Dial opens a stream. Until the peer has answered, Read and Write return 0.
func (n *Network) Dial(host int, to netip.AddrPort) (*Stream, error) {
	h, err := n.host(host)
	if err != nil {
		return nil, err
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	if _, ok := n.hostAt(to.Addr()); !ok {
		return nil, refuse("address", to.Addr(), "the address of a host")
	}
	s := h.newStream(h.nextPort, to, streamDialing)
	h.nextPort++
	h.work(n.config.SendCost)
	s.sendSYN()
	return s, nil
}

func (h *host) newStream(port uint16, remote netip.AddrPort, state streamState) *Stream {
	s := &Stream{host: h, port: port, remote: remote, state: state}
	s.unacked = h.network.firstSequence + 1
	s.next = s.unacked
	s.ackAt, s.repeatAt, s.timerAt = drivers.Never, drivers.Never, drivers.Never
	h.streams[streamKey{port, remote}] = s
	return s
}

// Err returns the error that has ended the stream, or nil.
func (s *Stream) Err() error { return s.err }

// SegmentBytes returns the longest payload of a segment.
func (s *Stream) SegmentBytes() int { return s.host.network.config.segmentBytes() }

// IsOpen reports whether the peer has answered and no error has ended the stream.
func (s *Stream) IsOpen() bool { return s.state == streamOpen }

// Write adds bytes to the send buffer and returns how many fitted. A buffer of which less than a
// third is free takes the whole of b or nothing.
func (s *Stream) Write(b []byte) (int, error) {
	switch {
	case s.err != nil:
		return 0, s.err
	case s.closed:
		return 0, io.ErrClosedPipe
	case s.state != streamOpen:
		return 0, nil
	}
	size := s.host.network.config.SendBuffer
	n := min(len(b), size-s.out.len())
	if n <= 0 || n < len(b) && n < size/3 {
		return 0, nil
	}
	s.host.work(s.host.network.config.SendCost)
	s.out.add(b[:n])
	s.transmit()
	return n, nil
}

// Close ends the direction to the peer behind the bytes that were written.
func (s *Stream) Close() error {
	if s.err == nil && !s.closed {
		s.closed = true
		s.transmit()
	}
	return nil
}

// Read returns bytes that have arrived, io.EOF behind the last one.
func (s *Stream) Read(b []byte) (int, error) {
	n := copy(b, s.in.bytes())
	s.in.remove(n)
	switch {
	case n > 0:
		s.updateWindow()
		return n, nil
	case s.err != nil:
		return 0, s.err
	case s.eof:
		return 0, io.EOF
	}
	s.awake = false
	return 0, nil
}

// acceptSegment passes a segment to its stream when the core has processed it.
func (h *host) acceptSegment(from netip.Addr, data []byte) {
	n := h.network
	g, ok := decodeSegment(from, Address(h.index), data)
	if !ok {
		n.counters.BadChecksum++
		return
	}
	h.work(n.config.SegmentCost)
	s := h.streams[streamKey{g.destination, netip.AddrPortFrom(from, g.source)}]
	if s != nil && len(g.payload) > 0 && !s.awake {
		s.awake = true
		h.work(n.config.ReceiveCost)
	}
	n.schedule(h.cpuFree, event{kind: segmentReady, host: h, segment: &g})
}

// deliver passes a segment to its stream, which a SYN to a listener creates.
func (h *host) deliver(g *segment) {
	key := streamKey{g.destination, netip.AddrPortFrom(g.from, g.source)}
	s := h.streams[key]
	switch {
	case s != nil:
		s.receive(g)
	case g.flags&flagRST != 0:
	case g.flags&(flagSYN|flagACK) == flagSYN && h.listeners[g.destination] != nil:
		s = h.newStream(key.port, key.remote, streamAccepting)
		s.expected, s.window = g.seq+1, g.window
		s.sendSYN()
	default:
		h.network.counters.NoSocket++
		// The reset is accepted by its sequence number (RFC 9293, section 3.10.7.1).
		reply := segment{seq: g.ack, ack: g.end(), flags: flagRST | flagACK}
		if g.flags&flagSYN != 0 {
			reply.ack++
		}
		h.sendSegment(key, &reply)
	}
}

// sendSegment transmits a segment of a stream.
func (h *host) sendSegment(key streamKey, g *segment) {
	n := h.network
	peer, ok := n.hostAt(key.remote.Addr())
	if !ok {
		return // no frame comes from outside the network
	}
	n.counters.Segments++
	g.source, g.destination = key.port, key.remote.Port()
	local := Address(h.index)
	data := encodeSegment(local, key.remote.Addr(), g, n.config.segmentBytes())
	h.work(n.config.SegmentCost)
	if peer == h {
		h.acceptSegment(local, data)
		return
	}
	h.sendFrame(peer, packet{from: local, to: key.remote.Addr(), protocol: protocolTCP, id: h.nextID, payload: data})
	h.nextID++
}

// segmentBytes is the longest payload of a segment.
func (c *Config) segmentBytes() int { return c.MTU - ipBytes - tcpBytes }

// receive processes a segment.
func (s *Stream) receive(g *segment) {
	switch {
	case s.state == streamFailed:
		return
	case g.flags&flagRST != 0:
		s.fail(ErrReset)
		return
	case s.state == streamDialing:
		if g.flags&(flagSYN|flagACK) != flagSYN|flagACK || g.ack != s.unacked {
			return
		}
		s.expected, s.edge, s.window = g.seq+1, g.seq+1, g.window
		s.established()
		s.sendAck()
		return
	case g.flags&flagSYN != 0:
		if s.state == streamAccepting {
			s.sendSYN() // the peer has repeated its SYN
		} else {
			s.sendAck() // the peer has repeated its answer: our acknowledgement was lost
		}
		return
	case g.flags&flagACK == 0:
		return
	}
	if s.state == streamAccepting {
		if g.ack != s.unacked {
			return
		}
		s.established()
		l := s.host.listeners[s.port]
		l.ready = append(l.ready, s)
	}
	s.acknowledged(g)
	s.store(g)
	s.transmit()
	s.acknowledge()
}

func (s *Stream) established() {
	s.state, s.attempts, s.repeatAt = streamOpen, 0, drivers.Never
}

func (s *Stream) fail(err error) {
	s.state, s.err = streamFailed, err
	s.repeatAt, s.ackAt = drivers.Never, drivers.Never
}

// sendSYN sends the first segment of an end, which the peer acknowledges.
func (s *Stream) sendSYN() {
	g := segment{seq: s.unacked - 1, flags: flagSYN, window: min(s.freeWindow(), maxUnscaled)}
	if s.state == streamAccepting {
		g.flags, g.ack = g.flags|flagACK, s.expected
	}
	s.host.sendSegment(s.key(), &g)
	s.edge = s.expected + uint32(g.window)
	s.startTimer()
}

func (s *Stream) key() streamKey { return streamKey{s.port, s.remote} }
