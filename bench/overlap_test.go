package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// overlapOn is a short measurement on the functional NIC.
func overlapOn(workload string, sizes ...int) Config {
	c := Default(workload)
	c.Device, c.Sizes, c.Iterations, c.Warmup = "ideal:", sizes, 2, 1
	return c
}

func measureOverlap(t *testing.T, c Config) *Overlap {
	t.Helper()
	return measureOverlapOf(t, c, protocols...)
}

func measureOverlapOf(t *testing.T, c Config, protocols ...host.Rendezvous) *Overlap {
	t.Helper()
	res, err := MeasureOverlap(context.Background(), c, protocols)
	require.NoError(t, err)
	return res
}

// find gives the case of a protocol.
func (res *Overlap) find(t *testing.T, protocol string, n int, side, sender string) OverlapCase {
	t.Helper()
	for _, r := range res.Rows {
		if r.Protocol == protocol && r.Bytes == n && r.Side == side && r.Sender == sender {
			return r.OverlapCase
		}
	}
	require.Fail(t, "no such row", "%s, %d bytes, %s side, sender %s", protocol, n, side, sender)
	return OverlapCase{}
}

// TestOverlapByEquations: where latency is what the paper's equations 3.1 to 3.3 say, the share is
// t2/l0.
func TestOverlapByEquations(t *testing.T) {
	for _, x := range []struct{ call, free, rest drivers.Time }{{10, 0, 990}, {100, 500, 400}, {30, 7, 963}, {1, 998, 1}, {0, 1000, 0}, {3, 4, 0}} {
		model := func(compute drivers.Time) (drivers.Time, error) { return x.call + max(compute, x.free) + x.rest, nil }
		whole := x.call + x.free + x.rest
		c := OverlapCase{Latency: whole}
		require.NoError(t, grow(&c, model))
		require.InDelta(t, float64(x.free)/float64(whole), c.Share, 1e-9, "%+v", x)
		for i, s := range c.Samples {
			require.Equal(t, i+1 == len(c.Samples), s.Latency >= whole+max(whole/tenth, 1), "%+v, sample %d", x, i)
		}
		c = OverlapCase{Latency: whole}
		require.NoError(t, delay(&c, model))
		require.InDelta(t, float64(x.free)/float64(whole), c.Share, 1e-9, "%+v", x)
		require.Len(t, c.Samples, len(delays))
	}
}

// TestOverlap is what SPEC, section 3.6.1, says of a library that makes progress in its calls only.
func TestOverlap(t *testing.T) {
	const long = 64 << 10
	res := measureOverlap(t, overlapOn("overlap", 1, 64, long))
	require.Len(t, res.Rows, (2+len(protocols))*len(sides)*len(senders))
	require.Greater(t, res.find(t, Eager, 64, ReceiveSide, SameTime).Share, 0.4)
	for _, p := range protocols {
		for _, sender := range senders {
			send, receive := res.find(t, string(p), long, SendSide, sender), res.find(t, string(p), long, ReceiveSide, sender)
			if p == host.RPUT {
				require.Less(t, send.Share, 0.15, "%s, sender %s", p, sender)
			} else {
				require.Greater(t, send.Share, 0.95, "%s, sender %s", p, sender)
			}
			if p == host.Spec && sender != SameTime {
				continue // TestOverlapOfSpeculation
			}
			// The data begin to move in Wait: only until the RTS is there may a receiver compute.
			require.Less(t, receive.Share, 0.15, "%s, sender %s", p, sender)
			require.Less(t, 20*receive.Call, receive.Latency, "%s, sender %s", p, sender)
		}
	}
	// A call that pushes lines into the NIC is the whole message.
	eager := res.find(t, Eager, 64, SendSide, SameTime)
	require.Equal(t, eager.Latency, eager.Call)
	require.Zero(t, eager.Share)
}

