package vtime

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A loop runs the processes of some nodes, one at a time, and lets their hardware catch up. There
// is one for the whole system, or one per part.
type loop struct {
	k     *Kernel
	hw    clock
	next  func() drivers.Cycle // cycle of its first event, if the system can tell
	procs []*Proc
	ready queue
	live  int

	running *Proc // or nil
	stop    drivers.Stop
	err     error // of the system, while a process let time pass

	// With several loops:
	part    drivers.Partition
	with    *meeting
	did     drivers.Time // time of the last action
	window  uint64       // number of the open window
	past    drivers.Cycle
	until   drivers.Cycle // end of its work in the window
	done    uint64        // amount of work; independent of the mode
	failed  bool
	change  bool // see report
	outcome failure
	shared  *shared
	vain    int // consecutive long unsuccessful waits
}

// A clock advances the hardware of a loop's nodes.
type clock interface {
	Now() drivers.Cycle
	Run(deadline drivers.Cycle, stop *drivers.Stop) error
}

// run runs until all processes of all loops have returned.
func (l *loop) run() error {
	l.err = nil
	for n := 1; l.live > 0 || l.with != nil; n++ {
		if err := l.step(); err != nil {
			return err
		}
		if l.with == nil && l.k.tick != nil && n%tickEvery == 0 {
			l.k.tick()
		}
	}
	return nil
}

// step resumes the earliest process, or lets the hardware catch up with it.
func (l *loop) step() error {
	if l.err != nil {
		return l.err
	}
	l.skipVoid()
	at := drivers.Never
	if l.ready.len() > 0 {
		at = l.ready.first().at
	}
	if l.k.limited(at) && (at < drivers.Never || !l.quiet()) {
		return l.toLimit(at)
	}
	if at == drivers.Never {
		return l.waitForHardware()
	}
	if c := l.k.cycle(at); c > l.hw.Now() {
		return l.advance(c)
	}
	p := l.ready.pop().proc
	l.ready.want()
	p.now = max(p.now, at)
	p.state = Ready
	p.resumes++
	l.did = at
	l.running = p
	err := l.resume(p)
	l.running = nil
	return err
}

// resume resumes the next process.
func (l *loop) resume(p *Proc) error {
	if p.worker != nil && !p.attend() {
		return nil
	}
	p.next()
	if p.state == Done {
		l.live--
		if p.err != nil {
			return fmt.Errorf("rank %d: %w", p.id, p.err)
		}
	}
	return nil
}

// quiet reports whether the system has no pending event, as far as it can tell.
func (l *loop) quiet() bool { return l.next == nil || l.next() == drivers.Forever }

// toLimit advances the hardware to the limit, unless it wakes a process before, and ends the run
// there. If no process is ready at any time, it advances event by event: running out of events
// before the limit is a hang at that time.
func (l *loop) toLimit(at drivers.Time) error {
	limit := l.k.cycle(l.k.cfg.Limit)
	switch {
	case l.with != nil && at == drivers.Never: // all loops give up together, in meet
		return l.advance(drivers.Forever)
	case l.with != nil:
		return l.advance(max(l.k.cycle(at), limit+1))
	case l.hw.Now() >= limit:
		return l.k.limitError()
	case at == drivers.Never:
		return l.advance(min(limit, l.next()))
	}
	return l.advance(limit)
}

// isFirst lets the hardware catch up with the running process, as long as no other process has to
// run before it. Ends of a run are left to step.
func (l *loop) isFirst(at drivers.Time, seq uint64) bool {
	for c := l.k.cycle(at); l.err == nil && !l.k.limited(at); {
		l.skipVoid()
		if l.ready.len() > 0 && l.ready.first().before(entry{at: at, seq: seq}) {
			return false
		}
		if c <= l.hw.Now() {
			return true
		}
		l.err = l.advance(c)
	}
	return false
}

func (l *loop) skipVoid() {
	for l.ready.len() > 0 && l.ready.first().void() {
		l.ready.pop()
	}
}

func (l *loop) waitForHardware() error {
	if err := l.advance(drivers.Forever); err != nil {
		return err
	}
	if l.with == nil && l.stop.Quiet && l.ready.len() == 0 {
		return &HangError{At: l.k.Now(), HardwareIdle: l.stop.Idle, Procs: l.k.states()}
	}
	return nil
}

// advance advances the hardware to a cycle, or to the cycle in which it wakes a process.
func (l *loop) advance(until drivers.Cycle) error {
	for {
		if err := l.hw.Run(until, &l.stop); err != nil {
			l.did = drivers.Time(l.stop.Now-1) * l.k.period // processes of that cycle run after the hardware
			return err
		}
		l.wakeFired()
		if l.with == nil || len(l.stop.Fired) > 0 || l.stop.Now >= until {
			l.done += event
			return nil
		}
		if !l.meet(until) {
			return errOver
		}
	}
}

func (l *loop) wakeFired() {
	at := drivers.Time(l.stop.Now) * l.k.period
	for _, f := range l.stop.Fired {
		switch f.Kind {
		case drivers.FiredWatch:
			if p := l.k.watched(f.Watch); p != nil && p.state == AwaitArrival {
				l.wake(p, at+l.k.cfg.Wake)
			}
		case drivers.FiredPIO:
			if p := l.k.byVPID[f.Node][f.VPID]; p.state == AwaitPIO {
				l.wake(p, at)
			}
		}
	}
}

// wake makes p ready at time at, or at its own time if that is later.
func (l *loop) wake(p *Proc, at drivers.Time) {
	p.state = Ready
	p.now = max(p.now, at)
	l.ready.push(p.now, p)
}

// void reports whether the process has been resumed since for another reason.
func (e entry) void() bool { return e.resumes != e.proc.resumes }
