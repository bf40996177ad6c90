package vtime

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A barrier lets all go on when all have come.
type barrier struct {
	_     [64]byte
	come  atomic.Int32
	_     [64]byte
	round atomic.Uint32
	_     [64]byte
}

// wait comes back when n have come, the last of which does something before. It tells
// whether they have: it also comes back when something is broken.
func (b *barrier) wait(n int, w wait, broken *atomic.Bool, last func()) bool {
	round := b.round.Load()
	if int(b.come.Add(1)) == n {
		last()
		b.come.Store(0)
		b.round.Store(round + 1)
		return true
	}
	for ; b.round.Load() == round; w.pause() {
		if broken.Load() {
			return false
		}
	}
	return true
}

const (
	spins  = 1 << 10 // looks, before the core is offered to others: about a microsecond
	yields = 16      // of them, before it is offered to other goroutines
	long   = 500 * time.Microsecond
	nap    = 50 * time.Microsecond
)

// A wait is one of a thread for others.
type wait struct {
	looks int
	since time.Time
	long  bool // others have the core of who is waited for
}

// pause is what one does who has looked in vain. What threads wait for is a few
// microseconds away, so they do not sleep: waking up takes longer, and makes others wait. But when
// there is less than a core for each, the one that is waited for needs it more; and who
// yields often is put last by the machine, so a wait that is long already goes on asleep.
func (w *wait) pause() {
	i := w.looks - spins
	w.looks++
	switch {
	case i < 0:
	case w.long:
		time.Sleep(nap)
	case i == 0:
		w.since = time.Now()
	case i%yields == 0:
		runtime.Gosched()
	default:
		yield()
		w.long = time.Since(w.since) > long
	}
}
