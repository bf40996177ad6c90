package modelcheck

import (
	"fmt"
	"strings"
	"time"
)

// Verdict is the outcome of an exploration.
type Verdict uint8

const (
	Proved    Verdict = iota // all states visited, all properties hold
	Refuted                  // a counterexample was found
	Undecided                // MaxStates was reached; no counterexample so far
)

func (v Verdict) String() string { return [...]string{"proved", "refuted", "undecided"}[v] }

// Result is what the adapters report of an exploration.
type Result struct {
	Verdict     Verdict
	States      int // distinct ones that were visited; symmetric ones count once
	Transitions int
	Depth       int
	Ends        int // states in which nothing can happen any more, if the adapter counts them
	Duration    time.Duration
	Bound       string // in words, what the options leave out
	Violation   string // if refuted
	Script      string // if refuted: a shortest counterexample, a script with its output
}

func (r Result) String() string {
	s := fmt.Sprintf("%v: %d states, %d transitions, depth %d, %v (%s)",
		r.Verdict, r.States, r.Transitions, r.Depth, r.Duration.Round(time.Millisecond), r.Bound)
	if r.Violation != "" {
		s += ": " + r.Violation
	}
	return s
}

// Result returns what a search counted and decided.
func (s *Search[W, E]) Result() Result {
	o := &s.Outcome
	return Result{Verdict: o.Verdict, States: s.Len(), Transitions: s.Transitions, Depth: o.Depth, Ends: o.Ends}
}

// Explained returns the result of a search with its violation and the transcript of its
// counterexample. Violations wrap the error unsafe, whose text is omitted. The transcript begins
// with the command that makes the world; the String of an event is its command.
func Explained[W any, E fmt.Stringer](s *Search[W, E], unsafe error, world string, exec func(command string) string) Result {
	r := s.Result()
	if bad := s.Outcome.Violation; bad != nil {
		r.Violation = strings.TrimPrefix(bad.Err.Error(), unsafe.Error()+": ")
		commands := []string{world}
		for _, e := range s.Counterexample() {
			commands = append(commands, e.String())
		}
		r.Script = Transcript(r.Violation, commands, exec)
	}
	return r
}

// Transcript runs the commands of a counterexample, then the command state, and writes them with
// their output in the format of datadriven. A violation becomes a comment at the top.
func Transcript(violation string, commands []string, exec func(command string) string) string {
	var b strings.Builder
	if violation != "" {
		fmt.Fprintf(&b, "# A shortest counterexample, found by package explore:\n# %s\n\n", violation)
	}
	for _, command := range append(commands, "state") {
		fmt.Fprintf(&b, "%s\n----\n%s\n", command, exec(command))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
