package reproduce

import (
	"context"
	"fmt"
)

// specReasons417 has an application that does one thing otherwise stand for it.
var specReasons417 = []reason{
	{claim: "BT waits less", changed: "faces are not exchanged", measure: instead("bt", "bt-sweeps", 0)},
	{claim: "BT waits less", changed: "faces are sent by sends that block, which leave an RTR while a message of that rank is got", measure: instead("bt", "bt-send", 0)},
	{asks: btWaits, changed: "two faces are under way at a time, of two neighbours", before: besideSend("bt"), measure: thenBesideSend("bt-crossed")},
	{asks: btWaits, changed: "two faces are under way at a time, both of one neighbour", before: besideSend("bt"), measure: thenBesideSend("bt-pairs")},
	{claim: "LU waits hardly less", changed: "receives name their source", measure: instead("lu", "lu-named", 0)},
	{claim: "LU waits hardly less", changed: "ranks have neighbours on all sides", measure: instead("lu", "lu-round", 0)},
	{claim: "LU waits hardly less", changed: "every other rank comes two computations later", measure: instead("lu", "lu-late", 0)},
	{claim: "LU waits hardly less", changed: "ranks have neighbours on all sides, and every other one comes two computations later", measure: instead("lu", "lu-round-late", 0)},
	{claim: "RADIX waits slightly less", changed: "messages have 16 KB", measure: instead("radix", "radix", 16<<10)},
	{claim: "RADIX waits slightly less", changed: "ranks compute for an eighth of the time behind every four receives", measure: instead("radix", "radix-behind", 0)},
	{claim: "RADIX waits slightly less", changed: "ranks compute for an eighth of the time beside every four receives", measure: instead("radix", "radix-beside", 0)},
	{claim: "CG.B waits longer without adaptation", changed: "sends do not block, and are waited for at once", measure: instead("cg.B", "cg-isend", 0)},
}

// instead runs another pattern, or messages of another length, under the name of an application.
func instead(name, pattern string, bytes int) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) {
		for _, a := range applications {
			if a.name != name {
				continue
			}
			if a.pattern = pattern; bytes > 0 {
				a.bytes, a.iterations = bytes, 2*a.iterations
			}
			settings := e.settings()
			if name != "bt" { // whose claim alone looks at all of them
				settings = settings[:1]
			}
			return e.applications(ctx, []application{a}, settings)
		}
		panic("reproduce: no application " + name)
	}
}

// btWaits is no claim of the paper: with all faces under way at a time ranks wait longer than where
// sends block, also without speculation.
var btWaits = &claim{"BT waits no longer than with faces sent by sends that block, without speculation", "(not said)", func(t *Table) (string, bool) {
	v, w := of(t, "waits (µs)", "bt", speculateNot), of(t, "waits (µs)", "bt-send", speculateNot)
	return fmt.Sprintf("%.0f µs, %.0f where sends block", v, w), v <= 1.1*w
}}

// besideSend gives what btWaits is judged by: a pattern as BT, and BT whose sends of faces block.
func besideSend(pattern string) func(context.Context, *Env) (*Table, error) {
	return func(ctx context.Context, e *Env) (*Table, error) {
		return e.applications(ctx, []application{{"bt", pattern, 128 << 10, 40}, {"bt-send", "bt-send", 128 << 10, 40}}, e.settings()[:1])
	}
}

func thenBesideSend(pattern string) func(context.Context, *Env, *Table) (*Table, error) {
	return func(ctx context.Context, e *Env, _ *Table) (*Table, error) { return besideSend(pattern)(ctx, e) }
}
