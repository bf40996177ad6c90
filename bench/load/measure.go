package load

import (
	"context"
	"slices"

	"github.com/nicloop/nicloop/bench/steady"
	"github.com/nicloop/nicloop/cosim/fabric/flits"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
)

// A Rule decides when a network is in steady state and how long it is then measured. Throughput is
// recorded per window. The network is in steady state when steady.MSER finds the end of the
// transient in the first half of all windows; a window is the mean of five equal parts, so this is
// MSER-5. Then Batches windows are measured. If they show that the transient lasted into the
// measurement, the network is measured anew, until Most windows have passed.
//
// With Filled, queues must be stable, too: from one half of the windows to the next, the flits in
// flight may not grow by more than Tolerance of what was accepted meanwhile. A saturated network
// with deep buffers accepts more than it can sustain until they are full: a Dragonfly of 5,256
// nodes with 256 flits per VC accepts 0.906 from cycle 3,000 to 6,000, then 0.85, and 0.885 from
// 10,000 on.
type Rule struct {
	Window    int64   // cycles
	Tolerance float64 // growth of queues, as a share of what is accepted
	Least     int     // windows before steady state can be detected; at least steady.MinBatches
	Most      int     // windows after which no measurement begins anew
	Batches   int
	Filled    bool
}

// DefaultRule is for curves.
var DefaultRule = Rule{Window: 250, Tolerance: 0.02, Least: 8, Most: 64, Batches: 10, Filled: true}

// A Latency is in cycles, from creation at the source to the last flit in the destination's memory.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p999"`
	Max  int64   `json:"max"`
}

// A Class is a bar of a histogram: latencies from From up to but excluding To.
type Class struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Packets uint32 `json:"packets"`
}

// A Point is the measurement of one load. Rates are flits per node and cycle.
type Point struct {
	Rate     float64 `json:"offered_share"` // of the capacity of a wire, like all rates
	Accepted float64 `json:"accepted_share"`
	// Within is the half width of the 95 % interval of Accepted, from uncorrelated batches of windows.
	Within float64 `json:"within_share"`
	// Least and Greatest are the extremes over nodes.
	Least    float64 `json:"least_share"`
	Greatest float64 `json:"greatest_share"`
	Latency  Latency `json:"latency_cycles,omitzero"` // absent if no packet was measured
	Routers  float64 `json:"routers_ratio"`           // mean number of routers that a packet passes
	Packets  uint64  `json:"packets"`                 // packets in the latency statistics
	// Steady is transient if the transient may have lasted into the measurement.
	Steady steady.State `json:"steady"`
	State  State        `json:"state"`
	Cycles int64        `json:"cycles"`
	From   int64        `json:"from"` // first cycle of the measurement

	Series   []float64 `json:"series_share"` // accepted rate of each window
	Classes  []Class   `json:"classes,omitempty"`
	Links    []Link    `json:"links,omitempty"`
	FlitHops uint64    `json:"flit_hops"`

	offered float64 // packets that the sources had to send during the measurement
}

// A Link is an output of a router, with the share of the measured cycles in which it sent.
type Link struct {
	Router int     `json:"router"`
	Port   int     `json:"port"`
	To     int     `json:"to"`          // router; -1: a node
	Cycles int     `json:"wire_cycles"` // latency of the wire; 0 to a node
	Load   float64 `json:"load_share"`
}

// An Engine is a simulated network: packets.Network with deep buffers, or flits.Network with the
// RTL's buffers.
type Engine interface {
	Now() int64
	Run(until int64)
	Totals() packets.Totals
	Measure() // resets the latency statistics
	Latencies() *packets.Latencies
	Taken() []uint64                 // flits accepted, by node
	Carried(router, port int) uint64 // flits
}

// A Maker builds an engine at cycle 0.
type Maker func(cfg packets.Config) (Engine, error)

// Packets builds the engine with deep buffers.
func Packets(cfg packets.Config) (Engine, error) { return packets.New(cfg) }

// Flits builds the engine with the RTL's routers.
func Flits(cfg packets.Config) (Engine, error) { return flits.New(cfg) }

