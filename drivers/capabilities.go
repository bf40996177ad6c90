package drivers

import (
	"fmt"
	"strings"
)

// Capabilities are what a device, or the system that it is of, can do.
type Capabilities uint32

// The capabilities.
const (
	CanPIO          Capabilities = 1 << iota // WritePIO reaches a send window
	CanDMA                                   // the NIC reads and writes Memory
	CanAwait                                 // Await of writes to Memory
	CanInterrupt                             // Await of the interrupt line
	CanSimulate                              // time is its caller's: the system is a Timed
	CanRunAlone                              // time passes by itself: each device may be used from many goroutines at once
	CanLend                                  // other processes may use it too: the system is a Lender
	CanAnswerWrites                          // a write that a register, a send window or memory refuses is told; a posted write of PCIe is not
)

var capabilityNames = [...]string{"PIO", "DMA", "waits for DMA", "interrupts", "simulated time", "time of its own", "memory that can be lent", "answers to writes"}

// Has tells whether all of want are there.
func (c Capabilities) Has(want Capabilities) bool { return c&want == want }

func (c Capabilities) String() string {
	var names []string
	for i, name := range capabilityNames {
		if c.Has(1 << i) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// Require tells, in one error, what of want a system cannot do. [Open] does so with Options.Needs, so that it is known
// before anything has begun.
func Require(sys System, want Capabilities) error {
	all := ^Capabilities(0)
	for n := range sys.Info().Nodes {
		all &= sys.Device(n).Capabilities()
	}
	if all.Has(want) {
		return nil
	}
	return fmt.Errorf("%w: needed of %s: %s; it has: %s", ErrNotSupported, sys.Info().Backend, want&^all, all&(1<<len(capabilityNames)-1))
}
