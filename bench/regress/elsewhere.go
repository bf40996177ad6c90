package regress

import (
	"context"
	"errors"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// An Ending is how a test ended on another machine.
type Ending struct {
	Status     Status
	Error      string
	Cycles     uint64
	Simulated  drivers.Time
	Real       time.Duration
	Began      time.Time
	Log, Waves string
	Hardware   string
	Runs       int
}

// end sets the result of a test to that of the other machine.
func (o *Outcome) end(e Ending) {
	o.Status, o.Real, o.Began, o.Log, o.Waves, o.Hardware, o.Runs = e.Status, e.Real, e.Began, e.Log, e.Waves, e.Hardware, e.Runs
	o.Simulated = e.Simulated
	if e.Cycles != 0 { // the clock is that of the device, which the other machine opened
		o.clock = e.Simulated / drivers.Time(e.Cycles)
	}
	if e.Error != "" {
		o.Err = errors.New(e.Error)
	}
}

// elsewhere runs all tests of the list on other machines.
func (r *runner) elsewhere(ctx context.Context) error {
	list := make([]Outcome, len(r.list))
	for i, out := range r.list {
		list[i] = *out
	}
	err := r.o.Elsewhere(ctx, list, func(i int, e Ending) error {
		r.list[i].end(e)
		return r.report(r.list[i], nil)
	})
	for _, out := range r.list {
		if !out.finished {
			out.Err = errors.New("not run: its machine reported no result")
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
