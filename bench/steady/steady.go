// Package steady tells the steady state of a time series from its initial transient, and computes
// confidence intervals of steady means. It is the only such method of this tree.
//
// # Method
//
// [MSER] is the marginal standard error rule MSER-5 of K. P. White, M. J. Cobb and S. C. Spratt ("A
// comparison of five steady-state truncation heuristics for simulation", Winter Simulation
// Conference 2000), for observations that are already averaged in batches of five. The truncation
// point is the number of initial batches whose removal gives the smallest estimated standard error
// of the mean of the rest. If it lies in the second half of the series, the series is too short to
// contain a steady state, and it is transient.
//
// [Mean] computes the interval of a truncated series by batch means. Successive values of a
// simulation are correlated, and an interval that ignores this is too narrow. Mean doubles the
// batches until von Neumann's ratio no longer shows a correlation of neighbouring batches.
//
// # Guarantees
//
//   - A constant series is steady from its first observation.
//   - A series that rises or falls linearly is transient, whatever its slope.
//   - Scaling a series or adding a constant changes no truncation point, except by rounding.
package steady

import "math"

const (
	// MinBatches is the smallest number of batches that MSER examines. Shorter series are
	// transient.
	MinBatches = 8
	// minRest is the smallest number of batches that remain after truncation. The standard error of
	// fewer batches is often small by chance.
	minRest = 5
)

// A State labels a result.
type State string

// The states.
const (
	Transient State = "transient"
	Steady    State = "steady"
)

// A Truncation is the end of the initial transient.
type Truncation struct {
	// Dropped is the number of initial values that belong to the transient.
	Dropped int
	// State is Transient if the transient lasts beyond the first half of the series, or if the series
	// is too short.
	State State
}

// MSER finds the end of the transient in a series of batch means: of five observations each, or of
// windows of a simulation, which are means of five equal parts.
func MSER(means []float64) Truncation {
	n := len(means)
	if n < MinBatches {
		return Truncation{n, Transient}
	}
	// The sums run from the end: the statistic needs mean and squared deviations of each rest.
	best, dropped := math.Inf(1), 0
	var average, squares float64
	for d := n - 1; d >= 0; d-- {
		count := float64(n - d)
		delta := means[d] - average
		average += delta / count
		squares += delta * (means[d] - average)
		if n-d < minRest {
			continue
		}
		if statistic := squares / (count * count); statistic <= best {
			best, dropped = statistic, d
		}
	}
	if 2*dropped > n {
		return Truncation{dropped, Transient}
	}
	return Truncation{dropped, Steady}
}

// batches returns the means of batches of a size, without an incomplete last one.
func batches(list []float64, size int) []float64 {
	means := make([]float64, 0, len(list)/size)
	for ; len(list) >= size; list = list[size:] {
		means = append(means, average(list[:size]))
	}
	return means
}

func average(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(max(len(list), 1))
}
