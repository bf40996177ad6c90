package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/load"
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/spf13/cobra"
)

func newFabric() *cobra.Command {
	f := &fabricFlags{config: packets.Paper(), rule: load.DefaultRule}
	cmd := &cobra.Command{
		Use:   "fabric TOPOLOGY",
		Short: "Measure latency and throughput of a network under synthetic traffic",
		Long: `Simulate a network of routers with deep buffers, packet by packet and to the
cycle, and print latency and throughput for each offered rate.

TOPOLOGY is one of ` + topology.Forms + `;
dragonfly:6 is the balanced Dragonfly of 6 nodes per router: 5,256 nodes. With
--engine flits, meshes and tori are simulated flit by flit, with the RTL's routers
and buffers of --depth flits (default 16), under minimal routing.

Measurement of a rate begins when the network is in steady state: the transient of
throughput, as MSER-5 finds it, ends in the first half of the time so far, and queues
no longer grow by more than --tolerance of the accepted flits. Then ten more windows
are measured, again if the transient lasted into them. The interval is that of their
mean, from uncorrelated batches, or with --seeds of the means of the seeds. Rates are flits per node and cycle. Latency is the time from
the creation of a packet to its last flit in memory, or - if no packet was measured.
States:

  ok               the network accepts the offered rate, in steady state
  saturated        it accepts less than 95 %; latencies are those of one instant
  transient        no steady state was found within --most windows
  too few packets  fewer than 30 packets were offered, or the interval spans the
                   limit of saturation: raise --window`,
		Example: `  nicloop fabric mesh:8x8
  nicloop fabric dragonfly:2 --routing par --traffic adversarial --rate 0.1,0.3,0.5
  nicloop fabric dragonfly:6 --rate 0.5 --plot curves     curves-latency.png, curves-throughput.png, …
  nicloop fabric mesh:8x8 --engine flits                  with the RTL's routers and buffers
  nicloop fabric torus:8x8 --traffic uniform --saturation
  nicloop fabric dragonfly:4 --routing par --traffic permutation --rate 1 --slow 1%:1/8 --outstanding 30
  nicloop fabric dragonfly:4 --routing par --traffic partners --partners 4 --rate 1 --slow 1%:1/8 --outstanding granted
  nicloop fabric fattree:4,3 --traffic hotspot --hot 2 --hot-share 0.2 --histogram --links --json`,
		Args: checked(cobra.ExactArgs(1)),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.engine, "engine", "packets", "packets (deep buffers) or flits (the RTL's routers)")
	fs.StringVar(&f.traffic, "traffic", "uniform", strings.Join(traffic.Names(), ", "))
	fs.Float64SliceVar(&f.rates, "rate", []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, "offered load in flits per node and cycle")
	fs.StringVar(&f.routing, "routing", string(routing.Minimal), "minimal, table (shortest paths by search), valiant, ugal or par")
	fs.IntVar(&f.bias.Factor, "bias", routing.DefaultBias.Factor, "adaptive routing takes the longer path when the minimal output has more than this many times the flits of the other one")
	fs.IntVar(&f.bias.Threshold, "threshold", routing.DefaultBias.Threshold, "and additionally at least this many flits more")
	fs.BoolVar(&f.saturation, "saturation", false, "find the highest rate of which 95 % is accepted, by bisection, to 0.01")
	fs.IntVar(&f.hot, "hot", 1, "hot nodes of hotspot traffic")
	fs.Float64Var(&f.share, "hot-share", 0.1, "share of hotspot traffic that goes to the hot nodes")
	fs.StringVar(&f.slow, "slow", "", "slow memories, `NODES:1/FACTOR`, such as 1%:1/8 or 5:1/2")
	fs.IntVar(&f.partners, "partners", 4, "destinations of each node with --traffic partners")
	fs.StringVar(&f.bound, "outstanding", "any", "limit of unacknowledged packets: any (no limit), `N` per node, N/pair per node and destination, or granted (the receiver's memory determines it)")
	fs.IntVar(&f.config.AckCycles, "ack-cycles", 0, "latency of acknowledgements on wires of their own; 0: piggyback them on packets")
	fs.BoolVar(&f.config.Paced, "paced", false, "sources know their destination's memory rate and send no faster: an upper bound for real nodes")
	fs.StringVar(&f.ecn, "fecn", "none", "FECN/BECN: none, default or aggressive")
	fs.IntVar(&f.config.Flits, "flits", f.config.Flits, "flits per packet")
	fs.IntVar(&f.config.Depth, "depth", f.config.Depth, "flits per queue, which each input port has per VC")
	fs.Float64Var(&f.config.Speedup, "speedup", f.config.Speedup, "flits per cycle through a port of a router's crossbar")
	fs.IntVar(&f.config.RouterCycles, "router-cycles", f.config.RouterCycles, "cycles from the crossbar to the wire")
	fs.IntVar(&f.local, "local", 2, "latency of wires in cycles")
	fs.IntVar(&f.global, "global", 10, "latency in cycles of wires between groups of a Dragonfly")
	fs.IntVar(&f.seeds, "seeds", 1, "number of seeds per rate: for permutations, slow nodes and random decisions")
	fs.Uint64Var(&f.config.Seed, "seed", 1, "the first seed")
	fs.Int64Var(&f.rule.Window, "window", f.rule.Window, "cycles of a window")
	fs.Float64Var(&f.rule.Tolerance, "tolerance", f.rule.Tolerance, "growth of queues, as a share of the accepted flits, up to which they are stable")
	fs.IntVar(&f.rule.Most, "most", f.rule.Most, "windows after which a rate is measured even if it is still transient")
	fs.IntVarP(&f.jobs, "jobs", "j", min(2, runtime.NumCPU()), "number of concurrent rates, or of threads for one rate")
	fs.BoolVar(&f.histogram, "histogram", false, "print the latency histogram of the last rate")
	fs.BoolVar(&f.links, "links", false, "print the loads of links at the last rate")
	fs.StringVar(&f.plot, "plot", "", "`FILE` for plots: FILE-latency.png and so on, as PNG, SVG and CSV")
	fs.StringVar(&f.csv, "csv", "", "`FILE` for the table")
	fs.BoolVar(&f.force, "force", false, "overwrite existing output files")
	fs.BoolVar(&f.json, "json", false, "print as JSON, with time series, histograms and loads of links")
	cmd.RunE = f.run
	return cmd
}