// TestOverlapOffset: who comes later is waited for, and nobody else.
func TestOverlapOffset(t *testing.T) {
	const long = 16 << 10
	c := overlapOn("overlap", long)
	c.Offset = 7 * drivers.Microsecond
	res := measureOverlap(t, c)
	for _, p := range protocols {
		at := func(side, sender string) float64 { return float64(res.find(t, string(p), long, side, sender).Latency) }
		const close = float64(drivers.Microsecond)
		require.InDelta(t, at(SendSide, SameTime)+float64(c.Offset), at(SendSide, EarlySender), close, "%s", p)
		require.InDelta(t, at(SendSide, SameTime), at(SendSide, LateSender), close, "%s", p)
		require.InDelta(t, at(ReceiveSide, SameTime)+float64(c.Offset), at(ReceiveSide, LateSender), close, "%s", p)
		require.InDelta(t, at(ReceiveSide, SameTime), at(ReceiveSide, EarlySender), close, "%s", p)
	}
}

// TestOverlapOfEager: what keeps a receiver from computing is that it takes packet by packet out of
// its mailbox.
func TestOverlapOfEager(t *testing.T) {
	c := overlapOn("overlap", host.EagerMax)
	costs := measureOverlap(t, c).find(t, Eager, host.EagerMax, ReceiveSide, SameTime)
	c.Cost.Take, c.Cost.CopyByte, c.Cost.Dynamic = 0, 0, 0
	free := measureOverlap(t, c).find(t, Eager, host.EagerMax, ReceiveSide, SameTime)
	require.Less(t, costs.Share, 0.4)
	require.Greater(t, free.Share, costs.Share+0.3)
}

// TestProgress is what SPEC, section 3.6.2, says of such a library.
func TestProgress(t *testing.T) {
	const long = 64 << 10
	res := measureOverlap(t, overlapOn("progress", host.EagerMax, long))
	for _, sender := range senders {
		require.Equal(t, 1., res.find(t, Eager, host.EagerMax, SendSide, sender).Share, "sender %s", sender)
		for _, p := range protocols {
			send, receive := res.find(t, string(p), long, SendSide, sender), res.find(t, string(p), long, ReceiveSide, sender)
			require.True(t, p == host.Spec && sender != SameTime || receive.Share < 0.15, "%s, sender %s: %v", p, sender, receive.Share)
			last := send.Samples[len(send.Samples)-1]
			if p == host.Spec {
				require.Greater(t, send.Share, 0.98, "sender %s", sender)
				continue
			}
			if p != host.RPUT {
				require.Equal(t, 1., send.Share, "%s, sender %s", p, sender)
				require.InEpsilon(t, float64(send.Latency), float64(last.Latency), 0.05, "%s, sender %s: a flat curve", p, sender)
				continue
			}
			require.Less(t, send.Share, 0.15, "%s, sender %s", p, sender)
			require.Greater(t, last.Latency, last.Computation, "%s, sender %s", p, sender)
		}
	}
}

// TestOverlapOfSpeculation is SPEC, section 4.4.1, Figures 4.13 and 4.14: a receiver overlaps
// whoever comes first, and makes progress; a sender loses little.
func TestOverlapOfSpeculation(t *testing.T) {
	sizes := []int{4 << 10, 16 << 10, 64 << 10}
	for _, workload := range []string{"overlap", "progress"} {
		c := overlapOn(workload, sizes...)
		c.AlwaysSpeculate = true
		res := measureOverlapOf(t, c, host.RGET, host.Spec)
		for _, n := range sizes {
			at := func(p host.Rendezvous, side, sender string) float64 {
				return res.find(t, string(p), n, side, sender).Share
			}
			require.Greater(t, at(host.Spec, ReceiveSide, EarlySender), 0.9, "%s, %d bytes", workload, n)
			require.Greater(t, at(host.Spec, ReceiveSide, LateSender), 0.95, "%s, %d bytes", workload, n)
			for _, sender := range senders {
				lost := at(host.RGET, SendSide, sender) - at(host.Spec, SendSide, sender)
				most := 0.02
				switch {
				case n == sizes[0] && workload == "overlap":
					most = 0.05
				case n == sizes[0]: // a FIN after the computation, of a message of 5 µs
					most = 0.2
				case workload == "progress":
					most = 0.06
				}
				require.Less(t, lost, most, "%s, %d bytes, sender %s", workload, n, sender)
			}
		}
	}
}

