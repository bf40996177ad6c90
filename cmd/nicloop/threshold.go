package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// thresholdFlags configure eager messages that are longer than VELO carries.
type thresholdFlags struct {
	threshold, handshake string
	start                bool
	buffers              int
	idle                 time.Duration
	design               string
	lengths              int
	pool, weights        int
}

// The values of --eager-design.
const (
	ownDesign       = "nicloop"
	publishedDesign = "published"
)

// autoThreshold is the value of --eager-threshold that adapts the threshold of each pair of ranks.
const autoThreshold = "auto"

func (f *thresholdFlags) add(fs *pflag.FlagSet) {
	d := bench.DefaultThresholds()
	fs.StringVar(&f.threshold, "eager-threshold", "", "largest eager message in `BYTES`; auto: adapt it for each pair of ranks by the lost overlap (default: 2048, the limit of VELO)")
	fs.BoolVar(&f.start, "eager-from-start", false, "allocate buffers of all pairs at the start instead of at their first such message")
	sizeVar(fs, &f.buffers, "eager-buffers", d.Buffers, "limit in bytes of a rank's buffers for eager messages longer than 2048 bytes")
	fs.DurationVar(&f.idle, "eager-idle", time.Duration(d.Idle/drivers.Nanosecond), "simulated time after which an idle buffer is released; 0: never")
	fs.StringVar(&f.design, "eager-design", ownDesign, "adaptation of thresholds: nicloop, or published (sections 3.1 to 3.3 and 4.4 of the ADAPT paper as they are written)")
	fs.IntVar(&f.lengths, "eager-lengths", 0, "limit of different buffer lengths of a rank; 0: 20")
	fs.IntVar(&f.pool, "eager-pool", 0, "number of buffers of each length that all peers share; 0: each peer has its own, or 16 with --eager-design published")
	fs.IntVar(&f.weights, "eager-weights", 0, "limit of the multiple of --eager-idle that a buffer waits after it was released too early; 0: 1, or 64 with --eager-design published")
	fs.StringVar(&f.handshake, "eager-handshake", threshold.Full.String(), "protocol of threshold changes: full (in-band), partial (pauses the pair meanwhile), or notready (no buffers: the sender puts into the receive's buffer and retries until it is posted)")
}

// thresholdFlagNames lists the flags that need --eager-threshold.
func thresholdFlagNames() []string {
	return []string{
		"eager-from-start", "eager-buffers", "eager-idle", "eager-handshake",
		"eager-design", "eager-lengths", "eager-pool", "eager-weights",
	}
}

// set completes a configuration.
func (f *thresholdFlags) set(cmd *cobra.Command, c *bench.Config) error {
	if name := given(cmd, "eager-buffers"); name != "" && f.buffers < 1 {
		return misused("--%s %d: expected 1 byte or more", name, f.buffers)
	}
	if err := notNegative(cmd, "eager-idle"); err != nil {
		return err
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"eager-lengths", f.lengths}, {"eager-pool", f.pool}, {"eager-weights", f.weights}} {
		if n.value < 0 {
			return misused("--%s %d: expected 0 or more", n.name, n.value)
		}
	}
	if f.threshold == "" {
		if name := given(cmd, thresholdFlagNames()...); name != "" {
			return misused("--%s applies to eager messages longer than 2048 bytes: add --eager-threshold", name)
		}
		return nil
	}
	e := bench.Thresholds{
		All: f.start, Buffers: f.buffers, Idle: drivers.Time(f.idle.Nanoseconds()) * drivers.Nanosecond,
		Lengths: f.lengths, Pool: f.pool, Weights: f.weights,
	}
	switch f.design {
	case ownDesign:
	case publishedDesign:
		e.Published = true
	default:
		known := []string{ownDesign, publishedDesign}
		return misused("--eager-design %q: expected one of %v%s", f.design, known, suggest.Nearest(f.design, known))
	}
	if f.threshold != autoThreshold {
		n, err := limits.ParseBytes(f.threshold)
		if err != nil || n < 1 {
			return misused("--eager-threshold %q: expected a number of bytes, such as 4096 or 64k, or auto", f.threshold)
		}
		e.Threshold = n
	} else if f.start {
		return misused("--eager-from-start needs a fixed --eager-threshold, not auto")
	}
	switch f.handshake {
	case threshold.Full.String():
	case threshold.Partial.String():
		e.Partial = true
	case threshold.NotReady.String():
		if name := given(cmd, "eager-design", "eager-lengths", "eager-pool", "eager-weights"); name != "" {
			return misused("--%s applies to buffers, which --eager-handshake %s does not have", name, f.handshake)
		}
		if e.NotReady = true; e.Threshold != 0 {
			return misused("--eager-handshake %s has no buffers and so no fixed threshold: --eager-threshold %d, expected %s", f.handshake, e.Threshold, autoThreshold)
		}
	default:
		known := []string{threshold.Full.String(), threshold.Partial.String(), threshold.NotReady.String()}
		return misused("--eager-handshake %q: expected one of %v%s", f.handshake, known, suggest.Nearest(f.handshake, known))
	}
	c.Eager = &e
	return nil
}

