package regress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// reference is what a device is held against: what was asked for, or the model of it.
func (r *runner) reference() (string, error) {
	if r.o.Against != "" {
		return r.o.Against, nil
	}
	return lockstep.Reference(r.o.Device)
}

// together runs a test on the device and on its reference, side by side, and tells where they part.
func (r *runner) together(ctx context.Context, out *Outcome) (*lockstep.Divergence, error) {
	against, err := r.reference()
	if err != nil {
		return nil, err
	}
	pair := lockstep.New(r.o.Same, r.o.Device, against)
	var sides [2]Outcome
	var errs [2]error
	var wg sync.WaitGroup
	for i, device := range []string{r.o.Device, against} {
		sides[i] = *out
		sides[i].Device, sides[i].Dir = device, filepath.Join(out.Dir, [...]string{"lockstep", "lockstep.reference"}[i])
		if i == 0 && out.Runs == 0 {
			sides[i].Dir = out.Dir // its log is that of the test
		}
		if err := os.MkdirAll(sides[i].Dir, 0o755); err != nil {
			return nil, err
		}
		wg.Go(func() {
			defer pair.Side(i).End()
			_, errs[i] = r.attempt(ctx, &sides[i], try{log: "test.log", open: pair.Side(i).Open})
		})
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if sides[1].Status == Skipped {
		return nil, fmt.Errorf("%w: %s cannot be asked: %w", drivers.ErrNotSupported, against, sides[1].Err)
	}
	if out.Runs == 0 { // it was not run by itself
		what := sides[0]
		what.Device, what.Dir, what.Log = out.Device, out.Dir, filepath.Join(sides[0].Dir, "test.log")
		*out = what
	}
	div := pair.Parted()
	if div != nil && ctx.Err() == nil {
		err = r.show(ctx, out, div)
	}
	return div, err
}

// show runs a test once more for the waves around a divergence, on each device that has signals.
func (r *runner) show(ctx context.Context, out *Outcome, div *lockstep.Divergence) error {
	if r.o.NoWaves || !registry.CanRepeat(r.o.Device) {
		return nil
	}
	file := filepath.Join(out.Dir, "divergence.fst")
	if err := r.record(ctx, out, div, out.Device, "lockstep", file); err != nil {
		return err
	}
	if err := div.Save(file, filepath.Join(out.Dir, "divergence.gtkw")); err != nil {
		return fmt.Errorf("%w: waves of the divergence: %w", drivers.ErrEnvironment, err)
	}
	against, err := r.reference()
	if err != nil || !lockstep.HasWaves(against) || !registry.CanRepeat(against) {
		return err
	}
	other := filepath.Join(out.Dir, "divergence.reference.fst")
	if err := r.record(ctx, out, div, against, "lockstep.reference", other); err != nil {
		return err
	}
	if _, err := os.Stat(other); errors.Is(err, os.ErrNotExist) {
		return nil // it ended before the cycles of the waves
	}
	if err := div.DrawSignals([2]string{file, other}); err != nil {
		return fmt.Errorf("%w: waves of the divergence: %w", drivers.ErrEnvironment, err)
	}
	return nil
}

// record runs a test on one of the devices with waves around a divergence.
func (r *runner) record(ctx context.Context, out *Outcome, div *lockstep.Divergence, device, dir, file string) error {
	again := *out
	again.Device, again.Dir = device, filepath.Join(out.Dir, dir)
	if err := os.MkdirAll(again.Dir, 0o755); err != nil {
		return err
	}
	_, err := r.attempt(ctx, &again, try{log: "test.waves.log", open: div.Shown(file).Open})
	return err
}

// beside repeats a failure beside the reference, and adds to it where the two part.
func (r *runner) beside(ctx context.Context, out *Outcome) error {
	if r.o.NoLockstep || ctx.Err() != nil {
		return nil
	}
	if out.compared {
		out.explain(out.Parted)
		return nil
	}
	if _, err := r.reference(); err != nil {
		return nil // a device without a reference
	}
	div, err := r.together(ctx, out)
	switch {
	case errors.Is(err, drivers.ErrNotSupported):
		out.Err = fmt.Errorf("%w\n(not held against a reference: %w)", out.Err, err)
		return nil
	case err != nil || ctx.Err() != nil:
		return err
	}
	out.explain(div)
	return nil
}

// explain adds to a failure where the device and its reference part.
func (o *Outcome) explain(div *lockstep.Divergence) {
	if o.Parted = div; div == nil {
		o.Err = fmt.Errorf("%w\n(beside the reference it is the same to the cycle: no difference of the hardware leads to it)", o.Err)
		return
	}
	o.Err = fmt.Errorf("%w\n%v", o.Err, div)
}

// errParts is a test that passes, and whose devices are not the same.
var errParts = errors.New("the test passes, but device and reference differ (--no-lockstep judges the test alone)")

// comparedFirst runs a test in lockstep with its reference, if the regression does that wherever it
// can. It decides about tests that pass on both alike, are skipped or interrupted. All others run
// again alone, which also covers devices and tests without a reference.
func (r *runner) comparedFirst(ctx context.Context, out *Outcome) (decided bool, err error) {
	if !r.o.LockstepIfPossible || r.o.NoLockstep {
		return false, nil
	}
	if _, err := r.reference(); err != nil {
		return false, nil
	}
	first := *out
	div, err := r.together(ctx, &first)
	switch {
	case errors.Is(err, drivers.ErrNotSupported):
		return false, nil
	case err != nil:
		return true, err
	}
	first.compared, first.Parted = true, div
	if first.Status == Stopped || first.Status == Skipped || first.Status == Passed && div == nil {
		*out = first
		return true, nil
	}
	out.compared, out.Parted = true, div
	return false, nil
}

// inLockstep runs a test on both devices from the start: it passes if it does on the first, and
// both are the same.
func (r *runner) inLockstep(ctx context.Context, out *Outcome) error {
	div, err := r.together(ctx, out)
	switch {
	case errors.Is(err, drivers.ErrNotSupported):
		out.Status, out.Err = Skipped, err
		return nil
	case err != nil || out.Status == Stopped || out.Status == Skipped:
		return err
	case div == nil:
		return nil
	}
	if out.Status == Passed || errors.Is(out.Err, lockstep.ErrParted) {
		out.Err = errParts
	}
	out.Status = Failed
	out.explain(div)
	return nil
}
