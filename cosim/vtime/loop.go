package vtime

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A loop runs the processes of some nodes, one at a time, and lets their hardware catch up.
// There is one for the whole system, or one per part and thread.
type loop struct {
	k     *Kernel
	hw    clock
	next  func() drivers.Cycle // its first event, if the system can tell
	procs []*Proc
	ready queue
	live  int

	running *Proc // or nil
	stop    drivers.Stop
	err     error // of the system, while a process let time pass

	// Of several loops:
	part    drivers.Partition
	with    *meeting
	did     drivers.Time // when what was done last was
	window  uint64       // the number of the window that is open
	past    drivers.Cycle
	until   drivers.Cycle // what it has to do in a window is before that
	done    uint64        // how much: the same whoever does it
	failed  bool
	change  bool // see report
	outcome failure
	shared  *shared
	vain    int // waits in a row in which it looked long in vain
}

// A clock lets the hardware of a loop's nodes go on.
type clock interface {
	Now() drivers.Cycle
	Run(deadline drivers.Cycle, stop *drivers.Stop) error
}

// run goes on until all processes of all loops have returned.
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

// step lets the earliest process run, or lets the hardware catch up with it.
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

// resume lets the next process go on.
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

// quiet: nothing happens by itself, as far as the system can tell.
func (l *loop) quiet() bool { return l.next == nil || l.next() == drivers.Forever }

// toLimit lets the hardware get to the limit, which may wake somebody before it, and
// gives up there. When nobody is ready but at any time it goes event by event: if they end
// before the limit, that is a hang, and of that time.
func (l *loop) toLimit(at drivers.Time) error {
	limit := l.k.cycle(l.k.cfg.Limit)
	switch {
	case l.with != nil && at == drivers.Never: // all give up together, in meet
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

// isFirst lets the hardware catch up with the process that runs, as long as nobody else
// is to run before it. What ends a run is left to step.
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

// advance lets the hardware get to a cycle, or to where it wakes somebody.
func (l *loop) advance(until drivers.Cycle) error {
	for {
		if err := l.hw.Run(until, &l.stop); err != nil {
			l.did = drivers.Time(l.stop.Now-1) * l.k.period // processes of that cycle come after it
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

// wake lets p run at time at, or at its own if that is later.
func (l *loop) wake(p *Proc, at drivers.Time) {
	p.state = Ready
	p.now = max(p.now, at)
	l.ready.push(p.now, p)
}

// void: the process has run since for another reason.
func (e entry) void() bool { return e.resumes != e.proc.resumes }
