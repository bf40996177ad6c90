package world

import (
	"context"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// A Machine runs processes: on simulated time or on a clock.
type Machine interface {
	// Add makes the process of a rank, before Run.
	Add(rank int, at Location) (Process, error)
	// Run runs body(rank) for all of them and returns when all have, or with the first error.
	Run(ctx context.Context, body func(rank int) error) error
	// Parallel: ranks run side by side, and one that waits costs nothing.
	Parallel() bool
	// Stuck tells of an error of Run that nothing failed, but nobody could go on.
	Stuck(err error) bool
	// Rest lets the hardware do all that it does by itself, when no process runs. known: then nothing
	// is under way.
	Rest() (known bool, err error)
}

// A Process is what a rank needs of its machine.
type Process interface {
	host.Proc
	// Device is the process's NIC, and takes its time, if that is simulated.
	Device() drivers.Device
	// WatchArrivals names the memory whose writing ends WaitArrival. It is called once.
	WatchArrivals(off, n uint64) error
}
