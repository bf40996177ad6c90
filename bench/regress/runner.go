package regress

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/coverage"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/sirupsen/logrus"
)

// Options steer a regression.
type Options struct {
	Device   string
	Seed     int64
	Seeds    int // each test with the seeds Seed, Seed+1, …
	Jobs     int
	FailFast bool
	NoWaves  bool
	// Lockstep runs every test on the device and on a reference, cycle by cycle; without it a test
	// that fails is run so again, unless NoLockstep. Against is the reference, "": the model of the
	// device. Same is what must be the same.
	Lockstep, NoLockstep bool
	// LockstepIfPossible compares each test with the reference, and runs those alone that have none.
	LockstepIfPossible bool
	Against            string
	Same               lockstep.Mode
	// Only names what is run, of the tests; nil: all, with all seeds.
	Only []Pick
	// Fresh is the first seed that is taken when the list is done and the deadline is not there yet;
	// 0: the next.
	Fresh int64
	// Shard of Shards parts of the list is run, counted from 1; 0: all of it.
	Shard, Shards int
	// Retries of a test that failed tell what is flaky from what is broken.
	Retries int
	// Deadline ends the regression: until then there are new seeds, after it nothing begins. Zero: the
	// list, once.
	Deadline time.Time
	// Coverage adds up what the tests see of the RTL; nil: nothing is counted.
	Coverage *coverage.Base
	// Shrink is how long a smaller workload is looked for that fails like the first failure of each
	// signature; 0: not at all.
	Shrink time.Duration
	// Slow returns a SlowError for a test that passed but took too many cycles, which fails it; nil:
	// nothing is too slow.
	Slow func(*Outcome) error
	// Flags are added to the command that reproduces an outcome.
	Flags string
	// WavesNodes are shown in the waveforms of a repeat; empty: all. A test of fewer nodes shows those
	// it has.
	WavesNodes []int
	Timeout    time.Duration  // wall time of one test, the net under the hang verdicts
	Dir        string         // folder of this regression; must be new
	Log        *logrus.Logger // nil: the standard logger
	// Building is called with what is built before the tests, Built with the number of kinds of
	// machine when all are built, and with the time it took.
	Building func(what string)
	Built    func(kinds int, took time.Duration)
	// Elsewhere performs the list on other machines, if it is not nil: it tells how each test ended,
	// from one goroutine at a time.
	Elsewhere func(ctx context.Context, list []Outcome, done func(i int, e Ending) error) error
	// Done is told of every finished test, from one goroutine at a time. Its error ends the
	// regression.
	Done func(o Outcome, finished, of int) error
}

// Status says how a test ended.
type Status string

// The ways a test ends.
const (
	Passed  Status = "PASS"
	Failed  Status = "FAIL"
	Hung    Status = "HANG"
	Flaky   Status = "FLAKY"  // failed, and did not when it was run again with the same seed
	Skipped Status = "SKIP"   // the device cannot do it
	Stopped Status = "STOP"   // interrupted before its verdict
	NotRun  Status = "NOTRUN" // never begun: interrupted, fail-fast or deadline
)

// Undecided reports whether a test has no verdict: it was interrupted, or never began.
func (s Status) Undecided() bool { return s == Stopped || s == NotRun }

// Bad tells whether a status is a fault of the hardware or of its software.
func (s Status) Bad() bool { return s == Failed || s == Hung || s == Flaky }

// A Pick is a test with one seed.
type Pick struct {
	Test string
	Seed int64
}

// An Outcome is the result of one test with one seed.
type Outcome struct {
	Test      Test
	Device    string
	Seed      int64
	Status    Status
	Err       error
	Simulated drivers.Time
	Real      time.Duration
	Began     time.Time
	Dir       string
	Log       string               // file; "" if it did not run
	Waves     string               // file, if the failing test was repeated
	Repeated  *drivers.Repeated    // if that was done from a checkpoint
	Parted    *lockstep.Divergence // where device and reference part, if they do
	Rerun     string               // the line that reproduces it
	Shortest  string               // a line that fails alike with less, if that was looked for
	Note      string               // what the test counted
	Hardware  string               // hash of all that what it opened last was built from
	Runs      int                  // of this test with this seed: more than one if it failed and there are retries

	clock    drivers.Time // period of the clock that Cycles counts; 0: that of the NIC
	compared bool         // with the reference: Parted is the result
	finished bool
	failing  *bench.Config // of the workload that failed
}

// Cycles is the simulated time in cycles of the hardware that the test opened last.
func (o *Outcome) Cycles() uint64 { return uint64(o.Simulated / cmp.Or(o.clock, clockPS)) }

// Run runs tests and returns their outcomes in order. Its own error means that
// the regression could not run, not that a test failed.
func Run(ctx context.Context, tests []Test, o Options) ([]Outcome, error) {
	r := newRunner(o, tests)
	err := r.run(ctx)
	list := make([]Outcome, len(r.list))
	for i, out := range r.list {
		list[i] = *out
	}
	return list, err
}

