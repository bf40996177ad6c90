package portals

import (
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/host/portals/offload"
	"github.com/stretchr/testify/require"
)

// asThePaperHasIt is a table on which every claim of the paper holds: no search has a solution.
func asThePaperHasIt(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: []string{"kind", "subject", "list", "checked", "outcome", "solutions", "witness"}}
	t.Add("events", "bits from the RTS", "", 6, "cycle", 0, "a before b before a")
	t.Add("execution", "sequence numbers", "", 9, "refuted", 0, "wrong data")
	for _, subject := range []string{printed, corrected} {
		for _, s := range offload.AllSemantics() {
			t.Add("search", subject, s.String(), 7056, "exhaustive", 0, "")
		}
	}
	return t
}

var cases = map[string]papertest.Case{
	"rdrp-table1": {Good: asThePaperHasIt, Plants: []func(*paper.Table){
		papertest.Set("outcome", "no cycle", "kind", "events"),
		papertest.Set("solutions", 1, "subject", printed, "list", offload.UseOnce.String()),
		papertest.Set("solutions", 1, "subject", corrected, "list", offload.Exact.String()),
		papertest.Set("solutions", 2, "subject", corrected, "list", offload.FirstMatch.String()),
		papertest.Set("outcome", "proved", "kind", "execution"),
	}},
}

// TestPlantedResultsDiffer: every claim holds on a table as the paper describes it, and differs as
// soon as the result that contradicts it is planted.
func TestPlantedResultsDiffer(t *testing.T) { papertest.PlantAll(t, Experiments(), cases) }

// TestMutations: claims about a subject differ when it is disabled.
func TestMutations(t *testing.T) { papertest.KillAll(t, Experiments()) }

// TestVerdicts: one claim of the paper differs.
func TestVerdicts(t *testing.T) {
	for _, v := range papertest.Small(t, offloadTable()).Claims {
		want := judge.Holds
		if v.Claim == claimInOrder {
			want = judge.Differs
		}
		require.Equal(t, want, v.Outcome, "%s: %s", v.Claim, v.Ours)
	}
}
