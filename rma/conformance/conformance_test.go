package conformance

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

var seed = flag.Uint64("seed", 1, "seed of the random cases")

func run(t *testing.T, c Case, uri string, seed uint64) drivers.Cycle {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: c.Nodes, MemoryBytes: c.Memory})
	require.NoError(t, err)
	timed := sys.(drivers.Timed)
	require.NoError(t, c.Run(timed, seed), "rerun: go test ./rma/conformance -run 'TestIdeal/%s$' -seed %d", c.Name, seed)
	require.NoError(t, sys.Close())
	return timed.Now()
}

func TestIdeal(t *testing.T) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			for i, uri := range []string{"ideal:", "ideal:?latency=1&depth=1", "ideal:?dma_base=0x7f0000001000", "ideal:?dma_base=0x200000&dma_segment=65536"} {
				if c.Slow && (i > 1 || testing.Short()) {
					continue
				}
				first := run(t, c, uri, *seed)
				require.Equal(t, first, run(t, c, uri, *seed), "not deterministic")
			}
		})
	}
}

// A machine that does something else fails the cases: here its memory forgets.
func TestFailuresAreSeen(t *testing.T) {
	for _, c := range Cases() {
		if c.Slow || c.Name == "outstanding" || c.Name == "full-ring" || c.Name == "faults" || c.Name == "protection" {
			continue // no bytes move there
		}
		sys, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: c.Nodes, MemoryBytes: c.Memory})
		require.NoError(t, err)
		require.Error(t, c.Run(forgetful{sys.(drivers.Timed)}, *seed), c.Name)
	}
}

// forgetful flips a byte of every page behind dataAt whenever time passes.
type forgetful struct{ drivers.Timed }

func (f forgetful) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	err := f.Timed.Run(deadline, stop)
	for node := range f.Info().Nodes {
		mem := f.Device(node).Memory()
		for i := dataAt; i < len(mem); i += 4 {
			mem[i] ^= 0x80
		}
	}
	return err
}
