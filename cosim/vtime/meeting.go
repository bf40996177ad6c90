package vtime

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/nicloop/nicloop/drivers"
)

// Window is the most cycles that a thread goes on by itself. What a process of any node wrote
// so many cycles (Proc.Cycle) before the present one is written, whatever the threads;
// what was written later may not be.
const Window = 32

// A meeting is where the loops of a system in parts agree on the cycles that each may
// do. What a part does is seen in another only Lookahead cycles later. So time is cut into
// windows of half of that, and a loop that has done one begins the next when all others have
// done the one before: it hardly ever has to wait for one that has more to do for a while. Only when
// there may be nothing to do for long, or all is over, they wait for each other and decide; when
// that is follows from what all have reported of the same window, so it does not depend on
// when which thread runs.
type meeting struct {
	k         *Kernel
	sys       drivers.Parted
	lookahead drivers.Cycle
	every     drivers.Cycle // cycles of a window
	late      uint64        // windows by which another may be behind
	plan      plan          // what was decided last
	broken    atomic.Bool   // a loop cannot take part any more
	door      door
}

// A report is what a loop says of itself when it has done a window.
type report struct {
	next   drivers.Cycle // in which it has something to do, if it is sent nothing
	live   int
	failed bool
}

type plan struct {
	past drivers.Cycle // the end of the next window
	end  ending
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

// errOver ends a loop that has been told that all is over.
var errOver = errors.New("vtime: over")

func newMeeting(k *Kernel, sys drivers.Parted) *meeting {
	m := &meeting{k: k, sys: sys, lookahead: min(sys.Lookahead(), Window)}
	if m.every = max(1, m.lookahead/2); 2*m.every <= m.lookahead {
		m.late = 1
	}
	return m
}

// run runs all loops, each on a thread of its own, and tells how it ended.
func (m *meeting) run() error {
	m.plan = plan{past: m.sys.Now() + 1}
	m.broken.Store(false)
	m.door.come.Store(0)
	m.door.crowded = runtime.GOMAXPROCS(0) < len(m.k.loops)
	for _, l := range m.k.loops {
		l.shared.begin()
		l.window, l.past, l.failed = firstWindow, m.plan.past, false
		l.part.Open(l.past)
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

// work runs the loop. If it fails the others learn of it.
func (l *loop) work() {
	l.outcome = failure{gone: true}
	defer func() {
		if !l.outcome.gone {
			return
		}
		if r := recover(); r != nil {
			l.outcome = failure{panicked: true, value: r}
		}
		l.with.broken.Store(true)
	}()
	if err := l.run(); err != errOver {
		at := l.did
		l.finish()
		l.outcome = failure{err: err, at: at}
	}
	l.outcome.gone = false
}

// finish has the others told of an error. The hardware goes on until they know, so that
// it can still be used.
func (l *loop) finish() {
	l.failed = true
	for {
		err := l.part.Run(drivers.Forever, &l.stop)
		atEnd := len(l.stop.Fired) == 0 && (err == nil || errors.Is(err, drivers.ErrClosed))
		if atEnd && !l.meet(drivers.Forever) {
			return
		}
	}
}

// meet ends the loop's window, when all that is left to do up to a cycle lies behind it, and
// opens the next. It tells whether there is one.
func (l *loop) meet(until drivers.Cycle) bool {
	m := l.with
	l.shared.put(l.window, l.report(until))
	if !m.await(l.window - m.late) {
		return false
	}
	next := l.past + m.every
	if m.decides(l.window-m.late, next) {
		if !m.await(l.window) {
			return false
		}
		l.part.Exchange(0)
		l.shared.exact = l.report(until)
		if !m.door.wait(len(m.k.loops), &m.broken, m.decide) || m.plan.end != goesOn {
			return false
		}
		next = m.plan.past
	} else {
		l.part.Exchange(uint(m.late))
	}
	l.window++
	l.past = next
	l.part.Open(next)
	return true
}

func (l *loop) report(until drivers.Cycle) report {
	return report{next: min(l.part.NextEvent(), until), live: l.live, failed: l.failed}
}

// await waits until all loops have done a window, or one is broken.
func (m *meeting) await(window uint64) bool {
	for _, l := range m.k.loops {
		for i := 0; !l.shared.done(window); i++ {
			if m.broken.Load() {
				return false
			}
			m.door.pause(i)
		}
	}
	return true
}

// decides tells whether all must decide together before a window that ends with a cycle, by
// what they have reported of one: all tell the same.
func (m *meeting) decides(window uint64, past drivers.Cycle) bool {
	r := m.sum(func(l *loop) report { return l.shared.reports[window%reported].report })
	return r.failed || r.live == 0 || window%tickEvery == 0 ||
		r.next >= past && r.next-past >= m.lookahead || // a decision costs as much as some windows
		m.k.cfg.Limit > 0 && past > m.k.cycle(m.k.cfg.Limit)+1
}

// sum is what all loops together report.
func (m *meeting) sum(of func(l *loop) report) report {
	all := report{next: drivers.Forever}
	for _, l := range m.k.loops {
		r := of(l)
		all.next, all.live, all.failed = min(all.next, r.next), all.live+r.live, all.failed || r.failed
	}
	return all
}

// decide makes the plan for all, who stand, have what was sent to them, and wait.
func (m *meeting) decide() {
	r := m.sum(func(l *loop) report { return l.shared.exact })
	p := &m.plan
	start := m.k.loops[0].past // the end of the window that all have done
	if r.next > start {
		start = r.next - 1 // what is an event in a cycle may have been sent in the one before
	}
	limit := drivers.Forever - m.every - 1
	if m.k.cfg.Limit > 0 {
		limit = m.k.cycle(m.k.cfg.Limit)
	}
	switch {
	case r.failed:
		p.end = failed
	case r.live == 0:
		p.end = returned
	case r.next == drivers.Forever:
		p.end = hung
	case start > limit:
		p.end = limited
	default:
		p.past = min(start+m.every, limit+1)
	}
	if m.k.tick != nil {
		m.k.tick()
	}
}

// shared is what a loop shows to the others. It may be two windows ahead of one that looks.
// Its size puts every report into a cache line of its own.
type shared struct {
	reports [reported]told // by window
	exact   report         // for a decision
	_       [512 - reported*64 - 24]byte
}

// told is a report with the window that it is of.
type told struct {
	report
	window atomic.Uint64
	_      [32]byte
}

const (
	reported    = 4
	firstWindow = reported
)

// begin forgets all windows; those before the first are of a loop that has something to do.
func (s *shared) begin() {
	for w := range uint64(firstWindow) {
		s.put(w, report{live: 1})
	}
}

// put tells of a window that is done.
func (s *shared) put(window uint64, r report) {
	s.reports[window%reported].report = r
	s.reports[window%reported].window.Store(window)
}

// done tells whether a window is done.
func (s *shared) done(window uint64) bool { return s.reports[window%reported].window.Load() >= window }
