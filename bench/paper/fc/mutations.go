package fc

import (
	"context"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/velo"
)

// neverDynamic runs static flow control where the dynamic one is meant.
func neverDynamic() func(any) {
	return paper.MutateRun(func(c *bench.Config) {
		if c.Velo.Flow == velo.Dynamic {
			c.Velo.Flow = velo.Static
		}
	})
}

// notPiggybacked sends no credits in data packets.
func notPiggybacked() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.Velo.Piggyback = false })
}

// fiveCreditSlots have every mailbox use five credit slots, whatever the experiment asks for.
func fiveCreditSlots() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.Velo.CreditSlots = mostCredit })
}

// nearHosts removes the distance between hosts.
func nearHosts() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.Device = "ideal:?latency=20" })
}

// roomyMailboxes have so many slots that they need no flow control, and have none.
func roomyMailboxes() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.Velo.Flow, c.Velo.Slots = velo.None, 640 })
}

// measured is the part of an experiment that some runs are.
func measured(list func(e *paper.Env) []paper.Run, table func(e *paper.Env, ctx context.Context, runs []paper.Run) (*paper.Table, error)) func(context.Context, *paper.Env) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env) (*paper.Table, error) { return table(e, ctx, list(e)) }
}
