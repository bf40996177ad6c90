package reuse

import (
	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/host"
)

// tenfoldCopies makes what buffers are registered for ten times as expensive. Equation 5.6 keeps
// the price of a copy that the host model documents.
func tenfoldCopies() func(any) {
	return paper.MutateRun(func(c *bench.Config) { c.Cost.CopyByte *= 10 })
}

// alwaysCopied disables sends from the buffer of the application.
func alwaysCopied() func(any) {
	return paper.MutateRun(func(c *bench.Config) {
		if c.Reuse.Mode == host.ReuseAdapt {
			c.Reuse.Mode = host.ReuseCopy
		}
	})
}
