package imb

import (
	"context"
	"math/rand/v2"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/host"
	"github.com/sirupsen/logrus"
)

// A Report is the result of a run.
type Report struct {
	Config Config       `json:"config"`
	Info   drivers.Info `json:"device"`
	Tables []Table      `json:"tables"`
}

// A Table is the result of one benchmark for one number of processes.
type Table struct {
	Benchmark string `json:"benchmark"`
	Groups    int    `json:"groups"`
	Procs     int    `json:"procs"` // of each group
	Waiting   int    `json:"waiting"`
	Rows      []Row  `json:"rows"`
	// Flow sums the flow control counters of all lengths, including warm-up.
	Flow bench.FlowStats `json:"flow_control"`
	// Stalled is the number of cycles for which full mailboxes stalled the network, over all nodes.
	Stalled uint64 `json:"rx_stall_cycles"`

	class class
}

// A Row is the result for one message length. Times are in µs.
type Row struct {
	Group       int     `json:"group"` // -1: the slowest of all
	Bytes       int     `json:"bytes"`
	Repetitions int     `json:"repetitions"`
	Min         float64 `json:"t_min_us"`
	Max         float64 `json:"t_max_us"`
	Avg         float64 `json:"t_avg_us"`
	Rate        float64 `json:"mb_per_s,omitempty"`
}

// Run runs the benchmarks one after the other.
func Run(ctx context.Context, c Config) (*Report, error) {
	list, err := c.validate()
	if err != nil {
		return nil, err
	}
	rep := &Report{Config: c}
	done, of := 0, 0
	for _, b := range list {
		of += len(c.procs(b)) * len(c.sizes(b)) * (c.Warmup + c.Iterations)
	}
	step := func() {
		if done++; c.Step != nil {
			c.Step(done, of)
		}
	}
	for _, b := range list {
		for _, p := range c.procs(b) {
			m := newMeasurement(&c, b, p, step)
			res, err := bench.Measure(ctx, m.world(), m.buffers(), m.body)
			if err != nil {
				return nil, err
			}
			rep.Info = res.Info
			rep.Tables = append(rep.Tables, m.table(res))
			logs.Layer(c.Run.Log, "imb").WithFields(logrus.Fields{"benchmark": b.name, "procs": p, "lengths": len(m.sizes), "iterations": c.Iterations}).Debug("table measured")
		}
	}
	return rep, nil
}

// A measurement is a table in progress.
type measurement struct {
	c      *Config
	b      *benchmark
	procs  int
	groups [][]int
	sizes  []int
	times  [][]drivers.Time // time of a repetition by length and world rank
	step   func()
}

func newMeasurement(c *Config, b *benchmark, procs int, step func()) *measurement {
	m := &measurement{c: c, b: b, procs: procs, groups: c.groups(procs), sizes: c.sizes(b), step: step}
	m.times = make([][]drivers.Time, len(m.sizes))
	for i := range m.times {
		m.times[i] = make([]drivers.Time, c.Run.Ranks())
	}
	return m
}

// world returns the configuration of the table's world.
func (m *measurement) world() bench.Config {
	w := m.c.Run
	w.Sizes = []int{m.longest() * m.joined()}
	return w
}

func (m *measurement) longest() int { return m.sizes[len(m.sizes)-1] }

// joined returns the largest number of buffers of the longest length in one message.
func (m *measurement) joined() int {
	return max(m.b.longest(m.procs), m.b.kind.Longest(m.c.Algorithm, m.procs))
}

// buffers returns the number of longest messages that a rank holds.
func (m *measurement) buffers() int {
	each := m.joined()
	return (m.b.blocks(m.procs)+each-1)/each + 1
}

