package explore

import (
	"bytes"
	"fmt"
	"strings"
)

// refuted completes a result with the counterexample: the path to state id and, if the violation
// comes with an event out of it, that event.
func (x *explorer) refuted(r Result, id uint32, last *event, cause error) Result {
	r.Verdict = Refuted
	r.Violation = strings.TrimPrefix(cause.Error(), ErrUnsafe.Error()+": ")
	var failing event // x.events, where last points, is about to be reused
	if last != nil {
		failing = *last
	}
	trace := x.replay(x.s.path(id))
	if last == nil {
		if from, to, ok := x.deadlocked(); ok {
			trace = append(trace, event{send, from, to}) // it will be refused
		}
	} else {
		trace = append(trace, x.violating(failing))
	}
	r.Script = script(x.o, trace, r.Violation)
	return r
}

// replay finds the events along a path of canonical states and leaves the world at its end. Only
// the world's own state tells which of two symmetric processes acts, so it is followed event by
// event.
func (x *explorer) replay(path []uint32) []event {
	w, err := x.o.World()
	if err != nil {
		panic(err) // the same options started the search
	}
	x.w = w
	var trace []event
	for _, id := range path[1:] {
		here := x.c.append(nil, x.w)
		e := x.find(here, func(e event) bool {
			return x.w.apply(e) == nil && bytes.Equal(x.encode(), x.s.state(id))
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
	for _, other := range x.events {
		if e == other {
			return true
		}
	}
	return false
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

// script writes events as a scenario with the output they produce.
func script(o Options, trace []event, violation string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A shortest counterexample, found by package explore:\n# %s\n\n", violation)
	var s Script
	run := func(line string) { fmt.Fprintf(&b, "%s\n----\n%s\n", line, s.Exec(line)) }
	run(o.String())
	for i := 0; i < len(trace); {
		n := 1
		for i+n < len(trace) && trace[i+n] == trace[i] {
			n++
		}
		run(trace[i].command(n))
		i += n
	}
	run("state")
	return strings.TrimRight(b.String(), "\n") + "\n"
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
