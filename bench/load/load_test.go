package load

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/bench/steady"
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/stretchr/testify/require"
)

func network(t testing.TB, text string, k routing.Kind, pattern string) packets.Config {
	c := packets.Paper()
	var err error
	c.Topology, err = topology.Parse(text, 2, 10)
	require.NoError(t, err)
	c.Routing, err = routing.New(k, c.Topology, routing.DefaultBias)
	require.NoError(t, err)
	c.Traffic, err = traffic.New(pattern, c.Topology, 1, traffic.Options{Hot: 1, Share: 0.1})
	require.NoError(t, err)
	return c
}

func measure(t testing.TB, c packets.Config, rate float64) *Point {
	c.Rate = rate
	p, err := Measure(context.Background(), Packets, c, DefaultRule, nil)
	require.NoError(t, err)
	return p
}

// TestMeasure: below saturation the offered load is accepted, latency grows with it, and link loads
// follow from the routes: on a Dragonfly under uniform traffic a global wire carries the load of
// one node.
func TestMeasure(t *testing.T) {
	c := network(t, "dragonfly:2", routing.Minimal, "uniform")
	before := 0.0
	for _, rate := range []float64{0.1, 0.3, 0.5} {
		p := measure(t, c, rate)
		require.Equal(t, steady.Steady, p.Steady)
		require.InDelta(t, rate, p.Accepted, 3*p.Within+0.005)
		require.Equal(t, OK, p.State)
		require.Greater(t, p.Latency.Mean, before)
		before = p.Latency.Mean
		require.LessOrEqual(t, p.Latency.P50, p.Latency.P99)
		require.LessOrEqual(t, p.Least, p.Accepted)
		kinds := Kinds(p.Links)
		require.Equal(t, []string{"to nodes", "wires of 2 cycles", "wires of 10 cycles"}, []string{kinds[0].Name, kinds[1].Name, kinds[2].Name})
		require.InDelta(t, rate, mean(kinds[0].Loads), 0.02)
		require.InDelta(t, rate*64/71, mean(kinds[2].Loads), 0.02)
		require.Less(t, kinds[1].Loads[0], 1.0)
	}
}

// TestAdversarial: an adversarial pattern saturates minimal routing at the single wire between two
// groups; PAR saturates far above.
func TestAdversarial(t *testing.T) {
	minimal := measure(t, network(t, "dragonfly:2", routing.Minimal, "adversarial"), 1)
	require.InDelta(t, 1.0/8, minimal.Accepted, 0.01)
	par := measure(t, network(t, "dragonfly:2", routing.PAR, "adversarial"), 1)
	require.Greater(t, par.Accepted, 2.5*minimal.Accepted)
	routers := func(p *Point) float64 { return float64(p.FlitHops) / p.Accepted / float64(p.Cycles-p.From) }
	require.Greater(t, routers(par), routers(minimal)+72, "72 nodes")
}

// TestSaturation: the rate found by bisection is accepted, and 0.02 more is not.
func TestSaturation(t *testing.T) {
	s := Study{Config: network(t, "mesh:4x4", routing.Minimal, "adversarial"), Rule: DefaultRule}
	rate, tried, err := s.Saturation(context.Background(), 0.02)
	require.NoError(t, err)
	require.InDelta(t, 1, rate, 0.1, "one hop to a neighbour and round: every wire has one flow")
	require.NotEmpty(t, tried)
	s.Config = network(t, "dragonfly:2", routing.Minimal, "adversarial")
	rate, tried, err = s.Saturation(context.Background(), 0.02)
	require.NoError(t, err)
	require.InDelta(t, 1.0/8/0.95, rate, 0.02)
	for _, r := range tried {
		require.Equal(t, r.Rate > rate, r.Accepted < acceptedShare*r.Rate, "rate %g", r.Rate)
	}
}

// TestCurve: seeds give an interval; results do not depend on jobs and threads; progress is
// reported to the end.
func TestCurve(t *testing.T) {
	var want string
	for _, jobs := range []int{1, 3} {
		last := 0
		s := Study{Config: network(t, "mesh:6x6", routing.Minimal, "uniform"), Rule: DefaultRule, Seeds: 3, Jobs: jobs,
			Step: func(done, of int) {
				require.Equal(t, 6, of)
				last = max(last, done)
			}}
		s.Config.Threads = jobs
		rates, err := s.Curve(context.Background(), []float64{0.2, 1})
		require.NoError(t, err)
		require.Equal(t, 6, last)
		require.Positive(t, rates[0].Within)
		require.Equal(t, []State{OK, Saturated}, []State{rates[0].State, rates[1].State})
		b, err := json.Marshal(rates)
		require.NoError(t, err)
		if want == "" {
			want = string(b)
		}
		require.True(t, want == string(b), "%d jobs give another result", jobs)
		require.ElementsMatch(t, FigureNames, slices.Collect(maps.Keys(Figures("mesh", s.Config.Topology, rates))))
		for name, f := range Figures("mesh", s.Config.Topology, rates) {
			require.NoError(t, f.Save(filepath.Join(t.TempDir(), name)))
		}
	}
}

