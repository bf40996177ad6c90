package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

const defaultMaxStates = 3_000_000

// Run explores every interleaving of a world. A violated property is a Result.
func Run(ctx context.Context, o Options) (r modelcheck.Result, err error) {
	began := time.Now()
	defer func() { r.Duration = time.Since(began) }()
	limit := o.MaxStates
	if limit == 0 {
		limit = defaultMaxStates
	}
	x, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{MaxStates: limit, Liveness: modelcheck.EndReachable}, KeepParents: true,
	}, NewWorld(&o))
	if err != nil {
		return r, err
	}
	out := x.Outcome
	r = modelcheck.Result{
		Verdict: out.Verdict, States: x.Len(), Transitions: x.Transitions, Depth: out.Depth, Ends: out.Ends,
	}
	if bad := out.Violation; bad != nil {
		r.Violation = strings.TrimPrefix(bad.Err.Error(), ErrUnsafe.Error()+": ")
		commands := []string{o.String()}
		for _, e := range x.Counterexample() {
			commands = append(commands, e.String())
		}
		var s Script
		r.Script = modelcheck.Transcript(r.Violation, commands, s.Exec)
	}
	return r, nil
}

// A Script runs the commands of a scenario, one a line:
//
//	new [forth=N] [back=N] [capacity=N] [buffers=N] [stored=N] [ackevery=N] [restarts=N] [plant=NAME]
//	send E           end E sends its next message
//	post E           end E posts a receive
//	timeout E        all timers of end E expire
//	restart E        end E loses its state
//	deliver F>T #K   datagram K of those from F to T arrives
//	lose F>T #K      it is lost
//	duplicate F>T #K
//	state            the messages of both ends
type Script struct {
	w   *World
	out strings.Builder
}

// Exec runs a command and returns what it prints.
func (s *Script) Exec(line string) string {
	s.out.Reset()
	if err := s.exec(line); err != nil {
		fmt.Fprintf(&s.out, "%s\n", strings.Replace(err.Error(), ErrUnsafe.Error(), "violation", 1))
	}
	if s.out.Len() == 0 {
		return "ok\n"
	}
	return s.out.String()
}

func (s *Script) exec(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return fmt.Errorf("an empty command")
	}
	if words[0] == "new" {
		o, err := Parse(words[1:])
		if err != nil {
			return err
		}
		s.w = NewWorld(&o)
		s.w.print = func(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }
		return nil
	}
	if s.w == nil {
		return fmt.Errorf("%s: no world; begin with new", words[0])
	}
	if words[0] == "state" {
		for i := range s.w.ends {
			e := &s.w.ends[i]
			fmt.Fprintf(&s.out, "end %d: sent=%d completed=%d delivered=%d\n", i, e.sent, e.completed, s.w.delivered[i]+1)
		}
		return nil
	}
	enabled := s.w.Enabled()
	for _, e := range enabled {
		if e.String() == line {
			return s.w.Apply(e)
		}
	}
	return fmt.Errorf("%s: cannot happen; possible: %v", line, enabled)
}
