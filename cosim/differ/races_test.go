package differ

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// racingTraffic is operations of all nodes whose sources and targets lie in one page of each:
// nearly all bytes are written while others read them.
func racingTraffic(seed uint64, gap int) (list []mixedSend) {
	rng := rand.New(rand.NewPCG(seed, 16))
	for node := range mixedNodes {
		at := start
		for range mixedEach {
			at += drivers.Cycle(rng.IntN(2*gap + 1))
			s := mixedSend{at: at, node: node}
			s.operation(rng, rng.IntN(mixedNodes), uint64(rng.IntN(1<<12-targetBytes)))
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b mixedSend) int { return int(a.at) - int(b.at) })
	return list
}

// TestRaces: memory that is read and written at once, by puts, gets and locks of many: each burst
// reads and writes it in the RTL's cycle, so every byte is the same in the end.
func TestRaces(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		gap  int
		slow uint64
		keys string
	}{{200, 0, ""}, {50, 0, ""}, {10, 0, ""}, {50, 1 << 13, ""}, {20, 0, "?host_wr_latency=1&host_rd_latency=1"}, {20, 0, "?host_wr_latency=60&host_rd_latency=90"}} {
		for s := *seed; s < *seed+2; s++ {
			list := racingTraffic(s, c.gap)
			rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:"+c.keys, list, c.slow)
			model, modelMemory, modelCounters := runMixed(t, "model:"+c.keys, list, c.slow)
			require.Empty(t, firstApart(rtl, model), "rerun: go test ./cosim/differ -run TestRaces -v -seed %d", s)
			require.Equal(t, rtlCounters, modelCounters, "rerun: go test ./cosim/differ -run TestRaces -v -seed %d", s)
			for n := range rtlMemory {
				require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "rtl:%s, an operation every %d cycles: memory of node %d; rerun: go test ./cosim/differ -run TestRaces -v -seed %d",
					c.keys, c.gap, n, s)
			}
		}
	}
}