type fabricFlags struct {
	config                packets.Config
	rule                  load.Rule
	bias                  routing.Bias
	engine                string
	traffic, routing      string
	slow, ecn, plot, csv  string
	bound                 string
	partners              int
	rates                 []float64
	share                 float64
	hot, local, global    int
	seeds, jobs           int
	saturation, json      bool
	force                 bool
	histogram, links      bool
	slowNodes, slowFactor int
	topology              topology.Topology
}

// fabricReport is the document of --json.
type fabricReport struct {
	Topology   string       `json:"topology"`
	Nodes      int          `json:"nodes"`
	Routing    string       `json:"routing"`
	Traffic    string       `json:"traffic"`
	Seed       uint64       `json:"seed"`
	Saturation *float64     `json:"saturation_share,omitempty"` // with --saturation
	Rates      []*load.Rate `json:"rates"`
}

func (f *fabricFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.prepare(cmd, args[0]); err != nil {
		return err
	}
	if err := f.mayWrite(); err != nil {
		return err
	}
	first, err := f.seeded(f.config, f.config.Seed)
	if err != nil {
		return err
	}
	bar := newBar(cmd.ErrOrStderr(), "fabric")
	s := load.Study{Config: first, Flits: f.engine == "flits", Rule: f.rule, Seeds: f.seeds, Jobs: f.jobs, Reseed: f.seeded, Step: bar.set}
	rep := &fabricReport{Topology: f.topology.String(), Nodes: f.topology.Nodes(), Routing: f.routing, Traffic: f.traffic, Seed: f.config.Seed}
	err = f.measure(cmd.Context(), &s, rep)
	bar.finish()
	if err != nil {
		return err
	}
	if err := f.save(rep); err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), rep)
	}
	f.print(cmd.OutOrStdout(), rep)
	return nil
}

func (f *fabricFlags) measure(ctx context.Context, s *load.Study, rep *fabricReport) error {
	if !f.saturation {
		var err error
		rep.Rates, err = s.Curve(ctx, f.rates)
		return err
	}
	rate, tried, err := s.Saturation(ctx, 0.01)
	if err != nil {
		return err
	}
	slices.SortFunc(tried, func(a, b *load.Rate) int { return cmp.Compare(a.Rate, b.Rate) })
	rep.Saturation, rep.Rates = &rate, tried
	return nil
}