// printSteps prints the measurements of stencil, halo and eager thresholds.
func printSteps(w io.Writer, res *bench.Result) {
	if res.Rows[0].Exchange != nil {
		tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(tw, "bytes\tcomputation\tstep\tstarting\twaiting\twithout computation\toverlap\t")
		for _, r := range res.Rows {
			x, alone, overlap := r.Exchange, "-", "-"
			if x.Alone > 0 {
				alone, overlap = x.Alone.String(), fmt.Sprintf("%.1f %%", 100*x.Overlap)
			}
			fmt.Fprintf(tw, "%d\t%v\t%v\t%v\t%v\t%s\t%s\t\n", r.Bytes, x.Computation, x.Overall, x.Begin, x.Wait, alone, overlap)
		}
		tw.Flush()
		fmt.Fprintln(w, "means over all ranks and steps, without the allreduce of each step")
		fmt.Fprintln(w)
	}
	for _, r := range res.Rows {
		printEager(w, &r)
	}
}

// allStreams sums the streams of all ranks.
func allStreams(ranks []bench.EagerRank) (all threshold.StreamStats) {
	for _, e := range ranks {
		if l := e.Streams; l != nil {
			all.Asked, all.Refused, all.Streams, all.Put = all.Asked+l.Asked, all.Refused+l.Refused, all.Streams+l.Streams, all.Put+l.Put
			all.NotReady, all.Readied, all.Late = all.NotReady+l.NotReady, all.Readied+l.Readied, all.Late+l.Late
		}
	}
	return all
}

// printEager prints the counters of the channels up to the end of a row.
func printEager(w io.Writer, r *bench.Row) {
	if len(r.Eager) == 0 {
		return
	}
	if streams := allStreams(r.Eager); streams.Asked > 0 {
		fmt.Fprintf(w, "not-ready receivers, up to %d bytes: %d streams (%d refused) with %d messages; %d puts and probes refused; %d receives ready before their message was announced, %d after\n\n",
			r.Bytes, streams.Streams, streams.Refused, streams.Put, streams.NotReady, streams.Readied, streams.Late)
		return
	}
	var all bench.EagerRank
	var lengths []string
	least, greatest := r.Eager[0].Threshold, 0
	for _, e := range r.Eager {
		least, greatest = min(least, e.Threshold), max(greatest, e.Threshold)
		all.Switches, all.Refused, all.Buffered, all.Short = all.Switches+e.Switches, all.Refused+e.Refused, all.Buffered+e.Buffered, all.Short+e.Short
		all.Grown, all.Shrunk, all.Bytes, all.Most = all.Grown+e.Grown, all.Shrunk+e.Shrunk, all.Bytes+e.Bytes, all.Most+e.Most
		all.Longest, all.Spent = max(all.Longest, e.Longest), max(all.Spent, e.Spent)
	}
	for _, n := range []int{least, greatest} {
		lengths = append(lengths, strconv.Itoa(n))
	}
	fmt.Fprintf(w, "eager thresholds up to %d bytes: largest per rank %s; %d channel changes (%d refused), longest %v, core time at most %v\n",
		r.Bytes, strings.Join(lengths, " to "), all.Switches/2, all.Refused, all.Longest, all.Spent)
	fmt.Fprintf(w, "  %d messages in buffers, %d without a free buffer; %d bytes of buffers of all ranks (peak %d), %d buffers granted and %d released between changes\n\n",
		all.Buffered, all.Short, all.Bytes, all.Most, all.Grown, all.Shrunk)
}
