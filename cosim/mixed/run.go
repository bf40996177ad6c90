package mixed

import (
	"cmp"
	"errors"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/drivers"
)

// How time passes. The model has done what the caller sees as Now; the simulator stands there too,
// or behind, because nothing can happen in it, or a little ahead (Lead). A side needs of what the
// other does in a cycle nothing before some cycles later, as a flit passes a link in cycles. So
//
//   - while both have something to do, both do one cycle, at the same time; or the simulator two,
//     and the model follows;
//   - while the model has nothing to do, the simulator goes on until it has, or something leaves
//     the RTL that may give it something (slack);
//   - while the RTL has nothing to do, the model goes on until something leaves for it, or software
//     posts to it.

// A flit that leaves the RTL in a word of cycle w can leave the next router in w + 4 and be
// discarded there in w + 4, both of which the RTL notices in w + 5. What slack is: how many cycles
// the simulator may go on behind the first w. When nothing may be ahead of Now, what stops a run
// counts as well, and a discarded packet is one.
const (
	slack     = 3
	slackLead = 4
	leads     = 2 // cycles by which the RTL may lead a model that is busy
)

// Run lets time pass; see drivers.Timed.
func (s *System) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: s.now, Fired: stop.Fired[:0]}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return err
	}
	for !s.stops() && s.now < deadline {
		if deadline == drivers.Forever && s.quiet() {
			s.now = max(s.now, s.rtl.Now(), s.part.Drained())
			s.part.Reach(s.now)
			break
		}
		if err := s.advance(deadline); err != nil {
			return err
		}
	}
	err := s.report(stop)
	if failed := s.flush(stop.Quiet); failed != nil {
		return s.fail(failed)
	}
	return err
}

// quiet: only software can change anything.
func (s *System) quiet() bool {
	return s.wakes == drivers.Forever && s.part.NextEvent() == drivers.Forever
}

// look finds out whether what was armed has happened already.
func (s *System) look() error {
	if !s.armed {
		return nil
	}
	s.armed = false
	return s.step(bridge.Step{Deadline: s.rtl.Now()})
}

// advance lets the model, the RTL or both go on, up to a deadline at most but for an RTL that
// leads.
func (s *System) advance(deadline drivers.Cycle) error {
	if s.closed.Load() {
		return drivers.ErrClosed
	}
	free := s.wakes - 1 // the RTL has done all up to here
	if s.rtlStops() && !s.reads {
		free = s.met
	}
	next := s.part.NextEvent()
	switch {
	case free > s.now:
		s.runModel(min(deadline, free))
		return nil
	case s.lead != nil && !s.reads:
		idle := min(next-1, max(deadline, deadline+1)) // the model, unless software has it do something behind the deadline
		until := max(s.now+1, min(s.lead(), max(s.now+leads, idle+1)))
		if next == s.now+1 {
			return s.runBoth(bridge.Step{Deadline: until, Slack: slackLead})
		}
		return s.runRTL(bridge.Step{Deadline: until, Slack: slackLead}, min(deadline, next-1))
	case next > s.now+1:
		until := min(deadline, next-1)
		return s.runRTL(bridge.Step{Deadline: until, Slack: slack}, until)
	}
	return s.runBoth(bridge.Step{Deadline: next, Slack: slack, Through: true})
}

// runModel lets the model go on to a cycle, or until something leaves for the RTL or stops it.
func (s *System) runModel(until drivers.Cycle) {
	for {
		t := s.part.NextEvent()
		if t > until {
			if until < drivers.Forever-1 { // else there is nothing more to come
				s.now = until
			}
			break
		}
		s.part.Perform(t)
		s.now = t
		s.border.send()
		if until = min(until, s.wakes-1); s.part.Stops() || s.now >= until || s.closed.Load() {
			break
		}
	}
	s.part.Reach(s.now)
	s.border.send()
}