// prepare parses the flags that are not numbers.
func (f *fabricFlags) prepare(cmd *cobra.Command, text string) (err error) {
	if f.topology, err = topology.Parse(text, f.local, f.global); err != nil {
		return err
	}
	c := &f.config
	c.Topology = f.topology
	if c.Routing, err = routing.New(routing.Kind(f.routing), f.topology, f.bias); err != nil {
		return err
	}
	switch f.ecn {
	case "none":
	case "default":
		c.ECN = &congestion.Default
	case "aggressive":
		c.ECN = &congestion.Aggressive
	default:
		return misused("--fecn %q: expected none, default or aggressive", f.ecn)
	}
	if f.engine == "flits" {
		if name := given(cmd, "speedup"); name != "" {
			return misused("--%s: not supported by --engine flits: remove it", name)
		}
		c.Speedup = 1
		if given(cmd, "depth") == "" {
			c.Depth = fabric.DefaultVCDepth
		}
	}
	switch {
	case f.engine != "packets" && f.engine != "flits":
		return misused("--engine %q: expected packets or flits", f.engine)
	case f.saturation && cmd.Flags().Changed("rate"):
		return misused("--saturation searches for the rate: remove --rate")
	case given(cmd, "hot", "hot-share") != "" && f.traffic != "hotspot":
		return misused("--%s applies to hotspot traffic: add --traffic hotspot", given(cmd, "hot", "hot-share"))
	case given(cmd, "bias", "threshold") != "" && f.routing != string(routing.UGAL) && f.routing != string(routing.PAR):
		return misused("--%s applies to adaptive routing: add --routing ugal or par", given(cmd, "bias", "threshold"))
	case len(f.rates) == 0, slices.ContainsFunc(f.rates, func(r float64) bool { return !(r > 0 && r <= 1) }):
		return misused("--rate %v: expected numbers above 0, up to 1", f.rates)
	case f.seeds < 1:
		return misused("--seeds %d: expected at least 1", f.seeds)
	case f.rule.Window < 1 || f.rule.Most < f.rule.Least || !(f.rule.Tolerance > 0):
		return misused("--window %d --most %d --tolerance %g: expected at least 1 cycle, %d windows, and more than 0", f.rule.Window, f.rule.Most, f.rule.Tolerance, f.rule.Least)
	}
	if err := checkJobs(f.jobs); err != nil {
		return err
	}
	if points := len(f.rates) * f.seeds; points == 1 || f.saturation && f.seeds == 1 {
		c.Threads = f.jobs
	}
	if given(cmd, "partners") != "" && f.traffic != "partners" {
		return misused("--partners applies to traffic among partners: add --traffic partners")
	}
	if c.Bound, c.Window, err = packets.ParseBound(f.bound); err != nil {
		return misused("--outstanding: %w", err)
	}
	return f.readSlow()
}

// readSlow parses NODES:1/FACTOR.
func (f *fabricFlags) readSlow() error {
	if f.slow == "" {
		return nil
	}
	nodes, factor, _ := strings.Cut(f.slow, ":1/")
	share, percent := strings.CutSuffix(nodes, "%")
	n, err := strconv.ParseFloat(share, 64)
	by, err2 := strconv.Atoi(factor)
	if percent {
		n = math.Round(n / 100 * float64(f.topology.Nodes()))
	}
	if err != nil || err2 != nil || n < 0 || n != math.Trunc(n) || int(n) > f.topology.Nodes() || by < 1 {
		return misused("--slow %q: expected NODES:1/FACTOR with nodes as a number or in percent, such as 1%%:1/8", f.slow)
	}
	f.slowNodes, f.slowFactor = int(n), by
	return nil
}

// seeded completes the configuration with everything that depends on the seed.
func (f *fabricFlags) seeded(c packets.Config, seed uint64) (packets.Config, error) {
	var err error
	c.Seed = seed
	if c.Traffic, err = traffic.New(f.traffic, f.topology, seed, traffic.Options{Hot: f.hot, Share: f.share, Partners: f.partners}); err != nil {
		return c, err
	}
	c.Slow = nil
	if f.slowNodes > 0 {
		c.DrawSlow(f.slowNodes, f.slowFactor)
	}
	return c, nil
}

func (f *fabricFlags) title() string {
	return fmt.Sprintf("%s, %s routing, %s", f.topology, f.routing, f.traffic)
}

