package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

const (
	defaultMaxStates = 2_000_000
	maxRun           = 100_000
)

// Run explores every interleaving of a world. A violated property is a Result.
func Run(ctx context.Context, o Options) (r modelcheck.Result, err error) {
	began := time.Now()
	defer func() { r.Duration = time.Since(began) }()
	if err := o.validate(); err != nil {
		return r, err
	}
	w, err := NewWorld(&o)
	if err != nil {
		return r, err
	}
	limit := o.MaxStates
	if limit == 0 {
		limit = defaultMaxStates
	}
	x, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{MaxStates: limit, Liveness: modelcheck.EndReachable},
	}, w)
	if err != nil {
		return r, err
	}
	return modelcheck.Explained(x, ErrUnsafe, o.String(), new(Script).Exec), nil
}

// A Script runs the commands of a scenario, one a line:
//
//	new [ranks=N] [first=N] [chunk=N] [in-flight=N] [nonces=N] [bounces=N] [triggers=N] [recover] [mistake=NAME] OPERATION…
//	                R:send>P#TAG/BYTES; R:recv<P#TAG/BYTES, where P and TAG may be *;
//	                R:cancel@N (receive N); R:wait@N (the next operation waits until N is done)
//	do R            the next operation of rank R
//	progress R      rank R reads its events and counters
//	deliver F>T     the oldest packet of a pair
//	run             until nothing can happen; the enabled events take turns
//	state           the operations that are not done
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
	f := strings.Fields(line)
	if len(f) == 0 {
		return fmt.Errorf("an empty command")
	}
	if f[0] == "new" {
		o, err := Parse(f[1:])
		if err != nil {
			return err
		}
		if s.w, err = NewWorld(&o); err == nil {
			s.w.print = func(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }
		}
		return err
	}
	if s.w == nil {
		return fmt.Errorf("%s: no world; begin with new", f[0])
	}
	switch f[0] {
	case "state":
		s.state()
		return nil
	case "run":
		for i := range maxRun {
			list := s.w.Enabled()
			if len(list) == 0 {
				return s.w.Finished()
			}
			if err := s.w.Apply(list[i%len(list)]); err != nil {
				return err
			}
		}
		return fmt.Errorf("no end after %d events", maxRun)
	}
	enabled := s.w.Enabled()
	for _, e := range enabled {
		if e.String() == line {
			if err := s.w.Apply(e); err != nil {
				return err
			}
			if len(s.w.Enabled()) == 0 {
				return s.w.Finished()
			}
			return nil
		}
	}
	return fmt.Errorf("%s: cannot happen; possible: %v", line, enabled)
}

func (s *Script) state() {
	for i := range s.w.ops {
		if op := &s.w.ops[i]; !op.isDone && (s.w.o.Ops[i].Name == "send" || s.w.o.Ops[i].Name == "recv") {
			fmt.Fprintf(&s.out, "operation %d: started=%v done=false\n", i, op.isStarted)
		}
	}
}
