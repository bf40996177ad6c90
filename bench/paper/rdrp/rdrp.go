package rdrp

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/load"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/steady"
	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

const packetEngine = "cosim/fabric/packets"

// rdrpRule waits for steady state by MSER-5, with stable queues. The paper's simulations run until
// throughput varies by less than 5 % from one iteration to the next, which is not enough: with 1 %
// of slow nodes, queues fill for 24,000 cycles (1,056 nodes, PAR, 1/8: 0.343 until cycle 8,000,
// 0.497 by 24,000).
func rdrpRule() load.Rule {
	return load.Rule{Window: 500, Tolerance: 0.01, Least: 16, Most: 64, Batches: 16, Filled: true}
}

// swingRule is for the aggressive parameters of FECN/BECN: under them all nodes slow down and
// recover together, every 6,500 cycles, and a network that is about to do so for the first time
// appears to be in steady state. Two such periods are measured after two periods.
func swingRule() load.Rule {
	return load.Rule{Window: 500, Tolerance: 0.01, Least: 26, Most: 64, Batches: 26, Filled: true}
}

func (x transfer) rule() load.Rule {
	if x.ecn == aggressive {
		return swingRule()
	}
	return rdrpRule()
}

// rdrpSize is p of a balanced Dragonfly: p nodes and p global wires at each of 2p routers of a
// group. 6 is the paper's.
func rdrpSize(s paper.Scale) int {
	return map[paper.Scale]int{paper.Small: 2, paper.Medium: 4, paper.Large: 6, paper.Full: 6}[s]
}

// permutations are drawn per point.
func permutations(e *paper.Env) int {
	if e.Sampled() {
		return 4
	}
	return map[paper.Scale]int{paper.Small: 4, paper.Medium: 4, paper.Large: 10, paper.Full: 10}[e.Scale]
}

const (
	noECN      = "none"
	defaultECN = "default"
	aggressive = "aggressive"
)

// A transfer is one point of the RDRP paper's simulations: what some slow nodes do to a
// permutation.
type transfer struct {
	factor int    // the slow nodes' memory takes a flit in so many cycles
	count  int    // of slow nodes
	ecn    string // FECN/BECN parameters
	window int    // outstanding transfers of a node; 0: any number
	acks   int    // cycles of wires that acknowledgements have for themselves; 0: they ride on packets
}

// simulation is a transfer under one permutation. Which nodes are slow is drawn with it; fewer are
// some of more.
func simulation(e *paper.Env, t topology.Dragonfly, x transfer, permutation int) (packets.Config, error) {
	c := packets.Paper()
	c.Topology = t
	if x.window > 0 {
		c.Bound, c.Window, c.AckCycles = packets.PerNode, x.window, x.acks
	}
	c.Seed = uint64(e.Seed)<<16 | uint64(permutation)
	c.Traffic = traffic.Pairs(t.Nodes(), c.Seed)
	c.DrawSlow(x.count, x.factor)
	c.ECN = ecnOf(x.ecn)
	var err error
	c.Routing, err = routing.New(routing.PAR, t, routing.DefaultBias)
	return paper.Mutated(e, c), err
}

func ecnOf(name string) *congestion.ECN {
	return map[string]*congestion.ECN{defaultECN: &congestion.Default, aggressive: &congestion.Aggressive}[name]
}

// measurePoints has each of a list measured, some at a time.
func measurePoints(ctx context.Context, e *paper.Env, points []*load.Point, measure func(ctx context.Context, i int) (*load.Point, error)) error {
	if e.Plan != nil {
		e.Plan(len(points), 0, 0)
	}
	err := e.EachCounted(ctx, len(points), func(ctx context.Context, i int) (err error) {
		points[i], err = measure(ctx, i)
		return err
	})
	if err != nil {
		return err
	}
	e.RunCount += len(points)
	for _, p := range points {
		e.PacketCount += p.Packets
	}
	return nil
}

// known returns the point that the journal has under a key, or else measures it.
func known(ctx context.Context, e *paper.Env, key string, rule load.Rule, config func() (packets.Config, error)) (*load.Point, error) {
	if p, known := e.Journal.Point(key); known {
		return p, nil
	}
	c, err := config()
	if err != nil {
		return nil, err
	}
	p, err := load.Measure(ctx, load.Packets, c, rule, nil)
	if err != nil {
		return nil, err
	}
	p.Links, p.Classes = nil, nil
	return p, e.Journal.PutPoint(key, p)
}

