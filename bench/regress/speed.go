package regress

import (
	"context"
	"errors"
	"fmt"
)

// A SlowError fails a test that is correct, but takes more simulated cycles than expected.
type SlowError struct {
	Cycles   uint64
	Expected uint64
	Limit    uint64 // Expected and the tolerance
	Source   string // of the expectation: "baseline (reason)", "last pass in run 7"
	Remedy   string // what to do if the change is intended
}

func (e *SlowError) Error() string {
	text := fmt.Sprintf("correct, but slower than its %s: %d cycles, expected %d (%+.1f %%)",
		e.Source, e.Cycles, e.Expected, 100*(float64(e.Cycles)/float64(e.Expected)-1))
	if e.Limit > e.Expected {
		text += fmt.Sprintf("; the limit is %d", e.Limit)
	}
	if e.Remedy != "" {
		text += "\nif this is intended: " + e.Remedy
	}
	return text
}

// SlowerThan returns a SlowError if a test took more than the expected cycles and a tolerance in
// per cent; otherwise nil.
func SlowerThan(o *Outcome, expected uint64, percent float64, source, remedy string) error {
	limit := expected + uint64(float64(expected)*percent/100)
	if o.Cycles() <= limit {
		return nil
	}
	return &SlowError{Cycles: o.Cycles(), Expected: expected, Limit: limit, Source: source, Remedy: remedy}
}

// maxSlowCompared is the number of slow tests that are compared with the reference. One change to
// the hardware slows down many tests, and the first few name the block.
const maxSlowCompared = 3

// judgeSpeed fails a test that passed but took too many cycles, and looks for the first difference
// between the hardware and its reference.
func (r *runner) judgeSpeed(ctx context.Context, out *Outcome) error {
	if r.o.Slow == nil {
		return nil
	}
	slow := r.o.Slow(out)
	if slow == nil {
		return nil
	}
	out.Status, out.Err = Failed, slow
	r.mu.Lock()
	r.slow++
	compare := r.slow <= maxSlowCompared && !r.o.Lockstep
	r.mu.Unlock()
	if !compare {
		return nil
	}
	return r.beside(ctx, out)
}

// slowCount counts the outcomes that failed only because of their cycles.
func slowCount(list []Outcome) (n int) {
	for i := range list {
		if slow := (*SlowError)(nil); list[i].Status == Failed && errors.As(list[i].Err, &slow) {
			n++
		}
	}
	return n
}
