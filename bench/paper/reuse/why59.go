package reuse

import (
	"context"

	"github.com/nicloop/nicloop/bench/paper"
)

// reuseReasons9 are about collectives: what counts as a rank's time, and what is sent between
// nodes.
func reuseReasons9() []paper.Hypothesis {
	return []paper.Hypothesis{
		{Claim: moreThanTwo, Changed: "the root's time ends when its sends are begun", Measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4(), does: begunBcast})},
		{Claim: moreThanTwo, Changed: "the time of every rank ends when it has the message and its sends are begun", Measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4(), does: begunTree})},
		{Claim: moreThanTwo, Changed: "and nobody sends two messages: a chain", Measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4(), does: begunChain})},
		{Claim: bcastOf16, Changed: "the root's time ends when its sends are begun", Measure: lines9(8<<10,
			reuse9{what: ofBcast, world: nodes4(), does: begunBcast}, reuse9{what: ofBcast, world: nodes16(), does: begunBcast})},
		{Claim: bcastOf16, Changed: "the time of the last rank counts", Measure: ofLast},
		{Claim: scatterOf16, Changed: "the time of the last rank counts", Measure: ofLast},
		{Claim: scatterOf16, Changed: "blocks of 16 have a quarter of the bytes, so messages between nodes as many as those of 4", Measure: lines9(1<<10,
			reuse9{what: ofScatter, world: nodes4()}, reuse9{what: ofScatter, world: nodes16(), part: 4})},
		{Claim: scatterOf16, Changed: "the root's time ends when its sends are begun", Measure: lines9(1<<10,
			reuse9{what: ofScatter, world: nodes4(), does: begunScatter}, reuse9{what: ofScatter, world: nodes16(), does: begunScatter})},
		{Claim: scatterOf16, Changed: "both: begun by the root, and blocks of a quarter", Measure: lines9(1<<10,
			reuse9{what: ofScatter, world: nodes4(), does: begunScatter}, reuse9{what: ofScatter, world: nodes16(), does: begunScatter, part: 4})},
		{Claim: scatterOf16, Changed: "the last rank's time counts, and blocks of 16 have a quarter of the bytes", Measure: then(ofLast, lines9(1<<10,
			reuse9{what: ofScatter, world: nodes4()}, reuse9{what: ofScatter, world: nodes16(), part: 4}))},
		{Claim: scatterDrops, Changed: "the time of the last rank counts", Measure: ofLast},
	}
}

// Claims that have reasons.
const (
	moreThanTwo  = "broadcast among 4: more than a message between two"
	bcastOf16    = "16 processes gain less than 4: most of their messages stay on a node (broadcast)"
	scatterOf16  = "16 processes gain less than 4 (scatter)"
	scatterDrops = "scatter gains less beyond 4.5 KB: two blocks are no eager message"
)

// lines9 measures lines anew, and what they are compared with, at one size.
func lines9(n int, list ...reuse9) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return fromRoots(ctx, e, append([]reuse9{{what: ofPingpong, world: reusePair()}}, list...), []int{n})
	}
}

// ofLast has the gains of the last rank stand for those of all.
func ofLast(_ context.Context, _ *paper.Env, was *paper.Table) (*paper.Table, error) {
	t := &paper.Table{Columns: was.Columns}
	for _, row := range was.Rows {
		row = append([]any{}, row...)
		row[t.Column(meanGains)] = row[t.Column(lastGains)]
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// then changes a table that was measured with another change.
func then(last, first func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error)) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, was *paper.Table) (*paper.Table, error) {
		t, err := first(ctx, e, was)
		if err != nil {
			return nil, err
		}
		return last(ctx, e, t)
	}
}
