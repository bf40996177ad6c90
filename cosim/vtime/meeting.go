package vtime

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Window is the most cycles that a thread goes on by itself. What a process of any node wrote
// so many cycles (Proc.Cycle) before the present one is written, whatever the threads;
// what was written later may not be.
const Window = 32

// A meeting is where the loops of a system in parts agree on the cycles that each may do. What a
// part does is seen in another only Lookahead cycles later. So time is cut into windows of half of
// that, and a loop that has done one begins the next when all others have done the one before: it
// hardly ever has to wait for one that has more to do for a while. Only when there may be nothing
// to do for long, or all is over, they wait for each other and decide; when that is follows from
// what all have reported of the same window, so it does not depend on when which thread runs. The
// same goes for who does the windows, a thread each loop or one all of them (crew): that changes
// only where all stand.
type meeting struct {
	k         *Kernel
	sys       drivers.Partitioned
	lookahead drivers.Cycle
	every     drivers.Cycle // cycles of a window of threads
	late      uint64        // windows by which another may be behind
	plan      plan          // what was decided last
	broken    atomic.Bool   // a loop cannot take part any more
	crew      crew
	barrier   barrier
}

// A report is what a loop says of itself when it has done a window.
type report struct {
	next   drivers.Cycle // in which it has something to do, if it is sent nothing
	live   int
	failed bool
	change bool // it is time to look whether others should do the windows
}

type plan struct {
	past drivers.Cycle // the end of the next window
	end  ending
}

// An ending is how a run ends.
type ending uint8

const (
	goesOn  ending = iota
	changes        // does not end: others do the next window
	returned
	failed
	hung
	limited
)

// errOver ends what a loop does by itself: all is over, or others go on, or all do so
// after a window.
var errOver = errors.New("vtime: over")

func newMeeting(k *Kernel, sys drivers.Partitioned) *meeting {
	return &meeting{k: k, sys: sys, crew: newCrew()}
}

// measure says how long windows are: between runs that may have changed.
func (m *meeting) measure() {
	m.lookahead = min(m.sys.Lookahead(), Window)
	m.every, m.late = max(1, m.lookahead/2), 0
	if 2*m.every <= m.lookahead {
		m.late = 1
	}
}

// run runs all loops and tells how it ended.
func (m *meeting) run() error {
	m.measure()
	m.plan = plan{past: m.sys.Now() + 1}
	m.broken.Store(false)
	for _, l := range m.k.loops {
		l.failed = false
	}
	m.crew.begin(len(m.k.loops), m.done())
	for m.plan.end == goesOn && !m.broken.Load() {
		m.open()
		if m.crew.together {
			m.together()
		} else {
			m.alone()
		}
		if m.plan.end == changes {
			m.plan.end = goesOn
		}
	}
	return m.result()
}

// sliceOver ends a slice where all stand, and tells whether others have the next.
func (m *meeting) sliceOver() bool {
	c, before := &m.crew, m.crew.together
	took := time.Since(c.began)
	c.starved = used()-c.used < took*3/4
	c.change(took, m.done()-c.done)
	c.begin(len(m.k.loops), m.done())
	return c.together != before
}

// open opens the next window for all.
func (m *meeting) open() {
	for _, l := range m.k.loops {
		l.open(m.plan.past)
		l.change = false
	}
}

// done is how much all loops have done, in cycles of a part in which little happens.
func (m *meeting) done() (n uint64) {
	for _, l := range m.k.loops {
		n += l.done + event*l.part.Events()
	}
	return n
}

// together runs each loop on a thread of its own.
func (m *meeting) together() {
	m.barrier.come.Store(0)
	for _, l := range m.k.loops {
		l.shared.begin()
		l.window = firstWindow
	}
	var others sync.WaitGroup
	defer others.Wait() // also when a process of this goroutine makes it exit
	for _, l := range m.k.loops[1:] {
		others.Go(l.work)
	}
	m.k.loops[0].work()
}

// alone does the windows of all loops in turn, as long as what one part sends is not yet seen in
// another.
func (m *meeting) alone() {
	for n, start := uint64(1), drivers.Cycle(0); m.plan.end == goesOn; n++ {
		for _, l := range m.k.loops {
			if l.work(); m.broken.Load() {
				return
			}
		}
		for _, l := range m.k.loops {
			l.part.Exchange(0)
		}
		m.k.loops[0].change = m.crew.due()
		if n%(tickEvery/8) == 0 {
			m.tick()
		}
		past := m.plan.past
		m.goOn(start)
		m.open()
		start = past
	}
}

