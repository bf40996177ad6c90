package modelcheck

import (
	"context"
	"fmt"
	"slices"
)

// Options of a search.
type Options struct {
	MaxStates int // ends the search undecided; 0: no limit
	Liveness  Liveness
	Progress  func(states int) // called now and then; may be nil
}

// An Expander finds the successors of a state. Each worker has one of its own.
type Expander[W, E any] interface {
	// Expand calls out.Add for every successor and out.End if the state is an end.
	Expand(s State[W, E], out *Out[W, E]) *Violation[E]
}

// State is a state to expand.
type State[W, E any] struct {
	ID       uint32
	Encoding []byte
	World    W // that came with its successor when the state was found
	Event    E // by which it was found
}

// Successor is a state that an event leads to. Add copies the encoding.
type Successor[W, E any] struct {
	Encoding []byte
	World    W
	Event    E
	Marked   bool // for the liveness check
}

// Violation is a property that does not hold.
type Violation[E any] struct {
	Err   error
	Event *E // that causes it; nil: it is the state itself
}

// Outcome is what a search found.
type Outcome[E any] struct {
	Verdict   Verdict
	Depth     int // levels that were expanded completely
	Ends      int
	ID        uint32        // if refuted: the state whose expansion violates a property
	Known     int           // if refuted: states that were known before that expansion
	Violation *Violation[E] // if refuted
}

// Search is a breadth-first search: the first counterexample it meets is a shortest one.
type Search[W, E any] struct {
	store
	Transitions int
	Outcome     Outcome[E]

	o       Options
	parents []uint32 // the state that a state was found from
	events  []E      // and by which event
	level   []W      // being expanded; states of a level have consecutive numbers
	next    []W
	edges   edges
	ends    []uint32 // with EndReachable
	workers []Expander[W, E]
	outs    []Out[W, E]
}

// Run explores what is reachable from a first state with one worker for each expander. Its error
// is that of ctx.
func Run[W, E any](
	ctx context.Context, o Options, first Successor[W, E], workers ...Expander[W, E],
) (*Search[W, E], error) {
	s := &Search[W, E]{store: newStore(), o: o, workers: workers}
	s.outs = make([]Out[W, E], 1)
	if len(workers) > 1 {
		s.outs = make([]Out[W, E], batch)
	}
	for i := range s.outs {
		s.outs[i].search = s
	}
	s.add(0, &first)
	s.Transitions = 0
	return s, s.run(ctx)
}

// add takes a successor of state from and reports whether it is new.
func (s *Search[W, E]) add(from uint32, x *Successor[W, E]) (id uint32, fresh bool) {
	s.Transitions++
	if id, fresh = s.insert(x.Encoding); fresh {
		s.parents, s.events = append(s.parents, from), append(s.events, x.Event)
		s.next = append(s.next, x.World)
	}
	return id, fresh
}

// batch is how many states are expanded between two looks at ctx; with several workers, the
// successors of a batch are in memory twice.
const batch = 1 << 11

func (s *Search[W, E]) run(ctx context.Context) error {
	for first := 0; len(s.next) > 0; s.Outcome.Depth++ {
		s.level, s.next = s.next, s.level[:0]
		for left := s.level; len(left) > 0; {
			if err := s.pause(ctx); err != nil {
				return err
			}
			n := min(len(left), batch)
			if done := s.expand(uint32(first), left[:n]); done {
				return nil
			}
			clear(left[:n]) // frees their worlds
			left, first = left[n:], first+n
		}
	}
	s.checkLiveness()
	return nil
}

func (s *Search[W, E]) pause(ctx context.Context) error {
	if s.o.Progress != nil {
		s.o.Progress(s.Len())
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("explore: stopped after %d states: %w", s.Len(), err)
	}
	return nil
}

// expand expands states from number first on and reports whether the search is over.
func (s *Search[W, E]) expand(first uint32, worlds []W) (done bool) {
	if len(s.workers) > 1 {
		return s.expandParallel(first, worlds)
	}
	out := &s.outs[0]
	for i, w := range worlds {
		id := first + uint32(i)
		if s.full() {
			return true
		}
		known := s.Len()
		s.begin()
		out.begin(id, true)
		if s.finish(id, known, s.workers[0].Expand(s.state(id, w), out), out.end) {
			return true
		}
	}
	return false
}

func (s *Search[W, E]) state(id uint32, w W) State[W, E] {
	return State[W, E]{ID: id, Encoding: s.State(id), World: w, Event: s.events[id]}
}

// full ends the search undecided if there are too many states.
func (s *Search[W, E]) full() bool {
	if s.o.MaxStates > 0 && s.Len() > s.o.MaxStates {
		s.Outcome.Verdict = Undecided
		return true
	}
	return false
}

func (s *Search[W, E]) begin() {
	if s.o.Liveness != SafetyOnly {
		s.edges.begin()
	}
}

// finish accounts for an expanded state and reports whether the search is over.
func (s *Search[W, E]) finish(id uint32, known int, v *Violation[E], end bool) (done bool) {
	if end {
		s.Outcome.Ends++
		if s.o.Liveness == EndReachable {
			s.ends = append(s.ends, id)
		}
	}
	if v != nil {
		s.refute(id, known, v)
	}
	return v != nil
}

func (s *Search[W, E]) refute(id uint32, known int, v *Violation[E]) {
	s.Outcome.Verdict, s.Outcome.ID, s.Outcome.Known, s.Outcome.Violation = Refuted, id, known, v
}

func (s *Search[W, E]) checkLiveness() {
	bad := -1
	switch s.o.Liveness {
	case NoCycles:
		bad = s.edges.cycle(s.Len())
	case EndReachable:
		bad = s.edges.stranded(s.Len(), s.ends)
	}
	if bad >= 0 {
		s.refute(uint32(bad), s.Len(), &Violation[E]{Err: ErrLivelock})
	}
}

// Path lists the states from the first one to id.
func (s *Search[W, E]) Path(id uint32) []uint32 {
	path := []uint32{id}
	for ; id != 0; id = s.parents[id] {
		path = append(path, s.parents[id])
	}
	slices.Reverse(path)
	return path
}

// Counterexample lists the events that lead to the violation.
func (s *Search[W, E]) Counterexample() (events []E) {
	for _, id := range s.Path(s.Outcome.ID)[1:] {
		events = append(events, s.events[id])
	}
	if last := s.Outcome.Violation.Event; last != nil {
		events = append(events, *last)
	}
	return events
}
