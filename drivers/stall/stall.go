// Package stall detects software that polls a simulated device whose clock nobody advances. Nothing
// can arrive there, so such a loop would spin forever.
package stall

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Polls is how many empty polls in one cycle are taken for a stopped clock: some milliseconds, and
// more than any program does between two steps of its clock.
const Polls = 1 << 20

// A Watch counts the empty polls of one poller. The zero value watches nothing.
type Watch struct {
	clock clock
	empty int
	since drivers.Cycle
}

// clock is implemented by devices whose clock software advances.
type clock interface{ Now() drivers.Cycle }

// NewWatch watches the clock of a device, if software advances it.
func NewWatch(dev drivers.Device) Watch {
	w := Watch{}
	w.clock, _ = dev.(clock)
	return w
}

// Empty must be called after each poll that found nothing. It returns an error after Polls calls
// in one cycle.
func (w *Watch) Empty() error {
	if w.empty++; w.empty%Polls != 0 || w.clock == nil {
		return nil
	}
	if now := w.clock.Now(); now != w.since || w.empty == Polls {
		w.since = now
		return nil
	}
	return fmt.Errorf("%w: %d empty polls in cycle %d: the clock of this simulated device does not advance by itself; "+
		"call Run of its system, sync the process, or open the device with clock=wall", drivers.ErrConfig, Polls, w.since)
}
