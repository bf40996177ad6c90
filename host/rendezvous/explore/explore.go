package explore

import (
	"context"
	"strings"
	"time"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Result is the outcome of an exploration; doc.go lists the invariants.
type Result = modelcheck.Result

// The verdicts.
const (
	Proved    = modelcheck.Proved
	Refuted   = modelcheck.Refuted
	Undecided = modelcheck.Undecided
)

// Run explores every interleaving that o allows, shortest first. It returns an error for impossible
// options or if ctx ends; a violated invariant is a Result.
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

// CloneFor copies a world to which only one event will be applied, so the other cores are shared.
func (w *World) CloneFor(e event) *World { return w.cloneFor(w.actor(e)) }

// Variants lists the ways in which an event can fail, given the world after its success.
func (w *World) Variants(e event, after *World) (list []event) {
	if bad, ok := w.faulted(e); ok {
		list = append(list, bad)
	}
	for _, t := range []trouble{shortage, refused} {
		if t == shortage && w.shortages == 0 || t == refused && w.refusals == 0 {
			continue
		}
		for e.nth = 1; int(e.nth) <= after.asked; e.nth++ {
			e.trouble = t
			list = append(list, e)
		}
	}
	return list
}
