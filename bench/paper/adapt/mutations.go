package adapt

import (
	"context"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/host"
)

// notAdaptive keeps the thresholds of all pairs one byte above VELO's, where they are to adapt.
func notAdaptive() func(any) {
	return paper.MutateRun(func(c *bench.Config) {
		if c.Eager != nil && c.Eager.Threshold == 0 {
			fixed := *c.Eager
			fixed.Threshold = host.EagerMax + 1
			c.Eager = &fixed
		}
	})
}

// decidedBy measures one exchange by some settings.
func decidedBy(r adaptRun, columns []string, add addRows, settings ...string) func(context.Context, *paper.Env) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
		var runs []adaptRun
		for _, r.setting = range settings {
			runs = append(runs, r)
		}
		return tabulate(ctx, e, columns, runs, add)
	}
}
