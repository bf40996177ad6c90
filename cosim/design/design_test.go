package design

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// A module in a foreign style: capitals, suffixes, an active-low reset, 512 bits of data, IDs,
// several clocks, a vector of pulses, streams, and a port that belongs to nothing.
const foreign = `
module Mover #(parameter DW = 512) (
  input ACLK, input PTP_CLK, input ARESETN,
  input S_AXI_CTRL_AWVALID, output S_AXI_CTRL_AWREADY, input [15:0] S_AXI_CTRL_AWADDR, input [2:0] S_AXI_CTRL_AWPROT,
  input S_AXI_CTRL_WVALID, output S_AXI_CTRL_WREADY, input [31:0] S_AXI_CTRL_WDATA, input [3:0] S_AXI_CTRL_WSTRB,
  output S_AXI_CTRL_BVALID, input S_AXI_CTRL_BREADY, output [1:0] S_AXI_CTRL_BRESP,
  input S_AXI_CTRL_ARVALID, output S_AXI_CTRL_ARREADY, input [15:0] S_AXI_CTRL_ARADDR,
  output S_AXI_CTRL_RVALID, input S_AXI_CTRL_RREADY, output [31:0] S_AXI_CTRL_RDATA,
  output awvalid_m0, input awready_m0, output [39:0] awaddr_m0, output [7:0] awlen_m0, output [3:0] awid_m0,
  output wvalid_m0, input wready_m0, output [DW-1:0] wdata_m0, output [DW/8-1:0] wstrb_m0, output wlast_m0,
  input bvalid_m0, output bready_m0, input [3:0] bid_m0,
  output tx_tvalid, input tx_tready, output [63:0] tx_tdata, output tx_tlast,
  input rx_tvalid, output rx_tready, input [63:0] rx_tdata, input rx_tlast,
  output [7:0] msi_irq, input [1:0] straps, output led);
endmodule
`

func foreignDesign(t *testing.T) (file, text string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "mover.v")
	require.NoError(t, os.WriteFile(source, []byte(foreign), 0o666))
	file = filepath.Join(dir, "mover.yaml")
	text, err := Init(t.Context(), file, "Mover", []string{source}, nil)
	require.NoError(t, err)
	return file, text
}

func check(t *testing.T, file, text string) (*Checked, error) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	d, err := Load(file)
	if err != nil {
		return nil, err
	}
	ports, err := d.Ports(t.Context())
	require.NoError(t, err)
	return d.Check(ports)
}

// The description that init writes connects every port.
func TestForeignStyle(t *testing.T) {
	file, text := foreignDesign(t)
	for _, want := range []string{
		"clocks: {ACLK: 4ns, PTP_CLK: 4ns}", "resets: {ARESETN: low}", "registers: {bus: S_AXI_CTRL}", `memory: {masters: ["*_m0"]}`,
		"interrupts: {msi_irq: level}", "network: {out: tx, in: rx, links: pairs}", "tie: {straps: 0}",
	} {
		require.Contains(t, text, want)
	}
	c, err := check(t, file, text)
	require.NoError(t, err)
	require.Equal(t, []string{"output led (1 bits) is not connected"}, c.Notes)
	require.Contains(t, c.Wrapper, "any_host #(.DATA_W(512), .ID_W(4)")
	require.Contains(t, c.Wrapper, ".ARESETN(!rst)")
}

// Each mistake in a description is reported with the key and the nearest port.
func TestMistakes(t *testing.T) {
	file, text := foreignDesign(t)
	for _, c := range []struct{ from, to, want string }{
		{"bus: S_AXI_CTRL", "bus: S_AXI_CTLR", `did you mean "S_AXI_CTRL"`},
		{"straps: 0", "strap: 0", `tie: Mover has no port strap, did you mean "straps"`},
		{"tie: {straps: 0}", "", "input straps (2 bits) is not connected"},
		{"msi_irq: level", "straps: level", "interrupts: port straps is an input, expected an output"},
		{"msi_irq: level", "msi_irq: edge", "expected level or pulse"},
		{"ARESETN: low", "ARESETN: negative", "expected high or low"},
		{"PTP_CLK: 4ns", "PTP_CLK: 3ns", "expected the fastest clock first"},
		{"PTP_CLK: 4ns", "PTP_CLK: 4", "expected a number with ps, ns or us"},
		{"links: pairs", "links: pairs, fifo: 3", "expected a power of two"},
		{"links: pairs", "links: pairs, latency: 65", "expected 0 to 64 cycles"},
		{"idle: never", "idle: msi_irq", "idle: port msi_irq has 8 bits, expected 1"},
		{"links: pairs", "links: torus", "expected pairs or ring"},
		{"out: tx", "out: rx", "is an input: the bus has the opposite direction"},
		{"name: Mover", "nmae: Mover", "nmae"},
		{"idle: never", "idle: leds", `did you mean "led"`},
	} {
		require.Contains(t, text, c.from)
		_, err := check(t, file, strings.Replace(text, c.from, c.to, 1))
		require.ErrorIs(t, err, drivers.ErrConfig, c.to)
		require.ErrorContains(t, err, c.want, c.to)
	}
}

