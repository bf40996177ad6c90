package reproduce

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench"
)

// specReasons416 are about model 2, whose best is not where the paper has it, and more.
var specReasons416 = []reason{
	{claim: "model 2 gains", changed: "gets take 35 % longer than puts (the paper's reason)", measure: with416(slowGets)},
	{claim: "model 2 gains", changed: "packing takes no time", measure: with416(freePacking)},
	{claim: "model 2 gains", changed: "memory takes what the NIC writes at half of line rate while its core computes", measure: with416(sharedMemory(50))},
	{asks: best416, changed: "gets take 35 % longer than puts (the paper's reason)", measure: with416(slowGets)},
	{asks: best416, changed: "packing takes no time", measure: with416(freePacking)},
	{asks: both416, changed: "memory takes what the NIC writes at half of line rate while its core computes", measure: with416(sharedMemory(50))},
	{asks: both416, changed: "memory takes it at 0.55 of line rate while its core computes, and gets take 35 % longer than puts", measure: with416(sharedMemory(55), slowGets)},
}

func slowGets(c *bench.Config)    { c.GetsLonger = 35 }
func freePacking(c *bench.Config) { c.Cost.CopyByte = 0 }

func sharedMemory(percent int) func(*bench.Config) {
	return func(c *bench.Config) { c.Beside = percent }
}

func with416(changes ...func(*bench.Config)) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		return measureSpec416(ctx, e, func(c *bench.Config) {
			for _, change := range changes {
				change(c)
			}
		})
	}
}

// best416 is a question of ours: where model 2 has its best.
var best416 = &claim{"model 2 gains most where communication is half of computation", "at 50 %", func(t *Table) (string, bool) {
	_, at := bestOf(t, exchangeModels[1])
	return fmt.Sprintf("at %.0f %%", at), at == 50
}}

// both416 asks whether one machine explains both models.
var both416 = &claim{"both models gain as much as in the paper", "32 and 20 %", func(t *Table) (string, bool) {
	one, first := modelGains(exchangeModels[0], 32)(t)
	two, second := modelGains(exchangeModels[1], 20)(t)
	return "model 1 " + one + "; model 2 " + two, first && second
}}
