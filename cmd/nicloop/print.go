package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// printResult prints a result for people.
func printResult(w io.Writer, res *bench.Result, real time.Duration) {
	c := &res.Config
	fmt.Fprintf(w, "%s on %s, %d nodes (%s) x %d processes, seed %d\n", c.Workload, c.Device, c.Nodes, network(res.Info), c.Procs, c.Seed)
	fmt.Fprintf(w, "flow control %s\n\n", flowText(c.Velo))
	printRows(w, res)
	for _, r := range res.Rows {
		printBlocks(w, res, &r)
	}
	printSteps(w, res)
	printApps(w, res)
	printFlow(w, res)
	printLinks(w, res)
	printStalls(w, res)
	fmt.Fprintf(w, "verified %d bytes; simulated %v (%d cycles) in %.2f s, %.0f cycles/s\n",
		res.Verified, res.End, res.Cycles, real.Seconds(), float64(res.Cycles)/real.Seconds())
}

// network describes the shape of a device's network.
func network(info drivers.Info) string {
	d, form := info.Dims, "mesh"
	switch {
	case info.Topology != "":
		return info.Topology
	case info.Torus:
		form = "torus"
	}
	if d[2] > 1 {
		return fmt.Sprintf("%dx%dx%d %s", d[0], d[1], d[2], form)
	}
	return fmt.Sprintf("%dx%d %s", d[0], d[1], form)
}

func flowText(v velo.Config) string {
	if v.Flow == velo.None {
		return fmt.Sprintf("none, %d mailbox slots per peer", v.Slots)
	}
	pb := "piggybacking"
	if !v.Piggyback {
		pb = "no piggybacking"
	}
	return fmt.Sprintf("%s, %d mailbox slots per peer including %d credit slots, %s", v.Flow, v.Slots, v.CreditSlots, pb)
}

func printRows(w io.Writer, res *bench.Result) {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	half := res.Rows[0].HalfTrip > 0
	algorithm := func(column string) string {
		if res.Rows[0].Algorithm == "" {
			return ""
		}
		return column
	}
	if half {
		fmt.Fprintln(tw, "bytes\titerations\thalf round trip\tcycles\tMB/s\t")
	} else {
		fmt.Fprintln(tw, "bytes\titerations\ttime per iteration\tmessages\tMB/s\t"+algorithm("algorithm\t"))
	}
	for _, r := range res.Rows {
		mb := "-"
		if r.Bandwidth > 0 {
			mb = fmt.Sprintf("%.1f", r.Bandwidth)
		}
		if half {
			fmt.Fprintf(tw, "%d\t%d\t%.1f ns\t%.1f\t%s\t\n", r.Bytes, r.Iterations, r.HalfTrip.Nanoseconds(), r.HalfTripCycles, mb)
		} else {
			fmt.Fprintf(tw, "%d\t%d\t%v\t%d\t%s\t%s\n", r.Bytes, r.Iterations, r.Iteration, r.Messages, mb, algorithm(r.Algorithm+"\t"))
		}
	}
	tw.Flush()
	for _, r := range res.Rows {
		if r.Spread == nil || r.Spread.Count < 2 {
			continue
		}
		s, what := *r.Spread, "iterations"
		if half {
			s, what = s.Halves(), "half round trips"
		}
		fmt.Fprintf(w, "single %s of %d bytes: minimum %v, p50 %v, p99 %v, maximum %v\n", what, r.Bytes, s.Min, s.P50, s.P99, s.Max)
	}
	fmt.Fprintln(w)
}

// printBlocks prints the latency of a packet by block, with bars.
func printBlocks(w io.Writer, res *bench.Result, r *bench.Row) {
	if len(r.Blocks) == 0 {
		return
	}
	fmt.Fprintf(w, "latency of a packet by block (%d bytes, mean of %d packets)\n", r.Bytes, r.Blocks[0].Count)
	blocks := append([]capture.Block{}, r.Blocks...)
	if r.HalfTrip > 0 && host.Packets(r.Bytes) == 1 {
		line := blocks[len(blocks)-1].Mean
		blocks = append(blocks, capture.Block{Name: "host software", Mean: r.HalfTripCycles - line},
			capture.Block{Name: "half round trip", Mean: r.HalfTripCycles})
	}
	most := 0.0
	for _, b := range blocks {
		most = max(most, b.Mean)
	}
	for _, b := range blocks {
		fmt.Fprintf(w, "  %-34s %8.1f ns %7.1f cycles  %s\n", b.Name, b.Mean*float64(res.Info.ClockPS)/1000, b.Mean, bar(b.Mean, most))
	}
	fmt.Fprintln(w)
}

func bar(v, most float64) string {
	const width = 30
	if most <= 0 || v <= 0 {
		return "" // negative: software may see a packet before the NIC receives the write response
	}
	return strings.Repeat("█", int(v/most*width+0.5))
}

func printFlow(w io.Writer, res *bench.Result) {
	if res.Config.Velo.Flow == velo.None {
		return
	}
	for _, r := range res.Rows {
		f := r.Flow
		if u := r.Reuse; u != nil {
			fmt.Fprintf(w, "eager by RMA at %d bytes: %d without a copy, %d copied, %d without a free ring entry; %d registrations\n", r.Bytes, u.Direct, u.Copied, u.Other, u.Pins)
		}
		fmt.Fprintf(w, "flow control at %d bytes: %d data packets, %d credit packets (%s), %d delayed sends (%s of messages waited)\n"+
			"  %d credits piggybacked on %d packets, %d steals (%d credits), %d compulsory requests, %d responses\n",
			r.Bytes, f.DataPackets, f.CreditPackets, percent(f.CreditPackets, f.DataPackets), f.DelayedSends, percent(f.DelayedMessages, f.Messages),
			f.PiggybackedCredits, f.PiggybackedPackets, f.Steals, f.StolenCredits, f.Requests, f.Responses)
		if ref := r.Reference; ref != nil {
			fmt.Fprintf(w, "  overhead %.1f %%: %v per iteration without flow control, into mailboxes of %d slots per peer\n",
				100*ref.Overhead, ref.Iteration, ref.Slots)
		}
	}
	fmt.Fprintln(w)
}

func percent(n, of uint64) string {
	if of == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// printLinks prints the errors that the links corrected, if any.
func printLinks(w io.Writer, res *bench.Result) {
	var crc, again, late uint64
	for _, n := range res.NICs {
		crc, again, late = crc+n.CRCErrors, again+n.Retransmissions, late+n.Timeouts
	}
	if crc+again+late > 0 {
		fmt.Fprintf(w, "links: %d words with a wrong CRC, %d retransmitted, %d timeouts; no loss, no duplicates\n\n", crc, again, late)
	}
}

// printStalls prints the network stalls that flow control avoids.
func printStalls(w io.Writer, res *bench.Result) {
	stalled := false
	for _, n := range res.NICs {
		if n.RxStall > 0 {
			stalled = true
			fmt.Fprintf(w, "node %d: full mailboxes stalled the network for %d of %d cycles (%.1f %%)\n", n.Node, n.RxStall, res.Cycles, 100*float64(n.RxStall)/float64(res.Cycles))
		}
	}
	if stalled {
		fmt.Fprintln(w, "  a stalled node blocks all its processes; --flow static or dynamic avoids it")
	} else {
		fmt.Fprintln(w, "no mailbox was ever full")
	}
}
