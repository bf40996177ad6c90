package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/broker"
	"github.com/nicloop/nicloop/host/world/bootstrap"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
)

func newRanks() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ranks WORKLOAD",
		Short: "Run a workload with its ranks in several programs",
		Long: `Run a workload of nicloop run with its ranks in several programs of this machine that
share one device. Each program has processes of its own and no access to the memory of
others. Every byte is verified.

This command serves the device while the programs run; with --device shared:PATH
nicloop device serve does. The device is free-running, so times are real time and
measure the speed of the simulation. When a program dies, the others are notified and
fail.

` + exitText,
		Example: `  nicloop ranks alltoall --programs 4 --nodes 2 --procs 2
  nicloop ranks alltoall --programs 2 --device model: --sizes 64,2048,65536 --rendezvous rput
  nicloop ranks pingpong --programs 2 --device ideal:
  nicloop device serve --device rtl: --socket /tmp/nic & nicloop ranks alltoall --programs 2 --device shared:/tmp/nic`,
		Args: checked(cobra.ExactArgs(1)),
	}
	f := &ranksFlags{c: bench.Default("")}
	d, fs := f.c, cmd.Flags()
	fs.SortFlags = false
	fs.IntVar(&f.programs, "programs", 2, "number of programs, among which the ranks are divided evenly")
	fs.StringVar(&f.c.Device, "device", d.Device, "device that they share, such as rtl: or model:, or shared:PATH of nicloop device serve")
	fs.IntVar(&f.c.Nodes, "nodes", d.Nodes, "nodes")
	fs.IntVar(&f.c.Procs, "procs", d.Procs, "processes per node")
	sizesVar(fs, &f.c.Sizes, "sizes", nil, "message sizes, such as 8,2k,1M (default: the workload's)")
	fs.IntVar(&f.c.Iterations, "iterations", 0, "timed iterations (default: the workload's)")
	fs.IntVar(&f.c.Warmup, "warmup", 0, "iterations before the timed ones (default: the workload's)")
	fs.StringVar(&f.c.Algorithm, "algorithm", "", "`NAME` of the algorithm of a collective")
	addFlow(fs, &f.flow, &f.c.Velo)
	fs.BoolVar(&f.c.Local, "local", d.Local, "messages between ranks of a node and a program bypass the NIC")
	fs.StringVar(&f.rendezvous, "rendezvous", string(d.Rendezvous), "protocol of messages longer than 2048 bytes: rget, rput, chunked or spec")
	sizeVar(fs, &f.c.Chunk, "chunk", d.Chunk, "bytes of one get of the chunked rendezvous")
	fs.IntVar(&f.c.Outstanding, "outstanding", d.Outstanding, "outstanding gets per rank of the chunked rendezvous")
	fs.Int64Var(&f.c.Seed, "seed", d.Seed, "seed of message contents")
	fs.DurationVar(&f.timeout, "timeout", 0, "abort after this much real time (default: no limit)")
	fs.BoolVar(&f.json, "json", false, "print as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }
	completing(cmd, 1, workloadChoices)
	return cmd
}

type ranksFlags struct {
	c                bench.Config
	programs         int
	flow, rendezvous string
	timeout          time.Duration
	json             bool
}

func (f *ranksFlags) run(cmd *cobra.Command, workload string) (err error) {
	c := f.c
	c.Workload, c.Velo.Flow, c.Rendezvous = workload, velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	if err := errors.Join(notNegative(cmd, "timeout"), checkFlow(cmd, c.Velo.Flow)); err != nil {
		return err
	}
	parts, err := bench.Parts(c, f.programs)
	if err != nil {
		return err
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	dir, remove, err := usersock.TempDir("nicloop-ranks-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if !strings.HasPrefix(c.Device, "shared:") {
		socket := filepath.Join(dir, "device")
		end, err2 := f.serve(ctx, cmd, parts, socket)
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, end()) }()
		c.Device = "shared:" + socket
	}
	for i := range parts {
		parts[i].Config.Device, parts[i].Meet, parts[i].World = c.Device, "unix:"+filepath.Join(dir, "meet"), filepath.Base(dir)
	}
	results, err := runParts(ctx, parts)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	rep := addUp(f.c.Device, parts, results)
	if f.json {
		return writeJSON(cmd.OutOrStdout(), rep)
	}
	return rep.print(cmd.OutOrStdout())
}

