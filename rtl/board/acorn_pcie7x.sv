// acorn_pcie7x: two NICs on the SQRL Acorn CLE-215+ (XC7A200T) behind the Xilinx 7-series
// integrated block.
//
// Job: top of a bitstream: the integrated block (pcie_7x_0, made by vivado/acorn.tcl with the
//   settings that stand there), its reference clock, pcie7x_shim, and pcie_nics. Reset is PERST#,
//   through the block: user_reset_out is high while PERST# is low, during a hot reset, and until
//   the link is up.
// Handshake: pads of constraints/acorn.xdc. LEDs: 0 the link is up, 1 the NICs run, 2 an interrupt
//   is pending, 3 a read of the host's memory is outstanding. All logic is in the block's user
//   clock: 125 MHz with 4 lanes and W 128, or 1 lane and W 64, both at 5 GT/s.
// Backpressure: none at the pads.
module acorn_pcie7x #(
    parameter int LANES = 4,
    parameter int W     = 128,
    parameter int WIN_W = 28,
    parameter int TICK  = 1 << 20
) (
    input  logic             pcie_clk_p,
    input  logic             pcie_clk_n,
    input  logic             perst_n,
    output logic             clkreq_n,
    input  logic [LANES-1:0] pcie_rx_p,
    input  logic [LANES-1:0] pcie_rx_n,
    output logic [LANES-1:0] pcie_tx_p,
    output logic [LANES-1:0] pcie_tx_n,
    output logic [3:0]       led
);
  assign clkreq_n = 1'b0;  // the reference clock is always needed
  logic refclk;
  /* verilator lint_off PINCONNECTEMPTY */
  IBUFDS_GTE2 u_refclk (.I(pcie_clk_p), .IB(pcie_clk_n), .CEB(1'b0), .O(refclk), .ODIV2());
  /* verilator lint_on PINCONNECTEMPTY */

  logic           clk, user_reset, link_up, rst;
  logic           rx_valid, rx_ready, rx_last, tx_valid, tx_ready, tx_last;
  logic [W-1:0]   rx_data, tx_data;
  logic [W/8-1:0] rx_keep, tx_keep;
  logic [21:0]    rx_user;
  logic [3:0]     tx_user;
  logic [7:0]     bus_number, fc_nph;
  logic [4:0]     device_number;
  logic [2:0]     function_number, fc_sel;
  logic [15:0]    command, dcommand;
  logic           msixenable, msixfm, received_flr, pending, rx_np_ok, to_turnoff, turnoff_ok;
  // The inputs that are not listed belong to interfaces that vivado/acorn.tcl leaves out.
  pcie_7x_0 u_pcie (
      .sys_clk(refclk), .sys_rst_n(perst_n), .pci_exp_rxp(pcie_rx_p), .pci_exp_rxn(pcie_rx_n),
      .pci_exp_txp(pcie_tx_p), .pci_exp_txn(pcie_tx_n), .user_clk_out(clk), .user_reset_out(user_reset),
      .user_lnk_up(link_up), .m_axis_rx_tvalid(rx_valid), .m_axis_rx_tready(rx_ready), .m_axis_rx_tdata(rx_data),
      .m_axis_rx_tkeep(rx_keep), .m_axis_rx_tlast(rx_last), .m_axis_rx_tuser(rx_user), .rx_np_ok, .rx_np_req(1'b1),
      .s_axis_tx_tvalid(tx_valid), .s_axis_tx_tready(tx_ready), .s_axis_tx_tdata(tx_data), .s_axis_tx_tkeep(tx_keep),
      .s_axis_tx_tlast(tx_last), .s_axis_tx_tuser(tx_user), .tx_cfg_gnt(1'b1), .fc_sel, .fc_nph,
      .cfg_bus_number(bus_number), .cfg_device_number(device_number), .cfg_function_number(function_number),
      .cfg_command(command), .cfg_dcommand(dcommand), .cfg_interrupt_msixenable(msixenable),
      .cfg_interrupt_msixfm(msixfm), .cfg_received_func_lvl_rst(received_flr), .cfg_trn_pending(pending),
      .cfg_to_turnoff(to_turnoff), .cfg_turnoff_ok(turnoff_ok)
  );
  // A register, so that the reset of the logic has no path through the block.
  always_ff @(posedge clk) rst <= user_reset || !link_up;
  always_ff @(posedge clk) turnoff_ok <= !rst && to_turnoff && !pending;

  logic        in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [63:0] in_data, out_data;
  logic [1:0]  in_keep, out_keep;
  logic [2:0]  in_bar, mps, mrrs;
  logic [15:0] id;
  logic        bus_master, ext_tag_enable, msix_enable, msix_mask, flr, np_ok, up, irq_pending;
  pcie7x_shim #(.W(W)) u_shim (
      .clk, .rst, .m_axis_rx_tvalid(rx_valid), .m_axis_rx_tready(rx_ready), .m_axis_rx_tdata(rx_data),
      .m_axis_rx_tkeep(rx_keep), .m_axis_rx_tlast(rx_last), .m_axis_rx_tuser(rx_user), .s_axis_tx_tvalid(tx_valid),
      .s_axis_tx_tready(tx_ready), .s_axis_tx_tdata(tx_data), .s_axis_tx_tkeep(tx_keep), .s_axis_tx_tlast(tx_last),
      .s_axis_tx_tuser(tx_user), .m_tlp_valid(in_valid), .m_tlp_ready(in_ready), .m_tlp_data(in_data),
      .m_tlp_keep(in_keep), .m_tlp_last(in_last), .m_tlp_bar(in_bar), .s_tlp_valid(out_valid),
      .s_tlp_ready(out_ready), .s_tlp_data(out_data), .s_tlp_keep(out_keep), .s_tlp_last(out_last)
  );
  pcie7x_config u_config (
      .clk, .rst, .cfg_bus_number(bus_number), .cfg_device_number(device_number), .cfg_function_number(function_number),
      .cfg_command(command), .cfg_dcommand(dcommand), .cfg_interrupt_msixenable(msixenable),
      .cfg_interrupt_msixfm(msixfm), .cfg_received_func_lvl_rst(received_flr), .fc_nph, .fc_sel, .id, .bus_master,
      .ext_tag_enable, .mps, .mrrs, .msix_enable, .msix_mask, .flr, .np_ok
  );
  /* verilator lint_off PINCONNECTEMPTY */
  pcie_nics #(.WIN_W(WIN_W), .TICK(TICK)) u_nics (
      .clk, .rst, .id, .bus_master, .ext_tag_enable, .mps, .mrrs, .msix_enable, .msix_mask, .flr, .flr_done(),
      .transactions_pending(pending), .s_tlp_valid(in_valid), .s_tlp_ready(in_ready), .s_tlp_data(in_data),
      .s_tlp_keep(in_keep), .s_tlp_last(in_last), .s_tlp_bar(in_bar), .rx_np_ok, .m_tlp_valid(out_valid),
      .m_tlp_ready(out_ready), .m_tlp_data(out_data), .m_tlp_keep(out_keep), .m_tlp_last(out_last), .np_ok, .up,
      .irq_pending
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign led = {pending, irq_pending, up, link_up};
endmodule
