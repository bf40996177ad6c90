package bridgebench

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/nicloop/nicloop/cosim/build"
	_ "github.com/nicloop/nicloop/cosim/rtl" // registers rtl:
	"github.com/nicloop/nicloop/drivers"
	hdl "github.com/nicloop/nicloop/rtl"
)

//go:embed bare/bare.cpp
var bareSource embed.FS

// The workloads.
const (
	PingPong = "pingpong"
	Stream   = "stream"
)

// Options of Run; zero values mean the defaults.
type Options struct {
	Nodes        int // 2; the messages always go between nodes 0 and 1
	Rounds       int // 15 of each side
	Transactions int // of a ping-pong round: 2,000; a stream round has four times as many
	Progress     func(what string)
}

// Run measures both workloads.
func Run(ctx context.Context, opt Options) (Report, error) {
	if opt.Nodes == 0 {
		opt.Nodes = 2
	}
	if opt.Rounds == 0 {
		opt.Rounds = 15
	}
	if opt.Transactions == 0 {
		opt.Transactions = 2000
	}
	if opt.Nodes < 2 || opt.Nodes > build.MaxNodes || opt.Rounds < 1 || opt.Transactions < 1 {
		return Report{}, fmt.Errorf("%w: bridge benchmark with %d nodes, %d rounds, %d transactions: expected 2..%d, at least 1, at least 1",
			drivers.ErrConfig, opt.Nodes, opt.Rounds, opt.Transactions, build.MaxNodes)
	}
	model, err := build.Build(ctx, build.Spec{
		RTL: hdl.Sources, Files: hdl.SimulationFiles(), Include: "sim", Ports: build.PortsFor(build.DimsFor(opt.Nodes)), Progress: opt.Progress,
	})
	if err != nil {
		return Report{}, err
	}
	source, err := fs.Sub(bareSource, "bare")
	if err != nil {
		return Report{}, err
	}
	program, err := model.Link(ctx, source, "bare.cpp", "wiring.cpp", "crew.cpp", "dpi.cpp", "log.cpp")
	if err != nil {
		return Report{}, err
	}
	report := Report{Device: "rtl:", Nodes: opt.Nodes, Hash: model.HashText(), Tool: model.Tool, Rounds: opt.Rounds}
	for _, w := range []Result{
		{Workload: PingPong, Transactions: opt.Transactions, Goal: 0.97},
		{Workload: Stream, Transactions: 4 * opt.Transactions, Goal: 0.97},
	} {
		if err := compare(ctx, opt, model, program, &w); err != nil {
			return report, fmt.Errorf("bridge benchmark, %s: %w", w.Workload, err)
		}
		report.Results = append(report.Results, w)
	}
	return report, nil
}

// compare runs the rounds of one workload, both sides in turn.
func compare(ctx context.Context, opt Options, model *build.Model, program string, r *Result) error {
	var bare, bridge []sample
	for range opt.Rounds {
		x, err := runBare(ctx, program, opt.Nodes, r)
		if err != nil {
			return err
		}
		y, err := runBridge(ctx, opt.Nodes, model, r)
		if err != nil {
			return err
		}
		if x.cycles != y.cycles {
			return fmt.Errorf("the bare bench took %d cycles, the bridge %d: they do not do the same", x.cycles, y.cycles)
		}
		bare, bridge = append(bare, x), append(bridge, y)
	}
	r.summarize(bare, bridge)
	return nil
}

func warmup(r *Result) uint64 { return uint64(max(r.Transactions/20, window)) }

func runBare(ctx context.Context, program string, nodes int, r *Result) (s sample, err error) {
	cmd := exec.CommandContext(ctx, program, build.FormatDims(build.DimsFor(nodes)), r.Workload, fmt.Sprint(warmup(r)), fmt.Sprint(r.Transactions))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("bare bench: %w: %s", err, stderr.String())
	}
	_, err = fmt.Sscan(string(out), &s.cycles, (*int64)(&s.elapsed), (*int64)(&s.model))
	return s, err
}

func runBridge(ctx context.Context, nodes int, model *build.Model, r *Result) (s sample, err error) {
	sys, err := drivers.Open(ctx, "rtl:", drivers.Options{Nodes: nodes})
	if err != nil {
		return s, err
	}
	defer sys.Close()
	if got, want := sys.Info().Hash, model.HashText(); got != want {
		return s, fmt.Errorf("rtl: opened model %s, the bare bench is linked with %s", got, want)
	}
	b, err := newBench(sys.(drivers.Timed))
	if err != nil {
		return s, err
	}
	return b.measure(r.Workload, sys.(interface{ Pid() int }).Pid(), warmup(r), uint64(r.Transactions))
}
