package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/load"
	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

const packetEngine = "cosim/fabric/packets"

// rdrpRule: the paper's simulations run until throughput varies by less than 5 % from one iteration
// to the next.
var rdrpRule = load.Rule{Window: 500, Tolerance: 0.05, Least: 8, Most: 16, Batches: 8}

// swingRule is for the aggressive parameters of FECN/BECN: under them all nodes slow down and
// recover together, every 6,500 cycles, and a network that is about to do so for the first time
// looks settled. Two such periods are measured.
var swingRule = load.Rule{Window: 500, Tolerance: 0.05, Least: 16, Most: 16, Batches: 26}

func (x transfer) rule() load.Rule {
	if x.ecn == aggressive {
		return swingRule
	}
	return rdrpRule
}

// rdrpSize is p of a balanced Dragonfly: p nodes and p global wires at each of 2p routers of a
// group. 6 is the paper's.
func rdrpSize(s Scale) int { return map[Scale]int{Small: 2, Medium: 4, Large: 6, Full: 6}[s] }

// permutations are drawn per point.
func (e *Env) permutations() int {
	return map[Scale]int{Small: 4, Medium: 4, Large: 10, Full: 10}[e.Scale]
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
func (e *Env) simulation(t topology.Dragonfly, x transfer, permutation int) (packets.Config, error) {
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
	return c, err
}

func ecnOf(name string) *congestion.ECN {
	return map[string]*congestion.ECN{defaultECN: &congestion.Default, aggressive: &congestion.Aggressive}[name]
}

// points has each of a list measured, some at a time.
func (e *Env) points(ctx context.Context, points []*load.Point, measure func(ctx context.Context, i int) (*load.Point, error)) error {
	if e.Plan != nil {
		e.Plan(len(points), 0, 0)
	}
	done := make(chan struct{}, len(points))
	err := e.each(ctx, len(points), func(ctx context.Context, i int) (err error) {
		points[i], err = measure(ctx, i)
		done <- struct{}{}
		if e.Step != nil {
			e.Step(len(done), len(points))
		}
		return err
	})
	if err != nil {
		return err
	}
	e.runs += len(points)
	for _, p := range points {
		e.packets += p.Packets
	}
	return nil
}

// known is what the journal has under a key, or what is measured then.
func (e *Env) known(ctx context.Context, key string, rule load.Rule, config func() (packets.Config, error)) (*load.Point, error) {
	if p, known := e.Journal.point(key); known {
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
	return p, e.Journal.putPoint(key, p)
}

// transfers measures points under several permutations, and adds a row for each.
func (e *Env) transfers(ctx context.Context, t topology.Dragonfly, list []transfer) (*Table, error) {
	n := e.permutations()
	points := make([]*load.Point, len(list)*n)
	err := e.points(ctx, points, func(ctx context.Context, i int) (*load.Point, error) {
		x := list[i/n]
		key := fmt.Sprintf("%s, seed %d, permutation %d, %v, %+v, %+v", packetEngine, e.Seed, i%n, t, x, x.rule())
		return e.known(ctx, key, x.rule(), func() (packets.Config, error) { return e.simulation(t, x, i%n) })
	})
	if err != nil {
		return nil, err
	}
	table := &Table{Columns: []string{"slow to 1/", "slow nodes", "slow (%)", "FECN/BECN", "outstanding", "permutations",
		"throughput", "± (95 %)", "lowest", "highest", "deepest window", "settled"}}
	for i, x := range list {
		table.transfer(t, x, points[i*n:(i+1)*n])
	}
	e.sizes = append(e.sizes, fmt.Sprintf("%d nodes: %s", t.Nodes(), t))
	return table, nil
}

func (t *Table) transfer(d topology.Dragonfly, x transfer, points []*load.Point) {
	var accepted []float64
	deepest, settled := 1.0, 0
	for _, p := range points {
		accepted = append(accepted, p.Accepted)
		deepest = min(deepest, slices.Min(p.Series[2:])) // the first two fill the network
		if p.Settled {
			settled++
		}
	}
	average, within := load.Interval(accepted)
	t.add(x.factor, x.count, 100*float64(x.count)/float64(d.Nodes()), x.ecn, x.window, len(points),
		average, within, slices.Min(accepted), slices.Max(accepted), deepest, settled)
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

func (e *Env) dragonfly() (topology.Dragonfly, error) {
	p := rdrpSize(e.Scale)
	return topology.NewDragonfly(p, 2*p, p, 2, 10)
}

// lines are a figure of throughput, a line for each of some values of a column, with error bars.
func lines(t *Table, title string, x figure.Axis, column, by string, name func(v any) string) *figure.Figure {
	f := &figure.Figure{Title: title, X: x, Y: figure.Axis{Label: "throughput", Unit: "of the injection bandwidth"}}
	for _, v := range distinct[any](t, by) {
		rows := t.where(by, v)
		s := figure.Series{Name: name(v), Points: rows.points(column, "throughput")}
		for i, w := range rows.values("± (95 %)") {
			s.Points[i].Low, s.Points[i].High = w, w
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// with puts rows of another table behind.
func (t *Table) with(o *Table) *Table {
	return &Table{Columns: t.Columns, Rows: append(slices.Clone(t.Rows), o.Rows...)}
}

// as gives rows with another value in a column.
func (t *Table) as(name string, value any) *Table {
	c := t.column(name)
	o := &Table{Columns: t.Columns}
	for _, row := range t.Rows {
		row = slices.Clone(row)
		row[c] = value
		o.Rows = append(o.Rows, row)
	}
	return o
}