// TestMap: every wire has its field: the one between two groups, a router's most loaded one, and
// those of a tree by level, up and down.
func TestMap(t *testing.T) {
	for text, want := range map[string]struct{ x, y, fields int }{
		"dragonfly:2": {9, 9, 81}, "mesh:4x3": {4, 3, 12}, "torus:3x3x2": {3, 6, 18}, "fattree:4,3": {16, 4, 64}, "fattree:12,3": {48, 4, 192},
	} {
		net, err := topology.Parse(text, 2, 10)
		require.NoError(t, err)
		var list []Link
		for r := range net.Routers() {
			for o := range net.Ports(r) {
				if w, ok := net.Wire(r, o); ok {
					list = append(list, Link{Router: r, Port: o, To: w.Router, Load: 0.25})
				} else {
					list = append(list, Link{Router: r, Port: o, To: -1, Load: 1})
				}
			}
		}
		list[len(list)/2].Load, list[len(list)/2].To = 0.75, max(0, list[len(list)/2].To)
		fields, full := 0, 0
		h := Map(text, net, list).Heat
		require.Len(t, h.X, want.x)
		require.Len(t, h.Y, want.y)
		for _, row := range h.Values {
			for _, v := range row {
				if v == 0.25 {
					fields++
				}
				if v == 0.75 {
					full++
				}
			}
		}
		require.Equal(t, want.fields, fields+full, text)
		require.Equal(t, 1, full, text)
	}
}

// TestState: a drift that is too slow for adjacent windows is transient, and so is a network whose
// queues grow, or whose transient ends only during the measurement.
func TestState(t *testing.T) {
	m := meter{rule: DefaultRule}
	windows := func(n int, accepted func(i int) float64, inside func(i int) float64) {
		for i := range n {
			m.series, m.inside = append(m.series, accepted(i)), append(m.inside, inside(i))
		}
	}
	same := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	windows(16, func(i int) float64 { return 0.6 - 0.01*float64(i) }, same(100))
	require.Equal(t, steady.Transient, m.state(16))
	windows(48, same(0.45), same(100))
	require.Equal(t, steady.Steady, m.state(64))
	require.Equal(t, steady.Steady, m.state(16))
	require.Equal(t, steady.Transient, m.state(10), "the transient ends with window 16")

	m = meter{rule: DefaultRule} // 0.45 flits in each of 250 cycles: 2 % are 2.25 per window
	windows(16, same(0.45), func(i int) float64 { return 3 * float64(i) })
	require.Equal(t, steady.Transient, m.state(16))
	m.rule.Filled = false
	require.Equal(t, steady.Steady, m.state(16))
	m = meter{rule: DefaultRule}
	windows(16, same(0.45), func(i int) float64 { return 1 * float64(i) })
	require.Equal(t, steady.Steady, m.state(16))
}

// TestMeasuresAnew: a network that becomes slower during its first measurement is measured again,
// after the change; one that changes without end is labelled transient.
func TestMeasuresAnew(t *testing.T) {
	for _, c := range []struct {
		rate func(now int64) float64
		want steady.State
	}{
		{func(now int64) float64 { return 0.5 }, steady.Steady},
		{func(now int64) float64 {
			if now < 3000 { // the warm-up ends at 2,000
				return 0.5
			}
			return 0.25
		}, steady.Steady},
		{func(now int64) float64 { return 0.1 + float64(now)/1e5 }, steady.Transient},
	} {
		rate := c.rate
		build := func(cfg packets.Config) (Engine, error) {
			n, err := packets.New(cfg)
			return &scripted{Network: n, rate: rate}, err
		}
		cfg := network(t, "mesh:2x2", routing.Minimal, "uniform")
		p, err := Measure(context.Background(), build, cfg, DefaultRule, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, p.Steady)
		if c.want == steady.Steady {
			require.InDelta(t, rate(p.Cycles), p.Accepted, 1e-3)
			require.Less(t, p.Cycles, int64(64*250))
		}
	}
}

// scripted is a network whose accepted flits follow a function of time.
type scripted struct {
	*packets.Network
	rate  func(now int64) float64
	now   int64
	flits float64
}

