package ethernet

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// connect returns both ends of a stream from host 0 to host 1.
func connect(t testing.TB, n *Network) (client, server *Stream) {
	t.Helper()
	l, err := n.Listen(1, testPort)
	require.NoError(t, err)
	client, err = n.Dial(0, l.Address())
	require.NoError(t, err)
	for {
		if s, ok := l.Accept(); ok && client.IsOpen() {
			return client, s
		}
		require.NoError(t, client.Err())
		require.NotEqual(t, drivers.Never, n.NextEvent())
		n.AdvanceTo(n.NextEvent())
	}
}

// transfer is bytes in one direction of a stream.
type transfer struct {
	from, to    *Stream
	want        []byte
	sent        int
	got         bytes.Buffer
	step, chunk int // bytes per Write, per Read
	ended       bool
	buffer      []byte
}

func (x *transfer) progress(t testing.TB) {
	t.Helper()
	for x.sent < len(x.want) {
		k, err := x.from.Write(x.want[x.sent:min(len(x.want), x.sent+x.step)])
		require.NoError(t, err)
		if x.sent += k; k == 0 {
			break
		}
	}
	if x.sent == len(x.want) {
		require.NoError(t, x.from.Close())
	}
	if x.buffer == nil {
		x.buffer = make([]byte, x.chunk)
	}
	b := x.buffer
	for !x.ended {
		k, err := x.to.Read(b)
		x.got.Write(b[:k])
		if x.ended = err == io.EOF; x.ended {
			return
		}
		require.NoError(t, err)
		if k == 0 {
			return
		}
	}
}

// exchange runs transfers until each has read io.EOF.
func exchange(t testing.TB, n *Network, list ...*transfer) {
	t.Helper()
	for {
		ended := true
		for _, x := range list {
			x.progress(t)
			ended = ended && x.ended
		}
		if ended {
			break
		}
		require.NotEqual(t, drivers.Never, n.NextEvent(), "the streams stand still")
		n.AdvanceTo(n.NextEvent())
	}
	for _, x := range list {
		require.True(t, bytes.Equal(x.want, x.got.Bytes()), "%d bytes were sent, %d received", len(x.want), x.got.Len())
	}
}

// TestStream: both directions deliver the same bytes, for several MTUs and buffers, also where
// sequence numbers wrap.
func TestStream(t *testing.T) {
	for _, first := range []uint32{0, 1<<32 - 1000, 1<<31 - 1000} {
		for _, mtu := range []int{68, 1500, 9000} {
			for _, buffer := range []int{300, 3000, 1 << 20} {
				n := open(t, Config{MTU: mtu, SendBuffer: buffer, ReceiveBuffer: buffer, SwitchQueue: 1 << 20,
					RetransmitTime: drivers.Millisecond, AckDelay: 100 * drivers.Microsecond})
				n.firstSequence = first
				a, b := connect(t, n)
				size := min(100*mtu, 20*buffer, 200_000)
				exchange(t, n, &transfer{from: a, to: b, want: pattern(size, 1), step: 7000, chunk: 4096},
					&transfer{from: b, to: a, want: pattern(size/2, 2), step: 333, chunk: 100_000})
				_, err := a.Write([]byte{1})
				require.ErrorIs(t, err, io.ErrClosedPipe)
				require.Zero(t, n.Counters().Retransmitted, "mtu %d, buffer %d", mtu, buffer)
			}
		}
	}
}

// TestStreamFaults: nothing is lost, added or reordered over a bad network, and the same seed gives
// the same run.
func TestStreamFaults(t *testing.T) {
	corrupt := uint64(0)
	defer func() { require.NotZero(t, corrupt) }()
	for seed := range uint64(20) {
		var first string
		for range 2 {
			n := open(t, Config{
				Seed: seed, Loss: 0.03, Duplicate: 0.02, Reorder: 0.05, Corrupt: 0.02,
				ReceiveBuffer: 20_000, RetransmitTime: drivers.Millisecond, AckDelay: 100 * drivers.Microsecond,
			})
			n.firstSequence = 1<<32 - 40_000
			a, b := connect(t, n)
			exchange(t, n, &transfer{from: a, to: b, want: pattern(100_000, seed), step: 2000, chunk: 999},
				&transfer{from: b, to: a, want: pattern(50_000, seed+1), step: 50_000, chunk: 5000})
			require.NotZero(t, n.Counters().Retransmitted)
			corrupt += n.Counters().BadChecksum
			run := fmt.Sprint(n.Now(), n.Counters())
			if first != "" {
				require.Equal(t, first, run, "seed %d", seed)
			}
			first = run
		}
	}
}

