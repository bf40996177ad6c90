package spec

import (
	"context"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// How long speculation goes on, as tables name it.
const (
	speculateNot    = "not" // the rendezvous of before
	speculateAlways = "always"
	speculateAdapt  = "adapt"
)

func speculates() []string {
	return []string{speculateNot, speculateAlways, speculateAdapt}
}

// An appRun is a pattern of an application by one rendezvous.
type appRun struct {
	pattern   string
	speculate string
	bytes     int
	compute   drivers.Time
	jitter    int // percent
	seed      int64
	// iterations; 0: the workload's.
	iterations int
	change     func(*bench.Config) // what a reason changes; nil: nothing
}

// apps performs patterns on a world, as many at a time as there are jobs, and gives their rows in
// that order.
func apps(ctx context.Context, e *paper.Env, w paper.World, runs []appRun) ([]bench.Row, error) {
	e.Use(w)
	rows := make([]bench.Row, len(runs))
	err := e.EachCounted(ctx, len(runs), func(ctx context.Context, i int) error {
		r := runs[i]
		c := e.BaseConfig(w, bench.AppPrefix+r.pattern)
		c.Sizes, c.Compute, c.Jitter, c.Seed, c.Iterations = []int{r.bytes}, r.compute, r.jitter, r.seed, r.iterations
		if r.iterations > 0 {
			c.Warmup = 2
		}
		if r.speculate != speculateNot {
			c.Rendezvous, c.AlwaysSpeculate = host.Spec, r.speculate == speculateAlways
		}
		if r.change != nil {
			r.change(&c)
		}
		res, err := bench.Run(ctx, paper.Mutated(e, c))
		if err != nil {
			return err
		}
		rows[i] = res.Rows[0]
		return nil
	})
	e.RunCount += len(runs)
	return rows, err
}

// shorter is by how much less something is than before, in percent.
func shorter(before, after drivers.Time) float64 {
	return 100 * (1 - float64(after)/float64(max(before, 1)))
}

// waiting is what a rank waits in an iteration: in Wait, and in sends that block.
func waiting(r bench.Row) drivers.Time { return r.App.Wait + r.App.Send }

// extraShare is what speculation sends besides, in percent of the data of messages.
func extraShare(s *bench.AppStats) float64 {
	return 100 * float64(s.Extra) / float64(max(s.Messages, 1))
}

func micros(t drivers.Time) float64 { return float64(t) / float64(drivers.Microsecond) }
