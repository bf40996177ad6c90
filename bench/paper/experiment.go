package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// An Experiment is one figure or table of a paper, or several from one set of runs.
type Experiment struct {
	IDs   []string // the first one names its files
	Title string
	Paper string // the paper and the section
	// Pure experiments need no device.
	Pure bool
	// Engine is the simulator of an experiment that has no device and is not pure.
	Engine string
	// PaperSize is what the paper ran it on.
	PaperSize string
	// Thinned is what the thin scales leave out, and what that hides.
	Thinned string
	Measure func(ctx context.Context, e *Env) (*Table, error)
	// Freedom is what the seed varies. The experiment is measured under Env.Samples seeds. Empty:
	// every seed gives the same rows, and one sample is all there is.
	Freedom   string
	Claims    []Claim
	Reasons   []Hypothesis
	Mutations []Mutation
	Plot      func(t *Table) []*figure.Figure
}

// A Claim is one statement of a paper. Judge examines the rows of one sample; its checks state the
// margins. It returns judge.Nothing if the scale has no rows about the claim.
type Claim struct {
	Text  string
	Paper string // its numbers
	Judge func(t *Table) judge.Finding
}

// DefaultSamples is the number of seeds under which an experiment with freedom is measured.
const DefaultSamples = 5

// Scale says how large an experiment is.
type Scale string

// The scales. Small and Medium have many points on few processes, Large and Full
// (the paper's size) the points that decide the claims on many.
const (
	Small  Scale = "small"  // 16 processes or so: seconds
	Medium Scale = "medium" // 64 processes or so: minutes
	Large  Scale = "large"  // 256 processes or so: minutes
	Full   Scale = "paper"  // the paper's size: up to hours
)

// Scales lists them.
func Scales() []Scale { return []Scale{Small, Medium, Large, Full} }

// Thin: only the points that decide the claims are run.
func (s Scale) Thin() bool { return s == Large || s == Full }

// Env is where and how experiments run.
type Env struct {
	Device string
	// Machine is what the device stands for; empty: OurMachine.
	Machine Machine
	Scale   Scale
	Seed    int64
	// Samples is the number of seeds, from Seed on; 0: DefaultSamples.
	Samples int
	Jobs    int // runs at a time
	Cores   int // that there are: a run of all of a large world may take what other runs leave
	// Why has the reasons of verdicts tried.
	Why bool
	// Journal, if not nil, keeps what runs have measured, and has what need not be measured.
	Journal *Journal
	// Plan announces the number of runs, of runs that the journal has, and of data packets in
	// millions. Step shows progress, and Building what else takes time.
	Plan     func(runs, known int, packets float64)
	Step     func(done, of int)
	Building func(what string)
	Log      *logrus.Logger // nil: the standard logger
	// Mutate, if not nil, changes the configuration of every run: a pointer to a bench.Config, a
	// packets.Config, or a type of the experiment. Tests of judges use it; see Mutation.
	Mutate func(config any)

	Worlds      []string // worlds that were run, for the report
	RunCount    int
	PacketCount uint64

	sampled bool // one of several samples: ranks start with a skew
}

// A Verdict is a judged claim.
type Verdict struct {
	Claim   string        `json:"claim"`
	Paper   string        `json:"paper"`
	Ours    string        `json:"ours"` // of the first sample
	Outcome judge.Outcome `json:"verdict"`
	Samples int           `json:"samples"`
	// Checks are the margins of the claim, and the 95 % intervals of the measured values.
	Checks []judge.Interval `json:"checks"`
}

// Holds reports whether the claim holds.
func (v Verdict) Holds() bool { return v.Outcome == judge.Holds }

// A Report is one experiment that has run.
type Report struct {
	IDs        []string  `json:"ids"`
	Title      string    `json:"title"`
	Paper      string    `json:"paper"`
	Device     string    `json:"device,omitempty"`
	Machine    Machine   `json:"machine,omitempty"`
	Engine     string    `json:"engine,omitempty"`
	Worlds     []string  `json:"worlds,omitempty"`
	PaperSize  string    `json:"paper_size,omitempty"`
	Scale      Scale     `json:"scale"`
	ScaledDown bool      `json:"scaled_down"`
	Thinned    string    `json:"thinned,omitempty"`
	Runs       int       `json:"runs,omitempty"`
	Packets    uint64    `json:"packets,omitempty"` // data and credit packets of all runs
	Seed       int64     `json:"seed"`
	Samples    int       `json:"samples"`           // seeds, from Seed on
	Freedom    string    `json:"freedom,omitempty"` // what they vary
	Table      *Table    `json:"table"`             // of the first sample
	Claims     []Verdict `json:"claims"`
	// Reasons that were tried, where that was asked for.
	Reasons []Reason `json:"reasons,omitempty"`

	samples []*Table
	figures []*figure.Figure
}

