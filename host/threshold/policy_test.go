package threshold_test

import (
	"testing"

	"github.com/nicloop/nicloop/host/threshold"
	"github.com/stretchr/testify/require"
)

func core(p threshold.Policy) *threshold.Core {
	return threshold.New(threshold.Config{Self: 0, Ranks: 2, Base: 64, Cap: 1 << 20, Least: 2048, Policy: p})
}

// The equation of section 3.2, and a message on the boundary.
func TestWish(t *testing.T) {
	for _, x := range []struct {
		sizes []int
		want  int
	}{
		{[]int{65536, 65536, 65536, 65536}, 65536 + 1024},
		{[]int{65537, 65536, 65536, 65536}, 131072 + 1024},
		{[]int{3000, 5000, 3000, 5000}, 4096 + 1024},
	} {
		c := core(threshold.Policy{})
		for _, n := range x.sizes {
			c.Ended(1, threshold.Sample{Bytes: n, Sent: true, Beside: 1, Left: 1})
		}
		a, ok := c.Next()
		require.True(t, ok)
		require.Equal(t, threshold.Request, a.Message.Kind)
		require.Equal(t, x.want, a.Message.Bytes, "%v", x.sizes)
	}
}

// Overlap is lost only if computation lasted for half of the remaining transfer, in half of the
// messages.
func TestLosing(t *testing.T) {
	lost, short, blocking, overlapped := threshold.Sample{Beside: 50, Left: 100}, threshold.Sample{Beside: 49, Left: 100}, threshold.Sample{Left: 100}, threshold.Sample{Beside: 100}
	for _, x := range []struct {
		samples []threshold.Sample
		changes bool
	}{
		{[]threshold.Sample{lost, lost, lost}, false}, // window not complete
		{[]threshold.Sample{lost, lost, short, short}, true},
		{[]threshold.Sample{lost, short, short, short}, false},
		{[]threshold.Sample{blocking, blocking, blocking, blocking}, false},
		{[]threshold.Sample{overlapped, overlapped, overlapped, overlapped}, false},
	} {
		c := core(threshold.Policy{})
		for _, s := range x.samples {
			s.Bytes, s.Sent = 4096, true
			c.Ended(1, s)
		}
		_, changes := c.Next()
		require.Equal(t, x.changes, changes, "%+v", x.samples)
	}
}

func TestMessage(t *testing.T) {
	b := make([]byte, threshold.MessageBytes)
	for _, m := range []threshold.Message{
		{Kind: threshold.Reply, Bytes: threshold.Refused}, {Kind: threshold.NewRequest, Generation: 7, Count: 3, Bytes: 66560, Address: 1 << 47},
	} {
		m.Put(b)
		got, err := threshold.Parse(b)
		require.NoError(t, err)
		require.Equal(t, m, got)
	}
	b[16] = 0
	_, err := threshold.Parse(b)
	require.ErrorContains(t, err, "expected 1 to 22")
	_, err = threshold.Parse(b[:23])
	require.ErrorContains(t, err, "expected 24")
}