type runner struct {
	o     Options
	tests []Test
	site  *site

	mu     sync.Mutex
	shrunk map[string]bool // signatures
	slow   int             // tests that took too many cycles
	list   []*Outcome
	next   int // of list, not begun
	seed   int64
	dealt  int // of all tests and seeds, those of other shards too
	done   int
	stop   string // why nothing more begins
	err    error
}

func newRunner(o Options, tests []Test) *runner {
	r := &runner{o: o, tests: tests, site: newSite(), seed: o.Seed}
	if o.Only != nil {
		r.pick()
	}
	for range max(o.Seeds, 1) {
		r.anotherSeed()
	}
	r.seed = max(r.seed, o.Fresh)
	if o.Coverage != nil {
		r.plan(counting(o.Device, "planned"))
	} else {
		r.plan(o.Device)
	}
	if o.Lockstep {
		r.plan(o.Against)
	}
	return r
}

// plan has what the tests open of a device built before them.
func (r *runner) plan(device string) {
	if !registry.NeedsPreparation(device) {
		return
	}
	planned := map[string]bool{}
	for _, out := range r.list {
		if !planned[out.Test.Name] {
			planned[out.Test.Name] = true
			r.site.need(r.planOf(out.Test, device))
		}
	}
}

// anotherSeed puts the tests with the next seed at the end of the list, as far as they are this
// shard's.
func (r *runner) anotherSeed() {
	if r.o.Only == nil {
		for _, t := range r.tests {
			r.add(t, r.seed)
		}
	}
	r.seed++
}

// pick puts the tests into the list that are picked, as far as they are among the tests.
func (r *runner) pick() {
	for _, p := range r.o.Only {
		if i := slices.IndexFunc(r.tests, func(t Test) bool { return t.Name == p.Test }); i >= 0 {
			r.add(r.tests[i], p.Seed)
		}
	}
}

func (r *runner) add(t Test, seed int64) {
	r.dealt++
	if r.o.Shards > 0 && (r.dealt-1)%r.o.Shards != r.o.Shard-1 {
		return
	}
	out := &Outcome{Test: t, Device: r.o.Device, Seed: seed, Status: NotRun, Dir: filepath.Join(r.o.Dir, strings.ReplaceAll(t.Name, "/", "."))}
	if r.o.Seeds > 1 || r.o.Only != nil || !r.o.Deadline.IsZero() {
		out.Dir = fmt.Sprintf("%s.seed%d", out.Dir, out.Seed)
	}
	out.Rerun = fmt.Sprintf("nicloop regress %s --device %s --seed %d%s", Quoted(t.Name), Quoted(r.o.Device), out.Seed, r.besides())
	r.list = append(r.list, out)
}

// besides are the flags without which a test would pass that is not the same on two devices.
func (r *runner) besides() (flags string) {
	flags = r.o.Flags
	if !r.o.Lockstep {
		return flags
	}
	flags += " --lockstep"
	if r.o.Against != "" {
		flags += " --against " + Quoted(r.o.Against)
	}
	if r.o.Same == lockstep.Packets {
		flags += " --same packets"
	}
	return flags
}

// Quoted is a word for the shell.
func Quoted(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=,@%+", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (r *runner) run(ctx context.Context) error {
	if err := r.build(ctx); err != nil {
		return err
	}
	if r.o.Elsewhere != nil {
		return r.elsewhere(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range max(r.o.Jobs, 1) {
		wg.Go(func() {
			for {
				out := r.take(ctx)
				if out == nil {
					return
				}
				if err := r.report(out, r.one(ctx, out)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	if r.err == nil && ctx.Err() != nil {
		r.err = context.Cause(ctx)
	}
	return r.err
}

// build builds all that the tests open first.
func (r *runner) build(ctx context.Context) error {
	begin := time.Now()
	r.site.build(ctx, r.o.Building)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.site.err; err != nil {
		return err
	}
	if n := len(r.site.order); n > 0 && r.o.Built != nil {
		r.o.Built(n, time.Since(begin))
	}
	return nil
}

// take gives the next test that shall run, nil if there is none.
func (r *runner) take(ctx context.Context) *Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := !r.o.Deadline.IsZero() && !time.Now().Before(r.o.Deadline)
	switch {
	case ctx.Err() != nil:
		r.stop = "interrupted"
	case over && r.stop == "":
		r.stop = "the deadline came before"
	}
	if r.next == len(r.list) && r.stop == "" && !r.o.Deadline.IsZero() && r.o.Only == nil {
		r.anotherSeed()
	}
	if r.stop != "" || r.next == len(r.list) {
		for _, out := range r.list[r.next:] {
			out.Err = fmt.Errorf("not run: %s", r.stop)
		}
		return nil
	}
	r.next++
	return r.list[r.next-1]
}

// report takes a finished test in. It returns what ends the regression.
func (r *runner) report(out *Outcome, fatal error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	out.finished = true
	if r.o.FailFast && out.Status.Bad() {
		r.stop = "another test failed (--fail-fast)"
	}
	if r.o.Done != nil && fatal == nil {
		fatal = r.o.Done(*out, r.done, len(r.list))
	}
	if fatal != nil && r.err == nil {
		r.err, r.stop = fatal, "the regression ended: "+fatal.Error()
	}
	return r.err
}
