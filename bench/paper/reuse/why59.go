package reproduce

import "context"

// reuseReasons9 are about collectives: what counts as a rank's time, and what is sent between
// nodes.
var reuseReasons9 = []reason{
	{claim: moreThanTwo, changed: "the root's time ends when its sends are begun", measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4, does: begunBcast})},
	{claim: moreThanTwo, changed: "the time of every rank ends when it has the message and its sends are begun", measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4, does: begunTree})},
	{claim: moreThanTwo, changed: "and nobody sends two messages: a chain", measure: lines9(8<<10, reuse9{what: ofBcast, world: nodes4, does: begunChain})},
	{claim: bcastOf16, changed: "the root's time ends when its sends are begun", measure: lines9(8<<10,
		reuse9{what: ofBcast, world: nodes4, does: begunBcast}, reuse9{what: ofBcast, world: nodes16, does: begunBcast})},
	{claim: bcastOf16, changed: "the time of the last rank counts", measure: ofLast},
	{claim: scatterOf16, changed: "the time of the last rank counts", measure: ofLast},
	{claim: scatterOf16, changed: "blocks of 16 have a quarter of the bytes, so messages between nodes as many as those of 4", measure: lines9(1<<10,
		reuse9{what: ofScatter, world: nodes4}, reuse9{what: ofScatter, world: nodes16, part: 4})},
	{claim: scatterOf16, changed: "the root's time ends when its sends are begun", measure: lines9(1<<10,
		reuse9{what: ofScatter, world: nodes4, does: begunScatter}, reuse9{what: ofScatter, world: nodes16, does: begunScatter})},
	{claim: scatterOf16, changed: "both: begun by the root, and blocks of a quarter", measure: lines9(1<<10,
		reuse9{what: ofScatter, world: nodes4, does: begunScatter}, reuse9{what: ofScatter, world: nodes16, does: begunScatter, part: 4})},
	{claim: scatterOf16, changed: "the last rank's time counts, and blocks of 16 have a quarter of the bytes", measure: then(ofLast, lines9(1<<10,
		reuse9{what: ofScatter, world: nodes4}, reuse9{what: ofScatter, world: nodes16, part: 4}))},
	{claim: scatterDrops, changed: "the time of the last rank counts", measure: ofLast},
}

// Claims that have reasons.
const (
	moreThanTwo  = "broadcast among 4: more than a message between two"
	bcastOf16    = "16 processes gain less than 4: most of their messages stay on a node (broadcast)"
	scatterOf16  = "16 processes gain less than 4 (scatter)"
	scatterDrops = "scatter gains less beyond 4.5 KB: two blocks are no eager message"
)

// lines9 measures lines anew, and what they are compared with, at one size.
func lines9(n int, list ...reuse9) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		return e.fromRoots(ctx, append([]reuse9{{what: ofPingpong, world: reusePair}}, list...), []int{n})
	}
}

// ofLast has the gains of the last rank stand for those of all.
func ofLast(_ context.Context, _ *Env, was *Table) (*Table, error) {
	t := &Table{Columns: was.Columns}
	for _, row := range was.Rows {
		row = append([]any{}, row...)
		row[t.column(meanGains)] = row[t.column(lastGains)]
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// then changes a table that was measured with another change.
func then(last, first func(context.Context, *Env, *Table) (*Table, error)) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, was *Table) (*Table, error) {
		t, err := first(ctx, e, was)
		if err != nil {
			return nil, err
		}
		return last(ctx, e, t)
	}
}
