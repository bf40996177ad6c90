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
	Rounds       int // 50 of each side
	Transactions int // of a ping-pong round: 200; a stream round has four times as many
	Progress     func(what string)
}

// Run measures both workloads.
func Run(ctx context.Context, opt Options) (Report, error) {
	if opt.Nodes == 0 {
		opt.Nodes = 2
	}
	if opt.Rounds == 0 {
		opt.Rounds = 50
	}
	if opt.Transactions == 0 {
		opt.Transactions = 200
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
	program, err := model.Link(ctx, source, "bare.cpp", "wiring.cpp", "border.cpp", "crew.cpp", "dpi.cpp", "log.cpp")
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

// compare runs the rounds of one workload. Both sides live all the time, and take turns of
// some milliseconds: what else happens on the machine hits both alike.
func compare(ctx context.Context, opt Options, model *build.Model, program string, r *Result) error {
	x, err := startBare(ctx, program, opt.Nodes, r.Workload)
	if err != nil {
		return err
	}
	defer x.close()
	y, err := startBridge(ctx, opt.Nodes, model)
	if err != nil {
		return err
	}
	defer y.sys.Close()
	bare, bridge := make([]sample, opt.Rounds), make([]sample, opt.Rounds)
	done := uint64(max(r.Transactions/2, window))
	for i := -1; i < opt.Rounds; i++ {
		var a, b sample
		if a, err = x.round(done); err != nil {
			return err
		}
		if b, err = y.round(r.Workload, y.sys.(interface{ Pid() int }).Pid(), done); err != nil {
			return err
		}
		if a.cycles != b.cycles {
			return fmt.Errorf("the bare bench took %d cycles, the bridge %d: they do not do the same", a.cycles, b.cycles)
		}
		if done += uint64(r.Transactions); i >= 0 { // the one before warms up
			bare[i], bridge[i] = a, b
		}
	}
	r.summarize(bare, bridge)
	return nil
}

// A bare is the bare bench, which waits for the next round.
type bare struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func startBare(ctx context.Context, program string, nodes int, workload string) (*bare, error) {
	b := &bare{cmd: exec.CommandContext(ctx, program, build.FormatDims(build.DimsFor(nodes)), workload)}
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

func startBridge(ctx context.Context, nodes int, model *build.Model) (*bench, error) {
	sys, err := drivers.Open(ctx, "rtl:", drivers.Options{Nodes: nodes})
	if err != nil {
		return nil, err
	}
	if got, want := sys.Info().Hash, model.HashText(); got != want {
		sys.Close()
		return nil, fmt.Errorf("rtl: opened model %s, the bare bench is linked with %s", got, want)
	}
	b, err := newBench(sys.(drivers.Timed))
	if err != nil {
		sys.Close()
	}
	return b, err
}
