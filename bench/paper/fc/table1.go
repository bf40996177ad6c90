package fc

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/explore"
)

func table1() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-table1"}, Pure: true, Title: "Thresholds for returning credits, by formula",
		Paper: "FC, section 5.2, Table 1", Measure: measureTable1,
		Mutations: []paper.Mutation{{What: "formula (b) instead of Equation 1", Mutate: formulaB, Claims: []string{"Equation 1 does neither, whatever the interleaving"}}},
		Claims: []paper.Claim{
			{
				Text:  "the thresholds of the ten pairs",
				Paper: "Table 1", Judge: judgeTable1,
			},
			{
				Text:  "formula (a) deadlocks with a quota of 100 and 1 credit slot",
				Paper: "does not work", Judge: found("a", 100, 1, "deadlock"),
			},
			{
				Text:  "formula (b) overflows the credit region with a quota of 3 and 2 credit slots",
				Paper: "overflows", Judge: found("b", 3, 2, "the credit region of process"),
			},
			{
				Text:  "Equation 1 does neither, whatever the interleaving",
				Paper: "no deadlock, no overflow", Judge: judgeEq1,
			},
		},
	}
}

// formulaB explores formula (b) where Equation 1 is meant.
func formulaB(config any) {
	if o, ok := config.(*explore.Options); ok && o.Formula == mailbox.Eq1 {
		o.Formula = mailbox.FormulaB
	}
}

// table1Rows is the paper's: quota, credit slots, Equation 1, formulae (a) and (b).
func table1Rows() [][5]int {
	return [][5]int{
		{100, 1, 51, 101, 100}, {100, 2, 34, 51, 50}, {100, 3, 26, 34, 33}, {100, 4, 21, 26, 25}, {100, 5, 17, 21, 20},
		{60, 2, 21, 31, 30}, {40, 2, 14, 21, 20}, {20, 2, 7, 11, 10}, {10, 2, 4, 6, 5}, {3, 2, 2, 2, 1},
	}
}

// proved is the largest quota that Equation 1 is explored for, by scale.
func proved() map[paper.Scale]int {
	return map[paper.Scale]int{paper.Small: 4, paper.Medium: 5, paper.Large: 6, paper.Full: 6}
}

// measureTable1 computes the thresholds with the code in use. It explores the two pairs that fail
// according to the paper, and all small pairs.
func measureTable1(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"formula", "quota", "credit slots", "threshold", "explored", "verdict", "states", "violation"}}
	formulae := []mailbox.Formula{mailbox.Eq1, mailbox.FormulaA, mailbox.FormulaB}
	for _, row := range table1Rows() {
		for _, f := range formulae {
			t.Add(f.String(), row[0], row[1], f.Threshold(row[0], row[1]), "", "", 0, "")
		}
	}
	worlds := []explore.Options{
		{Procs: 2, Quota: 100, CreditSlots: 1, Flow: explore.Static, Formula: mailbox.FormulaA, Senders: [][2]int{{0, 1}}},
		{Procs: 2, Quota: 3, CreditSlots: 2, Flow: explore.Static, Formula: mailbox.FormulaB},
	}
	for slots := 1; slots <= 3; slots++ {
		for quota := slots; quota <= proved()[e.Scale]; quota++ {
			worlds = append(worlds, explore.Options{Procs: 2, Quota: quota, CreditSlots: slots, Flow: explore.Static})
		}
	}
	results := make([]explore.Result, len(worlds))
	err := e.Each(ctx, len(worlds), func(ctx context.Context, i int) (err error) {
		results[i], err = explore.Run(ctx, paper.Mutated(e, worlds[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, w := range worlds {
		r := results[i]
		t.Add(w.Formula.String(), w.Quota, w.CreditSlots, w.Formula.Threshold(w.Quota, w.CreditSlots),
			fmt.Sprintf("%d processes", w.Procs), r.Verdict.String(), r.States, r.Violation)
	}
	return t, nil
}

func judgeTable1(t *paper.Table) judge.Finding {
	equal := 0
	for _, row := range table1Rows() {
		for i, f := range []string{"eq1", "a", "b"} {
			if int(t.Only("threshold", "formula", f, "quota", row[0], "credit slots", row[1], "explored", "")) == row[2+i] {
				equal++
			}
		}
	}
	return judge.Of(fmt.Sprintf("%d of %d equal", equal, 3*len(table1Rows())),
		judge.Equal(float64(equal), float64(3*len(table1Rows()))))
}

// found: the exploration found a violation of this kind.
func found(formula string, quota, slots int, what string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		rows := t.Where("formula", formula, "quota", quota, "credit slots", slots, "explored", "2 processes").Rows
		for _, row := range rows {
			v := row[t.Column("violation")].(string)
			return judge.Of(paper.FormatCell(row[t.Column("verdict")])+": "+v,
				judge.True(strings.Contains(v, what)))
		}
		return judge.Of("not explored", judge.True(false))
	}
}

func judgeEq1(t *paper.Table) judge.Finding {
	worlds, good, states, largest := 0, 0, 0.0, 0.0
	all := t.Where("formula", "eq1", "explored", "2 processes")
	for i, row := range all.Rows {
		worlds++
		states += all.Values("states")[i]
		largest = max(largest, all.Values("quota")[i])
		if row[t.Column("verdict")] == explore.Proved.String() {
			good++
		}
	}
	arithmetic := eq1Fails()
	return judge.Of(fmt.Sprintf("%d of %d worlds with quotas to %.0f proved over %.0f states; by arithmetic %d of all pairs with quotas to 1024 fail", good, worlds, largest, states, arithmetic),
		judge.AtLeast(float64(worlds), 1), judge.Equal(float64(worlds-good), 0), judge.Equal(float64(arithmetic), 0))
}

// eq1Fails counts the pairs whose threshold the quota cannot reach, or reaches
// once more than there are credit slots without a credit packet being retrieved.
func eq1Fails() (n int) {
	for slots := 1; slots <= 64; slots++ {
		for quota := slots; quota <= 1024; quota++ {
			if th := mailbox.Eq1.Threshold(quota, slots); th > quota || th*(slots+1) <= quota {
				n++
			}
		}
	}
	return n
}