// What Verilator says about the sources is passed on.
func TestSyntaxError(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "bad.v")
	require.NoError(t, os.WriteFile(source, []byte("module bad(input clk;\nendmodule\n"), 0o666))
	_, err := Init(t.Context(), filepath.Join(dir, "bad.yaml"), "bad", []string{source}, nil)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "bad.v:1")
}

// A node sleeps while the design and all bus models are idle; one of several clocks does not.
func TestIdle(t *testing.T) {
	file, text := foreignDesign(t)
	text = strings.Replace(text, "idle: never", "idle: led", 1)
	c, err := check(t, file, text)
	require.NoError(t, err)
	require.Contains(t, c.Notes, "idle: a design of several clocks does not sleep")
	require.Contains(t, c.Wrapper, "assign idle   = 1'b0;\n  assign active = !(csr_idle && m0_idle && irq_idle && link_idle && design_idle);")
	text = strings.NewReplacer(", PTP_CLK: 4ns", "", "tie: {", "tie: {PTP_CLK: 0, ").Replace(text)
	c, err = check(t, file, text)
	require.NoError(t, err)
	require.Empty(t, c.Notes)
	require.Contains(t, c.Wrapper, "assign idle   = csr_idle && m0_idle && irq_idle && link_idle && design_idle;")
	require.Contains(t, c.Wrapper, "stream_link #(.W(94), .DEPTH(64), .DATA_LSB(1), .DATA_W(64), .LAST(0))")
}

func TestPeriods(t *testing.T) {
	for text, want := range map[string]int{"4ns": 4000, "6.4ns": 6400, "3333ps": 3333, "625 ps": 625, "1us": 1000000, "4": 0, "ns": 0, "1.2.3ns": 0, "-4ns": 0, "4ms": 0, "1ps": 0} {
		got, err := parsePeriod(text)
		require.Equal(t, want != 0, err == nil, text)
		require.Equal(t, want, int(got), text)
	}
}

const otherBuses = `
module Wb (input clk, input rst, input [2:0] cycles, input wb_cyc_i, input wb_stb_i, input wb_we_i, input [13:0] wb_adr_i, input [3:0] wb_sel_i,
  input [31:0] wb_dat_i, output [31:0] wb_dat_o, output wb_ack_o, output wb_stall_o, input [2:0] wb_cti_i);
endmodule
module Apb (input PCLK, input PRESETn, input PSEL, input PENABLE, input PWRITE, input [11:0] PADDR, input [31:0] PWDATA, output [31:0] PRDATA, output PREADY);
endmodule
`

// Ports of APB and Wishbone are found and connected through their adapters.
func TestOtherBuses(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "buses.v")
	require.NoError(t, os.WriteFile(source, []byte(otherBuses), 0o666))
	for _, c := range []struct {
		top  string
		want []string
		text []string
	}{
		{"Wb", []string{"registers: {bus: wb}", "tie: {cycles: 0}"}, []string{
			"wishbone_host #(.DATA_W(32), .PIPELINED(1), .WORDS(0))", ".wb_dat_i(wb_dat_i)", "assign wb_adr = 14'(wb_adr_host);", ".err(1'b0)", ".wb_cti_i('0)"}},
		{"Apb", []string{`registers: {bus: "*"}`, "clocks: {PCLK: 4ns}", "resets: {PRESETn: low}"}, []string{
			"apb_host #(.DATA_W(32))", ".PSEL(apb_psel)", "assign apb_paddr = 12'(apb_paddr_host);", ".pslverr(1'b0)", ".pready(apb_pready)"}},
	} {
		file := filepath.Join(dir, c.top+".yaml")
		text, err := Init(t.Context(), file, c.top, []string{source}, nil)
		require.NoError(t, err)
		for _, want := range c.want {
			require.Contains(t, text, want)
		}
		checked, err := check(t, file, text)
		require.NoError(t, err, text)
		require.Empty(t, checked.Notes)
		require.Equal(t, 32, checked.Width)
		for _, want := range c.text {
			require.Contains(t, checked.Wrapper, want)
		}
	}
}

// A description that never ends is refused without reading it.
func TestDescriptionThatIsADevice(t *testing.T) {
	_, err := Load("/dev/zero")
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "/dev/zero is a device")
}
