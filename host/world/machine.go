package world

import (
	"context"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// A Machine runs the processes of all ranks, on simulated time or on the wall clock.
type Machine interface {
	// Add creates the process of a rank. All calls precede Run.
	Add(rank int, at Location) (Process, error)
	// Run calls body(rank) for every rank and returns when all have returned, or with the first
	// error.
	Run(ctx context.Context, body func(rank int) error) error
	// Parallel reports whether ranks run concurrently, so that a waiting rank does not cost time.
	Parallel() bool
	// Stuck reports whether err is a deadlock: no rank failed, but all were waiting.
	Stuck(err error) bool
	// Rest drains the hardware while no process runs. If known is true, nothing is in flight
	// afterwards; a free-running machine cannot know that.
	Rest() (known bool, err error)
}

// A Process connects a rank to its Machine.
type Process interface {
	host.Proc
	// Device is the NIC as this process uses it. On simulated time each access advances the
	// process's clock.
	Device() drivers.Device
	// WatchArrivals sets the memory range whose writes end WaitArrival. It is called once.
	WatchArrivals(off, n uint64) error
}
