package mixed

import (
	"cmp"
	"errors"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/drivers"
)

// Synchronisation of the two sides. The model has simulated the cycle that the caller sees as Now.
// The simulator is at the same cycle, or behind because it is idle, or slightly ahead (Lead). Since
// a flit takes several cycles over a link, a side needs the actions of the other in a cycle only
// some cycles later. Therefore:
//
//   - while both sides have work, both simulate one cycle at the same time; or the simulator two,
//     and the model follows;
//   - while the model is idle, the simulator advances until the model has work, or something leaves
//     the RTL that may give it work (slack);
//   - while the RTL is idle, the model advances until something leaves for the RTL, or software
//     posts to it.

// A flit that leaves the RTL in a word of cycle w can leave the next router, or be discarded there,
// in w + 4, both of which the RTL notices in w + 5. slack is the number of cycles that the
// simulator may advance after the first such w. When nothing may be ahead of Now, events that stop
// a run count as well, including a discarded packet.
const (
	slack     = 3
	slackLead = 4
	leads     = 2 // cycles by which the RTL may lead a busy model
)

// Run advances time; see drivers.Timed.
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

// quiet reports whether only software can cause further events.
func (s *System) quiet() bool {
	return s.wakes == drivers.Forever && s.part.NextEvent() == drivers.Forever
}

// look checks whether an armed event has happened already.
func (s *System) look() error {
	if !s.armed {
		return nil
	}
	s.armed = false
	return s.step(bridge.Step{Deadline: s.rtl.Now()})
}

// advance advances the model, the RTL or both, at most to a deadline, except for an RTL that leads.
func (s *System) advance(deadline drivers.Cycle) error {
	if s.closed.Load() {
		return drivers.ErrClosed
	}
	free := s.wakes - 1 // the RTL has simulated everything up to this cycle
	if s.rtlStops() && !s.reads {
		free = s.met
	}
	next := s.part.NextEvent()
	switch {
	case free > s.now:
		s.runModel(min(deadline, free))
		return nil
	case s.lead != nil && !s.reads:
		idle := min(next-1, max(deadline, deadline+1)) // limit of the model's idleness, unless software gives it work after the deadline
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

// runModel advances the model to a cycle, or until something leaves for the RTL or stops it.
func (s *System) runModel(until drivers.Cycle) {
	for {
		t := s.part.NextEvent()
		if t > until {
			if until < drivers.Forever-1 { // otherwise no further event is pending
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

// runRTL advances the simulator; the model follows as far as it is idle.
func (s *System) runRTL(step bridge.Step, idle drivers.Cycle) error {
	if err := s.step(step); err != nil {
		return err
	}
	now := min(s.rtl.Now(), idle)
	if edges := s.rtl.Edges(); len(edges) > 0 {
		now = min(now, edges[0].At+slack) // it takes part in the next cycle
	}
	if now > s.now {
		s.now = now
		s.part.Reach(now)
		s.border.send() // a flit may leave in the last cycle before an event of the network
	}
	return s.receive()
}

// runBoth simulates a cycle of the model, which has work, and concurrently at least that cycle in
// the simulator.
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

// step advances the simulator.
func (s *System) step(step bridge.Step) error { return s.ended(s.rtl.RunStep(step, &s.stop)) }

// ended handles the result of a step.
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
		s.rtlErrors = append(s.rtlErrors, err)
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
	s.border.send() // credits of flits that were discarded immediately
	return nil
}

// read reads a register. The other side advances along.
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
		// A cycle at a time, because the response does not stop a run.
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
	s.armed = true // events that fired meanwhile are reported by the next step
	return v, refused, nil
}

func byNode(a, b drivers.Fired) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Watch, b.Watch), cmp.Compare(a.VPID, b.VPID))
}
