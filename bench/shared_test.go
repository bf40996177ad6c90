package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// shared are networks whose routers are not the nodes', of which one has fewer nodes than places
// for them.
var shared = []struct {
	device string
	nodes  int
}{{"model:?topology=dragonfly:2,3,1", 24}, {"model:?topology=fattree:2,4", 16}, {"model:?topology=dragonfly:2", 19}}

// TestHostsOnShared: messages short and long, by every protocol and flow control, come whole; on
// two threads with the bytes of one.
func TestHostsOnShared(t *testing.T) {
	i := 0
	for _, on := range shared {
		for _, workload := range []string{"alltoall", "random", "stencil"} {
			c := Default(workload)
			c.Device, c.Nodes, c.Iterations, c.Warmup = on.device, on.nodes, 1, 0
			c.Sizes = []int{40, 2500}
			c.Rendezvous, c.Chunk = protocols[i%len(protocols)], 1000
			c.Velo = velo.Config{Flow: []velo.Flow{velo.Dynamic, velo.Static}[i%2], Slots: 6, CreditSlots: 2, Piggyback: true}
			i++
			t.Run(fmt.Sprintf("%s on %s by %s and %s", workload, on.device, c.Rendezvous, c.Velo.Flow), func(t *testing.T) {
				t.Parallel()
				var results [2]string
				for k := range results {
					c.Threads = k + 1
					res, err := Run(context.Background(), c)
					require.NoError(t, err)
					require.NotZero(t, res.Verified)
					text, err := json.Marshal(res)
					require.NoError(t, err)
					results[k] = string(text)
				}
				require.Equal(t, results[0], results[1])
			})
		}
	}
}

// TestCongestOnShared: slow memory on a Dragonfly slows its flows, and those that share their wires
// a little; the wires that stand are the topology's.
func TestCongestOnShared(t *testing.T) {
	c := Default("hotspot")
	c.Device, c.Nodes = "model:?topology=dragonfly:2", 72
	c.NVM = []NVM{{Node: 5, Num: 1, Den: 8, Depth: NVMDepth}}
	c.Rendezvous, c.Chunk, c.Sizes, c.Iterations, c.Warmup = host.Chunked, 2000, []int{8000}, 2, 0
	res, err := Congest(context.Background(), c, []int{2})
	require.NoError(t, err)
	require.Len(t, res.Rows[0].Classes, 3)
	hot, _ := res.Rows[0].Class(HotFlow)
	require.Less(t, hot.Ratio(), 0.5)
	for _, class := range []string{VictimFlow, ClearFlow} {
		of, _ := res.Rows[0].Class(class)
		require.Greater(t, of.Ratio(), 0.8, class)
	}
	w, err := routesOf(res.Info)
	require.NoError(t, err)
	used := map[hop]bool{}
	for _, l := range res.Links {
		if l.Link > 0 && l.Class == "answers" { // to the gets
			used[hop{l.From, l.Link}] = true
		}
	}
	planned := map[hop]bool{}
	for _, f := range res.Slow {
		for _, h := range w.path(nil, f.From, f.To) {
			planned[h] = true
			require.True(t, used[h] || f.Class == HotFlow, "planned but not used: %v", h) // hot flows may not have come far
		}
	}
	for h := range used {
		require.True(t, planned[h], "used but not planned: %v", h)
	}
}
