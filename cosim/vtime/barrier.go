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
	w.over()
	return true
}

const (
	mostLooks = 1 << 16 // some 50 microseconds, ten times what most waits take
	fewLooks  = 1 << 10
	vain      = 4  // waits in a row that looked so long in vain: then the threads share a core
	yields    = 16 // offers of a core, one of which is to other goroutines
	long      = 500 * time.Microsecond
	nap       = 50 * time.Microsecond
)

// A wait is one of a thread for others.
type wait struct {
	l     *loop
	looks int
	since time.Time
	long  bool // others have the core of who is waited for
}

// pause is what one does who has looked in vain. What threads wait for is a few microseconds away,
// so they look: waking up takes longer, and makes others wait. But when there is less than a core
// for each, the one that is waited for needs it more. So whoever has looked for long sleeps; and
// when that happens time and again, the threads share a core, and each soon offers it to the other
// (sched_yield). Only then: a fair scheduler counts every offer against a thread, and lets the next
// that turns up, if only for a moment, have the core for milliseconds.
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

// over: what was waited for has come.
func (w *wait) over() {
	switch {
	case w.looks > w.l.patience():
		w.l.vain++
	case w.looks > 0:
		w.l.vain = 0
	}
}

// patience is how often a thread looks before it offers its core.
func (l *loop) patience() int {
	if l.vain < vain {
		return mostLooks
	}
	return fewLooks
}
