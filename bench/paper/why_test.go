package reproduce

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A value that is to be at least 10: as it is, with a change that matters, and with one that does
// not.
func TestReasons(t *testing.T) {
	table := func(v float64) *Table { return &Table{Columns: []string{"value"}, Rows: [][]any{{v}}} }
	enough := claim{"the value is enough", "10", func(t *Table) (string, bool) {
		v := t.values("value")[0]
		return text(v), v >= 10
	}}
	half := claim{"so is half of it", "10", func(t *Table) (string, bool) {
		v := t.values("value")[0] / 2
		return text(v), v >= 10
	}}
	gives := func(v float64) func(context.Context, *Env, *Table) (*Table, error) {
		return func(context.Context, *Env, *Table) (*Table, error) { return table(v), nil }
	}
	x := &Experiment{
		IDs: []string{"test"}, claims: []claim{enough},
		reasons: []reason{
			{claim: enough.text, changed: "all of it", measure: gives(11)},
			{claim: enough.text, changed: "nothing", measure: func(_ context.Context, _ *Env, was *Table) (*Table, error) { return was, nil }},
			{asks: &half, changed: "all of it", measure: gives(11)},
			{asks: &half, changed: "all of it, twice", measure: gives(22)},
			{asks: &half, changed: "what held before", before: func(context.Context, *Env) (*Table, error) { return table(20), nil }, measure: gives(1)},
			{claim: enough.text, machine: PaperMachine, changed: "on the paper's machine", measure: gives(11)},
		},
	}
	for machine, words := range map[Machine][]string{
		OurMachine:   {"SHOWN", "REFUTED", "REFUTED", "SHOWN", "NOTHING DIFFERS"},
		PaperMachine: {"SHOWN", "REFUTED", "REFUTED", "SHOWN", "NOTHING DIFFERS", "SHOWN"},
	} {
		x.measure = func(context.Context, *Env) (*Table, error) { return table(5), nil }
		rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Machine: machine, Why: true})
		require.NoError(t, err)
		var got []string
		for _, r := range rep.Reasons {
			got = append(got, r.Word())
		}
		require.Equal(t, words, got)
		require.Equal(t, Verdict{"the value is enough", "10", "5", false}, rep.Reasons[0].Before)
		require.Equal(t, Verdict{"the value is enough", "10", "11", true}, rep.Reasons[0].After)
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

// Every reason is about a claim that there is.
func TestReasonsHaveClaims(t *testing.T) {
	for _, x := range All() {
		for _, r := range x.reasons {
			if r.asks == nil {
				require.True(t, slices.ContainsFunc(x.claims, func(c claim) bool { return c.text == r.claim }), "%s: %s", x.IDs[0], r.changed)
			}
			require.NotEmpty(t, r.changed)
		}
	}
}

// reasonWords are the first letters of what reasons came to.
func reasonWords(rep *Report) (words string) {
	for _, r := range rep.Reasons {
		words += r.Word()[:1]
	}
	return words
}

// FC, section 7.4.1: roots that do not scatter beside each other wait for credits; and with a root
// that stays quotas do settle, what is left is the bookkeeping of its packets.
func TestScattervReasons(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty runs")
	}
	rep, err := fcFig24.Run(context.Background(), Env{Device: "model:", Scale: Small, Seed: 1, Jobs: 2, Why: true})
	require.NoError(t, err)
	require.Equal(t, "SS", reasonWords(rep), "%+v", rep.Reasons)
}

// FC, section 7.4: two processes pay for each packet's bookkeeping, whatever the buffers; without
// it they pay for credits alone, nothing with 64 slots.
func TestPingPongPaysForBookkeeping(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	var runs []run
	for _, flow := range flows {
		r := e.imbRun("PingPong", flow, 64)
		runs = append(runs, r)
		free(&r)
		runs = append(runs, r)
	}
	samples, refs, err := e.compare(context.Background(), runs)
	require.NoError(t, err)
	for i, flow := range flows {
		paid, without := samples[2*i].overhead(refs[2*i]), samples[2*i+1].overhead(refs[2*i+1])
		require.Greater(t, paid, 10.0, "%s", flow)
		require.Less(t, without, 2.0, "%s", flow)
	}
}
