package modelcheck

import (
	"context"
	"crypto/sha256"
)

// A World is some actors with the real protocol code and what is around them, in one state. W is
// the type of the world itself.
type World[W, E any] interface {
	Enabled() []E
	// CloneFor returns a world to which nothing will be done but Apply(e).
	CloneFor(e E) W
	Apply(e E) error // a violation, if any
	// AppendState appends an encoding of the state: two worlds with one encoding have one future.
	AppendState([]byte) []byte
	Finished() error // nothing can happen any more: a violation, if any
}

// A Varied world has events that can also end in other ways.
type Varied[W, E any] interface {
	// Variants lists the other ways in which e can end; after is the world behind e itself.
	Variants(e E, after W) []E
}

// WorldOptions are the options of RunWorld.
type WorldOptions struct {
	Options
	Jobs int // workers; 0: one. The result does not depend on it
	// KeepParents halves the memory of the worlds at the cost of an event more per state: a
	// waiting state is kept as the world of its parent, which its siblings share, and its event.
	KeepParents bool
}

// Digest stands for a state: half of a SHA-256. Among 10^7 states two share one with a probability
// of 10^-25.
type Digest [16]byte

// Sum is the digest of an encoded state.
func Sum(encoding []byte) Digest {
	sum := sha256.Sum256(encoding)
	return Digest(sum[:16])
}

// RunWorld explores what is reachable from w. With EndReachable an end is a state without enabled
// events. Otherwise it is a state whose events all lead back to it, as a repeated attempt does.
func RunWorld[W World[W, E], E any](ctx context.Context, o WorldOptions, w W) (*Search[W, E], error) {
	workers := make([]Expander[W, E], max(o.Jobs, 1))
	for i := range workers {
		workers[i] = &worldExpander[W, E]{keepParents: o.KeepParents, marked: o.Liveness == EndReachable}
	}
	first := Sum(w.AppendState(nil))
	return Run(ctx, o.Options, Successor[W, E]{Encoding: first[:], World: w}, workers...)
}

type worldExpander[W World[W, E], E any] struct {
	keepParents, marked bool
	buf                 []byte
	digest              Digest

	out   *Out[W, E]
	from  State[W, E]
	here  W
	moved bool // an event leads to another state
}

// Expand implements Expander.
func (x *worldExpander[W, E]) Expand(s State[W, E], out *Out[W, E]) *Violation[E] {
	x.out, x.from, x.moved = out, s, false
	x.here = x.world(s)
	events := x.here.Enabled()
	for _, e := range events {
		if v := x.tryAll(e); v != nil {
			return v
		}
	}
	if len(events) > 0 && (x.moved || x.marked) {
		return nil
	}
	out.End()
	if err := x.here.Finished(); err != nil {
		return &Violation[E]{Err: err}
	}
	return nil
}

// world is the world in the state to expand.
func (x *worldExpander[W, E]) world(s State[W, E]) W {
	if !x.keepParents || s.ID == 0 {
		return s.World
	}
	w := s.World.CloneFor(s.Event)
	if err := w.Apply(s.Event); err != nil {
		panic(err) // it was applied without an error when the state was found
	}
	return w
}

// tryAll applies an event and its variants.
func (x *worldExpander[W, E]) tryAll(e E) *Violation[E] {
	after, v := x.try(e)
	varied, ok := any(x.here).(Varied[W, E])
	if v != nil || !ok {
		return v
	}
	for _, other := range varied.Variants(e, after) {
		if _, v := x.try(other); v != nil {
			return v
		}
	}
	return nil
}

func (x *worldExpander[W, E]) try(e E) (after W, v *Violation[E]) {
	after = x.here.CloneFor(e)
	if err := after.Apply(e); err != nil {
		bad := e // e itself stays on the stack
		return after, &Violation[E]{err, &bad}
	}
	x.buf = after.AppendState(x.buf[:0])
	x.digest = Sum(x.buf)
	x.moved = x.moved || x.digest != Digest(x.from.Encoding)
	keep := after
	if x.keepParents {
		keep = x.here
	}
	x.out.Add(Successor[W, E]{Encoding: x.digest[:], World: keep, Event: e, Marked: x.marked})
	return after, nil
}
