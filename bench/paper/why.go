package paper

import (
	"context"
	"fmt"
	"io"
)

// A Hypothesis is an experiment about a verdict: what is thought to be its cause is changed and
// nothing else, and the same is judged again.
type Hypothesis struct {
	// Claim is the text of the claim of the experiment whose verdict is to be explained, if Asks is
	// nil.
	Claim string
	// Asks is a question that the paper does not ask and the change answers; nil: Claim is judged.
	Asks    *Claim
	Changed string
	// Machine on which there is a verdict to explain; empty: any.
	Machine Machine
	// Before gives the table that asks is judged by without the change; nil: the experiment's.
	Before func(ctx context.Context, e *Env) (*Table, error)
	// Measure gives the table with the change. was is the experiment's.
	Measure func(ctx context.Context, e *Env, was *Table) (*Table, error)
}

// A Reason is the result of a Hypothesis.
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
	case r.Before.Holds():
		return "NOTHING DIFFERS"
	case r.After.Holds():
		return "SHOWN"
	}
	return "REFUTED"
}

// why tries the reasons of an experiment, one after the other.
func (x *Experiment) why(ctx context.Context, e *Env, was *Table) (list []Reason, err error) {
	for _, r := range x.Reasons {
		if r.Machine != "" && r.Machine != e.Machine {
			continue
		}
		c := r.Asks
		if c == nil {
			c = x.claimOf(r.Claim)
		}
		before := was
		if r.Before != nil {
			if before, err = r.Before(ctx, e); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Changed, err)
			}
		}
		after, err := r.Measure(ctx, e, was)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Changed, err)
		}
		list = append(list, Reason{c.Text, r.Changed, c.verdict(before), c.verdict(after), after})
	}
	return list, nil
}

func (x *Experiment) claimOf(text string) *Claim {
	for i := range x.Claims {
		if x.Claims[i].Text == text {
			return &x.Claims[i]
		}
	}
	panic(fmt.Sprintf("paper: %s claims no %q", x.IDs[0], text))
}

func (rep *Report) printReasons(w io.Writer) {
	if len(rep.Reasons) == 0 {
		return
	}
	fmt.Fprintf(w, "\nwhy, each with one thing changed:\n")
	for _, r := range rep.Reasons {
		fmt.Fprintf(w, "%-7s  %s\n         changed: %s\n         before:  %s: %s\n         with it: %s: %s\n",
			r.Word(), r.Claim, r.Changed, r.Before.Outcome, r.Before.Ours, r.After.Outcome, r.After.Ours)
	}
}
