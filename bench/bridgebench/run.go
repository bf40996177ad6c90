package bridgebench

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"runtime"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/machine"
	_ "github.com/nicloop/nicloop/cosim/rtl" // registers rtl:
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	hdl "github.com/nicloop/nicloop/rtl"
)

//go:embed bare/bare.cpp
var bareSource embed.FS

// The workloads.
const (
	PingPong = "pingpong"
	Stream   = "stream"
)

// Options of Run; zero values select defaults.
type Options struct {
	Nodes        int  // 2; messages always travel between nodes 0 and 1
	Starts       int  // of both sides, each with a new memory layout: 4
	Rounds       int  // of each side per start: 20
	Transactions int  // of a ping-pong round: 200; a stream round has four times as many
	Inside       bool // run the model in this process
	Progress     func(what string)
	Step         func(done, of int)
}

// Run measures both workloads.
func Run(ctx context.Context, opt Options) (Report, error) {
	if opt.Nodes == 0 {
		opt.Nodes = 2
	}
	if opt.Starts == 0 {
		opt.Starts = 4
	}
	if opt.Rounds == 0 {
		opt.Rounds = 20
	}
	if opt.Step == nil {
		opt.Step = func(int, int) {}
	}
	if opt.Transactions == 0 {
		opt.Transactions = 200
	}
	if opt.Nodes < 2 || opt.Nodes > machine.MaxNodes || min(opt.Starts, opt.Rounds, opt.Transactions) < 1 {
		return Report{}, fmt.Errorf("%w: bridge benchmark with %d nodes, %d starts, %d rounds, %d transactions: expected 2..%d nodes, and at least 1 of the others",
			drivers.ErrConfig, opt.Nodes, opt.Starts, opt.Rounds, opt.Transactions, machine.MaxNodes)
	}
	spec := build.Spec{
		RTL: hdl.Sources, Files: hdl.SimulationFiles(), Include: "sim", Ports: machine.PortsFor(machine.DimsFor(opt.Nodes)), Progress: opt.Progress,
	}
	// The bare bench uses the library of separate processes in any case: that is the limit.
	model, err := build.Build(ctx, spec)
	if err != nil {
		return Report{}, err
	}
	y := &side{device: "rtl:", nodes: opt.Nodes, model: model}
	if opt.Inside {
		y.device, spec.Shared = "rtl:?inside=1", true
		if y.model, err = build.Build(ctx, spec); err != nil {
			return Report{}, err
		}
	}
	source, err := fs.Sub(bareSource, "bare")
	if err != nil {
		return Report{}, err
	}
	program, err := model.Link(ctx, source, "bare.cpp", "wiring.cpp", "border.cpp", "crew.cpp", "dpi.cpp", "log.cpp")
	if err != nil {
		return Report{}, err
	}
	report := Report{Device: y.device, Nodes: opt.Nodes, Hash: y.model.HashText(), Tool: model.Tool, Starts: opt.Starts, Rounds: opt.Rounds}
	for i, w := range []Result{
		{Workload: PingPong, Transactions: opt.Transactions, Goal: 0.97},
		{Workload: Stream, Transactions: 4 * opt.Transactions, Goal: 0.97},
	} {
		var bare, bridge []sample
		for n := range opt.Starts {
			if err := compare(ctx, opt, y, program, &w, &bare, &bridge); err != nil {
				return report, fmt.Errorf("bridge benchmark, %s: %w", w.Workload, err)
			}
			opt.Step(i*opt.Starts+n+1, 2*opt.Starts)
		}
		w.summarize(bare, bridge)
		report.Results = append(report.Results, w)
	}
	return report, nil
}

// compare starts both sides and runs the rounds of one workload. Both processes stay alive and
// alternate in rounds of some milliseconds, so that load on the machine affects both equally.
func compare(ctx context.Context, opt Options, through *side, program string, r *Result, bare, bridge *[]sample) error {
	x, err := startBare(ctx, program, opt.Nodes, r.Workload)
	if err != nil {
		return err
	}
	defer x.close()
	y, err := through.start(ctx)
	if err != nil {
		return err
	}
	defer y.sys.Close()
	runtime.LockOSThread() // as package vtime does for a run
	defer runtime.UnlockOSThread()
	pid, done := y.sys.(interface{ Pid() int }).Pid(), uint64(0)
	for range opt.Rounds {
		from := done + uint64(max(r.Transactions/2, window))
		done = from + uint64(r.Transactions)
		a, err := alternating(from, done, x.round)
		if err != nil {
			return err
		}
		b, err := alternating(from, done, func(to uint64) (sample, error) { return y.round(r.Workload, pid, to) })
		if err != nil {
			return err
		}
		if a.cycles != b.cycles {
			return fmt.Errorf("the bare bench took %d cycles, the bridge %d: they do not do the same", a.cycles, b.cycles)
		}
		*bare, *bridge = append(*bare, a), append(*bridge, b)
	}
	return nil
}

// alternating measures the round from..to of a side that was idle while the other ran. The part up
// to from warms up caches and Go's runtime, which polls a program that has just become active every
// 20 µs for some milliseconds.
func alternating(from, to uint64, round func(to uint64) (sample, error)) (sample, error) {
	if s, err := round(from); err != nil {
		return s, err
	}
	return round(to)
}

// A bare is the process of the bare bench, which waits for its next round.
type bare struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func startBare(ctx context.Context, program string, nodes int, workload string) (*bare, error) {
	b := &bare{cmd: exec.CommandContext(ctx, program, machine.FormatDims(machine.DimsFor(nodes)), workload)}
	b.cmd.Stderr = &b.stderr
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	return b, b.cmd.Start()
}

func (b *bare) round(to uint64) (s sample, err error) {
	if _, err = fmt.Fprintln(b.in, to); err == nil {
		_, err = fmt.Fscanln(b.out, &s.cycles, (*int64)(&s.elapsed), (*int64)(&s.model))
	}
	if err != nil {
		b.close()
		return s, fmt.Errorf("bare bench: %w: %s", err, b.stderr.String())
	}
	return s, nil
}

func (b *bare) close() {
	b.in.Close()
	_ = b.cmd.Wait()
}

// A side is the system that is compared with the bare bench.
type side struct {
	device string
	nodes  int
	model  *build.Model // model that the device must use
}

func (x *side) start(ctx context.Context) (*bench, error) {
	sys, err := registry.Open(ctx, x.device, drivers.Options{Nodes: x.nodes})
	if err != nil {
		return nil, err
	}
	if got, want := sys.Info().Hash, x.model.HashText(); got != want {
		sys.Close()
		return nil, fmt.Errorf("%s opened model %s, expected %s", x.device, got, want)
	}
	b, err := newBench(sys.(drivers.Timed))
	if err != nil {
		sys.Close()
	}
	return b, err
}
