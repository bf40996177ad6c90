package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

const defaultMaxStates = 2_000_000

// Run explores every interleaving of a world. A violated property is a Result.
func Run(ctx context.Context, o Options) (modelcheck.Result, error) { return run(ctx, o, hooks{}) }

func run(ctx context.Context, o Options, h hooks) (r modelcheck.Result, err error) {
	began := time.Now()
	defer func() { r.Duration = time.Since(began) }()
	if err := o.validate(); err != nil {
		return r, err
	}
	w, err := NewWorld(&o)
	if err != nil {
		return r, err
	}
	w.hooks = h
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
	s := Script{hooks: h}
	return modelcheck.Explained(x, ErrUnsafe, o.String(), s.Exec), nil
}

// A Script runs the commands of a scenario, one a line:
//
//	new [ranks=N] [events=N] [headers=N] [flow] [overflow] [late] OPERATION…
//	                R:put>T#TAG, R:trig>T#TAG@ACKS (triggered by so many acknowledgements),
//	                R:recv#TAG (an entry for one use; tag * takes every tag)
//	do R            the next operation of rank R
//	deliver F>T     the oldest packet of a pair
//	sent R          with late: the data of the oldest put of rank R have left; without it they leave at once
//	read R          rank R reads an event of its portal table entry
//	enable R        rank R enables its portal table entry again
//	state           what is known of the messages
type Script struct {
	w     *World
	hooks hooks
	out   strings.Builder
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
			s.w.hooks = s.hooks
			s.w.print = func(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }
		}
		return err
	}
	if s.w == nil {
		return fmt.Errorf("%s: no world; begin with new", f[0])
	}
	if f[0] == "state" {
		for i := range s.w.msgs {
			if m := &s.w.msgs[i]; s.w.o.Ops[i].Name != "recv" {
				fmt.Fprintf(&s.out, "message %d: requests=%d SEND=%d ACK=%d taken=%v received=%v\n",
					i, m.requests, m.sends, m.acks, m.taken, m.received)
			}
		}
		return nil
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
