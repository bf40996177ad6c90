package suite

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// The tests that ask for no cycles pass whatever has the time, and say what they leave out. A
// planted fault is found.
func TestBoard(t *testing.T) {
	list, err := regress.Select(List(), []string{"board/*"})
	require.NoError(t, err)
	for device, links := range map[string]regress.Status{"model:": regress.Passed, "model:?clock=wall": regress.Passed, "ideal:": regress.Skipped, "ideal:?clock=wall&dma_base=0x100000000": regress.Skipped} {
		o := options(t)
		o.Device, o.NoWaves = device, true
		out, err := regress.Run(context.Background(), list, o)
		require.NoError(t, err)
		require.Len(t, out, 7)
		for _, x := range out {
			want := regress.Passed
			if x.Test.Name == "board/links" {
				want = links
			}
			require.Equal(t, want, x.Status, "%s on %s: %v\nreproduce with: %s", x.Test.Name, device, x.Err, x.Rerun)
			if want == regress.Skipped {
				require.ErrorIs(t, x.Err, drivers.ErrNotSupported)
			}
		}
	}
	o := options(t)
	o.Device, o.NoWaves = "model:?link_errors=1e-2", true
	out, err := regress.Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		if x.Test.Name == "board/links" {
			require.Equal(t, regress.Failed, x.Status, "a bad cable")
			require.ErrorContains(t, x.Err, "the wire is bad")
		}
	}
}