// Measure runs a network to steady state and measures it.
func Measure(ctx context.Context, build Maker, cfg packets.Config, rule Rule, step func(done, of int)) (*Point, error) {
	n, err := build(cfg)
	if err != nil {
		return nil, err
	}
	m := &meter{n: n, rule: rule, step: step, nodes: float64(cfg.Topology.Nodes()), packet: float64(cfg.Flits)}
	p := &Point{Rate: cfg.Rate}
	var before packets.Totals
	var taken []uint64
	var links []Link
	for p.Steady != steady.Steady && len(m.series) < max(rule.Most, 1) {
		if err := m.warmUp(ctx); err != nil {
			return nil, err
		}
		p.From = n.Now()
		n.Measure()
		before, taken, links = n.Totals(), n.Taken(), carried(cfg, n)
		warm := len(m.series)
		if err := m.windows(ctx, rule.Batches); err != nil {
			return nil, err
		}
		p.Steady = m.state(warm)
	}
	p.Series, p.Cycles = m.series, n.Now()
	p.Accepted, p.Within, _ = steady.Mean(m.series[len(m.series)-rule.Batches:])
	p.FlitHops = n.Totals().FlitHops - before.FlitHops
	p.latencies(n.Latencies())
	p.offered = p.Rate * m.nodes * float64(p.Cycles-p.From) / m.packet
	p.State = stateOf(p.Rate, p.Accepted, p.Within, p.offered, p.Steady)
	p.shares(n.Taken(), taken)
	for i, l := range carried(cfg, n) {
		l.Load = (l.Load - links[i].Load) / float64(p.Cycles-p.From)
		p.Links = append(p.Links, l)
	}
	return p, nil
}

type meter struct {
	n      Engine
	rule   Rule
	nodes  float64
	packet float64 // flits
	flits  uint64
	series []float64
	inside []float64 // flits in flight per node, at the end of each window
	step   func(done, of int)
}

// warmUp runs the network until it appears to be in steady state. Without that it ends after Most
// windows.
func (m *meter) warmUp(ctx context.Context) error {
	for {
		if err := m.windows(ctx, 1); err != nil {
			return err
		}
		n := len(m.series)
		if n >= m.rule.Most || n >= m.rule.Least && m.state(n) == steady.Steady {
			return nil
		}
	}
}

// state examines all windows. A transient that ends in the first half of them, but after the first
// warm windows, is part of the measurement.
func (m *meter) state(warm int) steady.State {
	t := steady.MSER(m.series)
	if t.Dropped > warm || m.rule.Filled && !m.filled() {
		return steady.Transient
	}
	return t.State
}

// filled reports whether the queues are stable: it compares the flits in flight in the second half
// of all windows with those in the quarter before.
func (m *meter) filled() bool {
	n := len(m.series)
	accepted := mean(m.series[n/4:n/2]) * float64(int64(n/4)*m.rule.Window)
	return mean(m.inside[n/2:])-mean(m.inside[n/4:n/2]) <= m.rule.Tolerance*accepted
}

// windows simulates so many windows.
func (m *meter) windows(ctx context.Context, count int) error {
	for range count {
		if err := m.window(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) window(ctx context.Context) error {
	for end := m.n.Now() + m.rule.Window; m.n.Now() < end; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		m.n.Run(min(end, m.n.Now()+m.stretch()))
	}
	now := m.n.Totals()
	m.series = append(m.series, float64(now.Flits-m.flits)/m.nodes/float64(m.rule.Window))
	m.inside = append(m.inside, float64(now.UnderWay())*m.packet/m.nodes)
	m.flits = now.Flits
	if m.step != nil {
		m.step(len(m.series), max(m.rule.Least, len(m.series))+m.rule.Batches)
	}
	return nil
}

// stretch is the number of cycles simulated between two checks of the context: a fraction of a
// second.
func (m *meter) stretch() int64 { return max(1, int64(nodeCycles/m.nodes)) }

// nodeCycles is the work of a core in about a tenth of a second.
const nodeCycles = 1 << 20

func (p *Point) latencies(l *packets.Latencies) {
	p.Packets = l.Packets
	p.Routers = float64(l.Hops) / float64(max(l.Packets, 1))
	p.Latency = Latency{l.Mean(), l.Quantile(0.5), l.Quantile(0.9), l.Quantile(0.99), l.Quantile(0.999), l.Max}
	l.Classes(func(from, to int64, packets uint32) { p.Classes = append(p.Classes, Class{from, to, packets}) })
}

func (p *Point) shares(now, before []uint64) {
	cycles := float64(p.Cycles - p.From)
	for i := range now {
		now[i] -= before[i]
	}
	p.Least, p.Greatest = float64(slices.Min(now))/cycles, float64(slices.Max(now))/cycles
}

// carried returns the flits of all outputs as loads.
func carried(cfg packets.Config, n Engine) (list []Link) {
	t := cfg.Topology
	for r := range t.Routers() {
		for o := range t.Ports(r) {
			to, cycles := -1, 0
			if w, ok := t.Wire(r, o); ok {
				to, cycles = w.Router, w.Cycles
			} else if _, ok := t.Node(r, o); !ok {
				continue
			}
			list = append(list, Link{r, o, to, cycles, float64(n.Carried(r, o))})
		}
	}
	return list
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(max(len(list), 1))
}
