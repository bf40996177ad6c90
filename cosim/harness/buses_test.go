package harness_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// Registers behind APB and Wishbone: values, addresses and refusals.
func TestOtherRegisterBuses(t *testing.T) {
	needsDeep(t)
	for _, name := range []string{"wishbone", "apb"} {
		t.Run(name, func(t *testing.T) {
			sys, err := registry.Open(t.Context(), "design:testdata/"+name+".yaml", drivers.Options{Nodes: 1})
			require.NoError(t, err)
			defer sys.Close()
			dev := sys.(*harness.System).Node(0)
			for i := range 4 {
				require.NoError(t, dev.Set(fmt.Sprintf("R[%d]", i), uint64(0x11111111*(i+1))))
			}
			for i := range 4 {
				v, err := dev.Get(fmt.Sprintf("R[%d]", i))
				require.NoError(t, err)
				require.Equal(t, uint64(0x11111111*(i+1)), v)
			}
			var refused *drivers.BusError
			_, err = dev.Get("WRONG")
			require.ErrorAs(t, err, &refused)
			require.Equal(t, uint32(0x200), refused.Off)
			require.NoError(t, dev.Set("WRONG", 1))
			err = let(sys.(*harness.System), 100)
			require.ErrorAs(t, err, &refused)
			require.True(t, refused.Write)
			v, err := dev.Get("R[0]")
			require.NoError(t, err)
			require.Equal(t, uint64(0x11111111), v)
		})
	}
}
