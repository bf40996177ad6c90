package bridgebench

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The two sides must do the same, however fast they are.
func TestSidesAgree(t *testing.T) {
	report, err := Run(context.Background(), Options{Rounds: 2, Transactions: 300})
	require.NoError(t, err)
	require.Len(t, report.Results, 2)
}

func BenchmarkBridge(b *testing.B) {
	opt := Options{}
	if testing.Short() {
		opt.Rounds = 10
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
