package regress

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Options steer a regression.
type Options struct {
	Device   string
	Seed     int64
	Repeat   int // each test with the seeds Seed, Seed+1, …
	Jobs     int
	FailFast bool
	NoWaves  bool
	// WavesNodes are shown in the waveforms of a repeat; empty: all. A test of fewer nodes shows those it has.
	WavesNodes []int
	Timeout    time.Duration // wall time of one test, the net under the hang verdicts
	Dir        string        // folder of this regression; must be new
	// Building is told what is built before the tests that need it, and how long it took.
	Building func(what string)
	// Done is told of every finished test, from one goroutine at a time.
	Done func(o Outcome, finished, of int)
}

// Status says how a test ended.
type Status string

// The ways a test ends.
const (
	Passed  Status = "PASS"
	Failed  Status = "FAIL"
	Hung    Status = "HANG"
	Skipped Status = "SKIP" // not run: fail-fast, or the device cannot do it
)

// An Outcome is the result of one test with one seed.
type Outcome struct {
	Test      Test
	Seed      int64
	Status    Status
	Err       error
	Simulated drivers.Time
	Real      time.Duration
	Dir       string
	Waves     string            // file, if the failing test was repeated
	Repeated  *drivers.Repeated // if that was done from a checkpoint
	Rerun     string            // the line that reproduces it
	Note      string            // what the test counted
}

// Run runs tests and returns their outcomes in order. Its own error means that
// the regression could not run, not that a test failed.
func Run(ctx context.Context, tests []Test, o Options) ([]Outcome, error) {
	list := make([]Outcome, 0, len(tests)*o.Repeat)
	for _, t := range tests {
		for i := range o.Repeat {
			out := Outcome{Test: t, Seed: o.Seed + int64(i), Status: Skipped}
			out.Dir = filepath.Join(o.Dir, strings.ReplaceAll(t.Name, "/", "."))
			if o.Repeat > 1 {
				out.Dir = fmt.Sprintf("%s.seed%d", out.Dir, out.Seed)
			}
			out.Rerun = fmt.Sprintf("nicloop regress %s --device %s --seed %d", t.Name, o.Device, out.Seed)
			list = append(list, out)
		}
	}
	return list, newRunner(o, list).run(ctx)
}

type runner struct {
	o     Options
	list  []Outcome
	plans [][]machine // by index of list
	site  *site

	mu   sync.Mutex
	left []int // indices of list, not begun
	done int
	stop bool
	err  error
}

func newRunner(o Options, list []Outcome) *runner {
	r := &runner{o: o, list: list, site: newSite()}
	plans := map[string][]machine{}
	prepares := drivers.Prepares(o.Device)
	for i, out := range list {
		if _, ok := plans[out.Test.Name]; !ok && prepares {
			plans[out.Test.Name] = r.planOf(out.Test)
			r.site.need(plans[out.Test.Name])
		}
		r.plans = append(r.plans, plans[out.Test.Name])
		r.left = append(r.left, i)
	}
	return r
}

func (r *runner) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg, builder sync.WaitGroup
	builder.Go(func() {
		if r.site.build(ctx, r.o.Building); r.site.failed() != nil {
			cancel(r.site.failed())
		}
	})
	for range max(r.o.Jobs, 1) {
		wg.Go(func() {
			for {
				i, ok := r.take(ctx)
				if !ok {
					return
				}
				r.report(i, r.one(ctx, i))
			}
		})
	}
	wg.Wait()
	if r.err == nil {
		r.err = context.Cause(ctx)
	}
	cancel(nil) // nobody waits for what is still being built
	builder.Wait()
	return r.err
}

func (r *runner) take(ctx context.Context) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop || len(r.left) == 0 || ctx.Err() != nil {
		return 0, false
	}
	// The first whose machine is built; else the first.
	at := max(0, slices.IndexFunc(r.left, func(i int) bool { return r.site.has(r.plans[i]) }))
	i := r.left[at]
	r.left = slices.Delete(r.left, at, at+1)
	return i, true
}

func (r *runner) report(i int, fatal error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &r.list[i]
	r.done++
	if fatal != nil && r.err == nil {
		r.err, r.stop = fatal, true
	}
	if r.o.FailFast && (o.Status == Failed || o.Status == Hung) {
		r.stop = true
	}
	if r.o.Done != nil {
		r.o.Done(*o, r.done, len(r.list))
	}
}

