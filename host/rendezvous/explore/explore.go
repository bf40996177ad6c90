package explore

import (
	"context"
	"strings"
	"time"

	"github.com/nicloop/nicloop/modelcheck"
)

// Result is what an exploration found; doc.go lists the properties.
type Result = modelcheck.Result

// The verdicts.
const (
	Proved    = modelcheck.Proved
	Refuted   = modelcheck.Refuted
	Undecided = modelcheck.Undecided
)

// Run explores every interleaving that o allows, in the order of their length. It returns an error
// for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	w, err := NewWorld(&o)
	if err != nil {
		return Result{}, err
	}
	limit := o.MaxStates
	if limit == 0 {
		limit = DefaultMaxStates
	}
	s, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{MaxStates: limit}, Jobs: o.Jobs, KeepParents: true,
	}, w)
	out := s.Outcome
	r := Result{
		Verdict: out.Verdict, States: s.Len(), Transitions: s.Transitions, Depth: out.Depth, Ends: out.Ends,
		Duration: time.Since(began), Bound: o.Bound(),
	}
	if bad := out.Violation; bad != nil {
		r.States = out.Known
		r.Violation = strings.TrimPrefix(bad.Err.Error(), ErrUnsafe.Error()+": ")
		r.Script = script(&o, s.Counterexample(), r.Violation)
	}
	return r, err
}

// CloneFor copies a world of which nothing will be done but an event, and so all cores but one stay.
func (w *World) CloneFor(e packed) *World { return w.cloneFor(w.actor(e.event())) }

// Enabled lists the events that can happen, without the ways in which their requests can fail.
func (w *World) Enabled() (list []packed) {
	for _, e := range w.enabled() {
		list = append(list, e.pack())
	}
	return list
}

// Variants lists the ways in which an event can fail, after being the world behind it.
func (w *World) Variants(p packed, after *World) (list []packed) {
	e := p.event()
	if bad, ok := w.faulted(e); ok {
		list = append(list, bad.pack())
	}
	for _, t := range []trouble{shortage, refused} {
		if t == shortage && w.shortages == 0 || t == refused && w.refusals == 0 {
			continue
		}
		for e.nth = 1; e.nth <= after.asked; e.nth++ {
			e.trouble = t
			list = append(list, e.pack())
		}
	}
	return list
}

// Apply runs an event.
func (w *World) Apply(e packed) error { return w.apply(e.event()) }

// Finished tests what must hold in every state in which nothing can happen any more.
func (w *World) Finished() error { return w.finished() }

// packed is an event in few bytes: one is kept for each state.
type packed [5]byte

func (e event) pack() packed {
	return packed{byte(e.act), byte(e.from), byte(e.to), byte(e.nth), byte(e.trouble)}
}

func (p packed) event() event {
	return event{act: action(p[0]), from: int(p[1]), to: int(p[2]), nth: int(p[3]), trouble: trouble(p[4])}
}
