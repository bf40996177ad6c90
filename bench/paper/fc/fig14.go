package fc

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/mailbox/explore"
)

func fig14() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig14"}, Pure: true, Title: "Trace of the dynamic flow control, eight blocks",
		Paper: "FC, section 6.7, Figure 14", Measure: measureFig14,
		Mutations: []paper.Mutation{{
			What: "no other sender uses slots", Mutate: quietOthers,
			Claims: []string{"block 2: only 2 credits return, for no more slots are available", "block 4: a more active sender has taken quota"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "block 1: the threshold is reached in the regular way, 4 credits return",
				Paper: "4 explicit", Judge: returned(1, 4, 0),
			},
			{
				Text:  "block 2: only 2 credits return, for no more slots are available",
				Paper: "2 explicit", Judge: returned(2, 2, 0),
			},
			{
				Text:  "block 3: all 4 credits are available again",
				Paper: "4 explicit", Judge: returned(3, 4, 0),
			},
			{
				Text:  "block 4: a more active sender has taken quota",
				Paper: "intended quota below 10", Judge: quotaFell,
			},
			{
				Text:  "block 4: the threshold is reached in the regular way",
				Paper: "explicit", Judge: returned(4, 2, 0),
			},
			{
				Text:  "block 5: two piggybacks of 1, the second one adjusted by deficit",
				Paper: "1 and 1 piggybacked", Judge: twoPiggybacks,
			},
			{
				Text:  "block 6: 3 piggybacked, no more return, the excess raises the current threshold by 1",
				Paper: "3 piggybacked, threshold +1", Judge: excess,
			},
			{
				Text:  "block 7: after a piggyback, regular and without adjustment",
				Paper: "explicit", Judge: returned(7, 2, 1),
			},
			{
				Text:  "block 8: in the regular way",
				Paper: "explicit", Judge: returned(8, 2, 0),
			},
		},
	}
}

// A block of the trace is one or more commands (explore.Script); what stands in
// front lets the other processes use up slots or steal, which the figure's text
// only mentions. The receiver is process 0, the sender process 1.
type block struct{ before, commands []string }

func traceBlocks() []block {
	return []block{
		{nil, []string{one}},
		{[]string{others(2, 3), others(3, 3), others(4, 3), others(5, 3)}, []string{one}},
		{[]string{others(2, 3)}, []string{one}},
		{[]string{others(2, 9), others(3, 12), others(4, 12), others(5, 12), others(2, 12),
			others(3, 12), others(4, 12), others(5, 12), others(2, 12)}, []string{"exchange from=1 to=0 count=4"}},
		{nil, []string{one, back, one, back}},
		{nil, []string{"exchange from=1 to=0 count=3", back, one, back}},
		{nil, []string{one, back, "exchange from=1 to=0 count=3"}},
		{nil, []string{"exchange from=1 to=0 count=2"}},
	}
}

const (
	one  = "exchange from=1 to=0"      // one data packet of the sender
	back = "exchange from=0 to=1 room" // one of the receiver, with room for credits
)

// piggyback matches a data packet of the sender that carries credits.
const piggyback = `0>1 sent DATA \d+ \+(\d+)`

func others(from, count int) string {
	return fmt.Sprintf("exchange from=%d to=0 count=%d quiet", from, count)
}

// quietOthers leaves out what other processes do before a block.
func quietOthers(config any) {
	if b, ok := config.(*block); ok {
		b.before = nil
	}
}

func measureFig14(_ context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"block", "explicit credits", "piggybacked credits", "piggybacks", "thresholds", "intended quota", "retrieved", "piggybacked counter", "sender's credits"}}
	var s explore.Script
	if out := s.Exec("new flow=dynamic procs=6 data=50 credit=2 piggyback"); !strings.Contains(out, "60 slots") {
		return nil, fmt.Errorf("the scenario's world: %s", out)
	}
	for i, b := range traceBlocks() {
		b = paper.Mutated(e, b)
		for _, c := range b.before {
			if out := s.Exec(c); strings.TrimSpace(out) != "ok" {
				return nil, fmt.Errorf("block %d: %s: %s", i+1, c, out)
			}
		}
		explicit, piggybacked, packets := 0, 0, 0
		for _, c := range b.commands {
			out := s.Exec(c)
			explicit += sumOf(out, `0>1 sent CREDIT \+(\d+)`)
			piggybacked += sumOf(out, piggyback)
			packets += len(regexp.MustCompile(piggyback).FindAllString(out, -1))
		}
		at := s.Exec("state at=0")
		list := regexp.MustCompile(`peer 1: .*thresholds=\[([\d ]+)\]`).FindStringSubmatch(at)
		if list == nil {
			return nil, fmt.Errorf("block %d: no thresholds in %q", i+1, at)
		}
		t.Add(i+1, explicit, piggybacked, packets, list[1], numberIn(at, `peer 1: .*intended=(\d+)`), numberIn(at, `peer 1: .*retrieved=(\d+)`),
			numberIn(at, `peer 1: .*piggybacked=(\d+)`), numberIn(s.Exec("state at=1"), `peer 0: credits=(\d+)`))
	}
	return t, nil
}

// numberIn gives the first number that the pattern captures, -1 without a match.
func numberIn(text, pattern string) int {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func sumOf(text, pattern string) (n int) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		k, _ := strconv.Atoi(m[1])
		n += k
	}
	return n
}

// returned: so many credits went back in that block, explicitly and piggybacked.
func returned(block int, explicit, piggybacked float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		e, p := t.Only("explicit credits", "block", block), t.Only("piggybacked credits", "block", block)
		return judge.Of(fmt.Sprintf("%.0f explicit, %.0f piggybacked", e, p),
			judge.Equal(e, explicit), judge.Equal(p, piggybacked))
	}
}

func twoPiggybacks(t *paper.Table) judge.Finding {
	regular := returned(5, 0, 2)(t)
	n := t.Only("piggybacks", "block", 5)
	return judge.Of(fmt.Sprintf("%s in %.0f packets", regular.Ours, n), append(regular.Checks, judge.Equal(n, 2))...)
}

func quotaFell(t *paper.Table) judge.Finding {
	before, after := t.Only("intended quota", "block", 3), t.Only("intended quota", "block", 4)
	return judge.Of(fmt.Sprintf("%.0f, then %.0f", before, after),
		judge.Equal(before, 10), judge.Less(after, before, 0))
}

// excess: block 6 ends with a threshold one higher than the list held before it.
func excess(t *paper.Table) judge.Finding {
	var before, after, next int
	fmt.Sscan(t.Where("block", 5).Rows[0][t.Column("thresholds")].(string), &before, &next)
	fmt.Sscan(t.Where("block", 6).Rows[0][t.Column("thresholds")].(string), &after)
	regular := returned(6, 0, 3)(t)
	return judge.Of(fmt.Sprintf("%s; the next threshold %d became %d", regular.Ours, next, after),
		append(regular.Checks, judge.Equal(float64(after-next), 1))...)
}
