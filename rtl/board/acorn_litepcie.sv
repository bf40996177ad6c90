// acorn_litepcie: two NICs for a LiteX SoC with LitePCIe's S7PCIEPHY, targeted at the SQRL Acorn
// CLE-215+ (XC7A200T).
//
// Job: litepcie_shim and pcie_nics between the PHY's raw TLP streams and the links between the
//   NICs. LiteX instantiates it (litex/nicloop_acorn.py) and owns clocks, transceivers and pads.
//   The PHY's DMA, MMIO and MSI cores are not used.
// Handshake: all ports are in the PHY's clock domain pcie (cd="pcie"): 125 MHz with one lane and W
//   64, or four lanes and W 128. rst is the reset of that domain, which follows PERST# and the
//   state of the link. cfg_* are the integrated block's outputs of those names; fc_nph with fc_sel
//   4 (credits that are available).
// Backpressure: that of nic_pcie and of the PHY.
module acorn_litepcie #(
    parameter int W     = 64,
    parameter int WIN_W = 28,
    parameter int TICK  = 1 << 20
) (
    input  logic           clk,
    input  logic           rst,
    // phy.source, with the BAR hit of the integrated block's tuser; phy.sink
    input  logic           source_valid,
    output logic           source_ready,
    input  logic           source_last,
    input  logic [W-1:0]   source_dat,
    input  logic [7:0]     source_bar_hit,
    output logic           sink_valid,
    input  logic           sink_ready,
    output logic           sink_first,
    output logic           sink_last,
    output logic [W-1:0]   sink_dat,
    output logic [W/8-1:0] sink_be,
    // configuration
    input  logic [7:0]     cfg_bus_number,
    input  logic [4:0]     cfg_device_number,
    input  logic [2:0]     cfg_function_number,
    input  logic [15:0]    cfg_command,
    input  logic [15:0]    cfg_dcommand,
    input  logic           cfg_interrupt_msixenable,
    input  logic           cfg_interrupt_msixfm,
    input  logic           cfg_received_func_lvl_rst,
    output logic           cfg_trn_pending,
    input  logic [7:0]     fc_nph,
    output logic [2:0]     fc_sel,
    output logic           rx_np_ok,
    // lights
    output logic           up,
    output logic           irq_pending
);
  logic        in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [63:0] in_data, out_data;
  logic [1:0]  in_keep, out_keep;
  logic [2:0]  in_bar;
  logic [15:0] id;
  logic [2:0]  mps, mrrs;
  logic        bus_master, ext_tag_enable, msix_enable, msix_mask, flr, np_ok;
  litepcie_shim #(.W(W)) u_shim (
      .clk, .rst, .source_valid, .source_ready, .source_last, .source_dat, .source_bar_hit, .sink_valid, .sink_ready,
      .sink_first, .sink_last, .sink_dat, .sink_be, .m_tlp_valid(in_valid), .m_tlp_ready(in_ready),
      .m_tlp_data(in_data), .m_tlp_keep(in_keep), .m_tlp_last(in_last), .m_tlp_bar(in_bar), .s_tlp_valid(out_valid),
      .s_tlp_ready(out_ready), .s_tlp_data(out_data), .s_tlp_keep(out_keep), .s_tlp_last(out_last)
  );
  pcie7x_config u_config (
      .clk, .rst, .cfg_bus_number, .cfg_device_number, .cfg_function_number, .cfg_command, .cfg_dcommand,
      .cfg_interrupt_msixenable, .cfg_interrupt_msixfm, .cfg_received_func_lvl_rst, .fc_nph, .fc_sel, .id, .bus_master,
      .ext_tag_enable, .mps, .mrrs, .msix_enable, .msix_mask, .flr, .np_ok
  );
  /* verilator lint_off PINCONNECTEMPTY */
  pcie_nics #(.WIN_W(WIN_W), .TICK(TICK)) u_nics (
      .clk, .rst, .id, .bus_master, .ext_tag_enable, .mps, .mrrs, .msix_enable, .msix_mask, .flr, .flr_done(),
      .transactions_pending(cfg_trn_pending), .s_tlp_valid(in_valid), .s_tlp_ready(in_ready), .s_tlp_data(in_data),
      .s_tlp_keep(in_keep), .s_tlp_last(in_last), .s_tlp_bar(in_bar), .rx_np_ok, .m_tlp_valid(out_valid),
      .m_tlp_ready(out_ready), .m_tlp_data(out_data), .m_tlp_keep(out_keep), .m_tlp_last(out_last), .np_ok, .up,
      .irq_pending
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule
