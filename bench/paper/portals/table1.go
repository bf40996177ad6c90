package portals

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/host/portals/offload"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// A search looks for match and ignore bits that satisfy the table of the paper.
type search struct {
	Semantics offload.Semantics
	IsPrinted bool // the table as printed; its last row contradicts MPI
}

// An eventGraph is the order of events of a fully offloaded receive.
type eventGraph struct{ BitsFromRTS bool }

// Cells of the column list.
const (
	printed   = "as printed"
	corrected = "last row corrected"
)

const (
	claimCycle     = "theorem 1: match bits from the ready-to-send message lead to a cycle of events"
	claimPrinted   = "theorem 2: no match and ignore bits satisfy the table as printed"
	claimCorrected = "theorem 2: none do if each get must fit only its own entry (corrected table)"
	claimInOrder   = "theorem 2: none do if a list is searched in order, as Portals does (corrected table)"
	claimSequence  = "sequence numbers as match bits violate MPI matching"
)

func offloadTable() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"rdrp-table1"}, Pure: true, Title: "Full offload of an MPI rendezvous to Portals 4",
		Paper: "RDRP, section 3.1, Theorems 1 and 2, Table 1", Measure: measureOffload,
		Claims: []paper.Claim{
			{Text: claimCycle, Paper: "a cycle", Judge: judgeOutcome("events", "bits from the RTS", "cycle")},
			{Text: claimPrinted, Paper: "no viable combination in 36 bits", Judge: judgeSolutions(printed)},
			{Text: claimCorrected, Paper: "no viable combination in 36 bits",
				Judge: judgeSolutions(corrected, offload.Exact)},
			{Text: claimInOrder, Paper: "no viable combination in 36 bits",
				Judge: judgeSolutions(corrected, offload.AllSemantics()[offload.FirstMatch:]...)},
			{Text: claimSequence, Paper: "operations can be in different orders",
				Judge: judgeOutcome("execution", "sequence numbers", modelcheck.Refuted.String())},
		},
		Mutations: []paper.Mutation{
			{What: "match bits that are chosen locally", Claims: []string{claimCycle}, Mutate: chooseLocally},
			{What: "the corrected table instead of the printed one", Claims: []string{claimPrinted}, Mutate: correct},
			{What: "lists that are searched in order", Claims: []string{claimCorrected}, Mutate: searchInOrder},
			{What: "receives in the order of the sends", Claims: []string{claimSequence}, Mutate: receiveInOrder},
		},
	}
}

func chooseLocally(config any) {
	if g, ok := config.(*eventGraph); ok {
		g.BitsFromRTS = false
	}
}

func correct(config any) {
	if s, ok := config.(*search); ok {
		s.IsPrinted = false
	}
}

func searchInOrder(config any) {
	if s, ok := config.(*search); ok && s.Semantics == offload.Exact {
		s.Semantics = offload.FirstMatch
	}
}

func receiveInOrder(config any) {
	if x, ok := config.(*offload.Execution); ok {
		x.Receives = x.Sends
	}
}

func measureOffload(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"kind", "subject", "list", "checked", "outcome", "solutions", "witness"}}
	for _, g := range []eventGraph{{true}, {false}} {
		subject := "bits chosen locally"
		if g.BitsFromRTS {
			subject = "bits from the RTS"
		}
		addGraph(t, subject, paper.Mutated(e, g))
	}
	for _, isPrinted := range []bool{true, false} {
		for _, s := range offload.AllSemantics() {
			subject := corrected
			if isPrinted {
				subject = printed
			}
			addSearch(t, subject, s, paper.Mutated(e, search{s, isPrinted}))
		}
	}
	r, err := offload.Explore(ctx, paper.Mutated(e, offload.SequenceNumbers()))
	if err != nil {
		return nil, err
	}
	t.Add("execution", "sequence numbers", offload.UseOnce.String(), r.States, r.Verdict.String(), 0, r.Violation)
	return t, nil
}

func addGraph(t *paper.Table, subject string, g eventGraph) {
	edges := offload.Events(g.BitsFromRTS)
	cycle := offload.Cycle(edges)
	if cycle == nil {
		t.Add("events", subject, "", len(edges), "no cycle", 0, "")
		return
	}
	nodes := []string{cycle[0].From}
	for _, edge := range cycle {
		nodes = append(nodes, edge.To)
	}
	t.Add("events", subject, "", len(edges), "cycle", 0, strings.Join(nodes, " before "))
}

func addSearch(t *paper.Table, subject string, s offload.Semantics, c search) {
	f := offload.Search(c.Semantics, c.IsPrinted)
	witness := ""
	if len(f.Solutions) > 0 {
		witness = fmt.Sprintf("send 1: %v, send 2: %v", f.Solutions[0][0], f.Solutions[0][1])
	}
	t.Add("search", subject, s.String(), f.Pairs, "exhaustive", len(f.Solutions), witness)
}

// judgeOutcome requires the outcome of one row.
func judgeOutcome(kind, subject, want string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		row := t.Where("kind", kind, "subject", subject).Rows[0]
		got := row[t.Column("outcome")].(string)
		return judge.Of(strings.TrimSuffix(fmt.Sprintf("%s: %v", got, row[t.Column("witness")]), ": "), judge.True(got == want))
	}
}

// judgeSolutions requires that no search of a table has a solution; no semantics: all of them.
func judgeSolutions(subject string, semantics ...offload.Semantics) func(*paper.Table) judge.Finding {
	if len(semantics) == 0 {
		semantics = offload.AllSemantics()
	}
	return func(t *paper.Table) judge.Finding {
		var ours []string
		var checks []judge.Check
		for _, s := range semantics {
			n := t.Only("solutions", "kind", "search", "subject", subject, "list", s.String())
			ours = append(ours, fmt.Sprintf("%s: %.0f", s, n))
			checks = append(checks, judge.Equal(n, 0))
		}
		return judge.Of("solutions, "+strings.Join(ours, "; "), checks...)
	}
}
