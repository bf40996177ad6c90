package threshold_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/nicloop/nicloop/host/threshold/explore"
	"github.com/stretchr/testify/require"
)

// TestScenarios runs the scripts in testdata; explore.Script documents the commands. Use -rewrite
// to record new output, and commit it only if you can explain every changed line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s explore.Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Exec(d.FullCmd()) })
	})
}

// TestExploration is the short form of nicloop check threshold.
func TestExploration(t *testing.T) {
	for _, o := range explore.Suite(1) {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.Positive(t, r.Ends)
	}
}

// Every planted mistake is found, and its counterexample can be replayed.
func TestPlanted(t *testing.T) {
	for _, o := range explore.Planted() {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Refuted, r.Verdict, o.String())
		var s explore.Script
		datadriven.RunTestFromString(t, r.Script, func(_ *testing.T, d *datadriven.TestData) string { return s.Exec(d.FullCmd()) })
	}
}
