package paper

import (
	"github.com/nicloop/nicloop/drivers"
)

// Machine is what the experiments on a device are measured on.
type Machine string

// The machines. PaperMachine is ours with one figure changed: what memory takes for a mailbox slot,
// so that the reference of Figure 4 over one hop takes as long as in the FC paper. The paper gives
// no figure of its NIC or host from which more could be set.
const (
	OurMachine   Machine = "nicloop"
	PaperMachine Machine = "paper"
)

// Machines lists them.
func Machines() []Machine { return []Machine{OurMachine, PaperMachine} }

// paperSlotTime gives 50.04 µs (FC, section 5.3); TestPaperMachine holds it.
const paperSlotTime = 168 * drivers.Nanosecond

// slotTime is that of the machine; 0: as fast as the NIC writes.
func (m Machine) slotTime() drivers.Time {
	if m == PaperMachine {
		return paperSlotTime
	}
	return 0
}

// suffix names files of the machine.
func (m Machine) suffix() string {
	if m == PaperMachine {
		return "-papers-machine"
	}
	return ""
}
