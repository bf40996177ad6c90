package spec

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// specReasons417 has an application that does one thing otherwise stand for it.
func specReasons417() []paper.Hypothesis {
	return []paper.Hypothesis{
		{Claim: "BT waits less", Changed: "faces are not exchanged", Measure: instead("bt", "bt-sweeps", 0)},
		{Claim: "BT waits less", Changed: "faces are sent by sends that block, which leave an RTR while a message of that rank is got", Measure: instead("bt", "bt-send", 0)},
		{Asks: btWaits(), Changed: "two faces are under way at a time, of two neighbours", Before: besideSend("bt"), Measure: thenBesideSend("bt-crossed")},
		{Asks: btWaits(), Changed: "two faces are under way at a time, both of one neighbour", Before: besideSend("bt"), Measure: thenBesideSend("bt-pairs")},
		{Claim: "LU waits hardly less", Changed: "receives name their source", Measure: instead("lu", "lu-named", 0)},
		{Claim: "LU waits hardly less", Changed: "ranks have neighbours on all sides", Measure: instead("lu", "lu-round", 0)},
		{Claim: "LU waits hardly less", Changed: "every other rank comes two computations later", Measure: instead("lu", "lu-late", 0)},
		{Claim: "LU waits hardly less", Changed: "ranks have neighbours on all sides, and every other one comes two computations later", Measure: instead("lu", "lu-round-late", 0)},
		{Claim: "RADIX waits slightly less", Changed: "messages have 16 KB", Measure: instead("radix", "radix", 16<<10)},
		{Claim: "RADIX waits slightly less", Changed: "ranks compute for an eighth of the time behind every four receives", Measure: instead("radix", "radix-behind", 0)},
		{Claim: "RADIX waits slightly less", Changed: "ranks compute for an eighth of the time beside every four receives", Measure: instead("radix", "radix-beside", 0)},
		{Claim: "CG.B waits longer without adaptation", Changed: "sends do not block, and are waited for at once", Measure: instead("cg.B", "cg-isend", 0)},
	}
}

// instead runs another pattern, or messages of another length, under the name of an application.
func instead(name, pattern string, bytes int) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		for _, a := range applications() {
			if a.name != name {
				continue
			}
			if a.pattern = pattern; bytes > 0 {
				a.bytes, a.iterations = bytes, 2*a.iterations
			}
			settings := settings(e)
			if name != "bt" { // whose claim alone looks at all of them
				settings = settings[:1]
			}
			return runApplications(ctx, e, []application{a}, settings)
		}
		panic("spec: no application " + name)
	}
}

// btWaits is no claim of the paper: with all faces under way at a time ranks wait longer than where
// sends block, also without speculation.
func btWaits() *paper.Claim {
	return &paper.Claim{
		Text:  "BT waits no longer than with faces sent by sends that block, without speculation",
		Paper: "(not said)", Judge: func(t *paper.Table) judge.Finding {
			v, w := of(t, "waits (µs)", "bt", speculateNot), of(t, "waits (µs)", "bt-send", speculateNot)
			return judge.Of(fmt.Sprintf("%.0f µs, %.0f where sends block", v, w), judge.AtMost(v/w, 1.1))
		}}
}

// besideSend gives what btWaits is judged by: a pattern as BT, and BT whose sends of faces block.
func besideSend(pattern string) func(context.Context, *paper.Env) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
		return runApplications(ctx, e, []application{{"bt", pattern, 128 << 10, 40}, {"bt-send", "bt-send", 128 << 10, 40}}, settings(e)[:1])
	}
}

func thenBesideSend(pattern string) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return besideSend(pattern)(ctx, e)
	}
}
