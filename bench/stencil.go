package bench

import (
	"cmp"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var stencil = Workload{
	Name:  "stencil",
	Doc:   "ranks on a 3D grid exchange a message with each of 6 neighbours during a computation (ADAPT, section 2.3)",
	Sizes: []int{4 << 10, 16 << 10, 64 << 10}, Iterations: 20, Warmup: 12, steps: true,
	messages: func(c *Config) int { return c.Ranks() * len(spaceOf(c.Ranks()).faces(0)) },
	buffers:  func(c *Config) int { return 2 * len(spaceOf(c.Ranks()).faces(0)) },
	body:     (*task).stencil,
}

// stencil warms up, measures steps with computation, and then steps without.
func (t *task) stencil(r *host.Rank, n int) error {
	edges := spaceOf(r.Size()).faces(r.ID())
	for i := range edges {
		edges[i].out, edges[i].in = n, n
	}
	s, err := t.newStepper(r, len(edges), n)
	if err != nil {
		return err
	}
	compute, all := t.c.computation(n*len(edges)), &t.steps[r.ID()]
	var warm, alone stepTimes
	if err := t.iterate(r, func(k int) error {
		into := all
		if k < t.c.Warmup {
			into = &warm
		}
		return s.step(k, edges, compute, into)
	}); err != nil {
		return err
	}
	from := t.c.Warmup + t.c.Iterations
	for k := from; k < from+t.c.Iterations; k++ {
		if err := s.step(k, edges, 0, &alone); err != nil {
			return err
		}
	}
	all.alone = alone.overall
	return nil
}

// StepComputation returns the default computation of stencil or halo per step, for the given number
// of ranks and messages of n bytes.
func StepComputation(workload string, ranks, n int) drivers.Time {
	faces := len(spaceOf(ranks).faces(0))
	if workload == halo.Name {
		return (&Config{}).computation(n * (faces + far) / 2)
	}
	return (&Config{}).computation(n * faces)
}

// linkByte is the time of a byte on a link.
const linkByte = 800 * drivers.Picosecond

// computation returns the configured time of a step's computation, or twice the link time of all
// messages of the rank, because crossing messages share links.
func (c *Config) computation(bytes int) drivers.Time {
	return cmp.Or(c.Compute, 2*drivers.Time(bytes)*linkByte)
}
