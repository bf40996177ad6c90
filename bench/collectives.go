package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// An exchange is a collective as a workload: its requirements, and the function and the check of
// one iteration.
type exchange struct {
	kind host.Collective
	doc  string
	// blocks returns the number of buffers of the message's length per rank, messages the number of
	// messages of the linear algorithm.
	blocks   func(ranks int) int
	messages func(ranks int) int
}

func fromOne(ranks int) int { return ranks - 1 }
func fromAll(ranks int) int { return ranks * (ranks - 1) }

var exchanges = []exchange{
	{host.Allgather, "every rank receives a block from every other", func(p int) int { return p + 1 }, fromAll},
	{host.Allreduce, "every rank receives the sum of all ranks' numbers", func(int) int { return 1 }, func(p int) int { return 2 * (p - 1) }},
	{host.Barrier, "no rank leaves before all ranks have entered", func(int) int { return 1 }, fromAll},
	{host.Bcast, "rank 0 sends one message to all ranks", func(int) int { return 1 }, fromOne},
	{host.Gather, "rank 0 receives a block from every rank", func(p int) int { return p + 1 }, fromOne},
	{host.Reduce, "rank 0 receives the sum of all ranks' numbers", func(int) int { return 1 }, fromOne},
	{host.ReduceScatter, "every rank receives a part of the sum of all ranks' numbers", func(int) int { return 2 }, fromOne},
	{host.Scatter, "every rank receives its block from rank 0", func(p int) int { return p + 1 }, fromOne},
}

// workload makes a workload of an exchange. Each iteration ends in a barrier; otherwise the next
// one would begin at some ranks before this one has ended.
func (e *exchange) workload() *Workload {
	size := 1024
	if e.kind == host.Barrier {
		size = 0
	}
	return &Workload{
		Name: e.kind.String(), Doc: e.doc, Sizes: []int{size}, Iterations: 10, Warmup: 2, collective: true, kind: e.kind,
		messages: func(c *Config) int { return e.messages(c.Ranks()) },
		buffers: func(c *Config) int {
			return (e.blocks(c.Ranks()) + 1) * e.kind.Longest(c.Algorithm, c.Ranks())
		},
		check: e.check,
		body: func(t *task, r *host.Rank, n int) error {
			if err := r.SetAlgorithm(e.kind, t.c.Algorithm); err != nil {
				return err
			}
			x := &Member{
				Comm: &r.Comm, Rank: r, Seed: t.c.Seed, Root: func(int) int { return 0 },
				Verified: func(n int) { t.bytes[r.ID()] += uint64(n) },
			}
			once, err := x.Prepare(e.kind, n)
			if err != nil {
				return err
			}
			return t.iterate(r, func(k int) error {
				if err := once(k); err != nil || e.kind == host.Barrier {
					return err
				}
				return r.Barrier()
			})
		},
	}
}

// ElementBytes is the length of an element that collectives reduce.
const ElementBytes = 8

func (e *exchange) check(c *Config) error {
	for _, n := range c.Sizes {
		switch e.kind {
		case host.Barrier:
			if n != 0 {
				return fmt.Errorf("%w: barrier of %d bytes: expected 0", drivers.ErrConfig, n)
			}
		case host.Reduce, host.Allreduce, host.ReduceScatter:
			if n%ElementBytes != 0 {
				return fmt.Errorf("%w: %s of %d bytes: expected whole elements of %d", drivers.ErrConfig, e.kind, n, ElementBytes)
			}
		}
	}
	return nil
}

// checkAlgorithm returns an error if the algorithm is not one of the workload's collective.
func (wl *Workload) checkAlgorithm(c *Config) error {
	switch {
	case c.Algorithm == "":
		return nil
	case !wl.collective:
		return fmt.Errorf("%w: algorithm %q for %s, which is not a collective: remove the algorithm", drivers.ErrConfig, c.Algorithm, wl.Name)
	}
	return wl.kind.Check(c.Algorithm)
}

// algorithm returns the algorithm of a collective; empty for other workloads.
func (wl *Workload) algorithm(c *Config, n int) string {
	switch {
	case !wl.collective || c.Algorithm != "":
		return c.Algorithm
	case wl == &alltoall:
		return host.Linear
	}
	return wl.kind.Choice(c.Ranks(), n)
}
