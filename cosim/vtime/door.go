package vtime

import (
	"runtime"
	"sync/atomic"
)

// A door opens when all have come. They come every few microseconds, so who waits does
// not sleep: waking up takes longer than what it waits for, and makes the other wait. But when
// there is less than a core for each, the one that is waited for needs it more.
type door struct {
	crowded bool // not all can run at a time
	_       [64]byte
	come    atomic.Int32
	_       [64]byte
	round   atomic.Uint32
	_       [64]byte
}

const (
	spins  = 1 << 10 // looks, before the core is offered to others: about a microsecond
	yields = 16      // of them, before it is offered to other goroutines
)

// wait comes back when n have come. The last of them does something before.
func (d *door) wait(n int, last func()) {
	round := d.round.Load()
	if int(d.come.Add(1)) == n {
		d.come.Store(0)
		defer d.round.Store(round + 1) // also when last panics
		last()
		return
	}
	for i := 0; d.round.Load() == round; i++ {
		switch {
		case i < spins:
		case (i-spins)%yields == 0 && (d.crowded || i > spins):
			runtime.Gosched()
		default:
			yield()
		}
	}
}
