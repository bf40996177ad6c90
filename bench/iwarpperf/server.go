package iwarpperf

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/admission"
	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/socket"
	"github.com/sirupsen/logrus"
)

// startTimeout limits the start-up phase of a connection.
const startTimeout = 5 * time.Second

// ServerOptions configure a Server.
type ServerOptions struct {
	Listen string         // ADDRESS:PORT of IPv4; port 0: any free ports
	Token  string         // that connections must present; empty: none
	Allow  []netip.Prefix // sources that are served; empty: all
}

// A Server answers clients: RC at a TCP port, UD at the UDP port of the same number, and RD at the
// next UDP port.
type Server struct {
	options   ServerOptions
	listener  *net.TCPListener
	datagrams map[iwarp.QPType]*net.UDPConn
}

// Listen opens the sockets of a server.
func Listen(o ServerOptions) (*Server, error) {
	address, err := net.ResolveTCPAddr("tcp4", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	// The next port of a free one may be in use.
	for attempt := 0; ; attempt++ {
		s, err := listen(o, address)
		if err == nil {
			return s, nil
		}
		if address.Port != 0 || attempt == 20 {
			return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
		}
	}
}

func listen(o ServerOptions, address *net.TCPAddr) (*Server, error) {
	l, err := net.ListenTCP("tcp4", address)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, listener: l, datagrams: map[iwarp.QPType]*net.UDPConn{}}
	port := l.Addr().(*net.TCPAddr).Port
	for i, kind := range []iwarp.QPType{iwarp.UD, iwarp.RD} {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: address.IP, Port: port + i})
		if err != nil {
			s.Close()
			return nil, err
		}
		_ = c.SetReadBuffer(socketBuffer) // the kernel may grant less
		s.datagrams[kind] = c
	}
	return s, nil
}

// socketBuffer is the buffer that is requested for sockets of datagrams.
const socketBuffer = 8 << 20

// Address returns the address of the TCP port.
func (s *Server) Address() netip.AddrPort { return s.listener.Addr().(*net.TCPAddr).AddrPort() }

// Close closes all sockets.
func (s *Server) Close() {
	_ = s.listener.Close()
	for _, c := range s.datagrams {
		_ = c.Close()
	}
}

// Serve answers clients until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	failed := make(chan error, len(s.datagrams))
	for kind, c := range s.datagrams {
		all.Go(func() { failed <- s.serveDatagrams(ctx, kind, c) })
	}
	go func() { // a datagram server fails only if its socket does
		select {
		case err := <-failed:
			if err != nil && ctx.Err() == nil {
				logrus.WithFields(logrus.Fields{"layer": "iwarp", "error": err}).Warn("datagrams are no longer served")
			}
		case <-ctx.Done():
		}
	}()
	controller := admission.New(admission.Config{Name: "iwarp", PerAddress: 64})
	return controller.Serve(ctx, s.listener.Accept, all.Go, func(c *admission.PendingConn) {
		if err := s.serveConnection(ctx, c); err != nil && ctx.Err() == nil {
			logrus.WithFields(logrus.Fields{"layer": "iwarp", "peer": c.RemoteAddr(), "error": err}).Debug("connection ended")
		}
	})
}

func (s *Server) allows(from netip.Addr) bool {
	return len(s.options.Allow) == 0 ||
		slices.ContainsFunc(s.options.Allow, func(p netip.Prefix) bool { return p.Contains(from.Unmap()) })
}

// admit checks the token in the private data of a connection request.
func (s *Server) admit(private []byte) error {
	if s.options.Token != "" && subtle.ConstantTimeCompare(private, []byte(s.options.Token)) != 1 {
		return errors.New("the connection request has the wrong token")
	}
	return nil
}

func (s *Server) serveConnection(ctx context.Context, p *admission.PendingConn) error {
	c := p.Conn
	if from := c.RemoteAddr().(*net.TCPAddr).AddrPort(); !s.allows(from.Addr()) {
		return fmt.Errorf("%v is not in the list of allowed sources", from.Addr())
	}
	a, err := accept(c, s.admit)
	if err != nil {
		return err
	}
	p.Admit()
	e, err := newEcho(iwarp.RC, a)
	if err != nil {
		return err
	}
	return e.serve(ctx)
}

// accept performs the start-up phase of a connection that a client has opened.
func accept(c net.Conn, admit func(private []byte) error) (iwarp.Attachment, error) {
	return socket.Accept(c.(*net.TCPConn), options(nil), startTimeout, admit)
}

// admitAll admits every connection request.
func admitAll([]byte) error { return nil }

// serveDatagrams replaces a queue pair that has failed: a faulty datagram of one client must not
// end the service of the others.
func (s *Server) serveDatagrams(ctx context.Context, kind iwarp.QPType, c *net.UDPConn) error {
	port, err := socket.NewDatagram(c)
	if err != nil {
		return err
	}
	for {
		e, err := newEcho(kind, iwarp.Attachment{Datagram: &filter{port, s}})
		if err != nil {
			return err
		}
		if err := e.serve(ctx); !errors.Is(err, ErrFailed) {
			return nil
		}
		e.Progress() // sends the error message
	}
}

// filter drops datagrams of sources that are not allowed.
type filter struct {
	*socket.Datagram
	server *Server
}

func (f *filter) Receive(b []byte) (int, netip.AddrPort, bool) {
	n, from, ok := f.Datagram.Receive(b)
	return n, from, ok && f.server.allows(from.Addr())
}

// echo is the end of the server.
type echo struct {
	*endpoint
	counted uint64
}

func newEcho(kind iwarp.QPType, a iwarp.Attachment) (*echo, error) {
	e, err := open(kind, a, slots)
	return &echo{endpoint: e}, err
}

// serve answers messages until the queue pair fails or ctx ends.
func (e *echo) serve(ctx context.Context) error {
	return drive(ctx, e.progress, func() bool { return false })
}

// progress moves data and answers messages. It empties the completion queue, because a completion
// that waits there holds back the buffer of a reply that the client may have received already.
func (e *echo) progress() (bool, error) {
	worked := e.Progress()
	completed, err := e.handle(func(w *iwarp.WC) error {
		if err := e.answer(w); err != nil && e.qp.State() == iwarp.RTS {
			return err
		}
		return nil // failure reports the error of a queue pair that has left RTS
	})
	if err != nil {
		return false, err
	}
	return worked || completed, e.failure()
}

func (e *echo) answer(w *iwarp.WC) error {
	switch {
	case w.Status == iwarp.StatusFlushed, w.Receive && w.Status != iwarp.StatusSuccess:
		return nil // failure reports it
	case !w.Receive: // a reply was sent from the slot, which is free now
		return e.receive(w.ID)
	case w.Opcode == rdmap.ImmediateSE:
		binary.BigEndian.PutUint64(e.slot(w.ID), e.counted)
		e.counted = 0
		return e.send(rdmap.Immediate, w.ID, int(w.ID), rdmap.ImmediateBytes, w.Source)
	case w.Opcode.Solicited():
		return e.send(rdmap.Send, w.ID, int(w.ID), w.Length, w.Source)
	}
	e.counted++
	return e.receive(w.ID)
}
