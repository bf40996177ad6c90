package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// MemoryBytes is the memory that a node needs.
const MemoryBytes = 1 << 16

// domain is the protection domain of all processes of the test.
const domain = 0x5e1f

// Config selects the tests and their duration.
type Config struct {
	Nodes []int    // nodes to test, nil: all. The others must be unused, too: they are the other ends of links
	Only  []string // names of checks; nil: all
	Seed  uint64   // of the test data
	// Samples per measured rate; 0: 256. In wall-clock time a slow device takes fewer.
	Samples  int
	Patience time.Duration // time-out of each wait; 0: 10 s
	// Progress is called before every check.
	Progress func(done, of int, what string)
}

// Outcome is the result of a check.
type Outcome string

// Outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// A Result is the result of one check on one node.
type Result struct {
	Check   string  `json:"check"`
	Node    int     `json:"node"`
	Outcome Outcome `json:"outcome"`
	Did     string  `json:"did,omitempty"`   // passed: what was tested
	Fault   *Fault  `json:"fault,omitempty"` // failed
	Why     string  `json:"why,omitempty"`   // skipped: the reason
	Figures []Rate  `json:"figures,omitempty"`
}

// A Fault describes a failure.
type Fault struct {
	Where    string `json:"where"` // register and bits, or memory and first differing offset
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Advice   string `json:"advice"`
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s: expected %s, found %s; %s", f.Where, f.Expected, f.Found, f.Advice)
}

// A Rate is a measurement: a latency has percentiles, a throughput does not.
type Rate struct {
	What      string  `json:"what"`
	Samples   int     `json:"samples"`
	LeastNS   float64 `json:"least_ns,omitempty"`
	P50NS     float64 `json:"p50_ns,omitempty"`
	P90NS     float64 `json:"p90_ns,omitempty"`
	P99NS     float64 `json:"p99_ns,omitempty"`
	MostNS    float64 `json:"most_ns,omitempty"`
	PerS      float64 `json:"per_s,omitempty"`
	MBPerS    float64 `json:"mb_per_s,omitempty"`
	Simulated bool    `json:"simulated"` // in simulated time; otherwise wall-clock time
}

// ErrInUse: other programs have processes on the device.
var ErrInUse = errors.New("the device is in use")

// skipError: the device does not support this check.
type skipError struct{ why string }

func (e *skipError) Error() string { return e.why }

func skip(format string, args ...any) error { return &skipError{fmt.Sprintf(format, args...)} }

// A check returns a description of what it tested.
type check struct {
	name string
	what string
	run  func(*tester, *node) (did string, err error)
}

var checks = []check{
	{"identity", "identification registers, read twice", identity},
	{"scratch", "walking ones and zeros through SCRATCH", scratch},
	{"addresses", "a distinct value in every base register", addresses},
	{"refusals", "an access outside the map is answered and counted", refusals},
	{"velo", "packets of every length and kind into a mailbox with guard bytes", veloCheck},
	{"dma", "puts and gets across pages, with guard bytes", dmaCheck},
	{"interrupts", "every interrupt cause of every process", interrupts},
	{"links", "PRBS test of every link with both ends present", linksCheck},
	{"latency", "register reads, packets and puts to the own node: percentiles", latency},
	{"bandwidth", "lines of 56 bytes and puts of 8 KB to the own node", bandwidth},
	{"counters", "no error counter moved beyond what the checks caused", countersCheck},
}

// Checks lists the checks and what each tests, in order.
func Checks() (list [][2]string) {
	for _, c := range checks {
		list = append(list, [2]string{c.name, c.what})
	}
	return list
}

// A tester tests one system.
type tester struct {
	ctx   context.Context
	cfg   Config
	sys   drivers.System
	all   []*node // includes the other ends of links
	nodes []*node // nodes under test
	now   func() time.Duration
	timed bool
	rates []Rate // of the current check
}

// vpids is the number of processes that have send windows: fewer than the NIC has, if the board's
// BAR of windows is small.
func (t *tester) vpids() uint8 {
	if n := t.sys.Info().VPIDs; n > 0 {
		return uint8(min(n, regs.VPIDs))
	}
	return regs.VPIDs
}

