package vtime

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A barrier releases all threads when the last one has arrived.
type barrier struct {
	_     [64]byte
	come  atomic.Int32
	_     [64]byte
	round atomic.Uint32
	_     [64]byte
}

// wait returns when n threads have arrived; the last one calls last before. It returns false if
// broken is set instead.
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
	w.over()
	return true
}

const (
	mostLooks = 1 << 16 // about 50 microseconds, ten times as long as most waits
	fewLooks  = 1 << 10
	vain      = 4  // consecutive long waits after which threads share a core
	yields    = 16 // yields between two calls of the Go scheduler
	long      = 500 * time.Microsecond
	nap       = 50 * time.Microsecond
)

// A wait is the wait of a thread for others.
type wait struct {
	l     *loop
	looks int
	since time.Time
	long  bool // the awaited thread seems to have no core
}

// pause is called after an unsuccessful check. Threads usually wait for a few microseconds, so they
// spin: sleeping and waking takes longer and delays others. With less than a core per thread,
// however, the awaited thread needs the core more. A thread that has spun for long therefore
// sleeps. If that happens repeatedly, the threads share a core, and each soon yields to the other
// (sched_yield). This is the last resort: a fair scheduler counts every yield against a thread, and
// lets the next runnable thread have the core for milliseconds.
func (w *wait) pause() {
	i := w.looks - w.l.patience()
	w.looks++
	switch {
	case i < 0:
	case i == 0:
		w.since = time.Now()
	case w.long || w.l.vain < vain:
		time.Sleep(nap)
		w.long = w.long || time.Since(w.since) > long
	case i%yields == 0:
		runtime.Gosched()
	default:
		yield()
		w.long = time.Since(w.since) > long
	}
}

// over ends a successful wait.
func (w *wait) over() {
	switch {
	case w.looks > w.l.patience():
		w.l.vain++
	case w.looks > 0:
		w.l.vain = 0
	}
}

// patience is the number of checks before a thread yields its core.
func (l *loop) patience() int {
	if l.vain < vain {
		return mostLooks
	}
	return fewLooks
}
