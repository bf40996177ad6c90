package suite

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// TestModelIsExact runs what touches most of what can race beside the model: links to which
// everything happens, and processes that end while others read and write their memory. The seeds of
// isolation/lives are those with which the two once parted.
func TestModelIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		test string
		seed int64
	}{
		{"links/reset-far", 1}, {"links/drain", 2}, {"links/down", 3}, {"links/soak-0", 4}, {"links/soak-20", 5}, {"links/soak-50", 6},
		{"isolation/lives", 2}, {"isolation/lives", 14}, {"isolation/lives", 18},
	} {
		list, err := regress.Select(List(), []string{c.test})
		require.NoError(t, err)
		o := options(t)
		o.Device, o.Seed, o.Lockstep, o.NoWaves = "rtl:", c.seed, true, true
		out, err := regress.Run(context.Background(), list, o)
		if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
			t.Skipf("no simulator here: %v", err)
		}
		require.NoError(t, err)
		require.Equal(t, regress.Passed, out[0].Status, "%s: %v\nreproduce with: %s", c.test, out[0].Err, out[0].Rerun)
	}
}