// TestStreamRecovery: one lost segment among many costs a round trip, not the retransmission time.
func TestStreamRecovery(t *testing.T) {
	n := open(t, Config{})
	a, b := connect(t, n)
	n.loss = newChance(1, 0, 0)
	_, err := a.Write(make([]byte, 1000))
	require.NoError(t, err)
	n.AdvanceTo(n.Now() + 5*drivers.Microsecond)
	require.EqualValues(t, 1, n.Counters().Lost)
	n.loss = chance{}
	x := &transfer{from: a, to: b, want: make([]byte, 50_000), step: 1460, chunk: 1 << 16}
	begin := n.Now()
	for x.got.Len() < 51_000 {
		x.progress(t)
		n.AdvanceTo(n.NextEvent())
	}
	require.Less(t, n.Now()-begin, drivers.Millisecond)
	require.EqualValues(t, 1, n.Counters().Retransmitted)
}

// TestStreamWindow: a reader that rests stops the sender, whose probe finds the window when its
// announcement was lost.
func TestStreamWindow(t *testing.T) {
	n := open(t, Config{ReceiveBuffer: 8 << 10, SendBuffer: 64 << 10, AckDelay: drivers.Microsecond})
	a, b := connect(t, n)
	_, err := a.Write(pattern(30_000, 1))
	require.NoError(t, err)
	n.AdvanceTo(n.Now() + 10*drivers.Millisecond)
	require.LessOrEqual(t, b.in.len(), 8<<10)
	n.loss = newChance(1, 0, 0)
	k, err := b.Read(make([]byte, 8<<10)) // its announcement is lost
	require.NoError(t, err)
	require.Greater(t, k, 7<<10)
	n.AdvanceTo(n.Now() + 10*drivers.Millisecond)
	n.loss = chance{}
	n.AdvanceTo(n.Now() + 300*drivers.Millisecond)
	require.Greater(t, b.in.len(), 6<<10, "the window stayed closed")
}

// TestStreamRate: a stream reaches the rate of the cable, less the headers.
func TestStreamRate(t *testing.T) {
	n := open(t, Config{SendCost: 1, FrameCost: 1, ReceiveCost: 1, SegmentCost: 1})
	a, b := connect(t, n)
	const count = 1000
	begin := n.Now()
	exchange(t, n, &transfer{from: a, to: b, want: make([]byte, count*1460), step: 1 << 16, chunk: 1 << 16})
	_ = b
	require.InEpsilon(t, float64(count*n.wireTime(1538)), float64(n.Now()-begin), 0.05)
}

// TestStreamRefused: a port without a listener, and a peer that never answers, end in errors.
func TestStreamRefused(t *testing.T) {
	n := open(t, Config{RetransmitTime: drivers.Millisecond})
	l, err := n.Listen(1, testPort)
	require.NoError(t, err)
	_, err = n.Listen(1, testPort)
	require.ErrorIs(t, err, ErrBound)
	refused, err := n.Dial(0, bind(t, n, 0).Address())
	require.NoError(t, err)
	settle(n)
	require.ErrorIs(t, refused.Err(), ErrReset)
	_, err = refused.Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrReset)
	n.loss = newChance(1, 0, 0)
	lost, err := n.Dial(0, l.Address())
	require.NoError(t, err)
	k, err := lost.Write([]byte{1})
	require.NoError(t, err)
	require.Zero(t, k, "not open yet")
	settle(n)
	require.ErrorIs(t, lost.Err(), ErrLost)
	for _, host := range []int{-1, 2} {
		_, err = n.Dial(host, l.Address())
		require.ErrorIs(t, err, drivers.ErrConfig)
		_, err = n.Listen(host, 1)
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
}

// FuzzSegment: a stream survives any segment, and its buffers stay within their limits.
func FuzzSegment(f *testing.F) {
	f.Add(uint32(0), uint32(0), byte(flagACK), uint16(100), []byte("payload"), false)
	f.Add(uint32(1000), uint32(1), byte(flagFIN|flagACK), uint16(0), []byte{}, true)
	f.Fuzz(func(t *testing.T, seq, ack uint32, flags byte, window uint16, payload []byte, close bool) {
		const buffer = 4096
		n := open(t, Config{ReceiveBuffer: buffer, RetransmitTime: drivers.Millisecond})
		a, b := connect(t, n)
		_, err := a.Write(payload)
		require.NoError(t, err)
		if close {
			require.NoError(t, b.Close())
		}
		payload = payload[:min(len(payload), 1460)]
		for i := range uint32(4) {
			g := segment{
				source: a.port, destination: b.port, seq: b.expected + seq*i, ack: b.unacked + ack, flags: flags,
				window: int(window) << windowShift, payload: payload,
			}
			n.hosts[1].acceptSegment(Address(0), encodeSegment(Address(0), Address(1), &g, 1460))
			n.AdvanceTo(n.Now() + 10*drivers.Microsecond)
			require.LessOrEqual(t, b.in.len(), buffer+1460)
			require.LessOrEqual(t, b.stored, buffer)
		}
		n.AdvanceTo(n.Now() + drivers.Second)
		header := encodeSegment(Address(0), Address(1), &segment{}, 1460)
		n.hosts[1].acceptSegment(Address(0), append(header[:min(len(header), int(seq%64))], payload...))
		settle(n)
	})
}