// mayWrite returns an error if an output file exists, unless --force is set.
func (f *fabricFlags) mayWrite() error {
	var files []string
	if f.csv != "" {
		files = append(files, f.csv)
	}
	if f.plot != "" {
		for _, name := range load.FigureNames {
			files = append(files, figure.Files(figure.Base(f.plot)+"-"+name)...)
		}
	}
	for _, name := range files {
		if err := mayWrite(name, f.force); err != nil {
			return err
		}
	}
	return nil
}

func (f *fabricFlags) save(rep *fabricReport) error {
	if f.csv != "" {
		if err := figure.SaveRows(f.csv, fabricColumns, fabricRows(rep.Rates)); err != nil {
			return err
		}
	}
	if f.plot == "" {
		return nil
	}
	for name, g := range load.Figures(f.title(), f.topology, rep.Rates) {
		if err := g.Save(figure.Base(f.plot) + "-" + name); err != nil {
			return err
		}
	}
	return nil
}

var fabricColumns = []string{"offered", "accepted", "±", "worst node", "latency", "p50", "p99", "p99.9", "routers", "cycles", "state"}

func fabricRows(rates []*load.Rate) (rows [][]string) {
	for _, r := range rates {
		p := r.Seeds[0]
		cycles := func(format string, v any) string {
			if p.Packets == 0 {
				return "-"
			}
			return fmt.Sprintf(format, v)
		}
		rows = append(rows, []string{fmt.Sprintf("%g", r.Rate), fmt.Sprintf("%.4f", r.Accepted), fmt.Sprintf("%.4f", r.Within), fmt.Sprintf("%.4f", p.Least),
			cycles("%.1f", r.Latency), cycles("%d", p.Latency.P50), cycles("%d", p.Latency.P99), cycles("%d", p.Latency.P999),
			cycles("%.2f", p.Routers), fmt.Sprint(p.Cycles), string(r.State)})
	}
	return rows
}

func (f *fabricFlags) print(w io.Writer, rep *fabricReport) {
	fmt.Fprintf(w, "%s: %d nodes; seed %d, packets of %d flits, queues of %d, speed-up %g\n\n", f.title(), rep.Nodes, rep.Seed, f.config.Flits, f.config.Depth, f.config.Speedup)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, strings.Join(fabricColumns, "\t")+"\t")
	for _, row := range fabricRows(rep.Rates) {
		fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
	}
	tw.Flush()
	if rep.Saturation != nil {
		fmt.Fprintf(w, "\nsaturation: %.3f\n", *rep.Saturation)
	}
	last := rep.Rates[len(rep.Rates)-1].Seeds[0]
	if f.histogram {
		printHistogram(w, last)
	}
	if f.links {
		printLoads(w, last)
	}
}

// printHistogram merges the bins of each power of two.
func printHistogram(w io.Writer, p *load.Point) {
	fmt.Fprintf(w, "\nlatencies at rate %g\n", p.Rate)
	var counts [64]uint64
	most := uint64(1)
	for _, c := range p.Classes {
		k := int(2 * math.Log2(float64(max(c.From, 1))))
		counts[k] += uint64(c.Packets)
		most = max(most, counts[k])
	}
	for k, n := range counts {
		if n > 0 {
			fmt.Fprintf(w, "  from %7.0f cycles %9d  %s\n", math.Exp2(float64(k)/2), n, bar(float64(n), float64(most)))
		}
	}
}

// printLoads prints the loads of each kind of link, and the links with the highest load.
func printLoads(w io.Writer, p *load.Point) {
	const top = 10
	fmt.Fprintf(w, "\nloads of links at rate %g\n", p.Rate)
	for _, k := range load.Kinds(p.Links) {
		n := len(k.Loads)
		fmt.Fprintf(w, "  %-20s %6d links: maximum %.3f, median %.3f, minimum %.3f\n", k.Name, n, k.Loads[0], k.Loads[n/2], k.Loads[n-1])
	}
	links := slices.Clone(p.Links)
	slices.SortStableFunc(links, func(a, b load.Link) int { return cmp.Compare(b.Load, a.Load) })
	for _, l := range links[:min(top, len(links))] {
		to := "its node"
		if l.To >= 0 {
			to = fmt.Sprintf("router %d", l.To)
		}
		fmt.Fprintf(w, "  router %d, port %d to %s: %.3f  %s\n", l.Router, l.Port, to, l.Load, bar(l.Load, 1))
	}
}