// serve opens the device and serves it to the programs; end stops both.
func (f *ranksFlags) serve(ctx context.Context, cmd *cobra.Command, parts []bench.Part, socket string) (end func() error, err error) {
	most := 0
	for i := range parts {
		n, err := parts[i].Bytes()
		if err != nil {
			return nil, err
		}
		most = max(most, n)
	}
	bar := newBar(cmd.ErrOrStderr(), "ranks")
	defer bar.finish()
	_, end, err = serveDevice(ctx, f.c.Device, f.c.Nodes, broker.MemoryFor(len(parts), most), broker.Config{Socket: socket, Hold: broker.HoldForGood}, bar.describe)
	return end, err
}

// serveDevice opens a free-running device and serves it.
func serveDevice(ctx context.Context, device string, nodes, memory int, c broker.Config, tell func(string)) (*broker.Broker, func() error, error) {
	sys, err := registry.Open(ctx, freeRunning(device), drivers.Options{Nodes: nodes, MemoryBytes: memory, Needs: broker.Needs, Progress: tell})
	if err != nil {
		return nil, nil, err
	}
	c.System = sys
	b, err := broker.New(c)
	if err != nil {
		return nil, nil, errors.Join(err, sys.Close())
	}
	return b, func() error { return errors.Join(b.Close(), sys.Close()) }, nil
}

// freeRunning makes a simulated device free-running unless its URI sets its clock.
func freeRunning(device string) string {
	scheme, query, _ := strings.Cut(device, "?")
	defaults := []string{"clock=wall"}
	switch {
	case scheme == "rtl:", scheme == "model:", scheme == "ideal:":
	case strings.HasPrefix(scheme, "design:"):
		defaults = append(defaults, "inside=1") // only then can its memory be lent
	default:
		return device
	}
	for _, d := range defaults {
		key, _, _ := strings.Cut(d, "=")
		if strings.Contains("&"+query, "&"+key+"=") {
			continue
		}
		if query != "" {
			query += "&"
		}
		query += d
	}
	return scheme + "?" + query
}

// newPart is the verb that the programs execute.
func newPart() *cobra.Command {
	return &cobra.Command{
		Use: "part", Short: "Run the part of a workload that standard input describes (started by nicloop ranks)", Args: checked(cobra.NoArgs), Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return err
			}
			var p bench.Part
			if err := json.Unmarshal(spec, &p); err != nil {
				return usageError{err}
			}
			res, err := p.Run(cmd.Context())
			var gone *bootstrap.PeerError
			switch {
			case errors.As(err, &gone):
				return coded{exitPeerGone, err}
			case err != nil:
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(res)
		},
	}
}

// A ranksReport is the combined result of the programs.
type ranksReport struct {
	Config   bench.Spec `json:"config"`
	Programs int        `json:"programs"`
	Rows     []ranksRow `json:"rows"`
	Verified uint64     `json:"verified_bytes"`
}

// A ranksRow is the result for one size, in real time.
type ranksRow struct {
	bench.PartRow
	PerIteration drivers.Time `json:"per_iteration_ps"`
	Rate         float64      `json:"mb_per_s"` // of all ranks together
}

// addUp combines the results of the programs into one report.
func addUp(device string, parts []bench.Part, results []bench.PartResult) *ranksReport {
	rep := &ranksReport{Config: parts[0].Config.Spec, Programs: len(parts)}
	rep.Config.Device = device
	for i, row := range results[0].Rows {
		for _, r := range results {
			row.Elapsed = max(row.Elapsed, r.Rows[i].Elapsed)
		}
		seconds := float64(row.Elapsed) / float64(drivers.Second)
		rep.Rows = append(rep.Rows, ranksRow{
			row, row.Elapsed / drivers.Time(max(row.Iterations, 1)), float64(row.Messages) * float64(row.Bytes) / 1e6 / max(seconds, 1e-9),
		})
	}
	for _, r := range results {
		rep.Verified += r.Verified
	}
	return rep
}

func (rep *ranksReport) print(out io.Writer) error {
	c := &rep.Config
	fmt.Fprintf(out, "%s on %s, %d ranks on %d nodes in %d programs, seed %d; real time\n", c.Workload, c.Device, c.Ranks(), c.Nodes, rep.Programs, c.Seed)
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "BYTES\tMESSAGES\tPER ITERATION\tMB/S\t")
	for _, row := range rep.Rows {
		fmt.Fprintf(tw, "%d\t%d\t%v\t%.2f\t\n", row.Bytes, row.Messages, row.PerIteration, row.Rate)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d bytes verified\n", rep.Verified)
	return err
}
