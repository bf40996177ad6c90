package iwarpperf

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp/datagram"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
)

// serving starts a server on the loopback device and returns its address.
func serving(t *testing.T, o ServerOptions) string {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	s, err := Listen(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s.Address().String()
}

func TestPingAndBandwidth(t *testing.T) {
	server := serving(t, ServerOptions{Token: "a token of 16 bytes"})
	for _, address := range []string{"", server} {
		for _, kind := range Kinds() {
			c, err := Open(t.Context(), ClientOptions{QP: kind, Address: address, Token: "a token of 16 bytes"})
			require.NoError(t, err)
			for _, size := range []int{0, 1, 1500, MaxBytes} {
				row, err := c.Ping(t.Context(), size, 20, 2)
				require.NoError(t, err, "%s at %q, %d bytes", kind, address, size)
				require.Positive(t, row.HalfTrip)
				require.LessOrEqual(t, row.MinHalfTrip, row.HalfTrip)
			}
			for _, both := range []bool{false, true} {
				row, err := c.Bandwidth(t.Context(), 2048, 300, MaxWindow, both)
				require.NoError(t, err, "%s at %q", kind, address)
				require.Positive(t, row.Bandwidth)
				if kind != "ud" {
					require.Zero(t, row.Lost)
				}
			}
			c.Close()
		}
	}
}

func TestAdmission(t *testing.T) {
	var rejected *mpa.ErrRejected
	server := serving(t, ServerOptions{Token: "a token of 16 bytes"})
	_, err := Open(t.Context(), ClientOptions{QP: "rc", Address: server, Token: "another"})
	require.ErrorAs(t, err, &rejected)

	server = serving(t, ServerOptions{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	_, err = Open(t.Context(), ClientOptions{QP: "rc", Address: server})
	require.Error(t, err)
	c, err := Open(t.Context(), ClientOptions{QP: "ud", Address: server})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Ping(t.Context(), 8, 2, 0)
	require.ErrorContains(t, err, "all 2 messages were lost")
}

// TestFaultyDatagram: a server that has received a datagram without sense continues to serve.
func TestFaultyDatagram(t *testing.T) {
	server := serving(t, ServerOptions{})
	conn, err := net.Dial("udp4", server)
	require.NoError(t, err)
	defer conn.Close()
	for _, b := range faultyDatagrams() {
		_, err = conn.Write(b)
		require.NoError(t, err)
	}
	c, err := Open(t.Context(), ClientOptions{QP: "ud", Address: server})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Ping(t.Context(), 100, 5, 2)
	require.NoError(t, err)
}

func TestRping(t *testing.T) {
	address := make(chan net.Addr, 1)
	type result struct {
		moved int
		err   error
	}
	done := make(chan result, 1)
	go func() {
		n, err := RpingServer(t.Context(), RpingOptions{Address: "127.0.0.1:0"}, func(a net.Addr) { address <- a })
		done <- result{n, err}
	}()
	n, err := RpingClient(t.Context(), RpingOptions{Address: (<-address).String(), Bytes: 5000, Rounds: 10})
	require.NoError(t, err)
	require.Equal(t, 50_000, n)
	r := <-done
	require.NoError(t, r.err)
	require.Equal(t, 50_000, r.moved)
}

// TestComparison: a reply that differs from the message is an error.
func TestComparison(t *testing.T) {
	c, err := Open(t.Context(), ClientOptions{QP: "rc"})
	require.NoError(t, err)
	defer c.Close()
	c.fill()
	_, err = c.post(t.Context(), 5, 100)
	require.NoError(t, err)
	c.want = make([]byte, slotBytes) // differs from the message from its second byte on
	_, err = c.await(t.Context(), 1, 1)
	require.NoError(t, err)
	require.ErrorContains(t, c.differ, "differs")
}

func faultyDatagrams() [][]byte {
	unknown := datagramOf(0x4f) // reserved opcode
	return [][]byte{{}, make([]byte, 22), unknown, unknown[:10]}
}

// datagramOf returns a datagram with a right CRC and this control field of RDMAP.
func datagramOf(control byte) []byte {
	b := make([]byte, ddp.UntaggedBytes, ddp.UntaggedBytes+4)
	b[0], b[1] = 0x41, control
	return datagram.Seal(b, 0)
}

// TestRpingAddressInUse: an address that cannot be listened on is a fault of the environment.
func TestRpingAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = RpingServer(t.Context(), RpingOptions{Address: l.Addr().String()}, func(net.Addr) { t.Error("listening") })
	require.ErrorIs(t, err, drivers.ErrEnvironment)
}
