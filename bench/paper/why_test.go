package paper

import (
	"bytes"
	"context"
	"testing"

	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/stretchr/testify/require"
)

// A value that is to be at least 10: as it is, with a change that matters, and with one that does
// not.
func TestReasons(t *testing.T) {
	table := func(v float64) *Table { return &Table{Columns: []string{"value"}, Rows: [][]any{{v}}} }
	enough := Claim{"the value is enough", "10", func(t *Table) judge.Finding {
		v := t.Values("value")[0]
		return judge.Of(FormatCell(v), judge.AtLeast(v, 10))
	}}
	half := Claim{"so is half of it", "10", func(t *Table) judge.Finding {
		v := t.Values("value")[0] / 2
		return judge.Of(FormatCell(v), judge.AtLeast(v, 10))
	}}
	gives := func(v float64) func(context.Context, *Env, *Table) (*Table, error) {
		return func(context.Context, *Env, *Table) (*Table, error) { return table(v), nil }
	}
	x := &Experiment{
		IDs: []string{"test"}, Claims: []Claim{enough},
		Reasons: []Hypothesis{
			{Claim: enough.Text, Changed: "all of it", Measure: gives(11)},
			{Claim: enough.Text, Changed: "nothing", Measure: func(_ context.Context, _ *Env, was *Table) (*Table, error) { return was, nil }},
			{Asks: &half, Changed: "all of it", Measure: gives(11)},
			{Asks: &half, Changed: "all of it, twice", Measure: gives(22)},
			{Asks: &half, Changed: "what held before", Before: func(context.Context, *Env) (*Table, error) { return table(20), nil }, Measure: gives(1)},
			{Claim: enough.Text, Machine: PaperMachine, Changed: "on the paper's machine", Measure: gives(11)},
		},
	}
	for machine, words := range map[Machine][]string{
		OurMachine:   {"SHOWN", "REFUTED", "REFUTED", "SHOWN", "NOTHING DIFFERS"},
		PaperMachine: {"SHOWN", "REFUTED", "REFUTED", "SHOWN", "NOTHING DIFFERS", "SHOWN"},
	} {
		x.Measure = func(context.Context, *Env) (*Table, error) { return table(5), nil }
		rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Machine: machine, Why: true})
		require.NoError(t, err)
		var got []string
		for _, r := range rep.Reasons {
			got = append(got, r.Word())
		}
		require.Equal(t, words, got)
		require.Equal(t, "the value is enough", rep.Reasons[0].Before.Claim)
		require.Equal(t, judge.Differs, rep.Reasons[0].Before.Outcome)
		require.Equal(t, "11", rep.Reasons[0].After.Ours)
		require.Equal(t, judge.Holds, rep.Reasons[0].After.Outcome)
		var out bytes.Buffer
		rep.Print(&out)
		require.Contains(t, out.String(), "SHOWN    the value is enough\n         changed: all of it\n         before:  DIFFERS: 5\n         with it: HOLDS: 11\n")
		files, err := rep.Save(t.TempDir(), "x")
		require.NoError(t, err)
		require.Len(t, files, 1+len(words), "rows of the experiment and of each reason")
	}
	rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small})
	require.NoError(t, err)
	require.Empty(t, rep.Reasons)
}
