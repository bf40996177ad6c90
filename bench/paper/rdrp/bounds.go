package rdrp

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/load"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/bench/steady"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

// boundsOfNetworks goes beyond the paper: what a bound can reach at all, who should set it, and who
// else gains. Its claims are ours.
func boundsOfNetworks() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"rdrp-bounds"}, Engine: packetEngine, Title: "Bounds on outstanding transfers: the ideal, the receiver's own, per pair, beside others",
		Paper: "beyond RDRP, section 4.1", PaperSize: rdrpPaperSize, Thinned: "3 permutations per point instead of 10",
		Freedom: rdrpFreedom,
		Measure: measureBounds, Plot: plotBounds,
		Mutations: []paper.Mutation{{What: "nothing is bounded", Mutate: unbounded, Measure: onFatTree, Claims: []string{helpOnFatTree}}},
		Claims: []paper.Claim{
			{
				Text:  "what the receiver grants is as good as the best fixed bound: 1/2, 1/4, 1/8",
				Paper: "within 3 %", Judge: grantedIsBest,
			},
			{
				Text:  "without slow nodes a granted bound loses nothing",
				Paper: "at least 99 % of none", Judge: grantedLosesNothing,
			},
			{
				Text:  "the best fixed bound is near the ideal, sources that know",
				Paper: "-", Judge: fixedNearIdeal,
			},
			{
				Text:  "FECN/BECN adds nothing to a bound",
				Paper: "-", Judge: ecnAddsNothing,
			},
			{
				Text:  "a bound per pair is better than per node where a node has several partners",
				Paper: "-", Judge: pairsBeatNodes,
			},
			{
				Text:  "others between the flows are not disturbed",
				Paper: "p99 at most 1.5 times that without slow nodes", Judge: victimsUndisturbed,
			},
			{
				Text:  "bounds help on other networks too: the Dragonfly with UGAL-L",
				Paper: "-", Judge: helpOn(dragonflyNet),
			},
			{
				Text:  helpOnFatTree,
				Paper: "-", Judge: helpOn(fatTreeNet),
			},
		},
	}
}

// A trial is one point: the network, what its nodes send, and what bounds them.
type trial struct {
	net      string
	routing  routing.Kind
	partners int     // of a node; 1: a permutation
	others   float64 // share of nodes that send to each other at random, at othersRate
	factor   int     // 1 % of the nodes are slow to 1/factor
	bound    string  // any, ideal, granted, a number of a node or number/pair
	ecn      string
}

const (
	dragonflyNet = "dragonfly"
	fatTreeNet   = "fat tree"
	othersRate   = 0.1
	ideal        = "ideal"
	granted      = "granted"
	anyBound     = "any"
)

func boundTrials() (list []trial) {
	base := trial{dragonflyNet, routing.PAR, 1, 0, 1, anyBound, noECN}
	with := func(t trial, bounds ...string) {
		for _, t.bound = range bounds {
			list = append(list, t)
		}
	}
	for _, base.factor = range []int{1, 2, 4, 8} {
		with(base, anyBound, ideal, "10", "15", "20", "25", "30", granted)
	}
	base.ecn = defaultECN
	with(base, anyBound, "20", granted)
	base.ecn, base.partners = noECN, 4
	with(base, anyBound, ideal, "20", "80", "5/pair", "20/pair", granted)
	base.partners, base.others = 1, 0.1
	for _, base.factor = range []int{1, 8} {
		with(base, anyBound, ideal, "20", granted)
	}
	base.others = 0
	for _, n := range []struct {
		net string
		k   routing.Kind
	}{{dragonflyNet, routing.UGAL}, {fatTreeNet, routing.UGAL}} {
		base.net, base.routing = n.net, n.k
		for _, base.factor = range []int{1, 8} {
			with(base, anyBound, "20", granted)
		}
	}
	return list
}

// network is the Dragonfly of the scale, or the fat tree that is about as large.
func network(e *paper.Env, name string) (topology.Topology, error) {
	if name == fatTreeNet {
		return topology.NewFatTree(map[paper.Scale]int{paper.Small: 4, paper.Medium: 10, paper.Large: 17, paper.Full: 17}[e.Scale], 3, 2)
	}
	return dragonfly(e)
}