func (s *scripted) Now() int64 { return s.now }

func (s *scripted) Run(until int64) {
	for ; s.now < until; s.now++ {
		s.flits += 4 * s.rate(s.now) // four nodes
	}
}

func (s *scripted) Totals() packets.Totals { return packets.Totals{Flits: uint64(s.flits)} }

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Measure(ctx, Packets, network(t, "mesh:4", routing.Minimal, "uniform"), DefaultRule, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// TestEngines: both engines are measured in the same way. Without load the same mesh has about the
// same latency on each; with shallow buffers it saturates earlier.
func TestEngines(t *testing.T) {
	var latency, full []float64
	for _, e := range []struct {
		build Maker
		depth int
	}{{Packets, 256}, {Flits, 16}} {
		c := network(t, "mesh:4x4", routing.Minimal, "uniform")
		c.Depth = e.depth
		for _, rate := range []float64{0.05, 1} {
			c.Rate = rate
			p, err := Measure(context.Background(), e.build, c, DefaultRule, nil)
			require.NoError(t, err)
			if rate == 1 {
				full = append(full, p.Accepted)
			} else {
				latency = append(latency, p.Latency.Mean)
				require.InDelta(t, rate, p.Accepted, 0.01)
			}
		}
	}
	require.InDelta(t, latency[0], latency[1], 3)
	require.Less(t, full[1], full[0])
}

// TestTooFewPackets: a rate with hardly any packets has neither a state nor a latency; it is not
// reported as saturated.
func TestTooFewPackets(t *testing.T) {
	for _, rate := range []float64{0.001, 1e-300} {
		c := network(t, "mesh:2x2", routing.Minimal, "uniform")
		s := Study{Config: c, Rule: DefaultRule}
		rates, err := s.Curve(context.Background(), []float64{rate})
		require.NoError(t, err)
		require.Equal(t, TooFewPackets, rates[0].State)
		require.Zero(t, rates[0].Accepted, "rate %g", rate)
		text, err := json.Marshal(rates[0])
		require.NoError(t, err)
		require.NotContains(t, string(text), `"latency_cycles"`)
	}
}

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		rate, accepted, within, offered float64
		s                               steady.State
		want                            State
	}{
		{0.5, 0.5, 0.01, 1e4, steady.Steady, OK},
		{0.5, 0.5, 0.01, 1e4, steady.Transient, Transient},
		{0.5, 0.4, 0.01, 1e4, steady.Steady, Saturated},
		{0.5, 0.4, 0.01, 1e4, steady.Transient, Saturated},
		{0.5, 0, 0, 1e4, steady.Steady, Saturated}, // no progress at all
		{0.5, 0.47, 0.02, 1e4, steady.Steady, TooFewPackets},
		{0.001, 0, 0, 1, steady.Steady, TooFewPackets},
	} {
		require.Equal(t, c.want, stateOf(c.rate, c.accepted, c.within, c.offered, c.s), "%+v", c)
	}
}

// The estimate is not far below the peak of resident memory that the kernel reported for nicloop
// fabric with 10 to 60 cycles per window, in MiB.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		topology string
		flits    int // depth of the queues of the flit engine; 0: the packet engine
		jobs     int
		peak     float64
	}{
		{"mesh:4x4", 0, 1, 38},
		{"mesh:32x32x4", 0, 1, 119},
		{"mesh:16x16x4", 0, 2, 79},
		{"dragonfly:6", 0, 1, 86},
		{"dragonfly:9", 0, 1, 257},
		{"mesh:32x32", fabric.DefaultVCDepth, 1, 89},
		{"mesh:32x32", 64, 1, 121},
		{"torus:32x32", fabric.DefaultVCDepth, 1, 111},
		{"mesh:16x8x8", fabric.DefaultVCDepth, 1, 97},
		{"mesh:64x64", fabric.DefaultVCDepth, 1, 361},
	} {
		s := Study{Config: network(t, c.topology, routing.Minimal, "uniform"), Flits: c.flits > 0, Jobs: c.jobs}
		if s.Flits {
			s.Config.Depth = c.flits
		}
		estimate := s.memory(c.jobs) / (1 << 20)
		t.Logf("%s, depth %d, %d jobs: estimate %.0f MiB, peak %.0f MiB", c.topology, c.flits, c.jobs, estimate, c.peak)
		require.InDelta(t, 1.2, estimate/c.peak, 0.3, "%s, depth %d, %d jobs: estimate %.0f MiB", c.topology, c.flits, c.jobs, estimate)
	}
}
