package explore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// refuted completes a result with the counterexample: the path to the state at fault and, if an
// event out of it violates a property, that event.
func (x *explorer) refuted(r *Result, s *search) {
	bad := s.Outcome.Violation
	r.Violation = strings.TrimPrefix(bad.Err.Error(), ErrUnsafe.Error()+": ")
	if errors.Is(bad.Err, modelcheck.ErrLivelock) {
		r.Violation = "retrieving does not end: control packets cause control packets"
	}
	var failing event
	if bad.Event != nil {
		failing = x.events[len(x.events)-1] // replay is about to reuse the list
	}
	trace := x.replay(s)
	if bad.Event != nil {
		trace = append(trace, x.violating(failing))
	} else if from, to, ok := x.deadlocked(); ok {
		trace = append(trace, event{send, from, to}) // it will be refused
	}
	r.Script = script(x.o, trace, r.Violation)
}

// replay finds the events along a path of canonical states and leaves the world at its end. Only
// the world's own state tells which of two symmetric processes acts, so it is followed event by
// event.
func (x *explorer) replay(s *search) []event {
	w, err := x.o.World()
	if err != nil {
		panic(err) // the same options started the search
	}
	x.w = w
	var trace []event
	for _, id := range s.Path(s.Outcome.ID)[1:] {
		here := x.c.append(nil, x.w)
		e := x.find(here, func(e event) bool {
			return x.w.apply(e) == nil && bytes.Equal(x.encode(), s.State(id))
		})
		trace = append(trace, e)
	}
	return trace
}

// violating is the event out of the world's state that breaks it. Of two symmetric processes the
// world may hold the other one, so the event that the search saw is only the first guess.
func (x *explorer) violating(guess event) event {
	here := x.c.append(nil, x.w)
	breaks := func(e event) bool { return x.w.apply(e) != nil || x.check() != nil }
	if x.possible(guess) && breaks(guess) {
		return guess
	}
	return x.find(here, breaks)
}

func (x *explorer) possible(e event) bool {
	x.enabled()
	return slices.Contains(x.events, e)
}

// find returns the first event in state here that f accepts, and leaves the world behind it.
func (x *explorer) find(here []byte, f func(event) bool) event {
	x.c.load(here, x.w)
	x.enabled()
	for _, e := range x.events {
		x.c.load(here, x.w)
		if f(e) {
			return e
		}
	}
	panic("explore: the path of states cannot be replayed; AppendState and LoadState disagree")
}

// script writes events as a scenario with the output that they produce; repeated ones as one
// command.
func script(o Options, trace []event, violation string) string {
	commands := []string{o.String()}
	for len(trace) > 0 {
		n := 1
		for n < len(trace) && trace[n] == trace[0] {
			n++
		}
		commands, trace = append(commands, trace[0].command(n)), trace[n:]
	}
	return modelcheck.Transcript(violation, commands, new(Script).Exec)
}

func (e event) command(count int) string {
	var line string
	switch e.act {
	case send:
		line = fmt.Sprintf("send from=%d to=%d", e.from, e.to)
	case sendRoom:
		line = fmt.Sprintf("send from=%d to=%d room", e.from, e.to)
	case deliver:
		line = fmt.Sprintf("deliver from=%d to=%d", e.from, e.to)
	case retrieve:
		line = fmt.Sprintf("retrieve at=%d", e.to)
	case take:
		line = fmt.Sprintf("retrieve at=%d from=%d", e.to, e.from)
	}
	if count > 1 {
		line += fmt.Sprintf(" count=%d", count)
	}
	return line
}
