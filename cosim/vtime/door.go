package vtime

import (
	"runtime"
	"sync/atomic"
)

// A door opens when all have come.
type door struct {
	crowded bool // not all can run at a time
	_       [64]byte
	come    atomic.Int32
	_       [64]byte
	round   atomic.Uint32
	_       [64]byte
}

// wait comes back when n have come, the last of which does something before. It tells
// whether they have: it also comes back when something is broken.
func (d *door) wait(n int, broken *atomic.Bool, last func()) bool {
	round := d.round.Load()
	if int(d.come.Add(1)) == n {
		last()
		d.come.Store(0)
		d.round.Store(round + 1)
		return true
	}
	for i := 0; d.round.Load() == round; i++ {
		if broken.Load() {
			return false
		}
		d.pause(i)
	}
	return true
}

const (
	spins  = 1 << 10 // looks, before the core is offered to others: about a microsecond
	yields = 16      // of them, before it is offered to other goroutines
)

// pause is what one does who has looked i times. What threads wait for is a few
// microseconds away, so they do not sleep: waking up takes longer, and makes others wait. But when
// there is less than a core for each, the one that is waited for needs it more.
func (d *door) pause(i int) {
	switch {
	case i < spins:
	case (i-spins)%yields == 0 && (d.crowded || i > spins):
		runtime.Gosched()
	default:
		yield()
	}
}
