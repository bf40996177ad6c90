package explore

import (
	"context"
	"fmt"
	"time"
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

// explorer is one breadth-first search: the first counterexample it meets is a shortest one.
type explorer struct {
	o           Options
	w           *World
	c           *codec
	sym         *symmetry // nil if no processes are alike
	s           *store
	buf         []byte
	events      []event
	drains      edges // transitions by retrieval and arrival
	transitions int
	reduced     bool // see reduce.go
}

// Run explores every interleaving that o allows, in the order of their length. It returns an error
// for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	x, err := newExplorer(o)
	if err != nil {
		return Result{}, err
	}
	r, err := x.search(ctx)
	if r.Verdict == Refuted && x.reduced {
		o.Full = true // for a counterexample that is a shortest one of all
		return Run(ctx, o)
	}
	r.States, r.Transitions = x.s.len(), x.transitions
	r.Duration, r.Bound = time.Since(began), o.Bound()
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
	x := &explorer{o: o, w: w, c: newCodec(w, o.Messages > 0), s: newStore(), reduced: o.reducible()}
	if o.Procs == 2 || x.reduced {
		x.sym = newSymmetry(o, x.c, permutations(o.Procs))
	}
	return x, nil
}

func (x *explorer) search(ctx context.Context) (r Result, err error) {
	limit := x.o.MaxStates
	if limit == 0 {
		limit = DefaultMaxStates
	}
	x.s.add(x.encode(), 0)
	for id, levelEnd := uint32(0), uint32(1); id < uint32(x.s.len()); id++ {
		if id == levelEnd {
			r.Depth++
			levelEnd = uint32(x.s.len())
		}
		if id&0xfff == 0 {
			if err := x.pause(ctx); err != nil {
				return r, err
			}
		}
		if x.s.len() > limit {
			r.Verdict = Undecided
			return r, nil
		}
		if last, err := x.expand(id); err != nil {
			return x.refuted(r, id, last, err), nil
		}
	}
	// What remains is that the control packets come to an end. A state that never empties lies on
	// or before a cycle of retrievals.
	if cycle := x.drains.cycle(x.s.len()); cycle >= 0 {
		return x.refuted(r, uint32(cycle), nil, violation("retrieving goes on for ever: control packets cause control packets")), nil
	}
	return r, nil
}

func (x *explorer) pause(ctx context.Context) error {
	if x.o.Progress != nil {
		x.o.Progress(x.s.len())
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("explore: stopped after %d states: %w", x.s.len(), err)
	}
	return nil
}

// encode is the canonical encoding of the world's state: of symmetric ones the smallest.
func (x *explorer) encode() []byte {
	x.buf = x.c.append(x.buf[:0], x.w)
	if x.sym == nil {
		return x.buf
	}
	return x.sym.smallest(x.w, x.buf)
}

// expand visits all successors of a state. With an error comes the event that causes it, or nil
// if it is the state itself.
func (x *explorer) expand(id uint32) (*event, error) {
	x.c.load(x.s.state(id), x.w)
	if err := x.stuck(); err != nil {
		return nil, err
	}
	x.enabled()
	if x.reduced {
		x.reduce()
	}
	x.drains.begin()
	for i, e := range x.events {
		if i > 0 {
			x.c.reload(x.s.state(id), x.w, x.events[i-1].actor())
		}
		if err := x.w.apply(e); err != nil {
			return &x.events[i], err
		}
		x.transitions++
		next, fresh := x.s.add(x.encode(), id)
		if e.act >= deliver {
			x.drains.add(next)
		}
		if !fresh {
			continue
		}
		if err := x.checkAfter(e); err != nil {
			return &x.events[i], err
		}
	}
	return nil, nil
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

// edges are the transitions out of each state, in the order of the states.
type edges struct {
	starts []int
	to     []uint32
}

func (e *edges) begin()        { e.starts = append(e.starts, len(e.to)) }
func (e *edges) add(to uint32) { e.to = append(e.to, to) }
func (e *edges) of(id int) []uint32 {
	if id+1 < len(e.starts) {
		return e.to[e.starts[id]:e.starts[id+1]]
	}
	return e.to[e.starts[id]:]
}

// cycle returns a state that reaches a cycle, or -1: it removes states without predecessors until
// none is left.
func (e *edges) cycle(states int) int {
	degree := make([]uint32, states)
	for _, to := range e.to {
		degree[to]++
	}
	var free []int
	for id, d := range degree {
		if d == 0 {
			free = append(free, id)
		}
	}
	for len(free) > 0 {
		id := free[len(free)-1]
		free = free[:len(free)-1]
		for _, to := range e.of(id) {
			if degree[to]--; degree[to] == 0 {
				free = append(free, int(to))
			}
		}
	}
	for id, d := range degree {
		if d > 0 {
			return id
		}
	}
	return -1
}
