package admission

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

var errNoFiles = &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}

func serve(l *Controller, accept func() (net.Conn, error), handle func(*PendingConn)) chan error {
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(context.Background(), accept, func(f func()) { go f() }, handle) }()
	return ended
}

// Running out of descriptors for a moment does not end the service.
func TestAcceptRecovers(t *testing.T) {
	l := New(Config{Name: "test"})
	calls, served := 0, make(chan bool, 1)
	ended := serve(l, func() (net.Conn, error) {
		switch calls++; {
		case calls <= 4:
			return nil, errNoFiles
		case calls == 5:
			c, _ := net.Pipe()
			return c, nil
		}
		return nil, net.ErrClosed
	}, func(*PendingConn) { served <- true })
	require.True(t, <-served)
	require.NoError(t, <-ended)
}

// Running out of descriptors for good is an error, and not silence.
func TestAcceptFailsForGood(t *testing.T) {
	l := New(Config{Name: "test", Patience: 50 * time.Millisecond})
	err := <-serve(l, func() (net.Conn, error) { return nil, errNoFiles }, nil)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.ErrorContains(t, err, "test: accepting connections has failed for 50ms")
}

// A failing accept closes the oldest silent connection: that frees a descriptor.
func TestFailedAcceptEvicts(t *testing.T) {
	l := New(Config{Name: "test"})
	mine, theirs := net.Pipe()
	calls := 0
	ended := serve(l, func() (net.Conn, error) {
		switch calls++; calls {
		case 1:
			return theirs, nil
		case 2:
			return nil, errNoFiles
		}
		return nil, net.ErrClosed
	}, func(g *PendingConn) { _, _ = io.Copy(io.Discard, g) })
	require.NoError(t, <-ended)
	_, err := mine.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// The end of the service while accept fails is not waited for.
func TestEndDuringAPause(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	err := New(Config{Name: "test"}).Serve(ctx, func() (net.Conn, error) { cancel(); return nil, errNoFiles }, nil, nil)
	require.NoError(t, err)
}

// From one address come no more than its share; the oldest of that address makes room, and an
// admitted connection is not evicted.
func TestOldestMakesRoom(t *testing.T) {
	from := func(ip string) net.Conn { return addressed{ip: ip} }
	l := New(Config{Most: 3, PerAddress: 2})
	b, a := l.enter(from("2.2.2.2")), l.enter(from("1.1.1.1"))
	c := l.enter(from("1.1.1.1"))
	d := l.enter(from("1.1.1.1"))
	require.Equal(t, []*PendingConn{b, c, d}, l.pending)
	require.False(t, a.Admit())
	require.True(t, c.Admit())
	e, f := l.enter(from("2.2.2.2")), l.enter(from("3.3.3.3"))
	require.Equal(t, []*PendingConn{d, e, f}, l.pending)
	l.leave(d)
	require.Equal(t, []*PendingConn{e, f}, l.pending)
}

type addressed struct {
	net.Conn
	ip string
}

func (a addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(a.ip)} }
func (a addressed) Close() error         { return errors.New("nothing to close") }
