package bench

import (
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Spread is the distribution of iteration times over all ranks that took part.
type Spread struct {
	Count int          `json:"count"`
	Min   drivers.Time `json:"min_ps"`
	P50   drivers.Time `json:"p50_ps"`
	P99   drivers.Time `json:"p99_ps"`
	Max   drivers.Time `json:"max_ps"`
}

// spreadOf sorts its argument. A percentile is the smallest value that is not exceeded by that
// share.
func spreadOf(each []drivers.Time) *Spread {
	n := len(each)
	if n == 0 {
		return nil
	}
	slices.Sort(each)
	at := func(percent int) drivers.Time { return each[max(0, (n*percent+99)/100-1)] }
	return &Spread{Count: n, Min: each[0], P50: at(50), P99: at(99), Max: each[n-1]}
}

// Halves returns the distribution of half iterations.
func (s Spread) Halves() Spread {
	return Spread{Count: s.Count, Min: s.Min / 2, P50: s.P50 / 2, P99: s.P99 / 2, Max: s.Max / 2}
}
