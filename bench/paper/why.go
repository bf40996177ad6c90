package reproduce

import (
	"context"
	"fmt"
	"io"
)

// A reason is an experiment about a verdict: what is thought to be its cause is changed and nothing
// else, and the same is judged again.
type reason struct {
	// claim is the text of the one whose verdict it is about, or that of asks.
	claim string
	// asks is a question that is not the paper's, which the change answers; nil: the experiment's
	// claim is judged.
	asks    *claim
	changed string
	// machine on which there is a verdict to explain; empty: any.
	machine Machine
	// before gives the table that asks is judged by without the change; nil: the experiment's.
	before func(ctx context.Context, e *Env) (*Table, error)
	// measure gives the table with the change. was is the experiment's.
	measure func(ctx context.Context, e *Env, was *Table) (*Table, error)
}

// A Reason is one that was tried.
type Reason struct {
	Claim   string  `json:"claim"`
	Changed string  `json:"changed"` // and nothing else
	Before  Verdict `json:"before"`
	After   Verdict `json:"after"`
	Table   *Table  `json:"table"` // with the change
}

// Word is the outcome in a word: what differed holds with the change, or it does not; or nothing
// differed.
func (r Reason) Word() string {
	switch {
	case r.Before.Holds:
		return "NOTHING DIFFERS"
	case r.After.Holds:
		return "SHOWN"
	}
	return "REFUTED"
}

// why tries the reasons of an experiment, one after the other.
func (x *Experiment) why(ctx context.Context, e *Env, was *Table) (list []Reason, err error) {
	for _, r := range x.reasons {
		if r.machine != "" && r.machine != e.Machine {
			continue
		}
		c := r.asks
		if c == nil {
			c = x.claimOf(r.claim)
		}
		before := was
		if r.before != nil {
			if before, err = r.before(ctx, e); err != nil {
				return nil, fmt.Errorf("%s: %w", r.changed, err)
			}
		}
		after, err := r.measure(ctx, e, was)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.changed, err)
		}
		list = append(list, Reason{c.text, r.changed, c.verdict(before), c.verdict(after), after})
	}
	return list, nil
}

func (x *Experiment) claimOf(text string) *claim {
	for i := range x.claims {
		if x.claims[i].text == text {
			return &x.claims[i]
		}
	}
	panic(fmt.Sprintf("reproduce: %s claims no %q", x.IDs[0], text))
}

func (c *claim) verdict(t *Table) Verdict {
	ours, holds := c.judge(t)
	return Verdict{Claim: c.text, Paper: c.paper, Ours: ours, Holds: holds}
}

func (rep *Report) printReasons(w io.Writer) {
	if len(rep.Reasons) == 0 {
		return
	}
	fmt.Fprintf(w, "\nwhy, each with one thing changed:\n")
	for _, r := range rep.Reasons {
		fmt.Fprintf(w, "%-7s  %s\n         changed: %s\n         before:  %s: %s\n         with it: %s: %s\n",
			r.Word(), r.Claim, r.Changed, r.Before.Word(), r.Before.Ours, r.After.Word(), r.After.Ours)
	}
}

// What reasons of several experiments change.
const (
	bookkeepingIsFree = "bookkeeping of credits takes a core no time"
	haveSettled       = "ten times the repetitions before those that are timed, so that quotas have settled"
)

func free(r *run)           { r.free = true }
func settled(r *run)        { r.warmup *= 10 }
func freeAndSettled(r *run) { free(r); settled(r) }
