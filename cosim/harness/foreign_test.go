package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// A design with another style of names, 64-bit registers, 512 bits of data, WRAP and narrow bursts,
// IDs, a stream between two nodes, a vector of pulses and a second clock.
func TestForeignDesign(t *testing.T) {
	for _, query := range []string{"", "?stall=100"} {
		t.Run(query, func(t *testing.T) { foreignDesign(t, query) })
	}
}

func foreignDesign(t *testing.T, query string) {
	opened, err := registry.Open(t.Context(), "design:testdata/wide.yaml"+query, drivers.Options{Nodes: 2, MemoryBytes: 1 << 13})
	require.NoError(t, err)
	defer opened.Close()
	sys := opened.(*harness.System)
	a, b := sys.Node(0), sys.Node(1)
	expect := func(dev harness.Device, name string, want uint64) {
		t.Helper()
		got, err := dev.Get(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	run := func(cycles drivers.Cycle) {
		t.Helper()
		var stop drivers.Stop
		for end := sys.Now() + cycles; sys.Now() < end; {
			require.NoError(t, sys.Run(end, &stop))
		}
	}
	// Words of a wider bus do not disturb their neighbours.
	require.NoError(t, a.Set("LOW", 0x11111111))
	require.NoError(t, a.Set("HIGH", 0x22222222))
	require.NoError(t, a.Set("LOW", 0x33333333))
	expect(a, "LOW", 0x33333333)
	expect(a, "HIGH", 0x22222222)
	whole, err := a.Read(0, 8)
	require.NoError(t, err)
	require.Equal(t, uint64(0x22222222_33333333), whole)

	// Both directions of a link. The pulse of one cycle is kept until it is taken.
	require.NoError(t, a.Set("SEND", 0xabc))
	require.NoError(t, a.Set("SEND", 0xdef))
	run(50)
	expect(b, "WORDS", 2)
	expect(b, "LAST", 0xdef)
	pulses, err := b.TakePulses()
	require.NoError(t, err)
	require.Equal(t, uint64(2), pulses)
	pulses, err = b.TakePulses()
	require.NoError(t, err)
	require.Zero(t, pulses)
	require.NoError(t, b.Set("SEND", 0x77))
	require.NoError(t, a.Until(100))
	expect(a, "LAST", 0x77)

	// A WRAP burst that begins in the middle of its line.
	mem := a.Memory()
	for i := range 64 {
		mem[0x100+i] = byte(i + 1)
	}
	require.NoError(t, a.Set("MOVE", 0x120))
	run(500)
	require.Equal(t, mem[0x100:0x140], mem[0x140:0x180])
	require.Zero(t, mem[0x180])

	// The second clock has 4 cycles in 10 of the first.
	before, err := a.Get("SLOW")
	require.NoError(t, err)
	run(1000)
	after, err := a.Get("SLOW")
	require.NoError(t, err)
	require.InDelta(t, 400, after-before, 3)
}
