package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/libfabric"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
)

func newMPI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mpi -n RANKS -- PROGRAM [ARGUMENT…]",
		Short: "Run an unmodified MPI program on the simulated NIC, in virtual time",
		Long: `Run a program that is linked with Open MPI as ranks of a simulated world. Its messages cross the
simulated NIC; its clocks (MPI_Wtime, clock_gettime, gettimeofday) show simulated time. The same
command gives the same times in every run.

Computing between two MPI calls takes no simulated time unless --compute says otherwise. The
packages come with scripts/setup-debian.sh --mpi; nicloop help mpi describes how it works.

` + exitText,
		Example: `  nicloop mpi -n 4 -- ./ring
  nicloop mpi -n 8 --device model: --procs-per-node 2 -- python3 program.py
  nicloop mpi -n 2 --device rtl: --waves run.fst -- ./pingpong
  nicloop mpi -n 4 --compute measured×0.5 -- ./stencil       a processor twice as fast as this one
  nicloop mpi -n 4 --compute record:times -- ./stencil       measure once ...
  nicloop mpi -n 4 --compute replay:times -- ./stencil       ... and repeat to the picosecond`,
		Args: checked(cobra.MinimumNArgs(1)),
	}
	f := &mpiFlags{c: bench.Default("")}
	f.add(cmd)
	cmd.RunE = f.run
	return cmd
}

// The values of --windows.
const (
	windowsOfMessages = "messages"
	windowsOfRMA      = "rma"
)

type mpiFlags struct {
	c                bench.Config
	ranks            int
	compute          string
	pollCost, stall  time.Duration
	heap             int
	flow, rendezvous string
	windows          string
	limit, timeout   time.Duration
	pcap             string
	json, force      bool
	look             runFlags // waves
	launcher         []string
	awaited          atomic.Pointer[string] // what the world waited for when it was ended
}

func (f *mpiFlags) add(cmd *cobra.Command) {
	d, fs := f.c, cmd.Flags()
	fs.SortFlags = false
	fs.SetInterspersed(false) // what follows the program belongs to it
	fs.IntVarP(&f.ranks, "ranks", "n", 2, "ranks: processes that mpirun starts")
	fs.StringVar(&f.c.Device, "device", "model:", "what stands behind the driver, such as rtl: or model: (nicloop device list)")
	fs.IntVar(&f.c.Procs, "procs-per-node", 1, "ranks that share a node and its NIC")
	fs.StringVar(&f.compute, "compute", "0", "simulated time of computing between calls: 0; measured×`F`, the processor "+
		"time of the program times F; record:FILE, measured and written to FILE; replay:FILE, read from there")
	fs.DurationVar(&f.pollCost, "poll-cost", 50*time.Nanosecond, "simulated time of a look at an empty completion queue")
	fs.DurationVar(&f.stall, "stall", 2*time.Second, "real time after which the world continues without a rank that waits for something else than messages")
	sizeVar(fs, &f.heap, "heap", 32<<20, "bytes of DMA memory per rank, for messages of more than 2048 bytes")
	addFlow(fs, &f.flow, &f.c.Velo)
	fs.BoolVar(&f.c.Local, "local", d.Local, "messages between ranks of a node bypass the NIC")
	fs.StringVar(&f.rendezvous, "rendezvous", string(d.Rendezvous), "how messages beyond 2048 bytes travel: rget, rput or chunked")
	fs.StringVar(&f.windows, "windows", windowsOfMessages,
		"how MPI windows work: messages, or rma for puts and gets of the NIC")
	sizeVar(fs, &f.c.Chunk, "chunk", d.Chunk, "bytes of one get of the chunked rendezvous")
	fs.IntVar(&f.c.Outstanding, "outstanding", d.Outstanding, "outstanding gets per rank of the chunked rendezvous")
	fs.StringArrayVar(&f.launcher, "mpirun", nil, "an additional `ARGUMENT` for mpirun; repeatable")
	fs.BoolVar(&f.json, "json", false, "print the report as JSON; the output of the program goes to standard error")
	fs.StringVar(&f.pcap, "pcap", "", "write every packet on every link to `FILE` (pcapng, simulated nanoseconds)")
	fs.StringVar(&f.look.waves, "waves", "", "write waveforms to `FILE` (FST)")
	f.look.addWaveWindow(fs)
	fs.BoolVar(&f.force, "force", false, "overwrite existing output files")
	fs.DurationVar(&f.limit, "limit", 0, "give up after so much simulated time (default: never)")
	fs.DurationVar(&f.timeout, "timeout", 0, "give up after so much real time (default: never)")
}