// measured measures the points of an experiment among the nodes of the scale's Dragonfly.
func measured(points func(e *paper.Env, nodes int) []transfer) func(context.Context, *paper.Env) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
		d, err := dragonfly(e)
		if err != nil {
			return nil, err
		}
		return transfers(ctx, e, d, points(e, d.Nodes()))
	}
}

// transfers measures points under several permutations, and adds a row for each.
func transfers(ctx context.Context, e *paper.Env, t topology.Dragonfly, list []transfer) (*paper.Table, error) {
	n := permutations(e)
	points := make([]*load.Point, len(list)*n)
	err := measurePoints(ctx, e, points, func(ctx context.Context, i int) (*load.Point, error) {
		x := list[i/n]
		key := fmt.Sprintf("%s, seed %d, permutation %d, %v, %+v, %+v", packetEngine, e.Seed, i%n, t, x, x.rule())
		return known(ctx, e, key, x.rule(), func() (packets.Config, error) { return simulation(e, t, x, i%n) })
	})
	if err != nil {
		return nil, err
	}
	table := &paper.Table{Columns: []string{"slow to 1/", "slow nodes", "slow (%)", "FECN/BECN", "outstanding", "permutations",
		"throughput", "± (95 %)", "lowest", "highest", "deepest window", "steady"}}
	for i, x := range list {
		addTransfer(table, t, x, points[i*n:(i+1)*n])
	}
	e.Worlds = append(e.Worlds, fmt.Sprintf("%d nodes: %s", t.Nodes(), t))
	return table, nil
}

func addTransfer(t *paper.Table, d topology.Dragonfly, x transfer, points []*load.Point) {
	var accepted []float64
	deepest, inSteadyState := 1.0, 0
	for _, p := range points {
		accepted = append(accepted, p.Accepted)
		deepest = min(deepest, slices.Min(p.Series[2:])) // the first two fill the network
		if p.Steady == steady.Steady {
			inSteadyState++
		}
	}
	average, within := steady.Interval(accepted)
	t.Add(x.factor, x.count, 100*float64(x.count)/float64(d.Nodes()), x.ecn, x.window, len(points),
		average, within, slices.Min(accepted), slices.Max(accepted), deepest, inSteadyState)
}

// slowCounts are numbers of slow nodes: shares of all, at least so many, and each once.
func slowCounts(nodes, least int, shares ...float64) []int {
	var list []int
	for _, s := range shares {
		if n := max(least, int(s*float64(nodes)+0.5)); len(list) == 0 || n > list[len(list)-1] {
			list = append(list, n)
		}
	}
	return list
}

// onePercent is how many nodes that is, one at least.
func onePercent(nodes int) int { return slowCounts(nodes, 1, 0.01)[0] }

func dragonfly(e *paper.Env) (topology.Dragonfly, error) {
	p := rdrpSize(e.Scale)
	return topology.NewDragonfly(p, 2*p, p, 2, 10)
}

// lines are a figure of throughput, a line for each of some values of a column, with error bars.
func lines(t *paper.Table, title string, x figure.Axis, column, by string, name func(v any) string) *figure.Figure {
	f := &figure.Figure{Title: title, X: x, Y: figure.Axis{Label: "throughput", Unit: "of the injection bandwidth"}}
	for _, v := range paper.Distinct[any](t, by) {
		rows := t.Where(by, v)
		s := figure.Series{Name: name(v), Points: rows.Points(column, "throughput")}
		for i, w := range rows.Values("± (95 %)") {
			s.Points[i].Low, s.Points[i].High = w, w
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// with appends the rows of another table.
func with(t *paper.Table, o *paper.Table) *paper.Table {
	return &paper.Table{Columns: t.Columns, Rows: append(slices.Clone(t.Rows), o.Rows...)}
}

// as gives rows with another value in a column.
func as(t *paper.Table, name string, value any) *paper.Table {
	c := t.Column(name)
	o := &paper.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		row = slices.Clone(row)
		row[c] = value
		o.Rows = append(o.Rows, row)
	}
	return o
}
