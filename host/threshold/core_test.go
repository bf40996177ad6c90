package threshold

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBufferLengths: the length of a buffer follows the peer's messages rather than the threshold;
// with a fixed threshold it is the threshold.
func TestBufferLengths(t *testing.T) {
	for fixed, want := range map[int][]int{0: {45056, 14336}, 66560: {66560, 66560}} {
		cores := make([]*Core, 2)
		for i := range cores {
			cores[i] = New(Config{Self: i, Ranks: 2, Base: 4096, Cap: 1 << 20, Least: 2048, Fixed: fixed, All: true})
		}
		for i, n := range []int{40000, 39000, 38000, 37000} {
			cores[0].Ended(1, Sample{Bytes: n, Sent: true, Beside: 1, Left: 1})
			if i < 3 { // the peer has not judged them yet
				cores[1].Ended(0, Sample{Bytes: n})
			}
		}
		cores[0].Begin()
		settle(cores)
		require.Equal(t, 66560, cores[0].Threshold(1))
		cores[1].Came(0, 12000)
		settle(cores)
		var got []int
		for _, b := range cores[1].Here(0) {
			got = append(got, b.Bytes)
		}
		require.Equal(t, want, got)
		at, ok := cores[0].Take(1, 11000)
		require.True(t, ok)
		require.Equal(t, cores[1].Here(0)[1].At, at, "the shortest that fits, of equals the one used last")
	}
}

// change makes two cores agree on a threshold for messages from rank 0 to rank 1.
func change(cores []*Core, bytes int) {
	for range 4 {
		cores[0].Ended(1, Sample{Bytes: bytes, Sent: true, Beside: 1, Left: 1})
		cores[1].Ended(0, Sample{Bytes: bytes})
	}
	settle(cores)
}

func two(cfg Config) []*Core {
	cores := make([]*Core, 2)
	for i := range cores {
		cfg.Self, cfg.Ranks, cfg.Base, cfg.Cap, cfg.Least = i, 2, 4096, 1<<20, 2048
		cores[i] = New(cfg)
	}
	return cores
}

// TestOneWay: a rank that receives nothing reserves nothing, and gets a buffer to its peer with its
// first message.
func TestOneWay(t *testing.T) {
	for oneWay, want := range map[bool]int{true: 0, false: 1} {
		cores := two(Config{OneWay: oneWay})
		change(cores, 30000)
		require.Equal(t, 32768+1024, cores[0].Threshold(1))
		require.Len(t, cores[1].Here(0), 1)
		require.Len(t, cores[0].Here(1), want)
		_, ok := cores[1].Take(0, 20000)
		require.Equal(t, !oneWay, ok)
		cores[0].Came(1, 20000)
		settle(cores)
		require.Len(t, cores[1].There(0), 1)
	}
}

// TestPool: buffers of a pool are as long as the threshold, and of one length there are only as
// many as the pool has: a second message gets none, and no idle buffer of another peer exists.
func TestPool(t *testing.T) {
	cores := two(Config{Pool: 1})
	change(cores, 30000)
	require.Equal(t, 32768+1024, cores[1].Here(0)[0].Bytes)
	cores[1].Came(0, 30000)
	settle(cores)
	require.Len(t, cores[1].Here(0), 1)
	require.Zero(t, cores[1].Stats().Grown)
}

// TestPoolMovesBuffers: the idle buffer of one peer is recalled for another one.
func TestPoolMovesBuffers(t *testing.T) {
	c := New(Config{Self: 0, Ranks: 3, Base: 4096, Cap: 1 << 20, Least: 2048, Pool: 1})
	for peer := 1; peer < 3; peer++ {
		p := c.pair(peer)
		p.threshold = 8192
	}
	at, _ := c.allocate(8192, 1)
	c.adopt(c.pair(1), at, 8192, 1, 0)
	c.Came(2, 5000)
	a, ok := c.Next()
	require.True(t, ok)
	require.Equal(t, Action{Peer: 1, Message: Message{Kind: Recall, Address: at}}, a)
	c.Came(2, 5000) // nothing else while the answer is outstanding
	_, ok = c.Next()
	require.False(t, ok)
	c.Hear(1, Message{Kind: Return, Address: at})
	c.Came(2, 5000)
	a, _ = c.Next()
	require.Equal(t, Grant, a.Message.Kind)
	require.Equal(t, 2, a.Peer)
	require.Empty(t, c.Here(1))
}

// TestStocks: a change that needs a further length is refused.
func TestStocks(t *testing.T) {
	cores := two(Config{Pool: 4, Stocks: 1})
	change(cores, 5000)
	require.Equal(t, 8192+1024, cores[0].Threshold(1))
	change(cores, 50000)
	require.Equal(t, 8192+1024, cores[0].Threshold(1))
}

// TestWeights: a buffer that is recalled and granted again every ten idle times is recalled 10
// times in 100 idle times without weights. With weights its successors stay for 2, 4, 8 idle times,
// and then for ever.
func TestWeights(t *testing.T) {
	recalls := map[int]uint64{}
	for _, weights := range []int{0, 64} {
		cores := two(Config{Weights: weights, Idle: 10})
		change(cores, 30000)
		for now := Time(0); now < 1000; now++ {
			cores[0].Tick(now)
			cores[1].Tick(now)
			settle(cores)
			if now%100 == 0 { // a message
				if at, ok := cores[0].Take(1, 30000); ok {
					require.NoError(t, cores[1].Filled(0, at, 30000))
					cores[1].Read(0, at)
				} else {
					cores[1].Came(0, 30000)
				}
				settle(cores)
			}
		}
		recalls[weights] = cores[1].Stats().Shrunk
	}
	require.Equal(t, map[int]uint64{0: 10, 64: 4}, recalls)
}

// settle delivers messages between cores until none are left.
func settle(cores []*Core) {
	for talks := true; talks; {
		talks = false
		for from, c := range cores {
			for a, more := c.Next(); more; a, more = c.Next() {
				if talks = true; !a.Resume {
					cores[1-from].Hear(from, a.Message)
				}
			}
		}
	}
}

// TestFilledIsHeldToTheBuffer: a message may only name a free buffer of its sender that is long
// enough.
func TestFilledIsHeldToTheBuffer(t *testing.T) {
	make2 := func(self int) *Core {
		return New(Config{Self: self, Ranks: 2, Base: 4096, Cap: 1 << 20, Least: 2048, Fixed: 5000, All: true})
	}
	cores := []*Core{make2(0), make2(1)}
	cores[0].Begin()
	settle(cores)
	here := cores[0]
	at, ok := cores[1].Take(0, 5000)
	require.True(t, ok)
	require.ErrorContains(t, here.Filled(1, at+1, 10), "expected an empty buffer")
	require.ErrorContains(t, here.Filled(1, at, 1<<40), "length of a message in a buffer")
	require.NoError(t, here.Filled(1, at, 5000))
	require.ErrorContains(t, here.Filled(1, at, 5000), "expected an empty buffer", "it is full")
}
