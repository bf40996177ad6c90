package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
)

// What a run on a simulated machine occupies, in bytes, measured as the peak resident memory of
// runs on ideal:, model: and rtl:. TestMemoryEstimate of cmd/nicloop compares the estimate with
// runs on ideal:, TestMemoryOnRTL with measured peaks.
const (
	memoryOfProgram   = 38 << 20 // before the first rank
	memoryOfRank      = 64 << 10
	memoryOfSlot      = 64      // of a mailbox, once a packet has been in it
	memoryOfMessage   = 256     // a pending request, with its place in the queues
	memoryOfIteration = 8       // its duration, kept at each rank
	memoryOfFragment  = 6 << 10 // the events of an RMA packet and its response, with Config.Blocks
	fragmentBytes     = 256     // of a long message that an RMA packet carries
	inFlight          = 0.5     // of a rank's message that the network holds as packets

	memoryOfSimulator = 6 << 20 // process of its own, of rtl: and design:
	memoryOfRTL       = 256 << 10
)

// memory estimates how much a run occupies.
func (c *Config) memory(w *world.Config) (float64, error) {
	ranks, active := float64(c.Ranks()), float64(c.Ranks())
	if wl, err := FindWorkload(c.Workload); err == nil && wl.active != nil {
		active = float64(wl.active(c))
	}
	slots, err := c.Velo.MailboxSlots(c.Ranks())
	if err != nil {
		return 0, err
	}
	used := min(float64(slots), Packets(*c)/ranks)
	each := memoryOfRank + memoryOfSlot*used + memoryOfIteration*float64(c.Iterations) + memoryOfMessage*float64(c.buffers)
	sum := memoryOfProgram + ranks*each
	if registry.NeedsPreparation(c.Device) { // it has a simulator
		sum += memoryOfSimulator + float64(c.Nodes)*memoryOfRTL
	}
	if w.Longest > host.EagerMax {
		sum += active * (float64(c.buffers) + inFlight) * float64(w.Longest)
		if c.Blocks {
			sum += float64(w.Longest) / fragmentBytes * memoryOfFragment
		}
	}
	return sum, nil
}

// checkMemory compares what a run needs with what there is, before anything is built. A node's
// memory of DMA is reserved as a whole, but occupied only where it is used.
func (c *Config) checkMemory(w *world.Config, node *world.Layout) error {
	needs, err := c.memory(w)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s with %d ranks, messages of up to %d bytes and %d iterations", c.Workload, c.Ranks(), w.Longest, c.Iterations)
	lower := "--nodes, --procs, --sizes, --slots or --iterations"
	if c.Blocks && w.Longest > host.EagerMax {
		lower += ", or add --blocks=false"
	}
	logs.Layer(c.Log, "world").WithField("memory_bytes", int64(needs)).Debug("memory estimated")
	if err := limits.CheckMemory(what, needs, lower); err != nil {
		return err
	}
	return limits.CheckAddressSpace(what, float64(c.Nodes)*float64(node.Bytes()), lower)
}