// runRTL lets the simulator go on, and the model follow as far as it has nothing to do.
func (s *System) runRTL(step bridge.Step, idle drivers.Cycle) error {
	if err := s.step(step); err != nil {
		return err
	}
	now := min(s.rtl.Now(), idle)
	if edges := s.rtl.Edges(); len(edges) > 0 {
		now = min(now, edges[0].At+slack) // of the next cycle it takes part
	}
	if now > s.now {
		s.now = now
		s.part.Reach(now)
		s.border.send() // a flit may leave in the last cycle before an event of the network
	}
	return s.receive()
}

// runBoth lets the model do a cycle, in which it has something to do, and meanwhile the simulator
// at least that one.
func (s *System) runBoth(step bridge.Step) error {
	t := s.now + 1
	s.stop.Fired = s.stop.Fired[:0]
	if err := s.rtl.BeginStep(step); err != nil {
		return s.ended(err)
	}
	s.part.Perform(t)
	s.part.Reach(t)
	if err := s.ended(s.rtl.EndStep(&s.stop)); err != nil {
		return err
	}
	s.now = t
	s.border.send()
	return s.receive()
}

// step lets the simulator go on.
func (s *System) step(step bridge.Step) error { return s.ended(s.rtl.RunStep(step, &s.stop)) }

// ended takes in how a step ended.
func (s *System) ended(err error) error {
	if broken := s.rtl.Err(); broken != nil {
		if s.closed.Load() {
			return drivers.ErrClosed
		}
		return s.fail(broken)
	}
	if !s.rtlStops() {
		s.met = max(s.now, s.rtl.Now())
	}
	if err != nil {
		s.told = append(s.told, err)
	}
	s.takeFired(s.stop.Fired)
	if s.wakes = s.rtl.Now() + 1; s.stop.Quiet {
		s.wakes = drivers.Forever
	}
	return nil
}

func (s *System) receive() error {
	if err := s.border.take(s.rtl.Edges()); err != nil {
		return s.fail(err)
	}
	s.border.send() // credits of what has been discarded at once
	return nil
}

// read reads a register. The other side comes along.
func (s *System) read(node int, off uint32) (uint64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	s.reads = true
	defer func() { s.reads = false }()
	var v uint64
	var refused, err error
	if err = s.look(); err == nil {
		if s.isRTL[node] {
			v, refused, err = s.readRTL(node, off)
		} else {
			v, refused, err = s.readModel(node, off)
		}
	}
	if err == nil {
		if failed := s.flush(false); failed != nil {
			err = s.fail(failed)
		}
	}
	if err != nil {
		return 0, err
	}
	return v, refused
}

func (s *System) readModel(node int, off uint32) (v uint64, refused, err error) {
	s.part.PostRead(node, off)
	for done := false; !done; v, done, refused = s.part.Answer(node) {
		// A cycle at a time, as the answer stops nothing.
		if err := s.advance(s.now + 1); err != nil {
			return 0, nil, err
		}
	}
	for end := s.now + s.part.AnswerTime(node, off); s.now < end; {
		if err := s.advance(s.now + 1); err != nil {
			return 0, nil, err
		}
	}
	return v, refused, nil
}

func (s *System) readRTL(node int, off uint32) (v uint64, refused, err error) {
	if s.rtl.Now() < s.now {
		if err := s.step(bridge.Step{Deadline: s.now, Through: true}); err != nil {
			return 0, nil, err
		}
	}
	for s.rtl.Now() > s.now {
		if err := s.advance(s.rtl.Now()); err != nil {
			return 0, nil, err
		}
	}
	for begun, done := false, false; !done; begun = true {
		t := s.now + 1
		var posted error
		v, done, posted = s.rtl.ReadStep(node, off, bridge.Step{Deadline: t, Slack: slack}, begun)
		refused = errors.Join(refused, posted)
		if broken := s.rtl.Err(); broken != nil {
			return 0, nil, s.fail(broken)
		}
		s.wakes = t + 1
		if s.part.NextEvent() <= t {
			s.part.Perform(t)
		}
		s.part.Reach(t)
		s.now = t
		s.border.send()
		if err := s.receive(); err != nil {
			return 0, nil, err
		}
	}
	s.armed = true // what fired meanwhile is told by the next step
	return v, refused, nil
}

func byNode(a, b drivers.Fired) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Watch, b.Watch), cmp.Compare(a.VPID, b.VPID))
}
