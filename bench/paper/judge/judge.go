// Package judge decides whether measurements support a claim of a paper.
//
// # Guarantees
//
//   - A [Check] states the region in which its claim holds before anything is measured. A claim
//     that one value is lower than another requires a clear difference; a claim that they are
//     similar requires that there is none. [Less] and [Similar] use the same margin and exclude
//     each other.
//   - [Decide] judges samples, each measured under another seed: the 95 % interval of a value lies
//     inside the region ([Holds]), outside of it ([Differs]), or across its border ([Undecided]).
//   - Samples that agree exactly have an interval of width zero. One sample has no interval: it is
//     judged by its value alone, and the verdict records that.
package judge

import (
	"fmt"
	"math"

	"github.com/nicloop/nicloop/bench/steady"
)

// Outcome is the result of judging a claim.
type Outcome string

// The outcomes.
const (
	Holds     Outcome = "HOLDS"
	Differs   Outcome = "DIFFERS"
	Undecided Outcome = "UNDECIDED"
)

// Margin is the relative difference from which on two measured values differ clearly.
const Margin = 0.05

// Points is the floor of the margin of overheads, in percentage points. Two runs whose overheads
// differ by less take the same time within 1 %.
const Points = 1

// A Check is one measured value, and the region in which the claim holds.
type Check struct {
	Want      string  // the region, as people read it
	Value     float64 // measured
	Low, High float64 // the region, borders included
}

// A Finding is the evidence of one sample about a claim: all of its checks must hold. An empty Ours
// means that the sample has no rows about the claim.
type Finding struct {
	Ours   string
	Checks []Check
}

// Of returns a finding of checks.
func Of(ours string, checks ...Check) Finding { return Finding{ours, checks} }

// Nothing is the finding of a sample without rows about the claim.
func Nothing() Finding { return Finding{} }

// AtLeast requires v >= bound.
func AtLeast(v, bound float64) Check {
	return Check{fmt.Sprintf("at least %s", number(bound)), v, bound, math.Inf(1)}
}

// AtMost requires v <= bound.
func AtMost(v, bound float64) Check {
	return Check{fmt.Sprintf("at most %s", number(bound)), v, math.Inf(-1), bound}
}

// Above requires v > bound; for measured values that is AtLeast the next number.
func Above(v, bound float64) Check {
	return Check{fmt.Sprintf("above %s", number(bound)), v, math.Nextafter(bound, math.Inf(1)), math.Inf(1)}
}

// Below requires v < bound.
func Below(v, bound float64) Check {
	return Check{fmt.Sprintf("below %s", number(bound)), v, math.Inf(-1), math.Nextafter(bound, math.Inf(-1))}
}

// Between requires low <= v <= high.
func Between(v, low, high float64) Check {
	return Check{fmt.Sprintf("%s to %s", number(low), number(high)), v, low, high}
}

// Near requires a distance of at most tolerance between v and want.
func Near(v, want, tolerance float64) Check {
	return Check{fmt.Sprintf("%s ± %s", number(want), number(tolerance)), v, want - tolerance, want + tolerance}
}

// Equal requires v == want, for counts and positions.
func Equal(v, want float64) Check { return Check{number(want) + " exactly", v, want, want} }

// True requires a fact that is no number: a string, an order, a proof.
func True(fact bool) Check {
	c := Check{"true in every sample", 0, 1, 1}
	if fact {
		c.Value = 1
	}
	return c
}

// margin is the smallest clear difference of two values.
func margin(a, b, floor float64) float64 {
	return max(Margin*max(math.Abs(a), math.Abs(b)), floor)
}

// share expresses a difference in margins, so that one region fits all samples.
func share(difference, a, b, floor float64) float64 {
	m := margin(a, b, floor)
	if m == 0 { // both are zero
		return 0
	}
	return difference / m
}

// clearly describes a region in margins.
func clearly(direction string, floor float64) string {
	least := ""
	if floor > 0 {
		least = fmt.Sprintf(", %s points or more", number(floor))
	}
	return fmt.Sprintf("%s margin; a margin is %.0f %% of the larger value%s", direction, 100*Margin, least)
}

// Less requires that a is clearly lower than b: by Margin of the larger one, and by floor. The
// value of the check is the difference in margins.
func Less(a, b, floor float64) Check {
	return Check{clearly("lower by at least 1", floor), share(b-a, a, b, floor), 1, math.Inf(1)}
}

// NotMore requires that a is not clearly higher than b.
func NotMore(a, b, floor float64) Check {
	return Check{clearly("higher by less than 1", floor), share(a-b, a, b, floor), math.Inf(-1), math.Nextafter(1, 0)}
}

// Similar requires that neither of a and b is clearly lower than the other.
func Similar(a, b, floor float64) Check {
	edge := math.Nextafter(1, 0)
	return Check{clearly("apart by less than 1", floor), share(a-b, a, b, floor), -edge, edge}
}

// number formats a border with up to four digits.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }

// An Interval is the 95 % interval of the value of a check over samples.
type Interval struct {
	Want   string  `json:"want"`
	Mean   float64 `json:"mean"`
	Within float64 `json:"within"` // half of the width
	// Low and High are the region in which the check holds; absent: unbounded.
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Outcome Outcome  `json:"outcome"`
}

// String formats the interval as people read it.
func (i Interval) String() string {
	if i.Want == True(true).Want {
		return fmt.Sprintf("%.0f %% of samples", 100*i.Mean)
	}
	if i.Within == 0 {
		return fmt.Sprintf("%s (%s)", number(i.Mean), i.Want)
	}
	return fmt.Sprintf("%s ± %s (%s)", number(i.Mean), number(i.Within), i.Want)
}

// Decide judges the findings of samples. Findings of one claim have the same checks in the same
// order, with the same regions; anything else is an error of the judge and panics. A bound that is
// measured belongs into the value, as a ratio. The second result describes each check.
func Decide(samples []Finding) (Outcome, []Interval) {
	var list []Interval
	outcome := Holds
	for i, c := range samples[0].Checks {
		var values []float64
		for _, s := range samples {
			if len(s.Checks) != len(samples[0].Checks) {
				panic(fmt.Sprintf("judge: samples with %d and %d checks: %q", len(s.Checks), len(samples[0].Checks), s.Ours))
			}
			if o := s.Checks[i]; o.Low != c.Low || o.High != c.High {
				panic(fmt.Sprintf("judge: the region of a check depends on the sample: %s and %s: %q", c.Want, o.Want, s.Ours))
			}
			values = append(values, s.Checks[i].Value)
		}
		interval := decide(c, values)
		list = append(list, interval)
		switch {
		case interval.Outcome == Differs:
			outcome = Differs
		case interval.Outcome == Undecided && outcome == Holds:
			outcome = Undecided
		}
	}
	return outcome, list
}

func decide(c Check, values []float64) Interval {
	mean, within := steady.Interval(values)
	i := Interval{Want: c.Want, Mean: mean, Within: within, Outcome: Undecided}
	if !math.IsInf(c.Low, 0) {
		i.Low = &c.Low
	}
	if !math.IsInf(c.High, 0) {
		i.High = &c.High
	}
	if allEqual(values) { // rounding must not move the mean across a border
		i.Mean, i.Within = values[0], 0
	}
	low, high := i.Mean-i.Within, i.Mean+i.Within
	switch {
	case low >= c.Low && high <= c.High:
		i.Outcome = Holds
	case high < c.Low || low > c.High:
		i.Outcome = Differs
	}
	return i
}

func allEqual(values []float64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}
