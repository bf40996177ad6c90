package paper

import (
	"context"

	"github.com/nicloop/nicloop/bench"
)

// A Mutation disables the subject of an experiment, or makes it ten times worse. A claim that names
// the subject and still holds has a judge that cannot fail.
type Mutation struct {
	What string // the change
	// Claims are the texts of those that name the subject: all of them must hold without the change at
	// the small scale, and differ with it.
	Claims []string
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

// Mutated applies the mutation of the environment, if it has one. Experiments pass each
// configuration through it.
func Mutated[C any](e *Env, config C) C {
	if e.Mutate != nil {
		e.Mutate(&config)
	}
	return config
}

// Survivors measures the experiment with and without a mutation, at the small scale, and returns
// the claims of the mutation that do not hold without it, or hold with it.
func (x *Experiment) Survivors(ctx context.Context, env Env, m Mutation) (list []string, err error) {
	env.Scale, env.Machine = Small, OurMachine
	measure := m.Measure
	if measure == nil {
		measure = x.Measure
	}
	plain, mutant := env, env
	mutant.Mutate = m.Mutate
	before, err := measure(ctx, &plain)
	if err != nil {
		return nil, err
	}
	after, err := measure(ctx, &mutant)
	if err != nil {
		return nil, err
	}
	for _, text := range m.Claims {
		c := x.claimOf(text)
		if v := c.verdict(before); !v.Holds() {
			list = append(list, "without the mutation: "+text+": "+string(v.Outcome)+": "+v.Ours)
		}
		if v := c.verdict(after); v.Holds() {
			list = append(list, "with the mutation: "+text+": still HOLDS: "+v.Ours)
		}
	}
	return list, nil
}
