package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/bounds"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
)

// What a simulation takes at least, in bytes. These are rough lower bounds and were not measured:
// they are to refuse what cannot run, and nothing that could.
const (
	memoryOfRank      = 64 << 10
	memoryOfMessage   = 256 // a request that is pending, with its place in the queues
	memoryOfIteration = 8   // its time, at each rank (task.iterate keeps all)
)

// checkMemory compares what a run needs at least with what there is, before anything is built.
func (c *Config) checkMemory(w *world.Config) error {
	ranks := float64(c.Ranks())
	slots, err := c.Velo.MailboxSlots(c.Ranks())
	if err != nil {
		return err
	}
	each := memoryOfRank + 64*float64(slots) + memoryOfIteration*float64(c.Iterations) + memoryOfMessage*float64(c.buffers)
	if w.Longest > host.EagerMax {
		each += float64(c.buffers) * float64(w.Longest)
	}
	what := fmt.Sprintf("%s with %d ranks, messages of up to %d bytes and %d iterations", c.Workload, c.Ranks(), w.Longest, c.Iterations)
	return bounds.CheckMemory(what, ranks*each, "--nodes, --procs, --sizes, --slots or --iterations")
}
