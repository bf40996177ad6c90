package offload

import (
	"context"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Explore tries every interleaving of an execution.
func Explore(ctx context.Context, x Execution) (r modelcheck.Result, err error) {
	began := time.Now()
	w, err := NewWorld(&x)
	if err != nil {
		return r, err
	}
	found, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{MaxStates: 1_000_000, Liveness: modelcheck.EndReachable},
	}, w)
	if err != nil {
		return r, err
	}
	r = found.Result()
	r.Duration = time.Since(began)
	if bad := found.Outcome.Violation; bad != nil {
		r.Violation = bad.Err.Error()
		r.Script = transcript(&x, found.Counterexample())
	}
	return r, nil
}
