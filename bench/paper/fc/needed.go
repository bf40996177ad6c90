package fc

import (
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// needed is the mailbox size in slots per process from which on the average overhead is acceptable,
// interpolated between the measured sizes, linearly over their logarithm. Not reached: no measured
// size is large enough; the size is the largest one then.
func needed(t *paper.Table, flow string) (slots float64, reached bool) {
	sizes := imbSlots()
	at := len(sizes) // of the first size from which on all are acceptable
	for at > 0 && average(t, flow, sizes[at-1]) <= acceptable {
		at--
	}
	switch at {
	case len(sizes):
		return float64(sizes[at-1]), false
	case 0:
		return float64(sizes[0]), true
	}
	over, under := average(t, flow, sizes[at-1]), average(t, flow, sizes[at])
	low, high := math.Log2(float64(sizes[at-1])), math.Log2(float64(sizes[at]))
	return math.Exp2(low + (high-low)*(over-acceptable)/(over-under)), true
}

// fewerBuffers judges both sides of the ratio: static flow control needs the larger size, and
// dynamic flow control is content with the smaller one.
func fewerBuffers(t *paper.Table) judge.Finding {
	static, s := needed(t, "static")
	dynamic, d := needed(t, "dynamic")
	return judge.Of(fmt.Sprintf("static %s, dynamic %s", slotsText(static, s), slotsText(dynamic, d)),
		judge.True(s), judge.True(d), judge.AtLeast(static/dynamic, 4*(1-judge.Margin)))
}

func slotsText(slots float64, reached bool) string {
	if !reached {
		return fmt.Sprintf("more than %.0f slots", slots)
	}
	return fmt.Sprintf("%.1f slots", slots)
}

// fewerAtEqualOverhead needs no absolute overhead.
func fewerAtEqualOverhead(t *paper.Table) judge.Finding {
	static, dynamic := average(t, "static", staticSlots), average(t, "dynamic", dynamicSlots)
	return judge.Of(fmt.Sprintf("%.1f %% with %d slots, static %.1f %% with %d", dynamic, dynamicSlots, static, staticSlots),
		judge.NotMore(dynamic, static, judge.Points))
}

// memoryAtNeeded is Table 3 with the measured sizes instead of the published ones.
func memoryAtNeeded(t *paper.Table) judge.Finding {
	megabytes, all := map[string]float64{}, true
	for _, flow := range []string{"static", "dynamic"} {
		slots, reached := needed(t, flow)
		all = all && reached
		bytes, _, err := footprint{flow, int(math.Ceil(slots)), 1}.memory(largest)
		if err != nil { // the sizes are those of mailboxes that have run
			panic(err)
		}
		megabytes[flow] = bytes / mebibyte
	}
	return judge.Of(fmt.Sprintf("static %.0f MB, dynamic %.0f MB (extrapolated)", megabytes["static"], megabytes["dynamic"]),
		judge.True(all), judge.Below(megabytes["dynamic"]/megabytes["static"], 1.0/3))
}
