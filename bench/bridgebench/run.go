package bridgebench

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"time"

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
	Rounds       int // 5 of each side
	Transactions int // of a ping-pong round: 10,000; a stream round has four times as many
	Progress     func(what string)
}

// A Result compares the two sides on one workload, by medians.
type Result struct {
	Workload            string  `json:"workload"`
	Transactions        int     `json:"transactions"` // of a round
	Cycles              uint64  `json:"cycles"`       // of a round, the same on both sides
	BareTransactions    float64 `json:"bare_transactions_per_s"`
	BridgeTransactions  float64 `json:"bridge_transactions_per_s"`
	BareCycles          float64 `json:"bare_cycles_per_s"`
	BridgeCycles        float64 `json:"bridge_cycles_per_s"`
	Ratio               float64 `json:"ratio"` // bridge to bare
	MinRatio, MaxRatio  float64 `json:"-"`     // of single rounds: how noisy the machine is
	Goal                float64 `json:"goal"`
	CrossingNanoseconds float64 `json:"crossing_ns"` // what one Run costs beyond the clocking
}

// A Report is what Run measured.
type Report struct {
	Device  string   `json:"device"`
	Nodes   int      `json:"nodes"`
	Hash    string   `json:"rtl_hash"`
	Tool    string   `json:"tool"`
	Rounds  int      `json:"rounds"`
	Results []Result `json:"results"`
}

// Write prints the report as a table.
func (r Report) Write(w io.Writer) {
	fmt.Fprintf(w, "%s, %d nodes, %s, medians of %d interleaved rounds\n", r.Device, r.Nodes, r.Tool, r.Rounds)
	fmt.Fprintf(w, "%-9s %14s %14s %12s %12s %6s %15s %5s\n",
		"workload", "bare trans/s", "bridge trans/s", "bare cyc/s", "bridge cyc/s", "ratio", "single rounds", "goal")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%-9s %14.0f %14.0f %12.0f %12.0f %6.3f %7.3f-%7.3f %5.2f\n", x.Workload,
			x.BareTransactions, x.BridgeTransactions, x.BareCycles, x.BridgeCycles, x.Ratio, x.MinRatio, x.MaxRatio, x.Goal)
	}
}

// Run measures both workloads.
func Run(ctx context.Context, opt Options) (Report, error) {
	if opt.Nodes == 0 {
		opt.Nodes = 2
	}
	if opt.Rounds == 0 {
		opt.Rounds = 5
	}
	if opt.Transactions == 0 {
		opt.Transactions = 10000
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
		{Workload: PingPong, Transactions: opt.Transactions, Goal: 0.85},
		{Workload: Stream, Transactions: 4 * opt.Transactions, Goal: 0.95},
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
	var bare, bridge []time.Duration
	r.MinRatio = 1e9
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
		r.Cycles = x.cycles
		bare, bridge = append(bare, x.elapsed), append(bridge, y.elapsed)
		ratio := x.elapsed.Seconds() / y.elapsed.Seconds()
		r.MinRatio, r.MaxRatio = min(r.MinRatio, ratio), max(r.MaxRatio, ratio)
	}
	b, g := median(bare).Seconds(), median(bridge).Seconds()
	r.BareTransactions, r.BridgeTransactions = float64(r.Transactions)/b, float64(r.Transactions)/g
	r.BareCycles, r.BridgeCycles = float64(r.Cycles)/b, float64(r.Cycles)/g
	r.Ratio = b / g
	r.CrossingNanoseconds = (g - b) * 1e9 / r.crossings()
	return nil
}

// crossings is how often Run was called.
func (r *Result) crossings() float64 {
	if r.Workload == PingPong {
		return 2 * float64(r.Transactions)
	}
	return float64(r.Transactions) / (window / 2)
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
	_, err = fmt.Sscan(string(out), &s.cycles, (*int64)(&s.elapsed))
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
	return b.measure(r.Workload, warmup(r), uint64(r.Transactions))
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
