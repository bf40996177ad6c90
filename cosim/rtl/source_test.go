package rtl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	hdl "github.com/nicloop/nicloop/rtl"
)

// tree returns a copy of the RTL that a test may edit.
func tree(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "rtl"), hdl.Sources))
	return dir
}

// edit replaces text in a file of a tree.
func edit(t *testing.T, dir, file, from, to string) {
	t.Helper()
	name := filepath.Join(dir, "rtl", file)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.Chmod(name, 0o644))
	require.NoError(t, os.WriteFile(name, []byte(strings.Replace(string(text), from, to, 1)), 0o644))
}

// TestWorkingTree: the contents of the tree are simulated, and the build reports changes.
func TestWorkingTree(t *testing.T) {
	dir := tree(t)
	uri := "rtl:?src=" + dir
	var told []string
	opt := drivers.Options{Nodes: 2, Progress: func(what string) { told = append(told, what) }}
	same := openTimed(t, uri, opt)
	require.Equal(t, openTimed(t, "rtl:", opt).Info().Hash, same.Info().Hash, "an unchanged tree is the RTL of the program")
	require.Equal(t, "rtl:?dims=2x1x1&src="+strings.ReplaceAll(filepath.Join(dir, "rtl"), "/", "%2F"), same.Info().URI)

	edit(t, dir, "core/regfile.sv", "endmodule", "  initial $display(\"the edited register file\");\nendmodule")
	opt.LogFile = filepath.Join(t.TempDir(), "log")
	edited := openTimed(t, uri, opt)
	require.NotEqual(t, same.Info().Hash, edited.Info().Hash)
	magic, err := edited.Device(1).ReadReg(regs.Magic)
	require.NoError(t, err)
	require.Equal(t, regs.MagicValue, magic)
	require.NoError(t, edited.Close())
	log, err := os.ReadFile(opt.LogFile)
	require.NoError(t, err)
	require.Contains(t, string(log), "the edited register file")
	require.Contains(t, strings.Join(told, "\n"), "changed since the last build of "+dir+"/rtl: core/regfile.sv")
}

func TestBoundary(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"nicloop_pkg.sv", "SLOT_BYTES = 64", "SLOT_BYTES = 128",
			"nicloop_pkg.sv: not the description of this program: expected `localparam int SLOT_BYTES = 64`, found `localparam int SLOT_BYTES = 128`"},
		{"nicloop_pkg.sv", "RMA_UNIT_COMPLETER = 2'd3", "RMA_UNIT_COMPLETER = 2'd0", "expected `RMA_UNIT_COMPLETER = 2'd3`, found `RMA_UNIT_COMPLETER = 2'd0`"},
		{"sim/sim_node.sv", "input  logic [63:0]           slept,", "", "not the ports of sim_node of this program: expected `input logic [63:0] slept`, found no slept"},
		{"sim/sim_node.sv", "input  logic [15:0]           host_rd_latency,", "input logic [7:0] host_rd_latency, // shorter",
			"expected `input logic [15:0] host_rd_latency`, found `input logic [7:0] host_rd_latency`"},
		{"sim/sim_node.sv", "output logic                  irq,", "output logic irq, output logic extra,", "found `output logic extra`, which this program does not know"},
		{"sim/sim_node.sv", "parameter int VC_DEPTH        = 16", "localparam int VC_DEPTH = 16", "expected `parameter int VC_DEPTH`, found no VC_DEPTH"},
		{"sim/nicloop_dpi.svh", "input int resp, input longint unsigned rdata", "input int resp", "not the DPI imports of this program: expected `import \"DPI-C\" function void nl_reg_done("},
		{"design.flist", "core/fifo.sv", "core/fofi.sv", "core/fofi.sv is in design.flist, simulation.flist, pcie.flist, axi.flist or board.flist: no such file or directory"},
		{"design.flist", "core/fifo.sv", "../fifo.sv", `expected the path of an .sv file below the folder of the list`},
	} {
		dir := tree(t)
		edit(t, dir, c.file, c.from, c.to)
		_, err := registry.Open(context.Background(), "rtl:?src="+dir, drivers.Options{Nodes: 2})
		require.ErrorIs(t, err, drivers.ErrConfig, c.want)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "src="+dir)
	}
	_, err := registry.Open(context.Background(), "rtl:?src="+t.TempDir(), drivers.Options{Nodes: 2})
	require.ErrorContains(t, err, "expected a checkout, or its folder rtl")

	// A different default value, comment or layout does not change the interface.
	dir := tree(t)
	edit(t, dir, "sim/sim_node.sv", "parameter int VC_DEPTH        = 16", "parameter int VC_DEPTH = 8 /* entries */")
	_, err = parse("", map[string]string{"src": dir}, drivers.Options{Nodes: 2})
	require.NoError(t, err)
}

// TestBrokenTree: Verilator's messages about an edited tree are reported.
func TestBrokenTree(t *testing.T) {
	dir := tree(t)
	edit(t, dir, "core/fifo.sv", "endmodule", "  assign nowhere = 1'b1 +;\nendmodule")
	_, err := registry.Open(context.Background(), "rtl:?src="+dir, drivers.Options{Nodes: 2})
	require.ErrorContains(t, err, "core/fifo.sv")
	require.ErrorContains(t, err, "syntax error")
}
