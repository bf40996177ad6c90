package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

// Values of --progress.
const (
	progressCalls  = "calls"
	progressThread = "thread"
)

// protocols returns the rendezvous protocols of a run: overlap and progress compare all unless some
// are selected.
func (f *runFlags) protocols(cmd *cobra.Command, c *bench.Config) (list []host.Rendezvous) {
	switch {
	case len(f.protocol) > 0:
		for _, p := range f.protocol {
			list = append(list, host.Rendezvous(p))
		}
		return list
	case bench.MeasuresOverlap(c.Workload) && given(cmd, "rendezvous") == "":
		return host.Protocols()
	}
	return []host.Rendezvous{c.Rendezvous}
}

// Values of --speculate.
const (
	speculateAdapt  = "adapt"
	speculateAlways = "always"
)

// alwaysSpeculates is the default of overlap and progress: they measure independent cases, so one
// case must not affect the next.
func (f *runFlags) alwaysSpeculates(workload string) (bool, error) {
	switch f.speculate {
	case "":
		return bench.MeasuresOverlap(workload), nil
	case speculateAdapt, speculateAlways:
		return f.speculate == speculateAlways, nil
	}
	known := []string{speculateAdapt, speculateAlways}
	return false, misused("--speculate %q: expected one of %v%s", f.speculate, known, suggest.Nearest(f.speculate, known))
}

func (f *runFlags) knownProtocols() (names []string) {
	for _, p := range host.Protocols() {
		names = append(names, string(p))
	}
	return names
}

// unknownProtocol returns the first unknown value of --protocol.
func (f *runFlags) unknownProtocol() string {
	for _, p := range f.protocol {
		if !slices.Contains(f.knownProtocols(), p) {
			return strconv.Quote(p)
		}
	}
	return ""
}

// overlap runs overlap or progress.
func (f *runFlags) overlap(cmd *cobra.Command, c bench.Config) error {
	if err := f.mayPlotOverlap(&c); err != nil {
		return err
	}
	c.Helper = f.progress == progressThread
	c.Offset = drivers.Time(f.offset.Nanoseconds()) * drivers.Nanosecond
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	bar := newBar(cmd.ErrOrStderr(), c.Workload)
	c.Building, c.Step = bar.describe, bar.set
	begin := time.Now()
	res, err := bench.MeasureOverlap(ctx, c, f.protocols(cmd, &c))
	bar.finish()
	if err != nil {
		return err
	}
	if f.plot != "" {
		for name, fig := range overlapFigures(res) {
			if err := fig.Save(overlapFile(f.plot, name)); err != nil {
				return err
			}
		}
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), res)
	}
	printOverlap(cmd.OutOrStdout(), res, time.Since(begin))
	return nil
}

// An overlapPanel identifies a figure: the side that computes, and when the sender posts.
type overlapPanel struct{ side, sender string }

func overlapPanels() (list []overlapPanel) {
	for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
		for _, sender := range []string{bench.SameTime, bench.EarlySender, bench.LateSender} {
			list = append(list, overlapPanel{side, sender})
		}
	}
	return list
}

func overlapFile(plot string, p overlapPanel) string {
	return figure.Base(plot) + "-" + p.side + "-" + p.sender
}

// idleInOverlap returns an error for a flag that this workload does not use.
func (f *runFlags) idleInOverlap(cmd *cobra.Command, c *bench.Config) error {
	several := given(cmd, "overhead", "against", "blocks", "pcap", "record", "waves", "checkpoint")
	switch measures := bench.MeasuresOverlap(c.Workload); {
	case !measures && given(cmd, "offset", "progress", "protocol") != "":
		return misused("--%s applies to overlap and progress only", given(cmd, "offset", "progress", "protocol"))
	case measures && len(f.protocol) > 0 && given(cmd, "rendezvous") != "":
		return misused("--rendezvous and --protocol both select protocols: expected one of them")
	case measures && f.unknownProtocol() != "":
		return misused("--protocol %s: expected some of %v%s", f.unknownProtocol(), host.Protocols(), suggest.Nearest(f.unknownProtocol(), f.knownProtocols()))
	case f.progress != progressCalls && f.progress != progressThread:
		known := []string{progressCalls, progressThread}
		return misused("--progress %q: expected one of %v%s", f.progress, known, suggest.Nearest(f.progress, known))
	case measures && several != "":
		return misused("--%s applies to a single run, %s consists of several: remove it", several, c.Workload)
	case measures:
		return positive("offset", f.offset)
	}
	return nil
}

// mayPlotOverlap rejects, before the run, a plot that could not be drawn after it.
func (f *runFlags) mayPlotOverlap(c *bench.Config) error {
	if f.plot == "" {
		return nil
	}
	if bench.IsOverlap(c.Workload) && slices.Contains(c.Sizes, 0) {
		return misused("--plot: messages of 0 bytes cannot be drawn on a logarithmic axis: remove size 0")
	}
	for _, p := range overlapPanels() {
		for _, file := range figure.Files(overlapFile(f.plot, p)) {
			if err := f.mayWrite(file); err != nil {
				return err
			}
		}
	}
	return nil
}

