// Package papertest tests that claims are judged by their tables: every claim holds on a table as
// the paper has it, and differs on one with a planted result that contradicts it.
package papertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Small runs an experiment at the small scale on the functional NIC.
func Small(t *testing.T, x *paper.Experiment) *paper.Report {
	t.Helper()
	rep, err := x.Run(context.Background(), paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2})
	require.NoError(t, err)
	return rep
}

// Set changes a cell in the rows that meet the conditions.
func Set(column string, value any, conditions ...any) func(*paper.Table) {
	return func(t *paper.Table) {
		rows := t.Where(conditions...).Rows
		if len(rows) == 0 {
			panic(fmt.Sprintf("no rows with %v", conditions))
		}
		for _, row := range rows {
			row[t.Column(column)] = value
		}
	}
}

// Scale multiplies a column in the rows that meet the conditions, and adds.
func Scale(column string, factor, plus float64, conditions ...any) func(*paper.Table) {
	return func(t *paper.Table) {
		for _, row := range t.Where(conditions...).Rows {
			c := t.Column(column)
			row[c] = paper.Number(row[c])*factor + plus
		}
	}
}

// A Case is a table on which all claims of an experiment hold (nil: the experiment is run), and a
// change for each claim that contradicts it.
type Case struct {
	Good   func(*paper.Env) *paper.Table
	Plants []func(*paper.Table)
}

// PlantAll plants the contradicting result of each claim, on the full grids and the thin ones.
// Cases are named by the first ID of their experiment.
func PlantAll(t *testing.T, experiments []*paper.Experiment, cases map[string]Case) {
	for _, scale := range []paper.Scale{paper.Small, paper.Full} {
		for _, x := range experiments {
			t.Run(fmt.Sprintf("%s/%s", x.IDs[0], scale), func(t *testing.T) { cases[x.IDs[0]].plant(t, x, scale) })
		}
	}
}

func (c Case) plant(t *testing.T, x *paper.Experiment, scale paper.Scale) {
	require.Len(t, c.Plants, len(x.Claims), "one plant for each claim")
	var good *paper.Table
	if c.Good != nil {
		good = c.Good(&paper.Env{Scale: scale})
	} else {
		good = Small(t, x).Table
	}
	before, err := json.Marshal(good)
	require.NoError(t, err)
	for i, plant := range c.Plants {
		v := verdict(x, i, good)
		require.Equal(t, judge.Holds, v.Outcome, "claim %q: %s: %v", v.Claim, v.Ours, v.Checks)
		wrong := clone(good)
		plant(wrong)
		v = verdict(x, i, wrong)
		require.Equal(t, judge.Differs, v.Outcome, "claim %q with a planted result: %s: %v", v.Claim, v.Ours, v.Checks)
	}
	after, err := json.Marshal(good)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "judging must not change the table")
}

func verdict(x *paper.Experiment, claim int, t *paper.Table) paper.Verdict {
	one := *x
	one.Claims = x.Claims[claim : claim+1]
	return one.Judge(t)[0]
}

func clone(t *paper.Table) *paper.Table {
	c := &paper.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		c.Rows = append(c.Rows, append([]any{}, row...))
	}
	return c
}

// ReasonWords returns the first letter of the word of each reason.
func ReasonWords(rep *paper.Report) (words string) {
	for _, r := range rep.Reasons {
		words += r.Word()[:1]
	}
	return words
}

// Survivors measures an experiment with and without a mutation, at the small scale, and returns the
// claims of the mutation that do not have the verdicts that it requires.
func Survivors(t *testing.T, x *paper.Experiment, m paper.Mutation) (list []string) {
	t.Helper()
	measure := m.Measure
	if measure == nil {
		measure = x.Measure
	}
	table := func(mutate func(any)) *paper.Table {
		e := &paper.Env{
			Device: "ideal:", Scale: paper.Small, Machine: cmp.Or(m.Machine, paper.OurMachine), Seed: 1, Jobs: 2, Mutate: mutate,
		}
		got, err := measure(context.Background(), e)
		require.NoError(t, err)
		return got
	}
	plain, mutant := table(nil), table(m.Mutate)
	require.NotEmpty(t, slices.Concat(m.Claims, m.Repaired), "a mutation without claims tests nothing")
	expect := func(texts []string, without, with judge.Outcome) {
		for _, text := range texts {
			i := slices.IndexFunc(x.Claims, func(c paper.Claim) bool { return c.Text == text })
			require.GreaterOrEqual(t, i, 0, "%s has no claim %q", x.IDs[0], text)
			if v := verdict(x, i, plain); v.Outcome != without {
				list = append(list, fmt.Sprintf("%s without the mutation: %s: %s", v.Outcome, text, v.Ours))
			}
			if v := verdict(x, i, mutant); v.Outcome != with {
				list = append(list, fmt.Sprintf("%s with the mutation: %s: %s", v.Outcome, text, v.Ours))
			}
		}
	}
	expect(m.Claims, judge.Holds, judge.Differs)
	expect(m.Repaired, judge.Differs, judge.Holds)
	return list
}

// KillAll applies every mutation of the experiments: each must change the verdicts of the claims
// that name its subject. An experiment without a mutation is an error.
func KillAll(t *testing.T, experiments []*paper.Experiment) {
	for _, x := range experiments {
		if !assert.NotEmpty(t, x.Mutations, "%s has no mutation", x.IDs[0]) {
			continue
		}
		for _, m := range x.Mutations {
			t.Run(x.IDs[0]+"/"+m.What, func(t *testing.T) { require.Empty(t, Survivors(t, x, m)) })
		}
	}
}