// Run tests a system. The error says why results are missing: the device died, or ctx was
// cancelled.
func Run(ctx context.Context, sys drivers.System, cfg Config) ([]Result, error) {
	t, err := newTester(ctx, sys, cfg)
	if err != nil {
		return nil, err
	}
	var results []Result
	todo := t.todo()
	for i, n := range t.nodes {
		for j, c := range todo {
			if t.cfg.Progress != nil {
				t.cfg.Progress(i*len(todo)+j, len(t.nodes)*len(todo), fmt.Sprintf("node %d: %s", n.number, c.name))
			}
			r, err := t.one(c, n)
			if err != nil {
				return results, fmt.Errorf("node %d: %s: %w", n.number, c.name, err)
			}
			results = append(results, r)
		}
	}
	return results, nil
}

func newTester(ctx context.Context, sys drivers.System, cfg Config) (*tester, error) {
	for _, name := range cfg.Only {
		if !slices.ContainsFunc(checks, func(c check) bool { return c.name == name }) {
			var known []string
			for _, c := range checks {
				known = append(known, c.name)
			}
			return nil, fmt.Errorf("%w: no check %q%s; known: %v", drivers.ErrConfig, name, suggest.Nearest(name, known), known)
		}
	}
	if cfg.Samples == 0 {
		cfg.Samples = 256
	}
	if cfg.Patience == 0 {
		cfg.Patience = 10 * time.Second
	}
	t := &tester{ctx: ctx, cfg: cfg, sys: sys, now: wall()}
	if timed, ok := sys.(interface{ Now() drivers.Cycle }); ok {
		clock := time.Duration(sys.Info().ClockPS)
		t.timed, t.now = true, func() time.Duration { return time.Duration(timed.Now()) * clock } // picoseconds
	}
	for number := range sys.Info().Nodes {
		n := newNode(t, number)
		if err := n.free(); err != nil {
			return nil, err
		}
		t.all = append(t.all, n)
		if cfg.Nodes == nil || slices.Contains(cfg.Nodes, number) {
			t.nodes = append(t.nodes, n)
		}
	}
	return t, nil
}

// wall is a clock in picoseconds.
func wall() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) * 1000 }
}

func (t *tester) todo() []check {
	return slices.DeleteFunc(slices.Clone(checks), func(c check) bool {
		return t.cfg.Only != nil && !slices.Contains(t.cfg.Only, c.name)
	})
}

// one runs a check. Death of the device and cancellation end the whole test.
func (t *tester) one(c check, n *node) (Result, error) {
	r := Result{Check: c.name, Node: n.number}
	t.rates = nil
	did, err := c.run(t, n)
	var fault *Fault
	var left *skipError
	switch {
	case err == nil:
		r.Outcome, r.Did = Passed, did
	case errors.As(err, &left):
		r.Outcome, r.Why = Skipped, left.why
	case errors.As(err, &fault):
		r.Outcome, r.Fault = Failed, fault
	case t.ctx.Err() != nil, errors.Is(err, drivers.ErrPeerDied), errors.Is(err, drivers.ErrClosed), errors.Is(err, drivers.ErrStarved),
		errors.Is(err, drivers.ErrEnvironment): // for example a log that cannot be written
		return r, err
	default:
		r.Outcome = Failed
		r.Fault = &Fault{c.name, "an access without an error", err.Error(), "look at what was accessed; device dump shows the counters of errors"}
	}
	r.Figures = t.rates
	n.tidy()
	return r, nil
}

// free checks that no other program has processes on the node.
func (n *node) free() error {
	if n.dev.Capabilities().Has(drivers.CanAwait) && len(n.dev.Memory()) < MemoryBytes {
		return fmt.Errorf("%w: node %d has %d bytes of memory: expected %d", drivers.ErrConfig, n.number, len(n.dev.Memory()), MemoryBytes)
	}
	for v := range uint8(regs.VPIDs) {
		pdid, err := n.dev.ReadReg(regs.PDID(v))
		if err != nil {
			return err
		}
		if pdid != 0 && pdid != ^uint64(0) { // a dead link reads as ones, which the check identity reports
			return fmt.Errorf("%w: node %d: process %d is in domain %d: expected 0; end the program that has it, or use device reset", ErrInUse, n.number, v, pdid)
		}
	}
	return nil
}
