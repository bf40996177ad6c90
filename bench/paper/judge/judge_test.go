package judge_test

import (
	"math"
	"testing"

	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/stretchr/testify/require"
)

func one(c judge.Check) judge.Outcome {
	outcome, _ := judge.Decide([]judge.Finding{judge.Of("ours", c)})
	return outcome
}

// The values that were clearly less and similar at a time, or clearly less by a hundredth, are not
// clearly less any more.
func TestClearDifferences(t *testing.T) {
	for _, x := range []struct {
		a, b, floor   float64
		less, similar judge.Outcome
	}{
		{3.299, 3.3, judge.Points, judge.Differs, judge.Holds},
		{24.5, 24.7, judge.Points, judge.Differs, judge.Holds},
		{42.5, 42.6, 0, judge.Differs, judge.Holds},
		{20, 24.7, judge.Points, judge.Holds, judge.Differs},
		{24.7, 20, judge.Points, judge.Differs, judge.Differs},
		{95, 100, 0, judge.Holds, judge.Differs},
		{95.1, 100, 0, judge.Differs, judge.Holds},
		{0.1, 0.9, judge.Points, judge.Differs, judge.Holds},
		{-5, 0.9, judge.Points, judge.Holds, judge.Differs},
		{0, 0, 0, judge.Differs, judge.Holds},
	} {
		require.Equal(t, x.less, one(judge.Less(x.a, x.b, x.floor)), "%v less than %v", x.a, x.b)
		require.Equal(t, x.similar, one(judge.Similar(x.a, x.b, x.floor)), "%v similar to %v", x.a, x.b)
		if x.similar == judge.Holds {
			require.Equal(t, judge.Holds, one(judge.NotMore(x.a, x.b, x.floor)))
			require.Equal(t, judge.Holds, one(judge.NotMore(x.b, x.a, x.floor)))
		}
	}
	require.Equal(t, judge.Differs, one(judge.NotMore(24.7, 20, judge.Points)))
}

// No pair of values is clearly less and similar.
func FuzzExclusive(f *testing.F) {
	f.Add(24.5, 24.7, 1.0)
	f.Add(95.0, 100.0, 0.0)
	f.Add(-3.0, 3.0, 0.5)
	f.Fuzz(func(t *testing.T, a, b, floor float64) {
		for _, v := range []float64{a, b, floor} {
			if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e100 {
				t.Skip()
			}
		}
		floor = math.Abs(floor)
		less, similar, more := one(judge.Less(a, b, floor)), one(judge.Similar(a, b, floor)), one(judge.Less(b, a, floor))
		holds := 0
		for _, o := range []judge.Outcome{less, similar, more} {
			if o == judge.Holds {
				holds++
			}
		}
		require.Equal(t, 1, holds, "%v %v %v", less, similar, more)
	})
}

func TestBorders(t *testing.T) {
	require.Equal(t, judge.Holds, one(judge.AtLeast(3, 3)))
	require.Equal(t, judge.Differs, one(judge.AtLeast(2.9, 3)))
	require.Equal(t, judge.Holds, one(judge.AtMost(3, 3)))
	require.Equal(t, judge.Differs, one(judge.AtMost(3.1, 3)))
	require.Equal(t, judge.Differs, one(judge.Above(3, 3)))
	require.Equal(t, judge.Differs, one(judge.Below(3, 3)))
	require.Equal(t, judge.Holds, one(judge.Between(3, 2, 3)))
	require.Equal(t, judge.Differs, one(judge.Between(4, 2, 3)))
	require.Equal(t, judge.Holds, one(judge.Near(14, 15, 1)))
	require.Equal(t, judge.Differs, one(judge.Near(13, 15, 1)))
	require.Equal(t, judge.Holds, one(judge.Equal(42, 42)))
	require.Equal(t, judge.Differs, one(judge.Equal(41, 42)))
	require.Equal(t, judge.Holds, one(judge.True(true)))
	require.Equal(t, judge.Differs, one(judge.True(false)))
}

// Five samples: inside, outside, across the border; identical ones have no width.
func TestSamples(t *testing.T) {
	of := func(values ...float64) (judge.Outcome, judge.Interval) {
		var list []judge.Finding
		for _, v := range values {
			list = append(list, judge.Of("ours", judge.AtMost(v, 3)))
		}
		o, i := judge.Decide(list)
		return o, i[0]
	}
	outcome, interval := of(1, 1.1, 0.9, 1, 1)
	require.Equal(t, judge.Holds, outcome)
	require.InDelta(t, 1, interval.Mean, 1e-9)
	require.InDelta(t, 2.776*0.0707/math.Sqrt(5), interval.Within, 1e-3)
	outcome, _ = of(5, 5.1, 4.9, 5, 5)
	require.Equal(t, judge.Differs, outcome)
	outcome, _ = of(2, 4, 2.5, 3.5, 2.8) // the mean would hold
	require.Equal(t, judge.Undecided, outcome)
	outcome, interval = of(0.1, 0.1, 0.1, 0.1, 0.1)
	require.Equal(t, judge.Holds, outcome)
	require.Zero(t, interval.Within)
	outcome, _ = of(3, 3, 3)
	require.Equal(t, judge.Holds, outcome)
}

// One check that differs decides; one that is undecided does if no other differs.
func TestSeveralChecks(t *testing.T) {
	of := func(a, b, c float64) judge.Finding {
		return judge.Of("ours", judge.AtLeast(a, 1), judge.AtLeast(b, 1), judge.AtLeast(c, 1))
	}
	for want, list := range map[judge.Outcome][]judge.Finding{
		judge.Holds:     {of(2, 3, 4), of(2, 3, 4)},
		judge.Differs:   {of(2, 0, 0), of(2, 0, 9)},
		judge.Undecided: {of(2, 3, 0), of(2, 3, 9)},
	} {
		outcome, intervals := judge.Decide(list)
		require.Equal(t, want, outcome)
		require.Len(t, intervals, 3)
	}
	require.Panics(t, func() {
		judge.Decide([]judge.Finding{judge.Of("ours", judge.AtMost(1, 2)), judge.Of("ours", judge.AtMost(1, 3))})
	})
	require.Panics(t, func() { judge.Decide([]judge.Finding{of(1, 1, 1), judge.Of("other", judge.True(true))}) })
}

func TestText(t *testing.T) {
	_, i := judge.Decide([]judge.Finding{judge.Of("ours", judge.AtMost(2, 3)), judge.Of("ours", judge.AtMost(2.2, 3))})
	require.Equal(t, "2.1 ± 1.271 (at most 3)", i[0].String())
	_, i = judge.Decide([]judge.Finding{judge.Of("ours", judge.True(true)), judge.Of("ours", judge.True(false))})
	require.Equal(t, "50 % of samples", i[0].String())
	require.Equal(t, judge.Undecided, i[0].Outcome)
	require.Equal(t, judge.Nothing(), judge.Finding{})
}
