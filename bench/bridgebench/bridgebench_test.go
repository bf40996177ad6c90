package bridgebench

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/inside"
)

// TestSidesAgree: both sides simulate the same cycles, regardless of speed.
func TestSidesAgree(t *testing.T) {
	for _, in := range []bool{false, true} {
		testSides(t, in)
	}
}

func testSides(t *testing.T, in bool) {
	if in && inside.Supported() != nil {
		return
	}
	starts := 2
	if testing.Short() {
		starts = 1
	}
	report, err := Run(context.Background(), Options{Starts: starts, Rounds: 1, Transactions: 300, Inside: in})
	require.NoError(t, err)
	require.Len(t, report.Results, 2)
	for i, crossings := range []int{600, 150} {
		r := report.Results[i]
		require.Equal(t, crossings, r.Crossings, "one per message, and one per eight")
		require.Equal(t, !in, r.Simulator.Min > 0)
		require.Positive(t, r.Host.Min)
	}
}

func TestSpread(t *testing.T) {
	require.Equal(t, Spread{Median: 3, Low: 2, High: 4, Min: 1, Max: 5}, spread([]float64{5, 3, 1, 4, 2}))
	require.Equal(t, Spread{Median: 1.5, Low: 1.25, High: 1.75, Min: 1, Max: 2}, spread([]float64{2, 1}))
	require.Equal(t, Spread{7, 7, 7, 7, 7}, spread([]float64{7}))
}

func BenchmarkBridge(b *testing.B) {
	opt := Options{}
	if testing.Short() {
		opt.Starts = 2
	}
	for b.Loop() {
		report, err := Run(context.Background(), opt)
		require.NoError(b, err)
		report.Write(os.Stdout)
		for _, r := range report.Results {
			b.ReportMetric(r.ElapsedRatio.Median, r.Workload+"-ratio")
			b.ReportMetric(r.BridgeTransactions.Median, r.Workload+"/s")
		}
	}
}
