package explore

import (
	"context"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// event is one step of a world.
type event struct {
	act      action
	from, to int
}

type action uint8

const (
	send     action = iota // a data packet that leaves no room for credits
	sendRoom               // a data packet with room
	deliver                // network to mailbox
	retrieve               // off the mailbox of to
	take                   // deliver and retrieve in one
)

// apply runs an event that enabled listed. A panic of the flow control is a violation like others.
func (w *World) apply(e event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = violation("%v", p)
		}
	}()
	switch e.act {
	case send, sendRoom:
		w.Send(e.from, e.to, e.act == sendRoom)
	case deliver:
		w.Deliver(e.from, e.to)
	case retrieve:
		w.Retrieve(e.to)
	case take:
		w.Deliver(e.from, e.to)
		w.Retrieve(e.to)
	}
	return nil
}

// explorer expands states in one world, into which it loads them.
type explorer struct {
	o       Options
	w       *World
	c       *codec
	sym     *symmetry // nil if no processes are alike
	buf     []byte
	events  []event
	reduced bool // see reduce.go
}

// none stands for what the search need not keep: a state is all in its encoding, and of two
// symmetric processes only the world's own state tells which one acts (replay).
type none struct{}

type search = modelcheck.Search[none, none]

// Run explores every interleaving that o allows, in the order of their length. It returns an error
// for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	x, err := newExplorer(o)
	if err != nil {
		return Result{}, err
	}
	s, err := x.search(ctx)
	if s.Outcome.Verdict == Refuted && x.reduced {
		o.Full = true // for a counterexample that is a shortest one of all
		return Run(ctx, o)
	}
	r := x.result(s)
	r.Duration = time.Since(began)
	return r, err
}

func newExplorer(o Options) (*explorer, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	w, err := o.World()
	if err != nil {
		return nil, err
	}
	x := &explorer{o: o, w: w, c: newCodec(w, o.Messages > 0), reduced: o.reducible()}
	if o.Procs == 2 || x.reduced {
		x.sym = newSymmetry(o, x.c, modelcheck.Permutations(o.Procs))
	}
	return x, nil
}

// search explores from the world's state on. A state whose control packets never come to an end
// lies on or before a cycle of retrievals and arrivals.
func (x *explorer) search(ctx context.Context) (*search, error) {
	limit := x.o.MaxStates
	if limit == 0 {
		limit = DefaultMaxStates
	}
	o := modelcheck.Options{MaxStates: limit, Liveness: modelcheck.NoCycles, Progress: x.o.Progress}
	return modelcheck.Run(ctx, o, modelcheck.Successor[none, none]{Encoding: x.encode()}, x)
}

// result describes the outcome of a search, with the counterexample if there is one.
func (x *explorer) result(s *search) Result {
	out := s.Outcome
	r := Result{
		Verdict: out.Verdict, States: s.Len(), Transitions: s.Transitions, Depth: out.Depth, Bound: x.o.Bound(),
	}
	if out.Verdict == Proved {
		r.Depth-- // the longest of the shortest paths has an event less than there are levels
	}
	if out.Verdict == Refuted {
		x.refuted(&r, s)
	}
	return r
}

// encode is the canonical encoding of the world's state: of symmetric ones the smallest.
func (x *explorer) encode() []byte {
	x.buf = x.c.append(x.buf[:0], x.w)
	if x.sym == nil {
		return x.buf
	}
	return x.sym.smallest(x.w, x.buf)
}

// Expand visits all successors of a state.
func (x *explorer) Expand(s modelcheck.State[none, none], out *modelcheck.Out[none, none]) *modelcheck.Violation[none] {
	x.c.load(s.Encoding, x.w)
	if err := x.stuck(); err != nil {
		return &modelcheck.Violation[none]{Err: err}
	}
	x.enabled()
	if x.reduced {
		x.reduce()
	}
	for i, e := range x.events {
		if i > 0 {
			x.c.reload(s.Encoding, x.w, x.events[i-1].actor())
		}
		err := x.w.apply(e)
		if err == nil && out.Add(modelcheck.Successor[none, none]{Encoding: x.encode(), Marked: e.act >= deliver}) {
			err = x.checkAfter(e)
		}
		if err != nil {
			x.events = x.events[:i+1] // the last one is to blame
			return &modelcheck.Violation[none]{Err: err, Event: &none{}}
		}
	}
	return nil
}

// checkAfter is check in a state behind one that was checked: an event changes one flow control.
func (x *explorer) checkAfter(e event) error {
	if !x.o.Promises {
		if err := x.w.checkFlow(e.actor()); err != nil {
			return err
		}
	}
	return x.w.checkPromises()
}

func (x *explorer) check() error {
	if x.o.Promises {
		return x.w.checkPromises()
	}
	return x.w.Check()
}

// stuck tests that whoever has something to send can, once nothing is under way. A pair that has
// no credit then never gets one by itself.
func (x *explorer) stuck() error {
	if from, to, ok := x.unflushed(); ok {
		return violation("deadlock: a control packet of process %d for process %d waits for a credit and nothing is under way", from, to)
	}
	if from, to, ok := x.deadlocked(); ok {
		return violation("deadlock: process %d has no credit for process %d and nothing is under way", from, to)
	}
	return nil
}

// unflushed looks for a control packet that waits although nothing is under way.
func (x *explorer) unflushed() (from, to int, ok bool) {
	if !x.w.Quiet() {
		return 0, 0, false
	}
	for from, f := range x.w.flows {
		for to := range x.w.procs {
			if to == from {
				continue
			}
			if e := f.Exchange(to); e.Request || e.Response {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}

func (x *explorer) deadlocked() (from, to int, ok bool) {
	if !x.w.Quiet() {
		return 0, 0, false
	}
	for from := range x.w.procs {
		for to := range x.w.procs {
			if x.wants(from, to) && x.w.flows[from].Credits(to) == 0 {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}

func (x *explorer) wants(from, to int) bool {
	return x.o.sends(from, to) && (x.o.Messages == 0 || x.w.sent[x.w.pair(from, to)] < x.o.Messages)
}

// enabled lists the events that can happen in the world's state.
func (x *explorer) enabled() {
	x.events = x.events[:0]
	for from := range x.w.procs {
		for to := range x.w.procs {
			if from == to {
				continue
			}
			if x.wants(from, to) && x.w.flows[from].Credits(to) > 0 {
				x.events = append(x.events, event{send, from, to})
				if x.o.Piggyback {
					x.events = append(x.events, event{sendRoom, from, to})
				}
			}
			if len(x.w.network[x.w.pair(from, to)]) > 0 {
				act := take
				if x.o.Arrivals {
					act = deliver
				}
				x.events = append(x.events, event{act, from, to})
			}
		}
	}
	for at, q := range x.w.mailbox {
		if len(q) > 0 {
			x.events = append(x.events, event{retrieve, q[0].from, at})
		}
	}
}
