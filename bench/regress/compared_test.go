package regress

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
)

// TestLockstepIfPossible: tests are compared with the reference where there is one, and judged
// alone elsewhere.
func TestLockstepIfPossible(t *testing.T) {
	runs := 0
	pingpong := Test{Name: "x/pingpong", Run: func(t *T) error {
		runs++
		c := bench.Default("pingpong")
		c.Nodes, c.Sizes, c.Iterations = 2, []int{8}, 2
		_, err := t.Run(c)
		return err
	}}
	for _, c := range []struct {
		device, against string
		off             bool
		want            Status
		runs            int
	}{
		{"model:", "model:", false, Passed, 2},
		{"model:", "model:?wire_latency=5", false, Failed, 3}, // both, then alone
		{"model:", "model:?wire_latency=5", true, Passed, 1},
		{"ideal:", "", false, Passed, 1}, // has no reference
	} {
		o := options(t)
		o.Jobs, o.Device, o.Against, o.LockstepIfPossible, o.NoLockstep = 1, c.device, c.against, true, c.off
		runs = 0
		out, err := Run(context.Background(), []Test{pingpong}, o)
		require.NoError(t, err)
		require.Equal(t, c.want, out[0].Status, "%+v: %v", c, out[0].Err)
		require.Equal(t, c.runs, runs, "%+v", c)
		require.Equal(t, c.want == Failed, out[0].Parted != nil)
		require.FileExists(t, filepath.Join(out[0].Dir, "test.log"))
		require.NotZero(t, out[0].Cycles())
		if c.want == Failed {
			require.ErrorContains(t, out[0].Err, "device and reference differ (--no-lockstep judges the test alone)")
			require.NotEmpty(t, out[0].Parted.Block)
			require.NotEmpty(t, out[0].Parted.Drawing.Path, "reports draw the path of the packet")
		}
	}
}

// TestOnlyTheReferenceCannot: a test that only the reference does not support is judged alone.
func TestOnlyTheReferenceCannot(t *testing.T) {
	o := options(t)
	o.Jobs, o.Device, o.Against, o.LockstepIfPossible = 1, "model:", "ideal:", true
	out, err := Run(context.Background(), []Test{{Name: "x/model-only", Run: func(t *T) error {
		if t.Device != "model:" {
			return drivers.ErrNotSupported
		}
		_, err := t.Open(2, 1<<20, nil)
		return err
	}}}, o)
	require.NoError(t, err)
	require.Equal(t, Passed, out[0].Status)
	require.Equal(t, 1, out[0].Runs)
}
