package offload

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// A Proof is a claim that can be checked.
type Proof struct {
	Name, Want string
	Run        func(context.Context) (Outcome, error)
}

// An Outcome is what a proof has found.
type Outcome struct {
	Got     string
	Checked int    // edges, pairs of sets, states or gets
	Witness string // a solution, a cycle or a violation
	Script  string
}

// Suite lists everything that nicloop check portals-offload checks.
func Suite() []Proof {
	list := []Proof{
		{"theorem 1, bits from the RTS", "cycle", func(context.Context) (Outcome, error) { return theorem1(true), nil }},
		{"theorem 1, bits chosen locally", "no cycle", func(context.Context) (Outcome, error) { return theorem1(false), nil }},
	}
	want := [...]string{"0 solutions", "2 solutions", "2 solutions", "8 solutions"}
	for _, s := range AllSemantics() {
		list = append(list,
			Proof{fmt.Sprintf("theorem 2, table as printed, %v", s), want[Exact], searchProof(s, true)},
			Proof{fmt.Sprintf("theorem 2, table corrected, %v", s), want[s], searchProof(s, false)})
	}
	proved, refuted := modelcheck.Proved.String(), modelcheck.Refuted.String()
	for _, s := range AllSemantics()[FirstMatch:] {
		var executions []Execution
		for _, pair := range Search(s, false).Solutions {
			executions = append(executions, Executions(pair, s)...)
		}
		list = append(list, Proof{fmt.Sprintf("execution of all solutions, %v", s), proved, executeAll(executions)})
	}
	return append(list,
		Proof{"a bit per history, 4 sends, 4 receives, 120 bits", "equals MPI", func(context.Context) (Outcome, error) {
			gets, err := Scheme{Receives: 4}.Check(4)
			if err != nil {
				return Outcome{"differs", gets, err.Error(), ""}, nil
			}
			return Outcome{"equals MPI", gets, "", ""}, nil
		}},
		Proof{"codes that 5 sends and 5 receives need at least", "198 codes", func(context.Context) (Outcome, error) {
			n := Behaviours(5, 5)
			return Outcome{Got: fmt.Sprintf("%d codes", n), Checked: n}, nil
		}},
		Proof{"receives that need more than 64 bits (extrapolated)", "46 receives", func(context.Context) (Outcome, error) {
			n := ReceivesBeyond(64)
			return Outcome{Got: fmt.Sprintf("%d receives", n), Checked: n}, nil
		}},
		Proof{"execution of a bit per history, 2 sends, 2 receives", proved, executeAll(HistoryExecutions(2, 2))},
		Proof{"sequence numbers as match bits", refuted, executeAll([]Execution{SequenceNumbers()})})
}

func theorem1(bitsFromRTS bool) Outcome {
	edges := Events(bitsFromRTS)
	cycle := Cycle(edges)
	if cycle == nil {
		return Outcome{"no cycle", len(edges), "", ""}
	}
	path := []string{cycle[0].From}
	for _, e := range cycle {
		path = append(path, e.To)
	}
	return Outcome{"cycle", len(edges), strings.Join(path, " before "), ""}
}

func searchProof(s Semantics, printed bool) func(context.Context) (Outcome, error) {
	return func(context.Context) (Outcome, error) {
		f := Search(s, printed)
		o := Outcome{Got: fmt.Sprintf("%d solutions", len(f.Solutions)), Checked: f.Pairs}
		if len(f.Solutions) > 0 {
			o.Witness = fmt.Sprintf("send 1: %v, send 2: %v", f.Solutions[0][0], f.Solutions[0][1])
		}
		return o, nil
	}
}

// executeAll explores executions up to the first one that is refuted.
func executeAll(list []Execution) func(context.Context) (Outcome, error) {
	return func(ctx context.Context) (o Outcome, err error) {
		for _, x := range list {
			r, err := Explore(ctx, x)
			if err != nil {
				return o, err
			}
			o.Checked += r.States
			if o.Got, o.Witness, o.Script = r.Verdict.String(), r.Violation, r.Script; r.Verdict != modelcheck.Proved {
				o.Script = fmt.Sprintf("# %v\n%s", x, o.Script)
				return o, nil
			}
		}
		return o, nil
	}
}
