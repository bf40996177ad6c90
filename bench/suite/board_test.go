package regress

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// The tests that ask for no cycles pass whatever has the time, and say what they leave out. A
// planted fault is found.
func TestBoard(t *testing.T) {
	list, err := Select(List(), []string{"board/*"})
	require.NoError(t, err)
	for device, links := range map[string]Status{"model:": Passed, "model:?clock=wall": Passed, "ideal:": Skipped, "ideal:?clock=wall&dma_base=0x100000000": Skipped} {
		o := options(t)
		o.Device, o.NoWaves = device, true
		out, err := Run(context.Background(), list, o)
		require.NoError(t, err)
		require.Len(t, out, 7)
		for _, x := range out {
			want := Passed
			if x.Test.Name == "board/links" {
				want = links
			}
			require.Equal(t, want, x.Status, "%s on %s: %v\nreproduce with: %s", x.Test.Name, device, x.Err, x.Rerun)
			if want == Skipped {
				require.ErrorIs(t, x.Err, drivers.ErrNotSupported)
			}
		}
	}
	o := options(t)
	o.Device, o.NoWaves = "model:?link_errors=1e-2", true
	out, err := Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		if x.Test.Name == "board/links" {
			require.Equal(t, Failed, x.Status, "a bad cable")
			require.ErrorContains(t, x.Err, "the wire is bad")
		}
	}
}
