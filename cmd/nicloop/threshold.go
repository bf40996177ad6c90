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

// thresholdFlags say how messages beyond what VELO carries may be eager.
type thresholdFlags struct {
	threshold, handshake string
	start                bool
	buffers              int
	idle                 time.Duration
}

// autoThreshold is the value of --eager-threshold with which each pair of ranks finds its own.
const autoThreshold = "auto"

func (f *thresholdFlags) add(fs *pflag.FlagSet) {
	d := bench.DefaultThresholds()
	fs.StringVar(&f.threshold, "eager-threshold", "", "messages of up to so many `BYTES` are eager; auto: each pair of ranks finds how many, by the overlap that is lost (default: 2048, what VELO carries)")
	fs.BoolVar(&f.start, "eager-from-start", false, "all pairs have the threshold and its buffers from the start, not from their first such message on")
	sizeVar(fs, &f.buffers, "eager-buffers", d.Buffers, "bytes of a rank for eager messages that VELO does not carry, at most")
	fs.DurationVar(&f.idle, "eager-idle", time.Duration(d.Idle/drivers.Nanosecond), "for how long of simulated time such a buffer is not used before it is taken back; 0: for ever")
	fs.StringVar(&f.handshake, "eager-handshake", threshold.Full.String(), "how a pair changes its threshold: full in-band, or partial, which stops it meanwhile; notready: no buffers, the sender puts where the receive is, and asks again until that is ready")
}

// set completes a configuration.
func (f *thresholdFlags) set(cmd *cobra.Command, c *bench.Config) error {
	if name := given(cmd, "eager-buffers"); name != "" && f.buffers < 1 {
		return misused("--%s %d: expected 1 byte or more", name, f.buffers)
	}
	if err := notNegative(cmd, "eager-idle"); err != nil {
		return err
	}
	if f.threshold == "" {
		if name := given(cmd, "eager-from-start", "eager-buffers", "eager-idle", "eager-handshake"); name != "" {
			return misused("--%s is about eager messages beyond 2048 bytes: add --eager-threshold", name)
		}
		return nil
	}
	e := bench.Thresholds{All: f.start, Buffers: f.buffers, Idle: drivers.Time(f.idle.Nanoseconds()) * drivers.Nanosecond}
	if f.threshold != autoThreshold {
		n, err := limits.ParseBytes(f.threshold)
		if err != nil || n < 1 {
			return misused("--eager-threshold %q: expected a number of bytes, such as 4096 or 64k, or auto", f.threshold)
		}
		e.Threshold = n
	} else if f.start {
		return misused("--eager-from-start: with --eager-threshold auto there is none from the start")
	}
	switch f.handshake {
	case threshold.Full.String():
	case threshold.Partial.String():
		e.Partial = true
	case threshold.NotReady.String():
		if e.NotReady = true; e.Threshold != 0 {
			return misused("--eager-handshake %s: there are no buffers, so no --eager-threshold %d; expected %s", f.handshake, e.Threshold, autoThreshold)
		}
	default:
		known := []string{threshold.Full.String(), threshold.Partial.String(), threshold.NotReady.String()}
		return misused("--eager-handshake %q: expected one of %v%s", f.handshake, known, suggest.Nearest(f.handshake, known))
	}
	c.Eager = &e
	return nil
}

// printSteps prints what stencil, halo and eager thresholds have measured.
func printSteps(w io.Writer, res *bench.Result) {
	if res.Rows[0].Exchange != nil {
		tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(tw, "bytes\tcomputation\tstep\tbegins\twaits\twithout computation\toverlap\t")
		for _, r := range res.Rows {
			x, alone, overlap := r.Exchange, "-", "-"
			if x.Alone > 0 {
				alone, overlap = x.Alone.String(), fmt.Sprintf("%.1f %%", 100*x.Overlap)
			}
			fmt.Fprintf(tw, "%d\t%v\t%v\t%v\t%v\t%s\t%s\t\n", r.Bytes, x.Computation, x.Overall, x.Begin, x.Wait, alone, overlap)
		}
		tw.Flush()
		fmt.Fprintln(w, "means of all ranks and steps, without the allreduce of each")
		fmt.Fprintln(w)
	}
	for _, r := range res.Rows {
		printEager(w, &r)
	}
}

// allStreams is what the streams of all ranks did.
func allStreams(ranks []bench.EagerRank) (all threshold.StreamStats) {
	for _, e := range ranks {
		if l := e.Streams; l != nil {
			all.Asked, all.Refused, all.Streams, all.Put = all.Asked+l.Asked, all.Refused+l.Refused, all.Streams+l.Streams, all.Put+l.Put
			all.NotReady, all.Readied, all.Late = all.NotReady+l.NotReady, all.Readied+l.Readied, all.Late+l.Late
		}
	}
	return all
}

// printEager prints what the channels have done up to the end of a row.
func printEager(w io.Writer, r *bench.Row) {
	if len(r.Eager) == 0 {
		return
	}
	if streams := allStreams(r.Eager); streams.Asked > 0 {
		fmt.Fprintf(w, "receivers not ready, up to %d bytes: %d streams (%d refused), through which %d messages went; %d puts and probes were refused; %d receives were ready before their message was known, %d after\n\n",
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
	fmt.Fprintf(w, "eager thresholds up to %d bytes: the greatest of a rank are %s; %d changes of channels (%d refused), the longest %v, at most %v of a core\n",
		r.Bytes, strings.Join(lengths, " to "), all.Switches/2, all.Refused, all.Longest, all.Spent)
	fmt.Fprintf(w, "  %d messages in buffers, %d found none; %d bytes of buffers of all ranks (at most %d), %d buffers granted and %d taken back between changes\n\n",
		all.Buffered, all.Short, all.Bytes, all.Most, all.Grown, all.Shrunk)
}
