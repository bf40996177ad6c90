package explore

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Verdict is the outcome of an exploration.
type Verdict uint8

// The verdicts.
const (
	Proved    Verdict = iota // all states visited, all properties hold
	Refuted                  // a counterexample was found
	Undecided                // MaxStates was reached; no counterexample so far
)

func (v Verdict) String() string { return [...]string{"proved", "refuted", "undecided"}[v] }

// Result is what an exploration found; doc.go lists the properties.
type Result struct {
	Verdict     Verdict
	States      int
	Transitions int
	Depth       int
	Ends        int // states in which nothing can happen any more
	Duration    time.Duration
	Violation   string // if refuted
	Script      string // a shortest counterexample as a scenario with its output
}

// explorer is one breadth-first search: the first counterexample it meets is a shortest one.
type explorer struct {
	o           *Options
	seen        map[key]uint32 // to the number of the state
	parents     []step
	frontier    []expansion
	next        []expansion
	buf         []byte
	transitions int
	ends        int
}

// step is how a state was reached first.
type step struct {
	parent uint32
	event  event
}

type expansion struct {
	w  *World
	id uint32
}

// Run explores every interleaving that o allows, in the order of their length. It returns an error
// for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	w, err := NewWorld(&o)
	if err != nil {
		return Result{}, err
	}
	x := &explorer{o: &o, seen: map[key]uint32{}}
	x.add(w, step{})
	r, err := x.search(ctx)
	r.States, r.Transitions, r.Ends, r.Duration = len(x.parents), x.transitions, x.ends, time.Since(began)
	return r, err
}

func (x *explorer) search(ctx context.Context) (r Result, err error) {
	limit := x.o.MaxStates
	if limit == 0 {
		limit = DefaultMaxStates
	}
	for ; len(x.next) > 0; r.Depth++ {
		x.frontier, x.next = x.next, x.frontier[:0]
		for i := range x.frontier {
			if err := ctx.Err(); err != nil {
				return r, fmt.Errorf("explore: stopped after %d states: %w", len(x.parents), err)
			}
			if len(x.parents) > limit {
				r.Verdict = Undecided
				return r, nil
			}
			p := x.frontier[i]
			x.frontier[i] = expansion{}
			if last, err := x.expand(p); err != nil {
				r.Verdict, r.Violation = Refuted, strings.TrimPrefix(err.Error(), ErrUnsafe.Error()+": ")
				r.Script = script(x.o, x.path(p.id, last), r.Violation)
				return r, nil
			}
		}
	}
	return r, nil
}

// add takes note of a state and tells whether it is new.
func (x *explorer) add(w *World, s step) (uint32, bool) {
	x.buf = w.append(x.buf[:0])
	k := sum(x.buf)
	if id, ok := x.seen[k]; ok {
		return id, false
	}
	id := uint32(len(x.parents))
	x.seen[k] = id
	x.parents = append(x.parents, s)
	x.next = append(x.next, expansion{w, id})
	return id, true
}

// expand visits all successors of a state. With an error comes the event that causes it, or nil if it
// is the state itself.
func (x *explorer) expand(p expansion) (*event, error) {
	moved := false
	try := func(e event) (*World, error) {
		w := p.w.clone()
		if err := w.apply(e); err != nil {
			return w, err
		}
		x.transitions++
		id, _ := x.add(w, step{p.id, e})
		moved = moved || id != p.id // asking in vain is not movement
		return w, nil
	}
	for _, e := range p.w.enabled() {
		w, err := try(e)
		if err != nil {
			return &e, err
		}
		if bad, ok := p.w.faulted(e); ok {
			if _, err := try(bad); err != nil {
				return &bad, err
			}
		}
		for _, t := range []trouble{shortage, refused} {
			if t == shortage && p.w.shortages == 0 || t == refused && p.w.refusals == 0 {
				continue
			}
			for nth := 1; nth <= w.asked; nth++ {
				bad := e
				bad.nth, bad.trouble = nth, t
				if _, err := try(bad); err != nil {
					return &bad, err
				}
			}
		}
	}
	if moved {
		return nil, nil
	}
	x.ends++
	return nil, p.w.finished()
}

// path lists the events to a state and the one after it.
func (x *explorer) path(id uint32, last *event) (list []event) {
	for ; id != 0; id = x.parents[id].parent {
		list = append([]event{x.parents[id].event}, list...)
	}
	if last != nil {
		list = append(list, *last)
	}
	return list
}
