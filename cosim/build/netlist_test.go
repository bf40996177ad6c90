package build

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLUTModel proves with yosys that lutModel is equivalent to the cell SB_LUT4: for tables with
// one entry, which distinguish every order of the inputs, and for random ones.
func TestLUTModel(t *testing.T) {
	yosys, err := exec.LookPath("yosys")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("needs yosys: scripts/setup-debian.sh")
	}
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), lutFile)
	require.NoError(t, os.WriteFile(file, lutModel, 0o600))
	tables := []uint16{0, 0xffff}
	for i := range 16 {
		tables = append(tables, 1<<i)
	}
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 16 {
		tables = append(tables, uint16(rnd.Uint32()))
	}
	const ports = ".I0(i[0]), .I1(i[1]), .I2(i[2]), .I3(i[3])"
	var text strings.Builder
	fmt.Fprintf(&text, "module pair (input [3:0] i, output same);\nwire [%d:0] cell_o, model_o;\nassign same = cell_o == model_o;\n", len(tables)-1)
	for i, table := range tables {
		fmt.Fprintf(&text, "SB_LUT4 #(.LUT_INIT(16'd%d)) cell_%d (.O(cell_o[%d]), %s);\n", table, i, i, ports)
		fmt.Fprintf(&text, "ice40_lut #(.LUT_INIT(16'd%d)) model_%d (.O(model_o[%d]), %s);\n", table, i, i, ports)
	}
	pair := filepath.Join(t.TempDir(), "pair.v")
	require.NoError(t, os.WriteFile(pair, []byte(text.String()+"endmodule\n"), 0o600))
	out, err := exec.CommandContext(t.Context(), yosys, "-q", "-p", "read_verilog -defer +/ice40/cells_sim.v; read_verilog -sv "+file+" "+pair+
		"; hierarchy -top pair; proc; flatten; sat -verify -prove same 1 pair").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