// A computeMode is the value of --compute.
type computeMode struct {
	factor         float64
	record, replay string // files
}

// parseCompute reads the value of --compute.
func parseCompute(s string) (m computeMode, err error) {
	if file, ok := strings.CutPrefix(s, "record:"); ok && file != "" {
		return computeMode{factor: 1, record: file}, nil
	}
	if file, ok := strings.CutPrefix(s, "replay:"); ok && file != "" {
		return computeMode{factor: 1, replay: file}, nil
	}
	rest, ok := strings.CutPrefix(s, "measured")
	switch {
	case s == "0":
		return m, nil
	case !ok:
		return m, misused("--compute %s: expected 0, measured, measured×F, record:FILE or replay:FILE", s)
	case rest == "":
		return computeMode{factor: 1}, nil
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "×"), "x")
	m.factor, err = strconv.ParseFloat(rest, 64)
	if err != nil || m.factor <= 0 || m.factor > 1e6 {
		return m, misused("--compute %s: expected a factor above 0 and up to 1000000 behind measured×", s)
	}
	return m, nil
}

// openCompute reads the file of --compute replay, or creates that of --compute record, which save
// writes.
func (f *mpiFlags) openCompute(m computeMode, lc *libfabric.Config) (save func(error) error, err error) {
	lc.Compute = m.factor
	save = func(err error) error { return err }
	switch {
	case m.replay != "":
		file, err := os.Open(m.replay)
		if err != nil {
			return nil, misused("--compute replay: %v", err)
		}
		defer file.Close()
		if lc.Replay, err = libfabric.ReadComputeLog(file); err != nil {
			return nil, fmt.Errorf("--compute replay:%s: %w", m.replay, err)
		}
		if n := lc.Replay.Ranks(); n != f.ranks {
			return nil, misused("--compute replay:%s: recorded with %d ranks; expected %d, as in -n",
				m.replay, n, f.ranks)
		}
	case m.record != "":
		file, err := f.look.create(m.record)
		if err != nil {
			return nil, err
		}
		lc.Record = libfabric.NewComputeLog(f.ranks)
		save = func(err error) error {
			if err == nil {
				_, err = lc.Record.WriteTo(file)
			}
			return userfile.Close(file, err)
		}
	}
	return save, nil
}

// config checks the flags and completes the configuration of the world.
func (f *mpiFlags) config(cmd *cobra.Command) (c bench.Config, lc libfabric.Config, err error) {
	c = f.c
	switch {
	case f.ranks < 1:
		return c, lc, misused("-n %d: expected at least 1 rank", f.ranks)
	case c.Procs < 1 || f.ranks%c.Procs != 0:
		return c, lc, misused("-n %d --procs-per-node %d: expected a multiple of the ranks of a node", f.ranks, c.Procs)
	case f.heap < 1<<20 || f.heap > 1<<32:
		return c, lc, misused("--heap %d: expected %d to %d bytes", f.heap, 1<<20, 1<<32)
	case f.rendezvous == string(host.Spec):
		return c, lc, misused("--rendezvous spec: tags of 64 bits cannot be speculated on: expected rget, rput or chunked")
	case f.windows != windowsOfMessages && f.windows != windowsOfRMA:
		return c, lc, misused("--windows %s: expected %s or %s", f.windows, windowsOfMessages, windowsOfRMA)
	case f.limit < 0 || f.limit > longest:
		return c, lc, misused("--limit %v: expected 0 to %v of simulated time", f.limit, longest)
	case f.pollCost > time.Second:
		return c, lc, misused("--poll-cost %v: expected at most 1s", f.pollCost)
	}
	if err := errors.Join(notNegative(cmd, "timeout", "poll-cost"), positive("stall", f.stall), checkFlow(cmd, velo.Flow(f.flow))); err != nil {
		return c, lc, err
	}
	c.Nodes = f.ranks / c.Procs
	c.Velo.Flow, c.Rendezvous = velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	c.Limit = drivers.Time(f.limit.Nanoseconds()) * drivers.Nanosecond
	lc = libfabric.Config{
		Ranks: f.ranks, PollCost: drivers.Time(f.pollCost.Nanoseconds()) * drivers.Nanosecond, Stall: f.stall, Local: c.Local,
		Warn: func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "nicloop: %s\n", text) },
	}
	for r := range f.ranks {
		lc.Node = append(lc.Node, r/c.Procs)
	}
	return c, lc, nil
}

