package bench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// TestGatedClocks: clocks of what rests are stopped (rtl/core/nic_core.sv), but run while waves are
// written. So a run with waves of all of it shows whether one without has left out an edge that
// counted.
func TestGatedClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs with waves of everything")
	}
	const seed = 11
	for device, nodes := range map[string]int{
		"rtl:?dims=2x2": 4, "rtl:?dims=2x2&link_errors=1e-3&link_losses=1e-3&link_seed=3": 4,
		"rtl:?bus=pcie&bus_seed=3": 2, "rtl:?bus=axi&bus_seed=3": 2, // what a bus draws must not know how long a node slept
	} {
		for _, rendezvous := range []host.Rendezvous{host.RGET, host.RPUT} {
			t.Logf("seed %d; go test -run TestGatedClocks ./bench", seed)
			result := func(waves *drivers.WaveWindow) string {
				c := Default("random")
				c.Device, c.Nodes, c.Procs, c.Seed, c.Rendezvous, c.Waves = device, nodes, 2, seed, rendezvous, waves
				c.Sizes, c.Iterations = []int{5000}, 20
				r, err := Run(context.Background(), c)
				require.NoError(t, err)
				text, err := json.Marshal(r)
				require.NoError(t, err)
				return string(text)
			}
			require.JSONEq(t, result(&drivers.WaveWindow{File: filepath.Join(t.TempDir(), "waves.fst"), To: drivers.Forever}), result(nil), "%s %s", device, rendezvous)
		}
	}
}
