package drivers

import (
	"fmt"
	"strings"
)

// Capabilities are the abilities of a device or of the system that it belongs to.
type Capabilities uint32

// The capabilities.
const (
	CanPIO          Capabilities = 1 << iota // WritePIO reaches a send window
	CanDMA                                   // the NIC reads and writes Memory
	CanAwait                                 // Await of DMA writes
	CanInterrupt                             // Await of the interrupt line
	CanSimulate                              // the caller controls the clock: the system is a Timed
	CanFreeRun                               // free-running clock: many goroutines may use each device
	CanLend                                  // the system is a Lender, which other processes can share
	CanAnswerWrites                          // refused posted writes are reported; those of PCIe are not
)

var capabilityNames = [...]string{"PIO", "DMA", "waits for DMA", "interrupts", "simulated time", "free-running clock", "memory that can be shared", "write responses"}

// Has reports whether c includes all of want.
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

// Require returns one error that lists every capability of want that the system lacks. [Open] calls
// it with Options.Needs.
func Require(sys System, want Capabilities) error {
	all := ^Capabilities(0)
	for n := range sys.Info().Nodes {
		all &= sys.Device(n).Capabilities()
	}
	if all.Has(want) {
		return nil
	}
	return fmt.Errorf("%w: %s lacks: %s; it has: %s", ErrNotSupported, sys.Info().Backend, want&^all, all&(1<<len(capabilityNames)-1))
}
