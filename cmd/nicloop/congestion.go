package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

// congestion runs hotspot with slow memory.
func (f *runFlags) congestion(cmd *cobra.Command, c bench.Config) error {
	if f.plot != "" {
		for _, file := range figure.Files(f.plot) {
			if err := f.mayWrite(file); err != nil {
				return err
			}
		}
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	bar := newBar(cmd.ErrOrStderr(), c.Workload)
	c.Building, c.Step = bar.describe, bar.set
	begin := time.Now()
	res, err := bench.Congest(ctx, c, f.outstanding)
	bar.finish()
	if err != nil {
		return err
	}
	if f.plot != "" {
		if err := congestionFigure(res).Save(f.plot); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), res)
	}
	printCongestion(cmd.OutOrStdout(), res, time.Since(begin))
	return nil
}

// parseNVM reads the --nvm flags.
func (f *runFlags) parseNVM() (list []bench.NVM, err error) {
	for _, s := range f.nvm {
		n, err := bench.ParseNVM(s)
		if err != nil {
			return nil, err
		}
		n.Depth = f.nvmDepth
		list = append(list, n)
	}
	return list, nil
}

func printCongestion(w io.Writer, res *bench.Congestion, real time.Duration) {
	c := &res.Config
	fmt.Fprintf(w, "%s on %s, %d nodes (%s) x %d processes, seed %d\n", c.Workload, c.Device, c.Nodes, network(res.Info), c.Procs, c.Seed)
	protocol := string(c.Rendezvous)
	if c.Rendezvous == host.Chunked {
		protocol += fmt.Sprintf(", chunks of %d bytes", c.Chunk)
	}
	fmt.Fprintf(w, "slow memory %s (share of line rate, %.0f MB/s), write buffer %d bytes; messages of %d bytes by %s\n\n",
		slowNodes(c), lineRate(res.Info), c.NVM[0].Depth, c.Sizes[0], protocol)
	printClasses(w, res)
	printTree(w, res)
	printCounters(w, res)
	fmt.Fprintf(w, "verified %d bytes; simulated %v (%d cycles) in %.2f s, %.0f cycles/s\n",
		res.Verified, res.End, res.Cycles, real.Seconds(), float64(res.Cycles)/real.Seconds())
}

// lineRate is the highest write rate of a NIC to fast memory, in MB/s.
func lineRate(info drivers.Info) float64 { return bench.LineRate / float64(info.ClockPS) * 1e6 }

func printClasses(w io.Writer, res *bench.Congestion) {
	fmt.Fprintln(w, "throughput per flow, mean of the class (MB/s)")
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "outstanding\tclass\tflows\tfast memory\tslow memory\tremaining\t")
	for _, r := range res.Rows {
		n := "-"
		if r.Outstanding > 0 {
			n = fmt.Sprint(r.Outstanding)
		}
		for _, k := range r.Classes {
			fmt.Fprintf(tw, "%s\t%s\t%d\t%.1f\t%.1f\t%.0f %%\t\n", n, k.Class, k.Flows, k.Fast, k.Slow, 100*k.Ratio())
		}
	}
	tw.Flush()
	fmt.Fprintln(w)
}

// printTree draws a mesh with the share of time for which packets blocked its links.
func printTree(w io.Writer, res *bench.Congestion) {
	if !slices.ContainsFunc(res.Links, func(l bench.HeldLink) bool { return l.Link > 0 }) {
		fmt.Fprintf(w, "%s has no links between its nodes: no congestion tree\n\n", res.Config.Device)
		return
	}
	fmt.Fprintln(w, "congestion tree: share of time (%) for which a blocked packet occupied a link; [node], * slow memory")
	if d := res.Info.Dims; d[2] == 1 && d[0] <= drawnColumns && res.Info.Topology == "" {
		drawMesh(w, d, newTree(res))
	}
	fmt.Fprint(w, "most blocked:")
	wire := res.Wires()
	for i, l := range res.Links {
		if i == 8 || l.Held < 0.005 {
			break
		}
		fmt.Fprintf(w, "  %s %.0f %% (%s)", wire(l), 100*l.Held, l.Class)
	}
	fmt.Fprint(w, "\n\n")
}

// A tree is what drawMesh shows: for every node and link the larger of the two
// classes.
type tree struct {
	held map[[2]int]float64
	slow map[int]bool
}

func newTree(res *bench.Congestion) tree {
	t := tree{map[[2]int]float64{}, map[int]bool{}}
	for _, l := range res.Links {
		k := [2]int{l.From, l.Link}
		t.held[k] = max(t.held[k], l.Held)
	}
	for _, n := range res.Config.NVM {
		t.slow[n.Node] = true
	}
	return t
}

func (t tree) percent(node, link int) string {
	v, ok := t.held[[2]int{node, link}]
	if !ok {
		return "  ."
	}
	return fmt.Sprintf("%3.0f", 100*v)
}

func (t tree) node(n int) string {
	mark := " "
	if t.slow[n] {
		mark = "*"
	}
	return fmt.Sprintf("[%2d%s]", n, mark)
}

