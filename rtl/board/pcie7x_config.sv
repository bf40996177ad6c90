// pcie7x_config: configuration ports of a Xilinx 7-series integrated block (PG054) → those of
// nic_pcie.
//
// Job: names the bits of Command and Device Control, and turns the pulse or level that announces a
//   function-level reset into a level that lasts FLR_CYCLES. np_ok: the other end has credits for a
//   non-posted request.
// Handshake: levels in the user clock, registered here once: configuration changes between TLPs,
//   and a cycle more does not matter.
// Backpressure: none.
module pcie7x_config #(
    parameter int FLR_CYCLES = 64
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [7:0]  cfg_bus_number,
    input  logic [4:0]  cfg_device_number,
    input  logic [2:0]  cfg_function_number,
    input  logic [15:0] cfg_command,
    input  logic [15:0] cfg_dcommand,
    input  logic        cfg_interrupt_msixenable,
    input  logic        cfg_interrupt_msixfm,
    input  logic        cfg_received_func_lvl_rst,
    input  logic [7:0]  fc_nph,
    output logic [2:0]  fc_sel,
    output logic [15:0] id,
    output logic        bus_master,
    output logic        ext_tag_enable,
    output logic [2:0]  mps,
    output logic [2:0]  mrrs,
    output logic        msix_enable,
    output logic        msix_mask,
    output logic        flr,
    output logic        np_ok
);
  localparam int N_W = $clog2(FLR_CYCLES + 1);
  logic [N_W-1:0] flr_left;
  assign fc_sel = 3'b100;  // transmit credits that are available
  always_ff @(posedge clk) begin
    id             <= {cfg_bus_number, cfg_device_number, cfg_function_number};
    bus_master     <= !rst && cfg_command[2];
    mps            <= cfg_dcommand[7:5];
    ext_tag_enable <= !rst && cfg_dcommand[8];
    mrrs           <= cfg_dcommand[14:12];
    msix_enable    <= !rst && cfg_interrupt_msixenable;
    msix_mask      <= cfg_interrupt_msixfm;
    np_ok          <= fc_nph != '0;
    if (rst) flr_left <= '0;
    else if (cfg_received_func_lvl_rst) flr_left <= N_W'(FLR_CYCLES);
    else if (flr_left != '0) flr_left <= flr_left - 1'b1;
    flr            <= !rst && flr_left != '0;
  end
  /* verilator lint_off UNUSEDSIGNAL */
  logic unused;
  assign unused = ^{cfg_command[15:3], cfg_command[1:0], cfg_dcommand[15], cfg_dcommand[11:9], cfg_dcommand[4:0]};
  /* verilator lint_on UNUSEDSIGNAL */
endmodule
