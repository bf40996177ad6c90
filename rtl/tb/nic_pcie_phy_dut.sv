// nic_pcie_phy_dut: for nic_pcie_tb: nic_pcie behind a shim and the model of a hard block's streams
// (pcie_phy_model), with the ports of nic_pcie. PHY as in pcie_host: 1, 2 LitePCIe with 64, 128
// bits; 3, 4 Xilinx 7-series with 64, 128 bits.
module nic_pcie_phy_dut #(
    parameter int PHY   = 4,
    parameter int SLOT  = 256,
    parameter int TAGS  = 32,
    parameter int TICK  = 1 << 13,
    parameter int QUADS = 128
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [15:0]     id,
    input  logic            bus_master,
    input  logic            ext_tag_enable,
    input  logic [2:0]      mps,
    input  logic [2:0]      mrrs,
    input  logic            msix_enable,
    input  logic            msix_mask,
    input  logic            flr,
    output logic            flr_done,
    output logic            transactions_pending,
    input  logic            core_rst,
    input  logic            s_tlp_valid,
    output logic            s_tlp_ready,
    input  logic [63:0]     s_tlp_data,
    input  logic [1:0]      s_tlp_keep,
    input  logic            s_tlp_last,
    input  logic [2:0]      s_tlp_bar,
    output logic            rx_np_ok,
    output logic            m_tlp_valid,
    input  logic            m_tlp_ready,
    output logic [63:0]     m_tlp_data,
    output logic [1:0]      m_tlp_keep,
    output logic            m_tlp_last,
    input  logic            np_ok,
    output logic            m_axil_awvalid,
    input  logic            m_axil_awready,
    output logic [31:0]     m_axil_awaddr,
    output logic            m_axil_wvalid,
    input  logic            m_axil_wready,
    output logic [63:0]     m_axil_wdata,
    output logic [7:0]      m_axil_wstrb,
    input  logic            m_axil_bvalid,
    output logic            m_axil_bready,
    input  logic [1:0]      m_axil_bresp,
    output logic            m_axil_arvalid,
    input  logic            m_axil_arready,
    output logic [31:0]     m_axil_araddr,
    input  logic            m_axil_rvalid,
    output logic            m_axil_rready,
    input  logic [63:0]     m_axil_rdata,
    input  logic [1:0]      m_axil_rresp,
    output logic            m_axi_awvalid,
    input  logic            m_axi_awready,
    output logic [28:0]     m_axi_awaddr,
    output logic [7:0]      m_axi_awlen,
    output logic            m_axi_wvalid,
    input  logic            m_axi_wready,
    output logic [63:0]     m_axi_wdata,
    output logic [7:0]      m_axi_wstrb,
    output logic            m_axi_wlast,
    input  logic            m_axi_bvalid,
    output logic            m_axi_bready,
    input  logic [1:0]      m_axi_bresp,
    input  logic            s_axi_awvalid,
    output logic            s_axi_awready,
    input  logic [63:0]     s_axi_awaddr,
    input  logic [7:0]      s_axi_awlen,
    input  logic            s_axi_wvalid,
    output logic            s_axi_wready,
    input  logic [63:0]     s_axi_wdata,
    input  logic [7:0]      s_axi_wstrb,
    input  logic            s_axi_wlast,
    output logic            s_axi_bvalid,
    input  logic            s_axi_bready,
    output logic [1:0]      s_axi_bresp,
    input  logic            s_axi_arvalid,
    output logic            s_axi_arready,
    input  logic [63:0]     s_axi_araddr,
    input  logic [7:0]      s_axi_arlen,
    output logic            s_axi_rvalid,
    input  logic            s_axi_rready,
    output logic [63:0]     s_axi_rdata,
    output logic [1:0]      s_axi_rresp,
    output logic            s_axi_rlast,
    input  logic [16:0]     irq,
    output logic [31:0]     malformed,
    output logic [31:0]     unsupported,
    output logic [31:0]     poisoned,
    output logic [31:0]     timeouts,
    output logic [31:0]     failed,
    output logic [31:0]     unexpected,
    output logic [31:0]     write_errors,
    output logic            idle
);
  localparam int SERIES7 = PHY > 2 ? 1 : 0;
  localparam int W       = PHY == 1 || PHY == 3 ? 64 : 128;
  logic           rx_valid, rx_ready, rx_last, tx_valid, tx_ready, tx_last, phy_idle, nic_idle;
  logic [W-1:0]   rx_data, tx_data;
  logic [W/8-1:0] rx_keep, tx_keep;
  logic [21:0]    rx_user;
  logic           in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [63:0]    in_data, out_data;
  logic [1:0]     in_keep, out_keep;
  logic [2:0]     in_bar;
  assign idle = phy_idle && nic_idle;
  pcie_phy_model #(.SERIES7(SERIES7), .W(W)) u_phy (
      .clk, .rst, .s_tlp_valid, .s_tlp_ready, .s_tlp_data, .s_tlp_keep, .s_tlp_last, .s_tlp_bar, .m_tlp_valid,
      .m_tlp_ready, .m_tlp_data, .m_tlp_keep, .m_tlp_last, .rx_valid, .rx_ready, .rx_data, .rx_keep, .rx_last,
      .rx_user, .tx_valid, .tx_ready, .tx_data, .tx_keep, .tx_last, .idle(phy_idle)
  );
  /* verilator lint_off PINCONNECTEMPTY */
  generate
    if (SERIES7 == 0) begin : g_litepcie
      litepcie_shim #(.W(W)) u_shim (
          .clk, .rst, .source_valid(rx_valid), .source_ready(rx_ready), .source_last(rx_last), .source_dat(rx_data),
          .source_bar_hit(rx_user[9:2]), .sink_valid(tx_valid), .sink_ready(tx_ready), .sink_first(),
          .sink_last(tx_last), .sink_dat(tx_data), .sink_be(tx_keep), .m_tlp_valid(in_valid), .m_tlp_ready(in_ready),
          .m_tlp_data(in_data), .m_tlp_keep(in_keep), .m_tlp_last(in_last), .m_tlp_bar(in_bar),
          .s_tlp_valid(out_valid), .s_tlp_ready(out_ready), .s_tlp_data(out_data), .s_tlp_keep(out_keep),
          .s_tlp_last(out_last)
      );
    end else begin : g_series7
      pcie7x_shim #(.W(W)) u_shim (
          .clk, .rst, .m_axis_rx_tvalid(rx_valid), .m_axis_rx_tready(rx_ready), .m_axis_rx_tdata(rx_data),
          .m_axis_rx_tkeep(rx_keep), .m_axis_rx_tlast(rx_last), .m_axis_rx_tuser(rx_user), .s_axis_tx_tvalid(tx_valid),
          .s_axis_tx_tready(tx_ready), .s_axis_tx_tdata(tx_data), .s_axis_tx_tkeep(tx_keep), .s_axis_tx_tlast(tx_last),
          .s_axis_tx_tuser(), .m_tlp_valid(in_valid), .m_tlp_ready(in_ready), .m_tlp_data(in_data),
          .m_tlp_keep(in_keep), .m_tlp_last(in_last), .m_tlp_bar(in_bar), .s_tlp_valid(out_valid),
          .s_tlp_ready(out_ready), .s_tlp_data(out_data), .s_tlp_keep(out_keep), .s_tlp_last(out_last)
      );
    end
  endgenerate
  /* verilator lint_on PINCONNECTEMPTY */
  nic_pcie #(.W(64), .SLOT(SLOT), .TAGS(TAGS), .TICK(TICK), .QUADS(QUADS)) u_nic (
      .s_tlp_valid(in_valid), .s_tlp_ready(in_ready), .s_tlp_data(in_data), .s_tlp_keep(in_keep), .s_tlp_last(in_last),
      .s_tlp_bar(in_bar), .m_tlp_valid(out_valid), .m_tlp_ready(out_ready), .m_tlp_data(out_data),
      .m_tlp_keep(out_keep), .m_tlp_last(out_last), .idle(nic_idle), .*
  );
endmodule
