package explore

import (
	"context"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/nicloop/nicloop/host/portals/rdrp"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/stretchr/testify/require"
)

// TestScenarios runs the scripts of testdata. To record output run with -rewrite, and commit it
// only if you can explain every line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "../testdata", func(t *testing.T, path string) {
		var s Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Exec(d.FullCmd()) })
	})
}

func TestSuite(t *testing.T) {
	for _, o := range Suite() {
		r, err := Run(context.Background(), o)
		require.NoError(t, err)
		t.Logf("%s: %v", o.String(), r)
		require.Equal(t, modelcheck.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.Positive(t, r.Ends)
	}
}

func TestPlantedMistakesAreFound(t *testing.T) {
	planted := Planted()
	require.Len(t, planted, len(rdrp.Mistakes()))
	for _, o := range planted {
		t.Run(o.Mistake.String(), func(t *testing.T) {
			r, err := Run(context.Background(), o)
			require.NoError(t, err)
			t.Log(r)
			require.Equal(t, modelcheck.Refuted, r.Verdict)
			o.Mistake = rdrp.NoMistake
			r, err = Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, modelcheck.Proved, r.Verdict, "the world must be correct without the mistake: %s", r.Script)
		})
	}
}