// body runs a rank; ranks without a group wait in the barrier.
func (m *measurement) body(r *host.Rank) error {
	r.SetLinear(m.c.Linear)
	if m.c.Algorithm != "" {
		if err := r.SetAlgorithm(m.b.kind, m.c.Algorithm); err != nil {
			return err
		}
	}
	x, err := m.join(r)
	if err != nil {
		return err
	}
	for i, n := range m.sizes {
		if x != nil {
			if m.times[i][r.ID()], err = m.sample(x, n); err != nil {
				return err
			}
		}
		if err := r.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

// join makes the rank a member of its group, if it has one.
func (m *measurement) join(r *host.Rank) (*rank, error) {
	for _, members := range m.groups {
		for _, member := range members {
			if member == r.ID() {
				g, err := r.Group(members)
				return &rank{Comm: g, r: r, c: m.c}, err
			}
		}
	}
	return nil, nil
}

// sample measures the mean time of an iteration.
func (m *measurement) sample(x *rank, n int) (drivers.Time, error) {
	x.r.FreeAll()
	once, err := m.prepare(x, n)
	if err != nil {
		return 0, err
	}
	var total drivers.Time
	start := Delays(m.c.Skew, m.c.Run.Seed, x.r.ID())
	for k := range m.c.Warmup + m.c.Iterations {
		if m.c.Sync || k == m.c.Warmup {
			if err := x.Barrier(); err != nil {
				return 0, err
			}
		}
		if k == m.c.Warmup {
			total = 0
		}
		if m.c.Skew > 0 {
			x.r.Compute(start())
		}
		from := x.r.Now()
		if err := once(k); err != nil {
			return 0, err
		}
		total += x.r.Now() - from
		if x.r.ID() == m.groups[0][0] {
			m.step()
		}
	}
	return total / drivers.Time(m.c.Iterations), nil
}

// Delays returns the delays of a rank, one for each iteration, of up to skew.
func Delays(skew drivers.Time, seed int64, rank int) func() drivers.Time {
	random := rand.New(rand.NewPCG(uint64(seed), uint64(rank)))
	return func() drivers.Time { return drivers.Time(random.Int64N(int64(skew) + 1)) }
}

func (m *measurement) prepare(x *rank, n int) (func(k int) error, error) {
	if m.b.prepare != nil {
		return m.b.prepare(x, n)
	}
	y := bench.Member{
		Comm: x.Comm, Rank: x.r, Seed: m.c.Run.Seed, Linear: m.c.Linear,
		Root: func(k int) int { return m.c.root(k, x.Size()) },
	}
	return y.Prepare(m.b.kind, n)
}

func (m *measurement) table(res *bench.Result) Table {
	t := Table{
		Benchmark: m.b.name, Groups: len(m.groups), Procs: m.procs,
		Waiting: m.c.Run.Ranks() - len(m.groups)*m.procs, Flow: res.Rows[0].Flow, class: m.b.class,
	}
	for _, nic := range res.NICs {
		t.Stalled += nic.RxStall
	}
	for i, n := range m.sizes {
		worst := Row{Group: -1, Bytes: n, Repetitions: m.c.Iterations}
		for g, members := range m.groups {
			row := m.row(i, g, members)
			if m.c.PerGroup {
				t.Rows = append(t.Rows, row)
			}
			if row.Max >= worst.Max {
				row.Group, worst = -1, row
			}
		}
		if !m.c.PerGroup {
			t.Rows = append(t.Rows, worst)
		}
	}
	return t
}

// row summarizes a group for one length.
func (m *measurement) row(size, group int, members []int) Row {
	row := Row{Group: group, Bytes: m.sizes[size], Repetitions: m.c.Iterations}
	low, high, sum := drivers.Never, drivers.Time(0), drivers.Time(0)
	for _, r := range members {
		t := m.times[size][r]
		low, high, sum = min(low, t), max(high, t), sum+t
	}
	us := func(t drivers.Time) float64 {
		if m.b.half {
			return t.Nanoseconds() / 2000
		}
		return t.Nanoseconds() / 1000
	}
	row.Min, row.Max, row.Avg = us(low), us(high), us(sum/drivers.Time(len(members)))
	if row.Max > 0 {
		row.Rate = float64(m.b.transfers) * float64(row.Bytes) / row.Max
	}
	return row
}
