package spec

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// specReasons416 are about model 2, whose best is not where the paper has it, and more.
func specReasons416() []paper.Hypothesis {
	return []paper.Hypothesis{
		{Claim: "model 2 gains", Changed: "gets take 35 % longer than puts (the paper's reason)", Measure: with416(slowGets)},
		{Claim: "model 2 gains", Changed: "packing takes no time", Measure: with416(freePacking)},
		{Claim: "model 2 gains", Changed: "memory takes what the NIC writes at half of line rate while its core computes", Measure: with416(sharedMemory(50))},
		{Asks: best416(), Changed: "gets take 35 % longer than puts (the paper's reason)", Measure: with416(slowGets)},
		{Asks: best416(), Changed: "packing takes no time", Measure: with416(freePacking)},
		{Asks: both416(), Changed: "memory takes what the NIC writes at half of line rate while its core computes", Measure: with416(sharedMemory(50))},
		{Asks: both416(), Changed: "memory takes it at 0.55 of line rate while its core computes, and gets take 35 % longer than puts", Measure: with416(sharedMemory(55), slowGets)},
	}
}

func slowGets(c *bench.Config)    { c.GetsLonger = 35 }
func freePacking(c *bench.Config) { c.Cost.CopyByte = 0 }

func sharedMemory(percent int) func(*bench.Config) {
	return func(c *bench.Config) { c.Beside = percent }
}

func with416(changes ...func(*bench.Config)) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return measureSpec416(ctx, e, func(c *bench.Config) {
			for _, change := range changes {
				change(c)
			}
		})
	}
}

// best416 is a question of ours: where model 2 has its best.
func best416() *paper.Claim {
	return &paper.Claim{
		Text:  "model 2 gains most where communication is half of computation",
		Paper: "at 50 %", Judge: func(t *paper.Table) judge.Finding {
			_, at := bestOf(t, exchangeModels()[1])
			return judge.Of(fmt.Sprintf("at %.0f %%", at), judge.Equal(at, 50))
		}}
}

// both416 asks whether one machine explains both models.
func both416() *paper.Claim {
	return &paper.Claim{
		Text:  "both models gain as much as in the paper",
		Paper: "32 and 20 %", Judge: func(t *paper.Table) judge.Finding {
			one := modelGains(exchangeModels()[0], 32)(t)
			two := modelGains(exchangeModels()[1], 20)(t)
			return judge.Of("model 1 "+one.Ours+"; model 2 "+two.Ours, append(one.Checks, two.Checks...)...)
		}}
}
