package wire

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

// pair is both ends of a connection.
func pair(t testing.TB) (a, b *net.UnixConn) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	require.NoError(t, err)
	defer l.Close()
	a, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	require.NoError(t, err)
	b, err = l.AcceptUnix()
	require.NoError(t, err)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestFramesAndFilesArrive(t *testing.T) {
	a, b := pair(t)
	from, to := New(a, time.Second), New(b, 0)
	f, err := sharedmem.File(8192)
	require.NoError(t, err)
	defer f.Close()
	want := []Frame{
		{Kind: Welcome, Flag: 1, Node: 2, VPID: 3, A: 1 << 60, B: 5, Data: []byte("text")}, {Kind: ReadReg, A: 7}, {Kind: WritePIO, Data: make([]byte, MaxLine)},
	}
	require.NoError(t, from.SendFiles(&want[0], []*os.File{f, f}))
	for i := range want[1:] {
		require.NoError(t, from.Send(&want[i+1]))
	}
	got, files, err := to.ReceiveFiles()
	require.NoError(t, err)
	require.Equal(t, want[0], got)
	require.Len(t, files, 2)
	for _, f := range files {
		mem, err := sharedmem.Map(f, 8192)
		require.NoError(t, err)
		sharedmem.Free(mem)
		require.NoError(t, f.Close())
	}
	for _, w := range want[1:] {
		got, err := to.Receive()
		require.NoError(t, err)
		require.Equal(t, w, got)
	}
	require.NoError(t, from.Close())
	_, err = to.Receive()
	require.True(t, Gone(err))
}

// Errors keep what they are.
func TestErrorsCross(t *testing.T) {
	for _, c := range codes {
		err := ErrorOf(TextOf(c.err))
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.err.Error(), err.Error())
	}
	var bus *drivers.BusError
	err := ErrorOf(TextOf(errors.Join(errors.New("x"), &drivers.BusError{Node: 3, Port: "pio", Off: 8, Write: true, Resp: 2})))
	require.ErrorAs(t, err, &bus)
	require.Equal(t, 3, bus.Node)
	require.ErrorIs(t, ErrorOf([]byte("{")), drivers.ErrProtocol)
	require.EqualError(t, ErrorOf(TextOf(errors.New("anything"))), "anything")
}

// Whatever comes is a frame, or an error of a known kind, and no Data is longer than its kind may
// have.
func FuzzReceive(f *testing.F) {
	for _, frame := range []Frame{{Kind: Claim, Data: []byte("{}")}, {Kind: WritePIO, Data: make([]byte, 8)}, {Kind: Value, B: 3}} {
		f.Add(frame.Append(nil))
	}
	f.Add([]byte{'p', 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := pair(t)
		go func() {
			_, _ = a.Write(data)
			a.Close()
		}()
		c, left := New(b, 0), data
		for {
			got, err := c.Receive()
			if err != nil {
				require.True(t, Gone(err) || errors.Is(err, drivers.ErrProtocol), "%v", err)
				return
			}
			most, known := got.Kind.most()
			require.True(t, known)
			require.LessOrEqual(t, len(got.Data), most)
			again := got.Append(nil)
			require.Equal(t, left[:len(again)], again)
			left = left[len(again):]
		}
	})
}
