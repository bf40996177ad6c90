package explore

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// explorer is one breadth-first search: the first counterexample it meets is a shortest one. What it finds depends neither on
// how many goroutines expand states nor on their speed.
type explorer struct {
	o           *Options
	store       *store
	frontier    []waiting
	next        []waiting
	transitions int
	ends        int
}

// waiting is a state to be expanded. It is made of its parent's world when its time has come: so a level of
// worlds is in memory, and not two.
type waiting struct {
	parent *World // the first state's own
	event  packed
	id     uint32
}

// Run explores every interleaving that o allows, in the order of their length. It returns an error
// for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	w, err := NewWorld(&o)
	if err != nil {
		return Result{}, err
	}
	x := &explorer{o: &o, store: newStore()}
	x.store.add(sum(w.append(nil)), step{})
	x.next = []waiting{{parent: w}}
	r, err := x.search(ctx)
	r.States, r.Transitions, r.Ends, r.Duration = x.store.len(), x.transitions, x.ends, time.Since(began)
	return r, err
}

// batch is how many states are expanded between two looks at what was found: the keys of so many and their successors
// are in memory twice.
const batch = 1 << 11

func (x *explorer) search(ctx context.Context) (r Result, err error) {
	limit := x.o.MaxStates
	if limit == 0 {
		limit = DefaultMaxStates
	}
	found := make([]expansion, batch)
	for ; len(x.next) > 0; r.Depth++ {
		x.frontier, x.next = x.next, x.frontier[:0]
		for left := x.frontier; len(left) > 0; {
			if err := ctx.Err(); err != nil {
				return r, fmt.Errorf("explore: stopped after %d states: %w", x.store.len(), err)
			}
			if x.store.len() > limit {
				r.Verdict = Undecided
				return r, nil
			}
			n := min(len(left), batch)
			x.expandAll(left[:n], found)
			for i := range n {
				if err := x.take(&left[i], &found[i]); err != nil {
					r.Verdict, r.Violation = Refuted, strings.TrimPrefix(err.Error(), ErrUnsafe.Error()+": ")
					path := x.store.path(left[i].id)
					if found[i].bad != nil {
						path = append(path, *found[i].bad)
					}
					r.Script = script(x.o, path, r.Violation)
					return r, nil
				}
				left[i].parent = nil
			}
			left = left[n:]
		}
	}
	return r, nil
}

// An expansion is what a state's events come to.
type expansion struct {
	world      *World
	successors []successor
	tried      int
	moved      bool
	err        error
	bad        *event // that causes err; nil: it is the state itself
}

type successor struct {
	key   key
	event packed
}

// expandAll expands states side by side. Nobody adds any meanwhile.
func (x *explorer) expandAll(list []waiting, into []expansion) {
	jobs := max(x.o.Jobs, 1)
	var all sync.WaitGroup
	for j := range jobs {
		all.Go(func() {
			var buf []byte
			for i := j; i < len(list); i += jobs {
				buf = x.expand(&list[i], &into[i], buf)
			}
		})
	}
	all.Wait()
}

// take adds what is new of an expansion, in the order of the events.
func (x *explorer) take(p *waiting, e *expansion) error {
	x.transitions += e.tried
	if e.err != nil && e.bad != nil {
		return e.err
	}
	for _, s := range e.successors {
		if id, fresh := x.store.add(s.key, step{p.id, s.event}); fresh {
			x.next = append(x.next, waiting{e.world, s.event, id})
		}
	}
	e.world = nil
	if e.moved {
		return nil
	}
	x.ends++
	return e.err
}

// expand visits all successors of a state.
func (x *explorer) expand(p *waiting, into *expansion, buf []byte) []byte {
	*into = expansion{world: p.parent, successors: into.successors[:0]}
	if p.id != 0 {
		e := p.event.event()
		into.world = p.parent.cloneFor(p.parent.actor(e))
		if err := into.world.apply(e); err != nil {
			panic(err) // it has gone well when the state was found
		}
	}
	here := into.world
	try := func(e event) (w *World, ok bool) {
		w = here.cloneFor(here.actor(e))
		if into.err = w.apply(e); into.err != nil {
			into.bad = &e
			return w, false
		}
		into.tried++
		buf = w.append(buf[:0])
		k := sum(buf)
		id, known, _ := x.store.find(k)
		into.moved = into.moved || !known || id != p.id // asking in vain is not movement
		if !known {
			into.successors = append(into.successors, successor{k, e.pack()})
		}
		return w, true
	}
	for _, e := range here.enabled() {
		w, ok := try(e)
		if !ok {
			return buf
		}
		if bad, can := here.faulted(e); can {
			if _, ok := try(bad); !ok {
				return buf
			}
		}
		for _, t := range []trouble{shortage, refused} {
			if t == shortage && here.shortages == 0 || t == refused && here.refusals == 0 {
				continue
			}
			for nth := 1; nth <= w.asked; nth++ {
				bad := e
				bad.nth, bad.trouble = nth, t
				if _, ok := try(bad); !ok {
					return buf
				}
			}
		}
	}
	if !into.moved {
		into.err = here.finished()
	}
	return buf
}
