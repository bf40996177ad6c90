package regress

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/coverage"
)

// TestHeldCoverage: the tests of packets that are held up see what the others of two nodes did not.
func TestHeldCoverage(t *testing.T) {
	base := coverage.New()
	for _, test := range heldTests {
		f := &coverage.FunctionalSink{}
		r := newRunner(options(t), nil)
		out := &Outcome{Test: test, Device: "model:", Seed: 1, Dir: t.TempDir()}
		_, err := r.attempt(context.Background(), out, try{log: "test.log", open: f.Open})
		require.NoError(t, err)
		require.NoError(t, out.Err, test.Name)
		require.Equal(t, Passed, out.Status)
		require.NoError(t, base.Add(test.Name, 1, filepath.Join(out.Dir, "none"), f))
	}
	r := base.Report(func(x, y *coverage.Test) int { return 0 })
	require.Empty(t, r.Nothing)
	for _, g := range r.Groups {
		for _, p := range g.Holes {
			t.Log(&p)
			require.NotRegexp(t, `(VELO|RMA_PUT), .*held up|RMA_GET_RSP, (9|65|256).*held up`, p.Name)
		}
	}
}