// Run runs the experiment and judges its claims.
func (x *Experiment) Run(ctx context.Context, env Env) (*Report, error) {
	if !slices.Contains(Scales(), env.Scale) {
		return nil, fmt.Errorf("%w: scale %q: expected one of %v", drivers.ErrConfig, env.Scale, Scales())
	}
	env.Machine = cmp.Or(env.Machine, OurMachine)
	if !slices.Contains(Machines(), env.Machine) {
		return nil, fmt.Errorf("%w: machine %q: expected one of %q", drivers.ErrConfig, env.Machine, Machines())
	}
	samples, err := x.measure(ctx, &env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.IDs[0], err)
	}
	t := samples[0]
	var reasons []Reason
	if env.Why {
		if reasons, err = x.why(ctx, &env, t); err != nil {
			return nil, fmt.Errorf("%s: %w", x.IDs[0], err)
		}
	}
	rep := &Report{
		Reasons: reasons,
		IDs:     x.IDs, Title: x.Title, Paper: x.Paper, PaperSize: x.PaperSize, Scale: env.Scale,
		ScaledDown: env.Scale != Full, Seed: env.Seed, Samples: len(samples), Freedom: x.Freedom,
		Table: t, samples: samples, Claims: x.Judge(samples...),
	}
	switch {
	case x.Pure:
		rep.ScaledDown = rep.ScaledDown && x.PaperSize != ""
	case x.Engine != "":
		rep.Engine, rep.Worlds, rep.Runs, rep.Packets = x.Engine, env.Worlds, env.RunCount, env.PacketCount
		rep.ScaledDown = !env.Scale.Thin() // both have the paper's network
	default:
		rep.Device, rep.Worlds, rep.Runs, rep.Packets = env.Device, env.Worlds, env.RunCount, env.PacketCount
		rep.Machine = env.Machine
	}
	logs.Layer(env.Log, "reproduce").WithFields(logrus.Fields{"experiment": x.IDs[0], "scale": env.Scale, "runs": rep.Runs, "rows": len(t.Rows)}).Debug("experiment measured")
	if env.Scale.Thin() && (x.Engine == "" || env.Scale == Large) {
		rep.Thinned = x.Thinned
	}
	if x.Plot != nil {
		rep.figures = x.Plot(t)
	}
	return rep, nil
}

// measure measures the experiment under each seed.
func (x *Experiment) measure(ctx context.Context, env *Env) ([]*Table, error) {
	n := cmp.Or(env.Samples, DefaultSamples)
	if x.Freedom == "" {
		n = 1
	}
	tables := make([]*Table, n)
	for i := range tables {
		sample := *env
		sample.Seed += int64(i)
		sample.sampled = n > 1
		var err error
		if tables[i], err = x.Measure(ctx, &sample); err != nil {
			return nil, fmt.Errorf("seed %d: %w", sample.Seed, err)
		}
		env.Worlds, env.RunCount, env.PacketCount = sample.Worlds, sample.RunCount, sample.PacketCount
	}
	return tables, nil
}

// Judge judges the claims by the tables of all samples. Claims about rows that the scale leaves out
// are omitted.
func (x *Experiment) Judge(samples ...*Table) (list []Verdict) {
	for _, c := range x.Claims {
		if v := c.verdict(samples...); v.Ours != "" {
			list = append(list, v)
		}
	}
	return list
}

func (c *Claim) verdict(samples ...*Table) Verdict {
	findings := make([]judge.Finding, len(samples))
	for i, t := range samples {
		findings[i] = c.Judge(t)
	}
	v := Verdict{Claim: c.Text, Paper: c.Paper, Ours: findings[0].Ours, Samples: len(samples)}
	v.Outcome, v.Checks = judge.Decide(findings)
	return v
}

// Sampled reports whether the environment is one of several seeds.
func (e *Env) Sampled() bool { return e.sampled }

// Delays returns the delays with which a rank starts its repetitions, one after the other: none
// unless the experiment is measured under several seeds.
func (e *Env) Delays(rank int) func() drivers.Time {
	if !e.sampled {
		return func() drivers.Time { return 0 }
	}
	return imb.Delays(startSkew, e.Seed, rank)
}

// Each calls f for 0 to n-1, as many at a time as there are jobs. Results go to
// rows of their own, so that their order does not depend on it.
func (e *Env) Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(e.Jobs, 1))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, i)
		})
	}
	return g.Wait()
}

// EachCounted is Each, and shows after each call how many have ended.
func (e *Env) EachCounted(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	var mu sync.Mutex
	done := 0
	return e.Each(ctx, n, func(ctx context.Context, i int) error {
		err := f(ctx, i)
		mu.Lock()
		defer mu.Unlock()
		if done++; e.Step != nil {
			e.Step(done, n)
		}
		return err
	})
}

// Join writes values as people do.
func Join[T any](values []T, format string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(parts, ", ")
}
