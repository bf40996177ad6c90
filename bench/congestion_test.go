package bench

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

func TestParseNVM(t *testing.T) {
	n, err := ParseNVM("5:1/8")
	require.NoError(t, err)
	require.Equal(t, NVM{Node: 5, Num: 1, Den: 8, Depth: NVMDepth}, n)
	require.Equal(t, "5:1/8", n.String())
	for _, bad := range []string{"", "5", "5:1", "5:/8", "a:1/8", "5:1/8/2"} {
		_, err := ParseNVM(bad)
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
	for _, bad := range []NVM{{16, 1, 8, 64}, {-1, 1, 8, 64}, {0, 0, 8, 64}, {0, 9, 8, 64}, {0, 1, 8, 63}, {0, 1, 8, 1 << 24}} {
		require.ErrorIs(t, bad.validate(16), drivers.ErrConfig, "%v", bad)
	}
}

// TestFlowsShareLinks: a victim's way and a hot flow's have a link in common, no
// fast node receives twice, every fast node sends once.
func TestFlowsShareLinks(t *testing.T) {
	for _, c := range []struct {
		info drivers.Info
		slow []int
		hot  int
	}{
		{drivers.Info{Dims: [3]int{4, 4, 1}}, []int{5}, 4}, {drivers.Info{Dims: [3]int{4, 4, 1}}, []int{0, 15}, 2}, {drivers.Info{Dims: [3]int{3, 3, 1}}, []int{0}, 2},
		{drivers.Info{Dims: [3]int{3, 3, 3}}, []int{13}, 3}, {drivers.Info{Dims: [3]int{4, 1, 1}}, []int{3}, 1}, {drivers.Info{Dims: [3]int{5, 4, 1}, Torus: true}, []int{7}, 5},
		{drivers.Info{Topology: "dragonfly:2"}, []int{11, 40}, 9}, {drivers.Info{Topology: "fattree:3,3"}, []int{26}, 6},
	} {
		w, err := routesOf(c.info)
		require.NoError(t, err)
		flows, err := planFlows(w, c.slow, c.hot)
		require.NoError(t, err)
		hot, sends, receives := map[hop]bool{}, map[int]int{}, map[int]int{}
		for _, f := range flows {
			sends[f.from]++
			receives[f.to]++
			if f.class == HotFlow {
				require.Contains(t, c.slow, f.to)
				for _, h := range w.path(nil, f.from, f.to) {
					hot[h] = true
				}
			}
		}
		// The last node left may find only itself.
		require.GreaterOrEqual(t, len(sends), w.Nodes()-len(c.slow)-1, "%v", c)
		for _, s := range c.slow {
			require.Zero(t, sends[s])
			require.Equal(t, c.hot, receives[s])
		}
		for _, f := range flows {
			require.Equal(t, 1, sends[f.from])
			shared := 0
			for _, h := range w.path(nil, f.from, f.to) {
				if hot[h] {
					shared++
				}
			}
			if f.class != HotFlow {
				require.Equal(t, 1, receives[f.to])
				require.Equal(t, f.class == VictimFlow, shared > 0, "%+v", f)
			}
		}
	}
	for _, bad := range []struct {
		slow []int
		hot  int
	}{{[]int{3}, 1}, {[]int{0}, 4}} {
		_, err := planFlows(newRoutes(fabric.Mesh(2, 2)), bad.slow, bad.hot)
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
}

// On a line of nodes ways are as long as it: node 1's to the last but one has most links in common
// with that of node 0 to the last.
func TestFlowsOnALongLine(t *testing.T) {
	flows, err := planFlows(newRoutes(fabric.Mesh(520)), []int{519}, 1)
	require.NoError(t, err)
	require.Equal(t, []flow{{0, 519, HotFlow}, {1, 518, VictimFlow}}, flows[:2])
}

func TestPathsAreTheTopologys(t *testing.T) {
	for _, c := range []struct {
		info     drivers.Info
		from, to int
		want     []hop
	}{
		{drivers.Info{Dims: [3]int{4, 4, 1}}, 15, 5, []hop{{15, 2}, {14, 2}, {13, 4}, {9, 4}}},
		{drivers.Info{Dims: [3]int{2, 2, 2}}, 0, 7, []hop{{0, 1}, {1, 3}, {3, 5}}},
		{drivers.Info{Dims: [3]int{4, 4, 1}}, 7, 7, nil},
		{drivers.Info{Dims: [3]int{5, 5, 1}, Torus: true}, 0, 24, []hop{{0, 2}, {4, 4}}},
		// Nodes 0 and 1 are at router 0, 14 and 15 at router 7 of group 1, to which router 0 has the
		// first global wire, port 5; it comes to router 7.
		{drivers.Info{Topology: "dragonfly:2"}, 1, 14, []hop{{0, 5}}},
		{drivers.Info{Topology: "dragonfly:2"}, 3, 8, []hop{{1, 2}, {0, 5}, {7, 2}}},
		{drivers.Info{Topology: "fattree:2,2"}, 0, 3, []hop{{0, 3}, {3, 1}}},
	} {
		w, err := routesOf(c.info)
		require.NoError(t, err)
		require.Equal(t, c.want, w.path(nil, c.from, c.to), "%+v", c.info)
	}
}

// TestHeldLinks counts the gaps between the flits of a packet, and no others.
func TestHeldLinks(t *testing.T) {
	h := newHeldLinks(2)
	flit := func(at drivers.Cycle, flags uint8) drivers.TraceEvent {
		return drivers.TraceEvent{Cycle: at, Node: 1, Point: 3, VC: 1, Flags: flags}
	}
	require.NoError(t, h.Trace([]drivers.TraceEvent{flit(5, drivers.TraceHead), flit(9, drivers.TraceTail)})) // before it is on
	h.on = true
	require.NoError(t, h.Trace([]drivers.TraceEvent{
		flit(100, drivers.TraceHead), flit(101, 0), flit(111, drivers.TraceTail), // 9 cycles between
		flit(150, drivers.TraceHead), flit(151, drivers.TraceTail),
		{Cycle: 160, Node: 1, Point: drivers.PointEject, VC: 1},
	}))
	require.Equal(t, []HeldLink{{From: 1, Link: 3, Class: "requests", Held: 0.09, Flits: 5}}, h.list(100))
	port := func(at drivers.Cycle, vc, flags uint8) drivers.TraceEvent {
		return drivers.TraceEvent{Cycle: at, Node: 70, Point: drivers.PointPort + 9, VC: vc, Flags: flags}
	}
	require.NoError(t, h.Trace([]drivers.TraceEvent{port(200, 4, drivers.TraceHead), port(221, 4, drivers.TraceTail)}))
	require.Equal(t, HeldLink{From: 70, Link: 9, Class: "requests", Held: 0.2, Flits: 2}, h.list(100)[0])
}

// fastFlows is a congestion run that needs no limiter.
func fastFlows(p host.Rendezvous, procs int) Config {
	c := Default("hotspot")
	c.Device, c.Nodes, c.Procs = "ideal:", 9, procs
	c.NVM = []NVM{{Node: 4, Num: 1, Den: 1, Depth: NVMDepth}}
	c.Rendezvous, c.Chunk, c.Sizes = p, 1000, []int{5000}
	c.Iterations, c.Warmup = 2, 1
	return c
}

func TestCongestMovesEveryFlow(t *testing.T) {
	for _, p := range protocols {
		for _, procs := range []int{1, 2} {
			res, err := Congest(context.Background(), fastFlows(p, procs), []int{1, 3})
			require.NoError(t, err)
			require.Len(t, res.Rows, 2)
			require.Len(t, res.Slow, 8*procs)
			for _, f := range append(res.Slow, res.Fast...) {
				require.NotZero(t, f.MBps, "%+v", f)
				if f.Class != HotFlow {
					require.EqualValues(t, 2*5000, f.Bytes, "%+v", f)
				}
			}
			again, err := Congest(context.Background(), fastFlows(p, procs), []int{1, 3})
			require.NoError(t, err)
			a, _ := json.Marshal(res)
			b, _ := json.Marshal(again)
			require.Equal(t, string(a), string(b))
		}
	}
}

// TestLimiterSlowsTheHotFlowsAlone on a network without links to share.
func TestLimiterSlowsTheHotFlowsAlone(t *testing.T) {
	c := fastFlows(host.RGET, 1)
	c.NVM[0].Den, c.Sizes, c.Warmup = 8, []int{16 << 10}, 1
	res, err := Congest(context.Background(), c, []int{1})
	require.NoError(t, err)
	hot, ok := res.Rows[0].Class(HotFlow)
	require.True(t, ok)
	victim, ok := res.Rows[0].Class(VictimFlow)
	require.True(t, ok)
	rate := LineRate / float64(res.Info.ClockPS) * 1e6 / 8
	require.InDelta(t, rate, hot.Slow*float64(hot.Flows), rate/4, "an eighth of line rate")
	require.Greater(t, hot.Fast, 3*hot.Slow)
	require.InEpsilon(t, victim.Fast, victim.Slow, 0.05)
	require.NotZero(t, res.NICs[4].NVMStall)
	require.EqualValues(t, res.NICs[4].NVMBytes%(16<<10), 0)
}

func TestCongestRefusals(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"no node with slow memory": func(c *Config) { c.NVM = nil },
		"2 message sizes":          func(c *Config) { c.Sizes = []int{5000, 6000} },
		"-1 hot senders":           func(c *Config) { c.Hot = -1 },
		"consists of several runs": func(c *Config) { c.Blocks = true },
		"hot senders for each":     func(c *Config) { c.Hot = 9 },
	} {
		c := fastFlows(host.RGET, 1)
		spoil(&c)
		_, err := Congest(context.Background(), c, []int{1})
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
	c := fastFlows(host.RGET, 1)
	c.NVM[0].Den, c.Sizes = 8, []int{100}
	_, err := Congest(context.Background(), c, []int{1})
	require.ErrorContains(t, err, "no message is long enough for RMA")
}
