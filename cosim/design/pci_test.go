package design

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func loadPCI(t *testing.T, pci string) (*Description, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "x.yaml")
	registers := "name: x\nwidth: 32\nregisters:\n  CTRL: {off: 4}\n  MODE: {off: 0x10}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "regs.yaml"), []byte(registers), 0o666))
	text := "top: x\nsources: [x.sv]\nclocks: {clk: 4ns}\nregisters: {bus: s, map: regs.yaml}\npci: " + pci + "\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	return Load(file)
}

func TestPCI(t *testing.T) {
	d, err := loadPCI(t, "{id: 1234:d3a0, class: 0x020000, reset: {MODE: 3, CTRL: 0x80}}")
	require.NoError(t, err)
	vendor, device, err := d.PCI.IDs()
	require.NoError(t, err)
	require.EqualValues(t, 0x1234, vendor)
	require.EqualValues(t, 0xd3a0, device)
	require.Equal(t, 4096, d.PCI.Bar)
	require.Equal(t, 1, d.PCI.MSIX)
	require.Equal(t, []int{4, 8}, d.PCI.Widths)
	writes, err := d.ResetWrites()
	require.NoError(t, err)
	require.Equal(t, []RegisterWrite{{4, 0x80}, {0x10, 3}}, writes)

	for pci, want := range map[string]string{
		"{id: nic}":                   "expected vendor:device",
		"{id: 12345:1}":               "expected vendor:device",
		"{id: 1:2, bar: 5000}":        "expected a power of two",
		"{id: 1:2, class: 0x1000000}": "expected 24 bits",
		"{id: 1:2, msix: 65}":         "expected 1 to 64 vectors",
		"{id: 1:2, widths: [2]}":      "expected 4 or 8 bytes",
		"{id: 1:2, vectors: 1}":       "field vectors not found",
		"{id: 1:2, reset: {CTLR: 1}}": `did you mean "CTRL"`,
	} {
		d, err := loadPCI(t, pci)
		if err == nil {
			_, err = d.ResetWrites()
		}
		require.ErrorContains(t, err, want, pci)
	}
}