// one runs a test and, when it fails, repeats it with waves: its end from a checkpoint or, where there is none, all of it.
func (r *runner) one(ctx context.Context, i int) error {
	out := &r.list[i]
	if err := r.site.wait(ctx, r.plans[i]); err != nil {
		return err
	}
	if err := os.MkdirAll(out.Dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(out.Dir, "dump.fst")
	var checkpoints *drivers.Checkpoints
	if !r.o.NoWaves {
		checkpoints = &drivers.Checkpoints{Every: checkpointCycles, Last: waveCycles, File: file, Nodes: r.o.WavesNodes}
	}
	t, err := r.attempt(ctx, out, "test.log", nil, checkpoints)
	if err != nil {
		return err
	}
	if t.repeated != nil {
		out.Waves, out.Repeated = file, t.repeated
		return nil
	}
	if out.Status != Failed && out.Status != Hung || r.o.NoWaves || ctx.Err() != nil {
		return nil
	}
	first, status := out.Err, out.Status
	out.Waves = file
	window := &drivers.WaveWindow{File: out.Waves, From: windowStart(t), To: drivers.Forever, Nodes: r.o.WavesNodes}
	if _, err := r.attempt(ctx, out, "test.waves.log", window, nil); err != nil {
		return err
	}
	if out.Status == Passed {
		first = fmt.Errorf("%w\n(repeated with waves it passed: the run is not deterministic)", first)
	}
	out.Err, out.Status = first, status
	if _, err := os.Stat(out.Waves); err != nil {
		out.Waves = "" // it failed before there was anything to trace
	}
	return nil
}

const (
	waveCycles       = 20000 // how much before a failure its waves show
	checkpointCycles = 50000 // from one checkpoint to the next
)

func windowStart(t *T) drivers.Cycle {
	end := drivers.Cycle(t.spent / clockPS)
	return end - min(end, waveCycles)
}

// buildTime is what a busy machine may need to build a model of many nodes.
const buildTime = 30 * time.Minute

// attempt runs a test once. Its error is one of the regression, not of the test.
func (r *runner) attempt(ctx context.Context, out *Outcome, logName string, waves *drivers.WaveWindow, checkpoints *drivers.Checkpoints) (*T, error) {
	log, err := os.Create(filepath.Join(out.Dir, logName))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(r.o.Timeout, func() {
		cancel(fmt.Errorf("no verdict within %v of wall time; raise --timeout if the machine is slow", r.o.Timeout))
	})
	defer late.Stop()
	t := &T{
		// A model that must be built first is not the test's fault.
		building: func(string) { late.Reset(r.o.Timeout + buildTime) },
		Ctx:      ctx, Name: out.Test.Name, Seed: out.Seed, Device: r.o.Device, Dir: out.Dir,
		Rand: rand.New(rand.NewSource(out.Seed ^ nameSeed(out.Test.Name))), log: log, waves: waves, checkpoints: checkpoints,
	}
	begin := time.Now()
	err = safely(out.Test.Run, t)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // whatever broke when the time was up
	}
	t.closeSystem(err)
	if failed := r.site.failed(); failed != nil {
		return nil, failed // not the test's
	}
	out.Real += time.Since(begin)
	out.Simulated, out.Err, out.Note = t.spent, err, t.note
	out.Status = statusOf(err)
	if err != nil {
		fmt.Fprintf(log, "%s: %v\nseed %d; reproduce with: %s\n", out.Status, err, out.Seed, out.Rerun)
	}
	if errors.Is(err, drivers.ErrEnvironment) {
		return nil, err
	}
	return t, nil
}

// clockPS is the clock of every body of the NIC.
const clockPS = regs.ClockPS * drivers.Picosecond

func statusOf(err error) Status {
	var v *bench.Verdict
	switch {
	case err == nil:
		return Passed
	case errors.As(err, &v), errors.Is(err, drivers.ErrStarved):
		return Hung
	case errors.Is(err, drivers.ErrNotSupported):
		return Skipped
	}
	return Failed
}

// safely turns a panic into a failure of the test.
func safely(run func(*T) error, t *T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(t)
}

func nameSeed(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64() >> 1)
}