// TestLatencyOfSpeculation is section 4.4.3, Figure 4.19: where no RTR is used a message takes
// hardly longer.
func TestLatencyOfSpeculation(t *testing.T) {
	sizes := []int{4 << 10, 16 << 10}
	for _, always := range []bool{true, false} {
		c := overlapOn("overlap", sizes...)
		c.AlwaysSpeculate, c.Iterations = always, 10
		res := measureOverlapOf(t, c, host.RGET, host.Spec)
		for _, n := range sizes {
			without, with := res.find(t, string(host.RGET), n, ReceiveSide, SameTime).Latency, res.find(t, string(host.Spec), n, ReceiveSide, SameTime).Latency
			require.Less(t, float64(with), 1.01*float64(without), "%d bytes, always %v", n, always)
		}
	}
}

// TestOverlapWithHelper: with threads that make progress every rendezvous overlaps on both sides,
// and calls cost more.
func TestOverlapWithHelper(t *testing.T) {
	const long = 64 << 10
	c := overlapOn("overlap", 64, long)
	without := measureOverlap(t, c)
	c.Helper = true
	with := measureOverlap(t, c)
	for _, sender := range senders {
		for _, p := range protocols {
			for _, side := range sides {
				require.Greater(t, with.find(t, string(p), long, side, sender).Share, 0.95, "%s, %s side, sender %s", p, side, sender)
			}
		}
	}
	require.Greater(t, with.find(t, Eager, 64, ReceiveSide, SameTime).Latency, without.find(t, Eager, 64, ReceiveSide, SameTime).Latency)
	require.Equal(t, without.find(t, Eager, 64, ReceiveSide, SameTime).Call+c.Cost.Lock, with.find(t, Eager, 64, ReceiveSide, SameTime).Call)
}

// TestOverlapIsDeterministic, with bytes of any seed.
func TestOverlapIsDeterministic(t *testing.T) {
	var first []byte
	for range 2 {
		text, err := json.Marshal(measureOverlap(t, overlapOn("overlap", 64, 4096)))
		require.NoError(t, err)
		require.True(t, first == nil || bytes.Equal(first, text))
		first = text
	}
}

func TestOverlapParts(t *testing.T) {
	require.Equal(t, []overlapPart{{Eager, []int{0, host.EagerMax}}, {"rget", []int{host.EagerMax + 1}}, {"rput", []int{host.EagerMax + 1}}, {"chunked", []int{host.EagerMax + 1}}, {"spec", []int{host.EagerMax + 1}}},
		overlapParts([]int{0, host.EagerMax + 1, host.EagerMax}, protocols))
	require.Equal(t, []overlapPart{{Eager, []int{1}}}, overlapParts([]int{1}, protocols))
	require.Equal(t, []overlapPart{{"rput", []int{4096}}}, overlapParts([]int{4096}, []host.Rendezvous{host.RPUT}))
}

func TestOverlapRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"does not measure overlap: expected overlap or progress": func(c *Config) { c.Workload = "pingpong" },
		"consists of several runs":                               func(c *Config) { c.Pcap = &bytes.Buffer{} },
		"offset of -1 ps":                                        func(c *Config) { c.Offset = -1 },
		"which is not a collective":                              func(c *Config) { c.Algorithm = "ring" },
	} {
		c := overlapOn("overlap", 8)
		edit(&c)
		_, err := MeasureOverlap(context.Background(), c, protocols)
		require.ErrorIs(t, err, drivers.ErrConfig, name)
		require.ErrorContains(t, err, name)
	}
	c := onIdeal("pingpong")
	c.Helper = true
	_, err := Run(context.Background(), c)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "progress thread for pingpong")
}