// trialConfig is a trial under one drawing of partners and slow nodes.
func trialConfig(e *paper.Env, x trial, drawing int) (packets.Config, error) {
	c := packets.Paper()
	t, err := network(e, x.net)
	if err != nil {
		return c, err
	}
	c.Topology, c.Seed = t, uint64(e.Seed)<<16|uint64(drawing)
	if c.Routing, err = routing.New(x.routing, t, routing.DefaultBias); err != nil {
		return c, err
	}
	nodes := t.Nodes()
	switch {
	case x.others > 0:
		c.Rates = slices.Repeat([]float64{1}, nodes)
		c.Traffic, c.Watched = traffic.Beside(nodes, int(x.others*float64(nodes)), c.Seed)
		for i, w := range c.Watched {
			if w {
				c.Rates[i] = othersRate
			}
		}
	default:
		if c.Traffic, err = traffic.Several(nodes, x.partners, c.Seed); err != nil {
			return c, err
		}
	}
	c.DrawSlow(onePercent(nodes), x.factor)
	c.ECN = ecnOf(x.ecn)
	if c.Paced = x.bound == ideal; c.Paced {
		return c, nil
	}
	c.Bound, c.Window, err = packets.ParseBound(x.bound)
	return paper.Mutated(e, c), err
}

func boundColumns() []string {
	return []string{"network", "routing", "partners", "others (%)", "slow to 1/", "bound", "FECN/BECN", "drawings",
		"throughput", "± (95 %)", "lowest", "highest", "p50 (cycles)", "p99 (cycles)", "p99.9 (cycles)"}
}

// drawings are of partners and slow nodes, per trial.
func drawings(e *paper.Env) int {
	if e.Scale == paper.Large {
		return 3
	}
	return permutations(e)
}

func measureBounds(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureTrials(ctx, e, boundTrials())
}

// onFatTree measures the trials that decide whether bounds help on a fat tree.
func onFatTree(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureTrials(ctx, e, slices.DeleteFunc(boundTrials(), func(x trial) bool {
		return x.net != fatTreeNet || x.factor == 1 && x.bound != anyBound
	}))
}

func measureTrials(ctx context.Context, e *paper.Env, list []trial) (*paper.Table, error) {
	n := drawings(e)
	points := make([]*load.Point, len(list)*n)
	err := measurePoints(ctx, e, points, func(ctx context.Context, i int) (*load.Point, error) {
		x := list[i/n]
		key := fmt.Sprintf("bounds, %s, %s, seed %d, drawing %d, %+v, %+v", packetEngine, e.Scale, e.Seed, i%n, x, rdrpRule())
		return known(ctx, e, key, rdrpRule(), func() (packets.Config, error) { return trialConfig(e, x, i%n) })
	})
	if err != nil {
		return nil, err
	}
	t := &paper.Table{Columns: boundColumns()}
	for i, x := range list {
		addTrial(t, x, points[i*n:(i+1)*n])
	}
	for _, name := range []string{dragonflyNet, fatTreeNet} {
		net, err := network(e, name)
		if err != nil {
			return nil, err
		}
		e.Worlds = append(e.Worlds, fmt.Sprintf("%d nodes: %s", net.Nodes(), net))
	}
	return t, nil
}

func addTrial(t *paper.Table, x trial, points []*load.Point) {
	var accepted []float64
	var p50, p99, p999 int64
	for _, p := range points {
		accepted = append(accepted, p.Accepted)
		p50, p99, p999 = p50+p.Latency.P50, p99+p.Latency.P99, p999+p.Latency.P999
	}
	n := int64(len(points))
	average, within := steady.Interval(accepted)
	t.Add(x.net, string(x.routing), x.partners, 100*x.others, x.factor, x.bound, x.ecn, len(points),
		average, within, slices.Min(accepted), slices.Max(accepted), int(p50/n), int(p99/n), int(p999/n))
}

// at gives a value of one trial.
func at(t *paper.Table, column string, x trial) float64 {
	return t.Only(column, "network", x.net, "routing", string(x.routing), "partners", x.partners, "others (%)", 100*x.others,
		"slow to 1/", x.factor, "bound", x.bound, "FECN/BECN", x.ecn)
}

// among is the throughput of a permutation on the paper's network.
func among(t *paper.Table, factor int, bound, ecn string) float64 {
	return at(t, "throughput", trial{dragonflyNet, routing.PAR, 1, 0, factor, bound, ecn})
}

func bestFixed(t *paper.Table, factor int) (best float64, bound string) {
	for _, b := range []string{"10", "15", "20", "25", "30"} {
		if v := among(t, factor, b, noECN); v > best {
			best, bound = v, b
		}
	}
	return best, bound
}

