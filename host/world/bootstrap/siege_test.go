package bootstrap

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// Silent strangers do not keep out a program that knows the token, regardless of their number and
// of how long they stay connected.
func TestSilentStrangersKeepNobodyOut(t *testing.T) {
	c := config(t, "tcp", 2, 0)
	l := listen(t, c)
	all := wait(l)
	for range 300 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.Addr(), "tcp:"))
		require.NoError(t, err)
		defer conn.Close()
	}
	time.Sleep(200 * time.Millisecond) // all are pending
	began := time.Now()
	_, err := join(l, c, 1)
	require.NoError(t, err)
	require.NoError(t, <-all)
	require.Less(t, time.Since(began), 5*time.Second)
}

// The payload announced by a peer that has not proved that it knows the token is refused without
// reading it.
func TestNothingIsReadBeforeTheToken(t *testing.T) {
	c := config(t, "tcp", 2, 0)
	l := listen(t, c)
	all := wait(l)
	for _, kind := range []byte{kindClaim, kindProof, kindRefused} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.Addr(), "tcp:"))
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(c.Timeout/12)))
		hello := append([]byte(greeting), make([]byte, nonceBytes)...)
		_, err = conn.Write(binary.LittleEndian.AppendUint32(append(hello, kind), maxPayload))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, conn)
		require.False(t, isTimeout(err), "kind %q: it is waited for 4 MiB of somebody who has proved nothing", kind)
	}
	_, err := join(l, c, 1)
	require.NoError(t, err)
	require.NoError(t, <-all)
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// If the listener hangs up on every handshake, Join retries until the timeout and returns a typed
// error.
func TestHandshakesThatAreCutOff(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	calls := make(chan bool, 1000)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			calls <- true
			_ = conn.(*net.TCPConn).SetLinger(0) // the joiner sees a reset
			conn.Close()
		}
	}()
	c := config(t, "tcp", 2, 1)
	c.Address, c.Timeout = "tcp:"+l.Addr().String(), time.Second
	_, err = Join(context.Background(), c)
	require.ErrorIs(t, err, drivers.ErrPeerDied)
	require.ErrorContains(t, err, "closed connections before the handshake ended")
	require.Greater(t, len(calls), 3)
}
