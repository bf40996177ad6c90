package vtime

import (
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
	spins = 1 << 16 // looks before it sleeps: some 50 microseconds, ten times what most waits take
	long  = 500 * time.Microsecond
	nap   = 50 * time.Microsecond
)

// A wait is one of a thread for others.
type wait struct {
	looks int
	since time.Time
	long  bool // others have the core of who is waited for
}

// pause is what one does who has looked in vain. What threads wait for is a few microseconds away, and waking up takes
// longer than that. When it does not come, another has the core of who is waited for, who may need this one: so then
// it sleeps. To offer the core without sleeping (sched_yield) counts against a thread: on Linux 6.18, two cores and nothing
// else to do, an alltoall of 1,024 processes took 14 to 16 s that way and 8 s this way (docs/decisions, 0005).
func (w *wait) pause() {
	w.looks++
	switch {
	case w.looks < spins:
		return
	case w.since.IsZero():
		w.since = time.Now()
	default:
		w.long = w.long || time.Since(w.since) > long
	}
	time.Sleep(nap)
}
