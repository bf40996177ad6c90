package vtime

import (
	"errors"
	"runtime"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// Window is the most cycles that a thread goes on by itself. What a process of any node wrote
// so many cycles (Proc.Cycle) before the present one is written, whatever the threads;
// what was written later may not be.
const Window = 32

// A meeting is where the loops of a system in parts agree on the cycles that each may
// do by itself next. As what a part does is seen in another only Lookahead cycles later,
// these are that many from the first cycle on in which anybody has something to do. Who comes
// last decides, for all the same, from what all have reported; so what happens does not depend on
// when which thread runs.
type meeting struct {
	k         *Kernel
	sys       drivers.Parted
	lookahead drivers.Cycle
	reports   []report // by loop; each writes its own, then comes
	plan      plan     // what was decided; good until its reader comes again
	rounds    int
	door      door
}

// A report is what a loop says of itself when it has done all it can.
type report struct {
	next   drivers.Cycle // in which it has something to do, if it is sent nothing
	live   int
	failed bool
	_      [40]byte
}

type plan struct {
	at   drivers.Cycle // all cycles before this have been performed by all
	past drivers.Cycle // those before this may be
	// again: nobody has anything to do soon, so all report again when they have
	// what was sent to them, and idle time is left out.
	again bool
	end   ending
}

// An ending is how a run ends.
type ending uint8

const (
	goesOn ending = iota
	returned
	failed
	hung
	limited
)

// errOver ends a loop that has been told in a meeting.
var errOver = errors.New("vtime: over")

func newMeeting(k *Kernel, sys drivers.Parted) *meeting {
	return &meeting{k: k, sys: sys, lookahead: min(sys.Lookahead(), Window), reports: make([]report, len(sys.Parts()))}
}

// run runs all loops, each on a thread of its own, and tells how it ended.
func (m *meeting) run() error {
	m.plan = plan{past: m.sys.Now() + 1}
	m.door.crowded = runtime.GOMAXPROCS(0) < len(m.k.loops)
	for _, l := range m.k.loops {
		l.part.Open(m.plan.past)
	}
	m.runLoops()
	return m.result()
}

func (m *meeting) runLoops() {
	var others sync.WaitGroup
	defer others.Wait() // also when a process of this goroutine makes it exit
	for _, l := range m.k.loops[1:] {
		others.Go(l.work)
	}
	m.k.loops[0].work()
}

// result is what comes of what the loops have left: a panic in one of them is one here, and
// of several errors the one of the earliest time counts.
func (m *meeting) result() error {
	var first *failure
	for _, l := range m.k.loops {
		switch o := &l.outcome; {
		case o.panicked:
			panic(o.value)
		case o.gone:
			runtime.Goexit()
		case o.err != nil && (first == nil || o.at < first.at):
			first = o
		}
	}
	m.sys.Join()
	if first != nil {
		return first.err
	}
	switch m.plan.end {
	case hung:
		if err := m.sys.Run(drivers.Forever, &m.k.stop); err != nil {
			return err
		}
		return &HangError{At: m.k.Now(), HardwareIdle: m.k.stop.Idle, Procs: m.k.states()}
	case limited:
		for limit := m.k.cycle(m.k.cfg.Limit); m.sys.Now() < limit; {
			if err := m.sys.Run(limit, &m.k.stop); err != nil {
				return err
			}
		}
		return m.k.limitError()
	}
	return nil
}

// A failure is how a loop ended that could not go on.
type failure struct {
	err      error
	at       drivers.Time
	panicked bool
	value    any
	gone     bool // its goroutine was made to exit
}

// work runs the loop. If it fails the others learn of it when they meet.
func (l *loop) work() {
	l.outcome = failure{gone: true}
	defer func() {
		if !l.outcome.gone {
			return
		}
		if r := recover(); r != nil {
			l.outcome = failure{panicked: true, value: r}
		}
		if l.with.plan.end == goesOn {
			l.with.report(l, report{failed: true})
		}
	}()
	if err := l.run(); err != errOver {
		at := l.did
		l.finish()
		l.outcome = failure{err: err, at: at}
	}
	l.outcome.gone = false
}

// finish has the others told of an error. The hardware does the rest of the window
// before, as that of the others does, so that it can still be used.
func (l *loop) finish() {
	for {
		err := l.part.Run(drivers.Forever, &l.stop)
		if errors.Is(err, drivers.ErrClosed) || err == nil && len(l.stop.Fired) == 0 {
			break
		}
	}
	l.with.report(l, report{next: drivers.Forever, failed: true})
	l.part.Exchange()
}

// meet waits for the others when all that is left to do up to a cycle lies behind the
// window, and opens the next. It tells whether there is one.
func (l *loop) meet(until drivers.Cycle) bool {
	m := l.with
	m.report(l, report{next: min(l.part.NextEvent(), until), live: l.live})
	l.part.Exchange()
	if m.plan.again {
		m.report(l, report{next: min(l.part.NextEvent(), until), live: l.live})
	}
	l.part.Open(m.plan.past)
	return m.plan.end == goesOn
}

// report comes with a report, and goes when all have come.
func (m *meeting) report(l *loop, r report) {
	m.reports[l.at] = r
	m.door.wait(len(m.reports), m.decide)
}

// decide makes the plan for all. Everybody stands and waits.
func (m *meeting) decide() {
	next, live, fail := drivers.Forever, 0, false
	for i := range m.reports {
		r := &m.reports[i]
		next, live, fail = min(next, r.next), live+r.live, fail || r.failed
	}
	p := &m.plan
	settled := p.again // all have what was sent
	p.again = false
	if !settled {
		p.at = p.past
	}
	start := p.at
	if settled {
		start = max(start, next-1)
	}
	limit := drivers.Forever - m.lookahead - 1
	if m.k.cfg.Limit > 0 {
		limit = m.k.cycle(m.k.cfg.Limit)
	}
	switch {
	case fail:
		p.end = failed
	case live == 0:
		p.end = returned
	case !settled && next-p.at >= m.lookahead:
		p.again = true
	case next == drivers.Forever:
		p.end = hung
	case start > limit:
		p.end = limited
	default:
		p.past = min(start+m.lookahead, limit+1)
	}
	if m.rounds++; m.rounds%tickEvery == 0 && m.k.tick != nil {
		m.k.tick()
	}
}
