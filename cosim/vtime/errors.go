package vtime

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A ProcState is the state of a process when a run ended abnormally.
type ProcState struct {
	ID, Node, VPID int
	State          State
	Now            drivers.Time
	Posted         uint64 // lines posted to the send window and not yet taken by the NIC
}

// A HangError reports that every process is parked and the hardware is idle.
type HangError struct {
	At           drivers.Time
	HardwareIdle bool // false: the hardware holds packets
	Procs        []ProcState
}

func (e *HangError) Error() string {
	n := 0
	for _, p := range e.Procs {
		if p.State != Done {
			n++
		}
	}
	hw := "the hardware is empty"
	if !e.HardwareIdle {
		hw = "the hardware holds packets it cannot deliver"
	}
	return fmt.Sprintf("hang at %v: %d of %d ranks are blocked and %s", e.At, n, len(e.Procs), hw)
}

// A LimitError reports that the run reached its limit of simulated time.
type LimitError struct {
	Limit drivers.Time
	Procs []ProcState
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("given up after %v of simulated time", e.Limit)
}