// drawMesh prints rows of nodes, with both directions of the links between neighbours.
func drawMesh(w io.Writer, d [3]int, t tree) {
	for y := range d[1] {
		var line, down, up strings.Builder
		for x := range d[0] {
			n := x + y*d[0]
			line.WriteString(t.node(n))
			if x+1 < d[0] {
				fmt.Fprintf(&line, " %s> <%s ", t.percent(n, 1), strings.TrimLeft(t.percent(n+1, 2), " "))
				pad(&line, (x+1)*columnWidth)
			}
			if y+1 < d[1] {
				fmt.Fprintf(&down, "%s v", t.percent(n, 3))
				fmt.Fprintf(&up, "%s ^", t.percent(n+d[0], 4))
				pad(&down, (x+1)*columnWidth)
				pad(&up, (x+1)*columnWidth)
			}
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(line.String(), " "))
		if y+1 < d[1] {
			fmt.Fprintf(w, "  %s\n  %s\n", strings.TrimRight(down.String(), " "), strings.TrimRight(up.String(), " "))
		}
	}
}

const (
	columnWidth  = 18
	drawnColumns = 16 // wider meshes show the most blocked links only
)

func pad(b *strings.Builder, to int) {
	for b.Len() < to {
		b.WriteByte(' ')
	}
}

// printCounters prints the counters of the NICs in the layout of the mesh, or the largest ones of a
// large network.
func printCounters(w io.Writer, res *bench.Congestion) {
	for _, c := range []struct {
		what  string
		value func(bench.NIC) uint64
	}{
		{"TX_STALL: cycles for which a VELO packet of the node waited for a credit", func(n bench.NIC) uint64 { return n.TxStall }},
		{"RX_STALL: cycles blocked by a full mailbox", func(n bench.NIC) uint64 { return n.RxStall }},
		{"LINK_TIMEOUTS: timeouts of links whose peer made no progress", func(n bench.NIC) uint64 { return n.Timeouts }},
	} {
		if !slices.ContainsFunc(res.NICs, func(n bench.NIC) bool { return c.value(n) > 0 }) {
			continue
		}
		fmt.Fprintln(w, c.what)
		t := newTree(res)
		if res.Info.Topology != "" || res.Info.Dims[0] > drawnColumns {
			printMost(w, res.NICs, t, c.value)
			continue
		}
		for i, n := range res.NICs {
			fmt.Fprintf(w, "  %s %9d", t.node(i), c.value(n))
			if (i+1)%res.Info.Dims[0] == 0 {
				fmt.Fprintln(w)
			}
		}
	}
	for _, n := range res.NICs {
		if n.NVMBytes > 0 {
			fmt.Fprintf(w, "node %d: the write limiter passed %d bytes and stalled writes for %d cycles (NVM_STALL)\n", n.Node, n.NVMBytes, n.NVMStall)
		}
	}
	fmt.Fprintln(w)
}

// printMost prints the nodes with the largest counts.
func printMost(w io.Writer, nics []bench.NIC, t tree, value func(bench.NIC) uint64) {
	order := make([]int, len(nics))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(nics[b]), value(nics[a])) })
	for _, i := range order[:min(mostShown, len(order))] {
		if v := value(nics[i]); v > 0 {
			fmt.Fprintf(w, "  %s %9d", t.node(i), v)
		}
	}
	fmt.Fprintln(w)
}

const mostShown = 8

// congestionFigure plots the classes or, for several limits, the classes over the limit.
func congestionFigure(res *bench.Congestion) *figure.Figure {
	c := &res.Config
	f := &figure.Figure{
		Title: fmt.Sprintf("Hotspot with slow memory %s, %s, %s", slowNodes(c), c.Rendezvous, network(res.Info)),
		Y:     figure.Axis{Label: "throughput per flow", Unit: "MB/s"},
	}
	if len(res.Rows) > 1 {
		return sweepFigure(f, res)
	}
	fast, slow := figure.Series{Name: "fast memory"}, figure.Series{Name: "slow memory"}
	for _, k := range res.Rows[0].Classes {
		f.Groups = append(f.Groups, k.Class)
		fast.Points = append(fast.Points, figure.Point{Y: k.Fast})
		slow.Points = append(slow.Points, figure.Point{Y: k.Slow})
	}
	f.Series = []figure.Series{fast, slow}
	return f
}

func sweepFigure(f *figure.Figure, res *bench.Congestion) *figure.Figure {
	f.X = figure.Axis{Label: "outstanding gets per receiver", Scale: figure.Log2}
	for _, class := range []string{bench.VictimFlow, bench.HotFlow} {
		fast, slow := figure.Series{Name: class + ", fast memory"}, figure.Series{Name: class + ", slow memory"}
		for _, r := range res.Rows {
			k, _ := r.Class(class)
			x := float64(r.Outstanding)
			fast.Points = append(fast.Points, figure.Point{X: x, Y: k.Fast})
			slow.Points = append(slow.Points, figure.Point{X: x, Y: k.Slow})
		}
		f.Series = append(f.Series, fast, slow)
	}
	return f
}

// slowNodes lists the nodes with slow memory as --nvm names them.
func slowNodes(c *bench.Config) string {
	var list []string
	for _, n := range c.NVM {
		list = append(list, n.String())
	}
	return strings.Join(list, " ")
}