func grantedIsBest(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, f := range []int{2, 4, 8} {
		most, bound := bestFixed(t, f)
		v := among(t, f, granted, noECN)
		checks = append(checks, judge.AtLeast(v/most, 0.97))
		ours += fmt.Sprintf("1/%d: %.3f against %.3f with %s; ", f, v, most, bound)
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

func grantedLosesNothing(t *paper.Table) judge.Finding {
	v, none := among(t, 1, granted, noECN), among(t, 1, anyBound, noECN)
	return judge.Of(fmt.Sprintf("%.3f against %.3f", v, none), judge.AtLeast(v/none, 0.99))
}

func fixedNearIdeal(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, f := range []int{2, 4, 8} {
		most, _ := bestFixed(t, f)
		v := among(t, f, ideal, noECN)
		checks = append(checks, judge.AtLeast(most/v, 0.95))
		ours += fmt.Sprintf("1/%d: %.3f of %.3f; ", f, most, v)
	}
	return judge.Of(ours[:len(ours)-2], checks...)
}

func ecnAddsNothing(t *paper.Table) judge.Finding {
	ours, checks := "", []judge.Check(nil)
	for _, b := range []string{"20", granted} {
		with, without := among(t, 8, b, defaultECN), among(t, 8, b, noECN)
		checks = append(checks, judge.AtMost(with/without, 1.02))
		ours += fmt.Sprintf("%s: %.3f with it, %.3f without; ", b, with, without)
	}
	return judge.Of(ours+fmt.Sprintf("FECN/BECN alone %.3f", among(t, 8, anyBound, defaultECN)), checks...)
}

func pairsBeatNodes(t *paper.Table) judge.Finding {
	at := func(bound string) float64 {
		return at(t, "throughput", trial{dragonflyNet, routing.PAR, 4, 0, 8, bound, noECN})
	}
	node, pair := max(at("20"), at("80")), max(at("5/pair"), at("20/pair"))
	return judge.Of(fmt.Sprintf("4 partners, 1/8: %.3f per node (20: %.3f, 80: %.3f), %.3f per pair (5: %.3f, 20: %.3f), %.3f granted, %.3f ideal, %.3f none", node, at("20"), at("80"), pair, at("5/pair"), at("20/pair"), at(granted), at(ideal), at(anyBound)),
		judge.Less(node, pair, 0))
}

func victimsUndisturbed(t *paper.Table) judge.Finding {
	at := func(factor int, bound string) float64 {
		return at(t, "p99 (cycles)", trial{dragonflyNet, routing.PAR, 1, 0.1, factor, bound, noECN})
	}
	ours := ""
	for _, b := range []string{anyBound, ideal, "20", granted} {
		ours += fmt.Sprintf("%s: %.0f cycles with slow nodes, %.0f without; ", b, at(8, b), at(1, b))
	}
	return judge.Of(ours[:len(ours)-2],
		judge.AtMost(at(8, "20")/at(1, "20"), 1.5), judge.AtMost(at(8, granted)/at(1, granted), 1.5))
}

const helpOnFatTree = "bounds help on other networks too: a fat tree"

// helpOn judges a network with UGAL-L.
func helpOn(network string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		at := func(factor int, bound string) float64 {
			return at(t, "throughput", trial{network, routing.UGAL, 1, 0, factor, bound, noECN})
		}
		ours := fmt.Sprintf("%.3f without slow nodes; 1/8: %.3f, bound 20 %.3f, granted %.3f", at(1, anyBound), at(8, anyBound), at(8, "20"), at(8, granted))
		return judge.Of(ours, judge.Less(at(8, anyBound), max(at(8, "20"), at(8, granted)), 0))
	}
}

func plotBounds(t *paper.Table) []*figure.Figure {
	rows := t.Where("network", dragonflyNet, "routing", string(routing.PAR), "partners", 1, "others (%)", 0.0, "FECN/BECN", noECN)
	shown := &paper.Table{Columns: t.Columns}
	for _, b := range []string{anyBound, "10", "20", "30", granted, ideal} {
		shown = with(shown, rows.Where("bound", b))
	}
	x := figure.Axis{Label: "slow memories take a flit in so many cycles", Scale: figure.Log2}
	return []*figure.Figure{lines(shown, "1 % slow nodes, permutation, Dragonfly", x, "slow to 1/", "bound", func(v any) string { return v.(string) })}
}
