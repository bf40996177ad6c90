package shared

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/sharedmem"
	"github.com/nicloop/nicloop/drivers/usersock"
)

// stand serves one client by a script instead of a broker.
func stand(t *testing.T, script func(c *wire.Conn)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := usersock.Listen(path, os.Geteuid())
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for { // a client whose claim has no answer comes again
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			c := wire.New(conn, time.Second)
			if f, err := c.Receive(); err == nil && f.Kind == wire.Claim {
				script(c)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return path
}

func openAt(path string) (drivers.System, error) {
	return registry.Open(context.Background(), "shared:"+path+"?claim=0.0", drivers.Options{MemoryBytes: 4096})
}

// welcome answers a claim with a piece of so many bytes in a file of so many.
func welcome(t *testing.T, c *wire.Conn, nodes, node int, bytes, file uint64) {
	f, err := sharedmem.File(file)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	data, _ := json.Marshal(wire.WelcomeText{
		Info: drivers.Info{Nodes: nodes}, Pieces: []wire.Piece{{Node: node, Bytes: bytes, Segments: []drivers.Segment{{Addr: 1 << 20, Bytes: bytes}}}},
	})
	_ = c.SendFiles(&wire.Frame{Kind: wire.Welcome, Data: data}, []*os.File{f})
}

// A broker that answers a claim with what makes no sense is told apart from one that is gone, and
// nothing is opened.
func TestBadWelcomes(t *testing.T) {
	for name, c := range map[string]struct {
		script func(c *wire.Conn)
		want   error
	}{
		"hangs up":     {func(*wire.Conn) {}, drivers.ErrPeerDied},
		"refuses":      {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Over, Data: wire.TextOf(wire.ErrClaimed)}) }, wire.ErrClaimed},
		"says another": {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Value}) }, drivers.ErrProtocol},
		"says no text": {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Welcome, Data: []byte("{")}) }, drivers.ErrProtocol},
		"has no nodes": {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Welcome, Data: []byte("{}")}) }, drivers.ErrProtocol},
		"sends no file": {func(c *wire.Conn) {
			c.Send(&wire.Frame{Kind: wire.Welcome, Data: []byte(`{"info":{"nodes":2},"pieces":[{"node":0,"bytes":4096}]}`)})
		}, drivers.ErrProtocol},
		"has no such node":  {func(c *wire.Conn) { welcome(t, c, 2, 2, 4096, 4096) }, drivers.ErrProtocol},
		"sends a short one": {func(c *wire.Conn) { welcome(t, c, 2, 0, 8192, 4096) }, drivers.ErrConfig},
	} {
		_, err := openAt(stand(t, c.script))
		require.ErrorIs(t, err, c.want, name)
	}
}

// A broker that fails while a client waits for it ends the client's calls and waits, with an error
// that says how.
func TestBrokenBrokers(t *testing.T) {
	for name, c := range map[string]struct {
		after func(c *wire.Conn) // the question
		want  error
	}{
		"hangs up":              {func(*wire.Conn) {}, drivers.ErrPeerDied},
		"is over":               {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Over, Data: wire.TextOf(drivers.ErrAssertion)}) }, drivers.ErrAssertion},
		"speaks as a client":    {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.ReadReg}) }, drivers.ErrProtocol},
		"says what is no error": {func(c *wire.Conn) { c.Send(&wire.Frame{Kind: wire.Over, Data: []byte("?")}) }, drivers.ErrProtocol},
		"answers before it is asked": {func(c *wire.Conn) {
			for range 4 {
				c.Send(&wire.Frame{Kind: wire.Value, B: 1})
			}
		}, drivers.ErrProtocol},
	} {
		broken := c.after
		sys, err := openAt(stand(t, func(c *wire.Conn) {
			welcome(t, c, 2, 0, 4096, 4096)
			_, _ = c.Receive() // the Await
			c.Send(&wire.Frame{Kind: wire.Value, B: 1})
			_, _ = c.Receive() // that it may tell
			_, _ = c.Receive() // the question
			broken(c)
		}))
		require.NoError(t, err, name)
		dev := sys.Device(0)
		w, err := dev.Await(drivers.Cause{Bytes: 8})
		require.NoError(t, err, name)
		_, _ = dev.ReadReg(regs.Magic)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		for err = nil; err == nil; err = w.Wait(ctx) {
		}
		cancel()
		require.ErrorIs(t, err, c.want, name)
		_, err = dev.ReadReg(regs.Magic)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorIs(t, dev.WriteReg(regs.MboxRP(0), 1), c.want, name)
		dev.Memory()[0] = 1 // is still there
		require.NoError(t, sys.Close())
		_, err = dev.Await(drivers.Cause{Bytes: 8})
		require.Error(t, err, name)
	}
}

// An answer too many is not taken for that of the next question.
func TestAnswerTooMany(t *testing.T) {
	sys, err := openAt(stand(t, func(c *wire.Conn) {
		welcome(t, c, 2, 0, 4096, 4096)
		_, _ = c.Receive()
		c.Send(&wire.Frame{Kind: wire.Value, B: 7})
		c.Send(&wire.Frame{Kind: wire.Value, B: 8})
		_, _ = c.Receive()
	}))
	require.NoError(t, err)
	defer sys.Close()
	s := sys.(*System)
	if v, err := sys.Device(0).ReadReg(regs.Magic); err == nil { // the second may come before the first has been taken
		require.EqualValues(t, 7, v)
	} else {
		require.ErrorIs(t, err, drivers.ErrProtocol)
	}
	require.Eventually(t, func() bool { return len(s.answers) > 0 || s.broken() != nil }, 10*time.Second, time.Millisecond)
	_, err = sys.Device(0).ReadReg(regs.Magic)
	require.ErrorIs(t, err, drivers.ErrProtocol)
}

// Close ends calls and waits of other goroutines.
func TestCloseEndsWaits(t *testing.T) {
	sys, err := openAt(stand(t, func(c *wire.Conn) {
		welcome(t, c, 2, 0, 4096, 4096)
		for _, err := c.Receive(); err == nil; _, err = c.Receive() { // and answers nothing
		}
	}))
	require.NoError(t, err)
	asks := make(chan error)
	go func() {
		_, err := sys.Device(0).ReadReg(regs.Magic)
		asks <- err
	}()
	time.Sleep(10 * time.Millisecond)
	require.Empty(t, asks)
	require.NoError(t, sys.Close())
	require.ErrorIs(t, <-asks, drivers.ErrClosed)
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"shared:":               "no path",
		"shared:x?claim=0":      "NODE.PROCESS",
		"shared:x?claim=64.0":   "NODE.PROCESS",
		"shared:x?claim=0.16":   "NODE.PROCESS",
		"shared:x?domain=65536": "1 to 65535",
		"shared:x?claims=0.0":   `did you mean "claim"`,
	} {
		_, err := registry.Open(context.Background(), uri, drivers.Options{})
		require.ErrorIs(t, err, drivers.ErrConfig, uri)
		require.ErrorContains(t, err, want)
	}
	_, err := registry.Open(context.Background(), "shared:x", drivers.Options{Waves: &drivers.WaveWindow{}})
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	_, err = registry.Open(context.Background(), "shared:"+filepath.Join(t.TempDir(), "none"), drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrEnvironment)
}
