package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
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
	// Engine is what those run on that have no device and are not pure.
	Engine string
	// PaperSize is what the paper ran it on.
	PaperSize string
	// Thinned is what the thin scales leave out, and what that hides.
	Thinned string
	Measure func(ctx context.Context, e *Env) (*Table, error)
	Claims  []Claim
	Reasons []Hypothesis
	Plot    func(t *Table) []*figure.Figure
}

// A Claim is one statement of a paper. judge looks at the rows alone; of what is not in them it has
// nothing to say.
type Claim struct {
	Text  string
	Paper string // its numbers
	Judge func(t *Table) (ours string, holds bool)
}

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
	Jobs    int // runs at a time
	Cores   int // that there are: a run of all of a large world may take what other runs leave
	// Why has the reasons of verdicts tried.
	Why bool
	// Journal, if not nil, keeps what runs have measured, and has what need not be measured.
	Journal *Journal
	// Plan tells what will be run before it is, in millions of data packets, and how many runs the
	// journal has; Step how far it is, Building what else takes time.
	Plan     func(runs, known int, packets float64)
	Step     func(done, of int)
	Building func(what string)
	Log      *logrus.Logger // nil: the standard logger

	Worlds      []string // worlds that were run, for the report
	RunCount    int
	PacketCount uint64
}

// A Verdict is a judged claim.
type Verdict struct {
	Claim string `json:"claim"`
	Paper string `json:"paper"`
	Ours  string `json:"ours"`
	Holds bool   `json:"holds"`
}

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
	Table      *Table    `json:"table"`
	Claims     []Verdict `json:"claims"`
	// Reasons that were tried, where that was asked for.
	Reasons []Reason `json:"reasons,omitempty"`

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
	t, err := x.Measure(ctx, &env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.IDs[0], err)
	}
	var reasons []Reason
	if env.Why {
		if reasons, err = x.why(ctx, &env, t); err != nil {
			return nil, fmt.Errorf("%s: %w", x.IDs[0], err)
		}
	}
	rep := &Report{
		Reasons: reasons,
		IDs:     x.IDs, Title: x.Title, Paper: x.Paper, PaperSize: x.PaperSize, Scale: env.Scale,
		ScaledDown: env.Scale != Full, Seed: env.Seed, Table: t, Claims: x.Judge(t),
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

// Judge judges the claims by a table. Claims about rows that the scale leaves out are omitted.
func (x *Experiment) Judge(t *Table) (list []Verdict) {
	for _, c := range x.Claims {
		if v := c.verdict(t); v.Ours != "" { // this scale leaves it out
			list = append(list, v)
		}
	}
	return list
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

// Join writes values as people do.
func Join[T any](values []T, format string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(parts, ", ")
}