// goOn makes the plan for the next window after one that began with a cycle. Where something was
// done there is more to do, as a rule, so that it costs less to see than to ask.
func (m *meeting) goOn(start drivers.Cycle) {
	limit := drivers.Forever
	if m.k.cfg.Limit > 0 {
		limit = m.k.cycle(m.k.cfg.Limit)
	}
	next := m.plan.past + m.lookahead
	busy, live, ends := false, 0, next > limit
	for _, l := range m.k.loops {
		busy = busy || l.part.Now() >= start
		live += l.live
		ends = ends || l.failed || l.change
	}
	if busy && live > 0 && !ends {
		m.plan.past = next
		return
	}
	for _, l := range m.k.loops {
		l.shared.exact = l.report(l.until)
	}
	m.decide(m.lookahead)
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
	l.until = until
	if !m.crew.together {
		return false
	}
	l.shared.put(l.window, l.report(until))
	if !l.await(l.window - m.late) {
		return false
	}
	next := l.past + m.every
	if m.decides(l, next) {
		if !l.await(l.window) {
			return false
		}
		l.part.Exchange(0)
		l.shared.exact = l.report(until)
		if !m.barrier.wait(len(m.k.loops), wait{l: l, long: l.change}, &m.broken, m.decideTogether) || m.plan.end != goesOn {
			return false
		}
		next = m.plan.past
	} else {
		l.part.Exchange(uint(m.late))
	}
	l.window++
	l.open(next)
	if l == m.k.loops[0] && m.crew.due() {
		l.change = true
	}
	return true
}

// open opens a window that ends with a cycle.
func (l *loop) open(past drivers.Cycle) {
	l.done += uint64(min(past-l.past, idle))
	l.past = past
	l.part.Open(past)
}

func (l *loop) report(until drivers.Cycle) report {
	return report{next: min(l.part.NextEvent(), until), live: l.live, failed: l.failed, change: l.change}
}

// await waits until all loops have done a window, or one is broken. Who has to wait for long asks
// for a change.
func (l *loop) await(window uint64) bool {
	for _, o := range l.with.k.loops {
		w := wait{l: l, long: l.change}
		for ; !o.shared.done(window); w.pause() {
			if l.with.broken.Load() {
				return false
			}
			l.change = l.change || w.long
		}
		w.over()
	}
	return true
}

// decides tells whether all must decide together before a window of a loop that ends with a cycle,
// by what they have reported of one: all tell the same.
func (m *meeting) decides(l *loop, past drivers.Cycle) bool {
	window := l.window - m.late
	r := m.sum(func(l *loop) report { return l.shared.reports[window%reported].report })
	l.change = l.change || r.change
	return r.failed || r.change || r.live == 0 || window%tickEvery == 0 ||
		r.next >= past && r.next-past >= m.lookahead || // a decision costs as much as some windows
		m.k.cfg.Limit > 0 && past > m.k.cycle(m.k.cfg.Limit)+1
}

// sum is what all loops together report.
func (m *meeting) sum(of func(l *loop) report) report {
	all := report{next: drivers.Forever}
	for _, l := range m.k.loops {
		r := of(l)
		all.next, all.live = min(all.next, r.next), all.live+r.live
		all.failed, all.change = all.failed || r.failed, all.change || r.change
	}
	return all
}

// decideTogether is what the thread does that comes last.
func (m *meeting) decideTogether() {
	m.decide(m.every)
	for _, l := range m.k.loops { // the next window asks for what they have told of this one
		l.change, l.shared.reports[l.window%reported].change = false, false
	}
	m.tick()
}

// decide makes the plan for all, who stand and have what was sent to them: the next window has so
// many cycles.
func (m *meeting) decide(every drivers.Cycle) {
	r := m.sum(func(l *loop) report { return l.shared.exact })
	p := &m.plan
	start := m.k.loops[0].past // the end of the window that all have done
	if r.next > start {
		start = r.next - 1 // what is an event in a cycle may have been sent in the one before
	}
	limit := drivers.Forever - every - 1
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
	case r.change:
		p.past = min(start+m.every, limit+1) // whoever does it
		if m.sliceOver() {
			p.end = changes
		}
	default:
		p.past = min(start+every, limit+1)
	}
}

func (m *meeting) tick() {
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
