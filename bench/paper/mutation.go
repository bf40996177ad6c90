package paper

import (
	"context"

	"github.com/nicloop/nicloop/bench"
)

// A Mutation disables the subject of an experiment, or makes it ten times worse. A claim that names
// the subject and keeps its verdict has a judge that cannot fail.
type Mutation struct {
	What string // the change
	// Claims are the texts of the claims that name the subject. At the small scale each must hold
	// without the change, and differ with it.
	Claims []string
	// Repaired are claims about the subject that differ at the small scale. Each must hold with the
	// change, which removes the reason of the difference.
	Repaired []string
	// Machine is the machine of the runs; empty: OurMachine.
	Machine Machine
	// Mutate changes the configuration of a run, if it is of the type that the mutation is about.
	Mutate func(config any)
	// Measure is the smallest part of the experiment that decides the claims; nil: all of it.
	Measure func(ctx context.Context, e *Env) (*Table, error)
}

// MutateRun returns a mutation of runs on a device.
func MutateRun(change func(*bench.Config)) func(any) {
	return func(config any) {
		if c, ok := config.(*bench.Config); ok {
			change(c)
		}
	}
}

// WithFault returns the mutation that plants a fault.
func WithFault(f bench.Fault) func(any) {
	return MutateRun(func(c *bench.Config) { c.Fault = f })
}

// Mutated applies the mutation of the environment, if it has one. Experiments pass each
// configuration through it.
func Mutated[C any](e *Env, config C) C {
	if e.Mutate != nil {
		e.Mutate(&config)
	}
	return config
}
