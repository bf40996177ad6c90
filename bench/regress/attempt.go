package regress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/sirupsen/logrus"
)

// A lateError ends a test that takes too much wall time, which is no verdict about what it tests.
type lateError struct{ after time.Duration }

func (e *lateError) Error() string {
	return fmt.Sprintf("no verdict within %v of wall time; raise --timeout if the machine is slow", e.after)
}

// whyAgain explains why a test that failed has passed when it was repeated.
func whyAgain(err error) string {
	if late := (*lateError)(nil); errors.As(err, &late) {
		return "the time was too short for this machine as it was"
	}
	return "the test, the tool or the machine is not deterministic"
}

// one runs a test, and judges its simulated time if it passes.
func (r *runner) one(ctx context.Context, out *Outcome) error {
	if err := r.perform(ctx, out); err != nil || out.Status != Passed {
		return err
	}
	return r.judgeSpeed(ctx, out)
}

// perform runs a test and, when it fails, repeats it: with waves, and as often as there are
// retries.
func (r *runner) perform(ctx context.Context, out *Outcome) error {
	if err := os.MkdirAll(out.Dir, 0o755); err != nil {
		return err
	}
	out.Log, out.Began = filepath.Join(out.Dir, "test.log"), time.Now()
	if r.o.Lockstep {
		return r.inLockstep(ctx, out)
	}
	if decided, err := r.comparedFirst(ctx, out); err != nil || decided {
		return err
	}
	diverged := out.Parted
	if err := r.performAlone(ctx, out); err != nil {
		return err
	}
	if diverged != nil && out.Status == Passed {
		out.Status, out.Err = Failed, errParts
		out.explain(diverged)
	}
	return nil
}

// performAlone runs a test without a reference and, when it fails, repeats it.
func (r *runner) performAlone(ctx context.Context, out *Outcome) error {
	again, err := r.withWaves(ctx, out)
	if err != nil || !(out.Status == Failed || out.Status == Hung) {
		return err
	}
	if again {
		out.Status = Flaky
		return nil
	}
	failed := *out
	if err := r.beside(ctx, out); err != nil {
		return err
	}
	r.shrink(ctx, &failed)
	out.Shortest = failed.Shortest
	for k := range r.o.Retries {
		if ctx.Err() != nil {
			return nil
		}
		retry := *out
		if _, err := r.attempt(ctx, &retry, try{log: fmt.Sprintf("test.retry%d.log", k+1)}); err != nil {
			return err
		}
		out.Runs, out.Real = retry.Runs, retry.Real
		if retry.Status == Passed {
			out.Status = Flaky
			out.Err = fmt.Errorf("%w\n(run %d with the same seed passed: %s)", out.Err, out.Runs, whyAgain(out.Err))
			return nil
		}
	}
	return nil
}

// withWaves runs a test, and repeats a failure: its end from a checkpoint or, where there is none,
// all of it. again reports that the repeat passed.
func (r *runner) withWaves(ctx context.Context, out *Outcome) (again bool, err error) {
	file := filepath.Join(out.Dir, "dump.fst")
	var checkpoints *drivers.Checkpoints
	if !r.o.NoWaves {
		checkpoints = &drivers.Checkpoints{Every: checkpointCycles, Last: waveCycles, File: file, Nodes: r.o.WavesNodes}
	}
	how, counts, err := r.counted(out, try{log: "test.log", checkpoints: checkpoints})
	if err != nil {
		return false, err
	}
	t, err := r.attempt(ctx, out, how)
	if err != nil {
		return false, err
	}
	if err := r.addCounted(out, counts); err != nil {
		return false, err
	}
	if t.repeated != nil {
		out.Repeated = t.repeated
		out.keepWaves(file, nil)
		return false, nil
	}
	if out.Status != Failed && out.Status != Hung || r.o.NoWaves || ctx.Err() != nil {
		return false, nil
	}
	first := *out
	window := &drivers.WaveWindow{File: file, From: windowStart(t), To: drivers.Forever, Nodes: r.o.WavesNodes, Maybe: true}
	t, err = r.attempt(ctx, out, try{log: "test.waves.log", waves: window})
	if err != nil {
		return false, err
	}
	again = out.Status == Passed
	out.Err, out.Status, out.Simulated, out.Note = first.Err, first.Status, first.Simulated, first.Note
	if again {
		out.Err = fmt.Errorf("%w\n(repeated with waves it passed: %s)", out.Err, whyAgain(out.Err))
	}
	out.keepWaves(file, t.wavesErr)
	return again, nil
}

