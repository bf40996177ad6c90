package regress_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/coverage"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/nicloop/nicloop/bench/suite/rma"
	"github.com/stretchr/testify/require"
)

func options(t *testing.T) regress.Options {
	return regress.Options{Device: "model:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

// TestPlan: a regression builds what its tests open before they run, each machine once.
func TestPlan(t *testing.T) {
	o := options(t)
	o.Device = "rtl:"
	opened, order := regress.Plan(o, suite.List())
	kinds := map[string]bool{}
	for _, x := range suite.List() {
		require.NotEmpty(t, opened[x.Name], "%s opens nothing that could be known before", x.Name)
		for _, m := range opened[x.Name] {
			kinds[m] = true
		}
	}
	require.Len(t, order, len(kinds))
	require.Equal(t, "rtl: with 2 nodes", order[0])
	require.Contains(t, order, "rtl:?dims=4x1x1&torus=1&vc_depth=2 with 4 nodes")
}

// TestHeldUpCoverage: the tests of packets that are held up cover what other tests of two nodes do
// not.
func TestHeldUpCoverage(t *testing.T) {
	base := coverage.New()
	for _, test := range rma.HeldUp() {
		f := &coverage.FunctionalSink{}
		out := &regress.Outcome{Test: test, Device: "model:", Seed: 1, Dir: t.TempDir()}
		require.NoError(t, regress.RunObserved(context.Background(), options(t), out, f.Open))
		require.NoError(t, out.Err, test.Name)
		require.Equal(t, regress.Passed, out.Status)
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