func printOverlap(w io.Writer, res *bench.Overlap, real time.Duration) {
	c := &res.Config
	fmt.Fprintf(w, "%s on %s, %d nodes (%s) x %d processes, seed %d\n", c.Workload, c.Device, c.Nodes, network(res.Info), c.Procs, c.Seed)
	fmt.Fprintf(w, "flow control %s\n", flowText(c.Velo))
	if c.Helper {
		fmt.Fprintf(w, "each rank has a progress thread; its lock takes %v\n", c.Cost.Lock)
	}
	fmt.Fprintln(w)
	if bench.IsOverlap(c.Workload) {
		fmt.Fprintln(w, "overlap: computation hidden by a message on the computing side, in % of the latency without computation")
	} else {
		fmt.Fprintf(w, "progress during computation: completed share of a message when one side ends a computation of %d times its latency, in %%\n", bench.LongestDelay)
	}
	fmt.Fprintf(w, "same: both sides post at the same time; early: the sender posts %v before the receiver; late: after it\n", c.Offset)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\t\tsend\t\t\t\treceive\t\t\t\t")
	fmt.Fprintln(tw, "protocol\tbytes\tlatency\tsame\tearly\tlate\tlatency\tsame\tearly\tlate\t")
	for i, r := range res.Rows {
		switch {
		case r.Side == bench.SendSide && r.Sender == bench.SameTime:
			fmt.Fprintf(tw, "%s\t%d\t%v\t", r.Protocol, r.Bytes, r.Latency)
		case r.Sender == bench.SameTime:
			fmt.Fprintf(tw, "%v\t", r.Latency)
		}
		fmt.Fprintf(tw, "%.1f\t", 100*r.Share)
		if (i+1)%len(overlapPanels()) == 0 {
			fmt.Fprintln(tw)
		}
	}
	tw.Flush()
	fmt.Fprintf(w, "\nverified %d bytes; simulated %v (%d cycles) in %.2f s, %.0f cycles/s\n",
		res.Verified, res.End, res.Cycles, real.Seconds(), float64(res.Cycles)/real.Seconds())
}

// overlapFigures makes figures like the paper's: overlap over size, latency over delay.
func overlapFigures(res *bench.Overlap) map[overlapPanel]*figure.Figure {
	figures := map[overlapPanel]*figure.Figure{}
	for _, p := range overlapPanels() {
		if bench.IsOverlap(res.Config.Workload) {
			figures[p] = sizesFigure(res, p)
		} else {
			figures[p] = delaysFigure(res, p)
		}
	}
	return figures
}

func (p overlapPanel) title(what string, res *bench.Overlap) string {
	post := p.sender + " sender"
	if p.sender == bench.SameTime {
		post = "both post at the same time"
	}
	return fmt.Sprintf("%s%s of the %s side, %s, %s", strings.ToUpper(what[:1]), what[1:], p.side, post, res.Config.Device)
}

func sizesFigure(res *bench.Overlap, p overlapPanel) *figure.Figure {
	f := &figure.Figure{
		Title: p.title("overlap", res),
		X:     figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y:     figure.Axis{Label: "overlap", Unit: "% of latency", Min: figure.At(0), Max: figure.At(105)},
	}
	for _, r := range res.Rows {
		if r.Side != p.side || r.Sender != p.sender {
			continue
		}
		if n := len(f.Series); n == 0 || f.Series[n-1].Name != r.Protocol {
			f.Series = append(f.Series, figure.Series{Name: r.Protocol})
		}
		s := &f.Series[len(f.Series)-1]
		s.Points = append(s.Points, figure.Point{X: float64(r.Bytes), Y: 100 * r.Share})
	}
	return f
}

func delaysFigure(res *bench.Overlap, p overlapPanel) *figure.Figure {
	f := &figure.Figure{
		Title: p.title("progress", res),
		X:     figure.Axis{Label: "computation", Unit: "multiples of the latency without computation"},
		Y:     figure.Axis{Label: "latency", Unit: "multiples of the latency without computation", Min: figure.At(0)},
	}
	for _, r := range res.Rows {
		if r.Side != p.side || r.Sender != p.sender {
			continue
		}
		s := figure.Series{Name: fmt.Sprintf("%s, %d bytes", r.Protocol, r.Bytes)}
		for _, x := range r.Samples {
			s.Points = append(s.Points, figure.Point{X: float64(x.Computation) / float64(r.Latency), Y: float64(x.Latency) / float64(r.Latency)})
		}
		f.Series = append(f.Series, s)
	}
	return f
}
