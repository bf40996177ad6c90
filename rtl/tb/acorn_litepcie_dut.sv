// acorn_litepcie_dut: for acorn_tb: acorn_litepcie with the model of the integrated block in LitePCIe's format.
module acorn_litepcie_dut #(
    parameter int W     = 64,
    parameter int WIN_W = 28,
    parameter int TICK  = 1 << 13
) (
    input  logic clk,
    input  logic perst_n
);
  logic           user_clk, user_reset, link_up, rst;
  logic           source_valid, source_ready, source_last, sink_valid, sink_ready, sink_last, sink_first;
  logic [W-1:0]   source_dat, sink_dat;
  logic [W/8-1:0] source_be, sink_be;
  logic [21:0]    user;
  logic [7:0]     bus_number, fc_nph;
  logic [4:0]     device_number;
  logic [2:0]     function_number, fc_sel;
  logic [15:0]    command, dcommand;
  logic           msixenable, msixfm, received_flr, pending, rx_np_ok, to_turnoff, up, irq_pending, tx_p, tx_n;
  pcie_7x_0 #(.LANES(1), .W(W), .SERIES7(0)) u_phy (
      .sys_clk(clk), .sys_rst_n(perst_n), .pci_exp_rxp(1'b0), .pci_exp_rxn(1'b1), .pci_exp_txp(tx_p),
      .pci_exp_txn(tx_n), .user_clk_out(user_clk), .user_reset_out(user_reset), .user_lnk_up(link_up),
      .m_axis_rx_tvalid(source_valid), .m_axis_rx_tready(source_ready), .m_axis_rx_tdata(source_dat),
      .m_axis_rx_tkeep(source_be), .m_axis_rx_tlast(source_last), .m_axis_rx_tuser(user), .rx_np_ok, .rx_np_req(1'b1),
      .s_axis_tx_tvalid(sink_valid), .s_axis_tx_tready(sink_ready), .s_axis_tx_tdata(sink_dat),
      .s_axis_tx_tkeep(sink_be), .s_axis_tx_tlast(sink_last), .s_axis_tx_tuser(4'h0), .tx_cfg_gnt(1'b1), .fc_sel,
      .fc_nph, .cfg_bus_number(bus_number), .cfg_device_number(device_number), .cfg_function_number(function_number),
      .cfg_command(command), .cfg_dcommand(dcommand), .cfg_interrupt_msixenable(msixenable),
      .cfg_interrupt_msixfm(msixfm), .cfg_received_func_lvl_rst(received_flr), .cfg_trn_pending(pending),
      .cfg_to_turnoff(to_turnoff), .cfg_turnoff_ok(to_turnoff)
  );
  assign rst = user_reset || !link_up;
  acorn_litepcie #(.W(W), .WIN_W(WIN_W), .TICK(TICK)) u_board (
      .clk(user_clk), .rst, .source_valid, .source_ready, .source_last, .source_dat, .source_bar_hit(user[9:2]),
      .sink_valid, .sink_ready, .sink_first, .sink_last, .sink_dat, .sink_be, .cfg_bus_number(bus_number),
      .cfg_device_number(device_number), .cfg_function_number(function_number), .cfg_command(command),
      .cfg_dcommand(dcommand), .cfg_interrupt_msixenable(msixenable), .cfg_interrupt_msixfm(msixfm),
      .cfg_received_func_lvl_rst(received_flr), .cfg_trn_pending(pending), .fc_nph, .fc_sel, .rx_np_ok, .up,
      .irq_pending
  );
  always @(posedge user_clk) if (!rst && sink_valid) begin
    assert (sink_first == first_q) else $error("acorn_litepcie_dut: first is %b", sink_first);
  end
  logic first_q;
  always_ff @(posedge user_clk) if (rst) first_q <= 1'b1;
  else if (sink_valid && sink_ready) first_q <= sink_last;
endmodule
