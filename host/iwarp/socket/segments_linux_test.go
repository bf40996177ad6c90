package socket

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

// loopbackPort returns a port and its address.
func loopbackPort(t *testing.T) (*Datagram, netip.AddrPort) {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	d, err := NewDatagram(c)
	require.NoError(t, err)
	return d, c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// receiveAll returns the lengths and the bytes of datagrams, in the order of arrival.
func receiveAll(t *testing.T, d *Datagram, from netip.AddrPort, count, buffer int) (lengths []int, all []byte) {
	t.Helper()
	b := make([]byte, buffer)
	for begin := time.Now(); len(lengths) < count; {
		n, source, ok := d.Receive(b)
		if !ok {
			require.Less(t, time.Since(begin), 20*time.Second, "only %d of %d datagrams arrived", len(lengths), count)
			continue
		}
		require.Equal(t, from, source)
		lengths, all = append(lengths, n), append(all, b[:n]...)
	}
	return lengths, all
}

// TestSegments: one call sends datagrams of one length and a shorter one, which arrive one by one,
// into buffers of any length.
func TestSegments(t *testing.T) {
	for _, size := range []int{1, 100, 2070, 20_000} {
		for _, buffer := range []int{size, 65507} {
			a, from := loopbackPort(t)
			b, to := loopbackPort(t)
			if a.MaxSegments() < 2 {
				t.Skip("the kernel has no UDP_SEGMENT")
			}
			count := min(a.MaxSegments(), 65507/size)
			data := make([]byte, count*size)
			for i := range data {
				data[i] = byte(i * 7 >> 3)
			}
			data = data[:len(data)-size/2]
			for range 2 { // the second call follows datagrams that were joined
				ok, err := a.SendSegments(to, size, [][]byte{data[:size/3], data[size/3:]})
				require.NoError(t, err)
				require.True(t, ok)
				ok, err = a.Send(to, [][]byte{[]byte("!")})
				require.NoError(t, err)
				require.True(t, ok)
				lengths, got := receiveAll(t, b, from, count+1, buffer)
				want := bytes.Clone(data)
				require.True(t, bytes.Equal(append(want, '!'), got), "%d datagrams of %d bytes", count, size)
				require.Equal(t, 1, lengths[count])
				require.Equal(t, size-size/2, lengths[count-1])
				require.Equal(t, size, lengths[0])
			}
		}
	}
}

// TestBatches: messages of UD arrive once and in order, whatever their lengths and peers, though
// one call sends several of them.
func TestBatches(t *testing.T) {
	a, _ := bind(t, iwarp.UD)
	b, toB := bind(t, iwarp.UD)
	c, toC := bind(t, iwarp.UD)
	for i := range a.memory[:100_000] {
		a.memory[i] = byte(i * 31 >> 4)
	}
	lengths := []int{500, 500, 500, 0, 0, 700, 500, 500, 20_000, 20_000, 20_000, 20_000, 3, 500}
	peers := map[*node]netip.AddrPort{b: toB, c: toC}
	for n, to := range peers {
		for i, length := range lengths {
			into := []iwarp.SGE{{MR: n.mr, Offset: i * 20_000, Length: 20_000}}
			require.NoError(t, n.qp.PostReceive(uint64(i), into))
			from := []iwarp.SGE{{MR: a.mr, Offset: i, Length: length / 2}, {MR: a.mr, Offset: i + length/2, Length: length - length/2}}
			require.NoError(t, a.qp.PostSend(iwarp.Work{Opcode: rdmap.Send, To: to, List: from}))
		}
		for range lengths {
			await(t, a)
		}
	}
	for n := range peers {
		for i, length := range lengths {
			w := await(t, n)
			require.Equal(t, []int{i, length}, []int{int(w.ID), w.Length})
			require.True(t, bytes.Equal(a.memory[i:i+length], n.memory[i*20_000:][:length]), "message %d", i)
		}
	}
}

// TestRefusedSegments: a call that the kernel refuses ends the use of UDP_SEGMENT, and the messages
// are sent one by one.
func TestRefusedSegments(t *testing.T) {
	a, from := loopbackPort(t)
	b, to := loopbackPort(t)
	if a.MaxSegments() < 2 {
		t.Skip("the kernel has no UDP_SEGMENT")
	}
	ok, err := a.SendSegments(to, 1, [][]byte{make([]byte, 1000)}) // more datagrams than a call may have
	require.NoError(t, err)
	require.False(t, ok)
	require.Zero(t, a.MaxSegments())
	ok, err = a.Send(to, [][]byte{[]byte("single")})
	require.NoError(t, err)
	require.True(t, ok)
	_, got := receiveAll(t, b, from, 1, 100)
	require.Equal(t, "single", string(got))
}
