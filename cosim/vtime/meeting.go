package vtime

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Window is the maximum number of cycles that a thread simulates independently. A process of any
// node can rely on writes by others that are at least that many cycles (Proc.Cycle) old; later
// writes may not be visible.
const Window = 32

// A meeting synchronises the loops of a system in parts (conservative synchronisation). An action
// of one part is visible to another after Lookahead cycles. Time is divided into windows of half of
// that, and a loop starts the next window when all others have finished the one before the current:
// it rarely waits for a loop that is temporarily slower. Only if all loops may be idle for long, or
// the run is over, they wait for each other and decide. The time of this decision follows from the
// reports of all loops on the same window, so it is deterministic. The same applies to the choice
// of threads (crew), which changes only when all loops are at the same cycle.
type meeting struct {
	k         *Kernel
	sys       drivers.Partitioned
	lookahead drivers.Cycle
	every     drivers.Cycle // cycles of a window
	late      uint64        // windows by which another loop may be behind
	plan      plan          // last decision
	broken    atomic.Bool   // a loop cannot continue
	crew      crew
	barrier   barrier
}

// A report is the state of a loop after a window.
type report struct {
	next   drivers.Cycle // cycle of its next work, if nothing is sent to it
	live   int
	failed bool
	change bool // the mode should be reconsidered
}

type plan struct {
	past drivers.Cycle // end of the next window
	end  ending
}

// An ending is the way a run ends.
type ending uint8

const (
	goesOn  ending = iota
	changes        // does not end: the mode changes
	returned
	failed
	hung
	limited
)

// errOver ends the work of a loop: the run is over, or the mode changes after a window.
var errOver = errors.New("vtime: over")

func newMeeting(k *Kernel, sys drivers.Partitioned) *meeting {
	return &meeting{k: k, sys: sys, crew: newCrew()}
}

// measure determines the length of windows, which may change between runs.
func (m *meeting) measure() {
	m.lookahead = min(m.sys.Lookahead(), Window)
	m.every, m.late = max(1, m.lookahead/2), 0
	if 2*m.every <= m.lookahead {
		m.late = 1
	}
}

// run runs all loops and returns the result.
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

// sliceOver ends a slice when all loops are at the same cycle, and reports whether the mode
// changes.
func (m *meeting) sliceOver() bool {
	c, before := &m.crew, m.crew.together
	took := time.Since(c.began)
	c.starved = used()-c.used < took*3/4
	c.change(took, m.done()-c.done)
	c.begin(len(m.k.loops), m.done())
	return c.together != before
}

// open opens the next window for all loops.
func (m *meeting) open() {
	for _, l := range m.k.loops {
		l.open(m.plan.past)
		l.change = false
	}
}

// done is the work of all loops, in cycles of a part with little activity.
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
	defer others.Wait() // also if a process of this goroutine makes it exit
	for _, l := range m.k.loops[1:] {
		others.Go(l.work)
	}
	m.k.loops[0].work()
}

// alone simulates the windows of all loops in turn. A window is at most as long as actions of one
// part are invisible to another.
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
		m.planNext(start)
		m.open()
		start = past
	}
}

// planNext plans the next window after one that began at start. A loop that was active usually has
// more work, so continuing costs less than a decision.
func (m *meeting) planNext(start drivers.Cycle) {
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

// result combines the outcomes of all loops: a panic propagates, and of several errors the earliest
// counts.
func (m *meeting) result() error {
	var first *failure
	for _, l := range m.k.loops {
		switch o := &l.outcome; {
		case o.panicked:
			panic(o.value)
		case o.exited:
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

// A failure is the outcome of a loop that could not continue.
type failure struct {
	err      error
	at       drivers.Time
	panicked bool
	value    any
	exited   bool // its goroutine was made to exit
}

// work runs the loop. A failure is reported to the others.
func (l *loop) work() {
	l.outcome = failure{exited: true}
	defer func() {
		if !l.outcome.exited {
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
	l.outcome.exited = false
}

// finish reports an error to the other loops. The hardware advances until they have stopped, so
// that it remains usable.
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

// meet closes the loop's window, in which no work before until remains, and opens the next. It
// reports whether there is one.
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

// await waits until all loops have finished a window, or one is broken. A loop that waits for long
// requests a change of mode.
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

// decides reports whether all loops must decide together before a window that ends with a cycle. It
// depends only on the reports of one window, so all loops reach the same conclusion.
func (m *meeting) decides(l *loop, past drivers.Cycle) bool {
	window := l.window - m.late
	r := m.sum(func(l *loop) report { return l.shared.reports[window%reported].report })
	l.change = l.change || r.change
	return r.failed || r.change || r.live == 0 || window%tickEvery == 0 ||
		r.next >= past && r.next-past >= m.lookahead || // a decision costs as much as some windows
		m.k.cfg.Limit > 0 && past > m.k.cycle(m.k.cfg.Limit)+1
}

// sum combines the reports of all loops.
func (m *meeting) sum(of func(l *loop) report) report {
	all := report{next: drivers.Forever}
	for _, l := range m.k.loops {
		r := of(l)
		all.next, all.live = min(all.next, r.next), all.live+r.live
		all.failed, all.change = all.failed || r.failed, all.change || r.change
	}
	return all
}

// decideTogether is executed by the last thread to arrive.
func (m *meeting) decideTogether() {
	m.decide(m.every)
	for _, l := range m.k.loops { // the next window uses the reports of this one
		l.change, l.shared.reports[l.window%reported].change = false, false
	}
	m.tick()
}

// decide plans the next window for all loops, which have stopped and have received everything sent
// to them. every is its maximum length.
func (m *meeting) decide(every drivers.Cycle) {
	r := m.sum(func(l *loop) report { return l.shared.exact })
	p := &m.plan
	start := m.k.loops[0].past // end of the window that all have finished
	if r.next > start {
		start = r.next - 1 // an event of a cycle may have been sent in the previous one
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
		p.past = min(start+m.every, limit+1) // in either mode
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

// shared is the state that a loop publishes. It may be two windows ahead of a reader. Its size puts
// every report into a cache line of its own.
type shared struct {
	reports [reported]windowReport // by window
	exact   report                 // for a decision
	_       [512 - reported*64 - 24]byte
}

// windowReport is a report with its window.
type windowReport struct {
	report
	window atomic.Uint64
	_      [32]byte
}

const (
	reported    = 4
	firstWindow = reported
)

// begin resets all windows; the ones before the first report pending work.
func (s *shared) begin() {
	for w := range uint64(firstWindow) {
		s.put(w, report{live: 1})
	}
}

// put publishes the report of a finished window.
func (s *shared) put(window uint64, r report) {
	s.reports[window%reported].report = r
	s.reports[window%reported].window.Store(window)
}

// done reports whether a window is finished.
func (s *shared) done(window uint64) bool { return s.reports[window%reported].window.Load() >= window }
