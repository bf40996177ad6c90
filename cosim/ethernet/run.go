package ethernet

import (
	"errors"
	"fmt"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Errors of Run.
var (
	// ErrIdle: no program can ever work again.
	ErrIdle  = errors.New("ethernet: nothing in flight and no timer is running")
	ErrLimit = errors.New("ethernet: not finished at the limit of simulated time")
)

// Program is the software of a host, such as a Device of host/iwarp.
type Program interface {
	// Progress works until it would have to wait, or does a part of that. It reports whether it
	// did anything.
	Progress() bool
	// Deadline returns the earliest time at which Progress has work without a datagram.
	Deadline() (time.Duration, bool)
}

// Run alternates between the programs, in their order, and the network until isDone returns true.
// Time advances only while no program has work: the time of a program is what [Config] charges for
// its datagrams. The limit is a time of the network; drivers.Never: none.
func (n *Network) Run(isDone func() bool, limit drivers.Time, programs ...Program) error {
	for {
		for worked := true; worked; {
			worked = false
			for _, p := range programs {
				worked = p.Progress() || worked
			}
			if isDone() {
				return nil
			}
		}
		next := n.NextWork(programs...)
		switch {
		case next == drivers.Never:
			return fmt.Errorf("%w at %v", ErrIdle, n.now)
		case next > limit:
			return fmt.Errorf("%w: %v", ErrLimit, limit)
		case next == n.now && n.NextEvent() > n.now:
			// A timer that is due but does nothing must not stop time.
			next = min(n.NextEvent(), n.now+drivers.Microsecond)
		}
		n.AdvanceTo(next)
	}
}

// NextWork returns the time of the next event, or of an earlier timer of a program, or
// drivers.Never. A timer that was due earlier is due now.
func (n *Network) NextWork(programs ...Program) drivers.Time {
	next := n.NextEvent()
	for _, p := range programs {
		if d, ok := p.Deadline(); ok {
			next = min(next, max(n.now, drivers.Time(d)*drivers.Nanosecond))
		}
	}
	return next
}