func (f *mpiFlags) run(cmd *cobra.Command, program []string) (err error) {
	c, lc, err := f.config(cmd)
	if err != nil {
		return err
	}
	compute, err := parseCompute(f.compute)
	if err != nil {
		return err
	}
	cache, err := build.ProgramCache("libfabric", "providers")
	if err != nil {
		return err
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	dir, err := libfabric.Build(ctx, cache)
	if err != nil {
		return err
	}
	f.look.force = f.force
	save, err := f.openCompute(compute, &lc)
	if err != nil {
		return err
	}
	defer func() { err = save(err) }()
	if f.pcap != "" {
		file, err2 := f.look.create(f.pcap)
		if err2 != nil {
			return err2
		}
		defer func() { err = userfile.Close(file, err) }()
		c.Pcap = file
	}
	if err := f.look.setWaves(cmd, &c); err != nil {
		return err
	}
	bar := newBar(cmd.ErrOrStderr(), "mpi")
	c.Building = bar.describe
	rep, err := f.world(ctx, cmd, c, lc, dir, program, bar.finish)
	bar.finish()
	if err != nil {
		return f.failed(ctx, cmd, err)
	}
	if f.json {
		return errors.Join(writeJSON(cmd.OutOrStdout(), rep), rep.crossed(f.ranks))
	}
	rep.print(cmd.OutOrStdout())
	return rep.crossed(f.ranks)
}

// failed is the error of a run: a hang has a verdict and an exit code of its own.
func (f *mpiFlags) failed(ctx context.Context, cmd *cobra.Command, err error) error {
	if ctx.Err() != nil {
		if text := f.awaited.Load(); text != nil {
			return fmt.Errorf("%w; %s", context.Cause(ctx), *text)
		}
		return context.Cause(ctx)
	}
	var hang *libfabric.HangError
	if !errors.As(err, &hang) {
		return err
	}
	if f.json {
		if err := writeJSON(cmd.OutOrStdout(), &mpiHang{At: hang.At, Ranks: hang.Ranks}); err != nil {
			return err
		}
	}
	return coded{exitHang, hang}
}

// world runs the programs and the world until both have ended.
func (f *mpiFlags) world(
	ctx context.Context, cmd *cobra.Command, c bench.Config, lc libfabric.Config, dir string, program []string, ready func(),
) (rep *mpiReport, err error) {
	srv, err := libfabric.Listen(lc)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	stop := context.AfterFunc(ctx, func() {
		if text := srv.Awaited(); text != "" {
			f.awaited.Store(&text)
		}
		srv.End(context.Cause(ctx))
	})
	defer stop()
	var launch *libfabric.Launch
	defer func() {
		if launch != nil {
			err = launch.Stop(err)
		}
	}()
	out := cmd.OutOrStdout()
	if f.json {
		out = cmd.ErrOrStderr()
	}
	c.Opened = func(drivers.Timed) (err error) { // the simulator is built: the programs can start
		ready()
		launch, err = srv.Launch(libfabric.Program{
			Provider: dir, Arguments: program, Launcher: f.launcher, Stdin: stdinOf(cmd), Stdout: out, Stderr: cmd.ErrOrStderr(),
			RMAWindows: f.windows == windowsOfRMA,
		})
		return err
	}
	began := time.Now()
	run := bench.ProgramRun{Config: c, HeapBytes: f.heap, Body: srv.Serve}
	res, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	if err := launch.Wait(ctx); err != nil {
		return nil, err
	}
	return &mpiReport{
		Config: c.Spec, Compute: f.compute, PollCost: lc.PollCost, Ranks: f.ranks, Report: srv.Report(), Result: res, real: time.Since(began),
	}, nil
}

// stdinOf is the standard input of the program: rank 0 reads it.
func stdinOf(cmd *cobra.Command) *os.File {
	in, _ := cmd.InOrStdin().(*os.File)
	return in
}
