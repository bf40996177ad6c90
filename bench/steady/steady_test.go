package steady

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// series returns n values of a function plus normal noise.
func series(n int, seed uint64, noise float64, f func(i int) float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]float64, n)
	for i := range list {
		list[i] = f(i) + noise*r.NormFloat64()
	}
	return list
}

func level(v float64) func(int) float64 { return func(int) float64 { return v } }

// autoregressive returns an AR(1) series of mean 1.
func autoregressive(n int, seed uint64, phi float64) []float64 {
	list := series(n, seed, 1, level(0))
	for i := 1; i < n; i++ {
		list[i] += phi * list[i-1]
	}
	for i := range list {
		list[i]++
	}
	return list
}

// batch is the number of observations that MSER-5 averages.
const batch = 5

// mser5 is MSER-5 of observations.
func mser5(observations []float64) Truncation {
	t := MSER(batches(observations, batch))
	t.Dropped *= batch
	return t
}

// TestMSERByHand: the statistic of 10, 0, 0, 0, 2, 0, 0, 0 without the first d values is
// squares/(8-d)²: 86/64, then 3.43/49, 3.33/36, 3.2/25. It is smallest without the first one.
func TestMSERByHand(t *testing.T) {
	require.Equal(t, Truncation{1, Steady}, MSER([]float64{10, 0, 0, 0, 2, 0, 0, 0}))
}

func TestMSER5KnownSeries(t *testing.T) {
	for name, c := range map[string]struct {
		series    []float64
		low, high int // of the truncation point
		want      State
	}{
		"constant":          {series(100, 1, 0, level(3)), 0, 0, Steady},
		"too short":         {series(batch*MinBatches-1, 1, 0, level(3)), 35, 35, Transient},
		"step at 50 of 200": {series(200, 1, 0, func(i int) float64 { return float64(min(i/50, 1)) }), 50, 50, Steady},
		"step with noise":   {series(200, 1, 0.1, func(i int) float64 { return float64(min(i/50, 1)) }), 50, 60, Steady},
		"step at 150":       {series(200, 1, 0.1, func(i int) float64 { return float64(min(i/150, 1)) }), 150, 175, Transient},
		"exponential": {
			series(400, 1, 0.05, func(i int) float64 { return 1 - math.Exp(-float64(i)/20) }), 40, 140, Steady,
		},
		"rising":        {series(200, 1, 0, func(i int) float64 { return float64(i) }), 175, 175, Transient},
		"rising little": {series(200, 1, 0, func(i int) float64 { return 1 + 1e-6*float64(i) }), 175, 175, Transient},
		"falling":       {series(200, 1, 0.01, func(i int) float64 { return 1 - float64(i)/200 }), 150, 175, Transient},
	} {
		got := mser5(c.series)
		require.Equal(t, c.want, got.State, name)
		require.GreaterOrEqual(t, got.Dropped, c.low, name)
		require.LessOrEqual(t, got.Dropped, c.high, name)
	}
}

// TestScale: the truncation point does not depend on the unit or the zero of the values.
func TestScale(t *testing.T) {
	for seed := range uint64(20) {
		plain := series(300, seed, 0.1, func(i int) float64 { return 1 - math.Exp(-float64(i)/30) })
		other := make([]float64, len(plain))
		for i, v := range plain {
			other[i] = 7 + 1000*v
		}
		require.Equal(t, mser5(plain), mser5(other))
	}
}

// TestErrorRates: a stationary series is rarely called transient. A drift from 0.343 to 0.497 with
// noise of 0.02, as that of 1,056 nodes with slow memories, is mostly detected: more often by a
// second look at the series after another third of its length.
func TestErrorRates(t *testing.T) {
	falseAlarms, missed, missedTwice := 0, 0, 0
	const trials = 500
	drift := func(i int) float64 { return 0.343 + (0.497-0.343)*float64(i)/48 }
	for seed := range uint64(trials) {
		if MSER(series(48, seed, 0.02, level(0.5))).State == Transient {
			falseAlarms++
		}
		drifting := series(64, seed, 0.02, drift)
		if MSER(drifting[:48]).State == Transient {
			continue
		}
		if missed++; MSER(drifting).State == Steady {
			missedTwice++
		}
	}
	t.Logf("stationary called transient: %d of %d; drift called steady: %d, twice: %d", falseAlarms, trials, missed, missedTwice)
	require.Less(t, falseAlarms, trials/10)
	require.Less(t, missed, trials/4)
	require.Less(t, missedTwice, trials/20)
}

func TestInterval(t *testing.T) {
	m, w := Interval([]float64{1, 2, 3})
	require.InDelta(t, 2, m, 1e-9)
	require.InDelta(t, 4.303/math.Sqrt(3), w, 1e-3)
	_, w = Interval([]float64{5})
	require.Zero(t, w)
}

// TestCoverage: the interval of independent values contains the true mean in about 95 % of the
// trials; that of a correlated series would in two thirds without larger batches.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		phi                 float64
		plainMost, ourLeast int // of 1,000 trials
	}{{0, 970, 920}, {0.7, 700, 850}} {
		plain, ours := 0, 0
		for seed := range uint64(1000) {
			values := autoregressive(512, seed, c.phi)
			m, w := Interval(values)
			if math.Abs(m-1) <= w {
				plain++
			}
			if m, w, _ = Mean(values); math.Abs(m-1) <= w {
				ours++
			}
		}
		t.Logf("phi %g: %d of 1,000 intervals contain the mean, %d by batch means", c.phi, plain, ours)
		require.Less(t, plain, c.plainMost)
		require.Greater(t, ours, c.ourLeast)
	}
}

// TestCorrelatedToTheEnd: a series whose largest batches are correlated has no valid interval.
func TestCorrelatedToTheEnd(t *testing.T) {
	_, _, independent := Mean(series(16, 1, 0, func(i int) float64 { return float64(i) }))
	require.False(t, independent)
	_, within, independent := Mean(series(16, 1, 0, level(4)))
	require.True(t, independent)
	require.Zero(t, within)
}
