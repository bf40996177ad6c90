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

// TestHeader: with the header of the equation in section 3.2, a length that is a power of two gets
// the next power.
func TestHeader(t *testing.T) {
	for header, want := range map[int]int{0: 65536 + 1024, 32: 131072 + 1024} {
		c := core(threshold.Policy{Header: header})
		for range 4 {
			c.Ended(1, threshold.Sample{Bytes: 65536, Sent: true, Beside: 1, Left: 1})
		}
		a, _ := c.Next()
		require.Equal(t, want, a.Message.Bytes)
	}
}

// TestEstimated: the paper's trigger compares with the estimated time of the whole transfer, of
// 4,096 ps here, and not with what remained of it.
func TestEstimated(t *testing.T) {
	for _, x := range []struct {
		s                    threshold.Sample
		estimated, remaining bool
	}{
		{threshold.Sample{Beside: 2048, Left: 100}, true, true},
		{threshold.Sample{Beside: 2047, Left: 100}, false, true},
		{threshold.Sample{Beside: 2048, Left: 5000}, true, false}, // a late receiver: the transfer waits
		{threshold.Sample{Beside: 5000}, true, false},             // completed before the Wait
		{threshold.Sample{Left: 5000}, false, false},              // blocking
	} {
		for trigger, want := range map[threshold.Trigger]bool{threshold.Estimated: x.estimated, threshold.Remaining: x.remaining} {
			c := core(threshold.Policy{Trigger: trigger, PerByte: 1})
			for range 4 {
				x.s.Bytes, x.s.Sent = 4096, true
				c.Ended(1, x.s)
			}
			_, changes := c.Next()
			require.Equal(t, want, changes, "trigger %d, %+v", trigger, x.s)
		}
	}
}

// TestSentOnly: the paper's equation averages what the initiator sends.
func TestSentOnly(t *testing.T) {
	for sentOnly, want := range map[bool]int{true: 4096 + 1024, false: 65536 + 1024} {
		c := core(threshold.Policy{SentOnly: sentOnly})
		for i := range 4 {
			s := threshold.Sample{Bytes: 4096, Sent: true, Beside: 10000, Left: 1}
			if i == 0 {
				s.Bytes, s.Sent = 65536, false
			}
			c.Ended(1, s)
		}
		a, _ := c.Next()
		require.Equal(t, want, a.Message.Bytes)
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