// keepWaves names the waves of a failure, if there are any; else it says why not.
func (o *Outcome) keepWaves(file string, why error) {
	info, err := os.Stat(file)
	switch {
	case err == nil && info.Size() > 0 && why == nil:
		o.Waves = file
		return
	case errors.Is(err, os.ErrNotExist) && why == nil:
		return // the device has none, or it failed before there was anything to trace
	case err == nil && info.Size() == 0:
		os.Remove(file)
	}
	if why == nil {
		why = errors.New("the file is empty")
	}
	o.Err = fmt.Errorf("%w\n(no whole waves of it: %w)", o.Err, why)
}

const (
	waveCycles       = 20000 // how much before a failure its waves show
	checkpointCycles = 50000 // from one checkpoint to the next
)

// windowStart is where waves of the world that failed begin: each world of a test begins at
// cycle 0.
func windowStart(t *T) drivers.Cycle {
	end := drivers.Cycle(t.ended / cmp.Or(t.clock, clockPS))
	return end - min(end, waveCycles)
}

// buildTime is what a busy machine may need to build a model of many nodes.
const buildTime = 30 * time.Minute

// An opener is registry.Open, or something around it.
type opener func(context.Context, string, drivers.Options) (drivers.System, error)

// A try says how a test is run.
type try struct {
	log         string // name of the file
	open        opener // nil: registry.Open
	device      string // "": that of the regression
	waves       *drivers.WaveWindow
	checkpoints *drivers.Checkpoints
}

// attempt runs a test once. Its error is one of the regression, not of the test.
func (r *runner) attempt(ctx context.Context, out *Outcome, how try) (*T, error) {
	log, err := createLog(filepath.Join(out.Dir, how.log))
	if err != nil {
		return nil, err
	}
	test, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(r.o.Timeout, func() {
		cancel(&lateError{r.o.Timeout})
	})
	defer late.Stop()
	device := out.Device
	if how.device != "" {
		device = how.device
	}
	t := &T{
		// A model that must be built first is not the test's fault.
		building: func(string) { late.Reset(r.o.Timeout + buildTime) },
		OverLine: slices.Contains(out.Test.Tags, Line),
		Ctx:      test, Name: out.Test.Name, Seed: out.Seed, Device: device, Dir: out.Dir, open: how.open, logger: r.o.Log,
		Rand: rand.New(rand.NewSource(out.Seed ^ nameSeed(out.Test.Name))), log: log, waves: how.waves, checkpoints: how.checkpoints,
	}
	t.Logf("%s on %s, seed %d", out.Test.Name, out.Device, out.Seed)
	begin := time.Now()
	err = safely(out.Test.Run, t)
	if t.failed != nil {
		err = t.failed
	}
	if err != nil && test.Err() != nil {
		err = context.Cause(test) // whatever broke when the time was up
	}
	t.closeSystem(err)
	out.Runs++
	out.Real += time.Since(begin)
	out.Simulated, out.Err, out.Note, out.Hardware, out.clock = t.spent, err, t.note, t.hardware, t.clock
	out.Status, out.failing = statusOf(err), t.failing
	if err != nil && interrupted(ctx, err) {
		out.Status = Stopped // nobody knows what it would have come to
	}
	logs.Layer(r.o.Log, "regress").WithFields(logrus.Fields{"test": out.Test.Name, "seed": out.Seed, "run": out.Runs, "status": out.Status, "cycles": out.Cycles(), "seconds": time.Since(begin).Seconds(), "waves": how.waves != nil}).Debug("test ended")
	t.Logf("%s, %v (%d cycles) simulated in %.2f s", out.Status, out.Simulated, out.Cycles(), time.Since(begin).Seconds())
	if err != nil {
		t.Logf("%v\nseed %d; reproduce with: %s", err, out.Seed, out.Rerun)
	}
	if err := log.close(); err != nil {
		return nil, err
	}
	if errors.Is(err, drivers.ErrEnvironment) {
		return nil, err
	}
	return t, t.closeErr
}

// signalGrace is how much earlier than this program a simulator may get a signal that both get.
const signalGrace = 200 * time.Millisecond

// interrupted tells whether the regression was interrupted. A simulator that has died is given the
// grace: a signal to the process group may have ended it.
func interrupted(ctx context.Context, err error) bool {
	if errors.Is(err, drivers.ErrPeerDied) {
		select {
		case <-ctx.Done():
		case <-time.After(signalGrace):
		}
	}
	return ctx.Err() != nil
}

// A logFile keeps the first error of what was written to it: a log that is not whole is an error of
// the regression.
type logFile struct {
	file *os.File
	err  error
}

func createLog(name string) (*logFile, error) {
	f, err := os.Create(name)
	return &logFile{file: f}, err
}

func (l *logFile) Write(b []byte) (int, error) {
	n, err := l.file.Write(b)
	if err != nil && l.err == nil {
		l.err = err
	}
	return n, err
}

func (l *logFile) close() error { return errors.Join(l.err, l.file.Close()) }

// clockPS is the period of the NIC's clock, whatever it is built for. A design has its own.
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

func nameSeed(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64() >> 1)
}
