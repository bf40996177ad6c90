// pcie_host: the host of one node, as the NIC sees it through PCIe. It stands where host_bus does,
// with BUS 1 of sim_node.
//
// Job: the transaction layer of a board, nic_pcie, and behind it a root complex. Ports and DPI are
//   those of host_bus; the AXI side is that of nic_pcie.
// Handshake: as host_bus, but for what PCIe cannot tell: writes, to registers, send windows and
//   memory, are posted and always OKAY, and irq is up from a vector's message on until its line
//   falls. wr_latency means nothing: a write has no answer.
// Backpressure: that of nic_pcie; AXI answers are taken when a completion has its place.
module pcie_host #(
    parameter int TICK = 1 << 14, // of nic_pcie's time-out: 0.2 to 0.3 ms, less than on a board
    // The board's hard block between nic_pcie and the root complex: 0 none, 1 LitePCIe 64 bits, 2
    // LitePCIe 128 bits, 3 Xilinx 7-series 64 bits, 4 Xilinx 7-series 128 bits
    parameter int PHY  = 0
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] node_id,
    input  logic [15:0] rd_latency,
    input  logic        reg_pending,
    input  logic        pio_pending,
    // registers
    output logic        axil_awvalid,
    input  logic        axil_awready,
    output logic [31:0] axil_awaddr,
    output logic        axil_wvalid,
    input  logic        axil_wready,
    output logic [63:0] axil_wdata,
    output logic [7:0]  axil_wstrb,
    input  logic        axil_bvalid,
    output logic        axil_bready,
    input  logic [1:0]  axil_bresp,
    output logic        axil_arvalid,
    input  logic        axil_arready,
    output logic [31:0] axil_araddr,
    input  logic        axil_rvalid,
    output logic        axil_rready,
    input  logic [63:0] axil_rdata,
    input  logic [1:0]  axil_rresp,
    // registers of the simulation itself, beside the NIC: answered in the same cycle
    output logic        ext_sel,
    output logic        ext_write,
    output logic [15:0] ext_addr,
    output logic [63:0] ext_wdata,
    input  logic        ext_known,
    input  logic        ext_writable,
    input  logic [63:0] ext_rdata,
    // PIO window
    output logic        pio_awvalid,
    input  logic        pio_awready,
    output logic [28:0] pio_awaddr,
    output logic [7:0]  pio_awlen,
    output logic        pio_wvalid,
    input  logic        pio_wready,
    output logic [63:0] pio_wdata,
    output logic [7:0]  pio_wstrb,
    output logic        pio_wlast,
    input  logic        pio_bvalid,
    output logic        pio_bready,
    input  logic [1:0]  pio_bresp,
    // DMA memory
    input  logic        dma_awvalid,
    output logic        dma_awready,
    input  logic [63:0] dma_awaddr,
    input  logic [7:0]  dma_awlen,
    input  logic        dma_wvalid,
    output logic        dma_wready,
    input  logic [63:0] dma_wdata,
    input  logic [7:0]  dma_wstrb,
    input  logic        dma_wlast,
    output logic        dma_bvalid,
    input  logic        dma_bready,
    output logic [1:0]  dma_bresp,
    input  logic        dma_arvalid,
    output logic        dma_arready,
    input  logic [63:0] dma_araddr,
    input  logic [7:0]  dma_arlen,
    output logic        dma_rvalid,
    input  logic        dma_rready,
    output logic [63:0] dma_rdata,
    output logic [1:0]  dma_rresp,
    output logic        dma_rlast,
    input  logic [nicloop_pkg::VPIDS:0] lines_up,  // the core's interrupt lines, a vector each
    output logic        irq,       // what the host knows of them
    output logic        resets,    // the function is being reset
    output logic        idle,
    output logic        active
);
  localparam logic [15:0] ID = 16'h0300;

  logic        s_valid, s_ready, s_last, m_valid, m_ready, m_last, rx_np_ok, np_ok, bus_master, root_idle, nic_idle;
  logic [63:0] s_data, m_data;
  logic [1:0]  s_keep, m_keep;
  logic [2:0]  s_bar, mps, mrrs;
  // at the root complex
  logic        down_valid, down_ready, down_last, up_valid, up_ready, up_last, phy_idle;
  logic [63:0] down_data, up_data;
  logic [1:0]  down_keep, up_keep;
  logic [2:0]  down_bar;
  logic [31:0] malformed, unsupported, poisoned, timeouts, failed, unexpected, write_errors;

  /* verilator lint_off PINCONNECTEMPTY */
  nic_pcie #(.W(64), .TICK(TICK)) u_pcie (
      .clk, .rst, .id(ID), .bus_master, .ext_tag_enable(1'b0), .mps, .mrrs, .msix_enable(1'b1),
      .msix_mask(1'b0), .flr(resets), .flr_done(), .transactions_pending(), .core_rst(1'b0),
      .s_tlp_valid(s_valid), .s_tlp_ready(s_ready), .s_tlp_data(s_data), .s_tlp_keep(s_keep), .s_tlp_last(s_last),
      .s_tlp_bar(s_bar), .rx_np_ok, .m_tlp_valid(m_valid), .m_tlp_ready(m_ready), .m_tlp_data(m_data),
      .m_tlp_keep(m_keep), .m_tlp_last(m_last), .np_ok, .m_axil_awvalid(axil_awvalid), .m_axil_awready(axil_awready),
      .m_axil_awaddr(axil_awaddr), .m_axil_wvalid(axil_wvalid), .m_axil_wready(axil_wready), .m_axil_wdata(axil_wdata),
      .m_axil_wstrb(axil_wstrb), .m_axil_bvalid(axil_bvalid), .m_axil_bready(axil_bready), .m_axil_bresp(axil_bresp),
      .m_axil_arvalid(axil_arvalid), .m_axil_arready(axil_arready), .m_axil_araddr(axil_araddr),
      .m_axil_rvalid(axil_rvalid), .m_axil_rready(axil_rready), .m_axil_rdata(axil_rdata), .m_axil_rresp(axil_rresp),
      .m_axi_awvalid(pio_awvalid), .m_axi_awready(pio_awready), .m_axi_awaddr(pio_awaddr), .m_axi_awlen(pio_awlen),
      .m_axi_wvalid(pio_wvalid), .m_axi_wready(pio_wready), .m_axi_wdata(pio_wdata), .m_axi_wstrb(pio_wstrb),
      .m_axi_wlast(pio_wlast), .m_axi_bvalid(pio_bvalid), .m_axi_bready(pio_bready), .m_axi_bresp(pio_bresp),
      .s_axi_awvalid(dma_awvalid), .s_axi_awready(dma_awready), .s_axi_awaddr(dma_awaddr), .s_axi_awlen(dma_awlen),
      .s_axi_wvalid(dma_wvalid), .s_axi_wready(dma_wready), .s_axi_wdata(dma_wdata), .s_axi_wstrb(dma_wstrb),
      .s_axi_wlast(dma_wlast), .s_axi_bvalid(dma_bvalid), .s_axi_bready(dma_bready), .s_axi_bresp(dma_bresp),
      .s_axi_arvalid(dma_arvalid), .s_axi_arready(dma_arready), .s_axi_araddr(dma_araddr), .s_axi_arlen(dma_arlen),
      .s_axi_rvalid(dma_rvalid), .s_axi_rready(dma_rready), .s_axi_rdata(dma_rdata), .s_axi_rresp(dma_rresp),
      .s_axi_rlast(dma_rlast), .irq(lines_up), .malformed, .unsupported, .poisoned, .timeouts, .failed, .unexpected,
      .write_errors, .idle(nic_idle)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  generate
    if (PHY == 0) begin : g_direct
      assign s_valid    = down_valid;
      assign s_data     = down_data;
      assign s_keep     = down_keep;
      assign s_last     = down_last;
      assign s_bar      = down_bar;
      assign down_ready = s_ready;
      assign up_valid   = m_valid;
      assign up_data    = m_data;
      assign up_keep    = m_keep;
      assign up_last    = m_last;
      assign m_ready    = up_ready;
      assign phy_idle   = 1'b1;
    end else begin : g_phy
      localparam int SERIES7 = PHY > 2 ? 1 : 0;
      localparam int W       = PHY == 1 || PHY == 3 ? 64 : 128;
      logic           rx_valid, rx_ready, rx_last, tx_valid, tx_ready, tx_last;
      logic [W-1:0]   rx_data, tx_data;
      logic [W/8-1:0] rx_keep, tx_keep;
      logic [21:0]    rx_user;
      pcie_phy_model #(.SERIES7(SERIES7), .W(W)) u_phy (
          .clk, .rst, .s_tlp_valid(down_valid), .s_tlp_ready(down_ready), .s_tlp_data(down_data),
          .s_tlp_keep(down_keep), .s_tlp_last(down_last), .s_tlp_bar(down_bar), .m_tlp_valid(up_valid),
          .m_tlp_ready(up_ready), .m_tlp_data(up_data), .m_tlp_keep(up_keep), .m_tlp_last(up_last), .rx_valid,
          .rx_ready, .rx_data, .rx_keep, .rx_last, .rx_user, .tx_valid, .tx_ready, .tx_data, .tx_keep, .tx_last,
          .idle(phy_idle)
      );
      /* verilator lint_off PINCONNECTEMPTY */
      if (SERIES7 == 0) begin : g_litepcie
        litepcie_shim #(.W(W)) u_shim (
            .clk, .rst, .source_valid(rx_valid), .source_ready(rx_ready), .source_last(rx_last),
            .source_dat(rx_data), .source_bar_hit(rx_user[9:2]), .sink_valid(tx_valid), .sink_ready(tx_ready),
            .sink_first(), .sink_last(tx_last), .sink_dat(tx_data), .sink_be(tx_keep), .m_tlp_valid(s_valid),
            .m_tlp_ready(s_ready), .m_tlp_data(s_data), .m_tlp_keep(s_keep), .m_tlp_last(s_last), .m_tlp_bar(s_bar),
            .s_tlp_valid(m_valid), .s_tlp_ready(m_ready), .s_tlp_data(m_data), .s_tlp_keep(m_keep), .s_tlp_last(m_last)
        );
      end else begin : g_series7
        pcie7x_shim #(.W(W)) u_shim (
            .clk, .rst, .m_axis_rx_tvalid(rx_valid), .m_axis_rx_tready(rx_ready), .m_axis_rx_tdata(rx_data),
            .m_axis_rx_tkeep(rx_keep), .m_axis_rx_tlast(rx_last), .m_axis_rx_tuser(rx_user),
            .s_axis_tx_tvalid(tx_valid), .s_axis_tx_tready(tx_ready), .s_axis_tx_tdata(tx_data),
            .s_axis_tx_tkeep(tx_keep), .s_axis_tx_tlast(tx_last), .s_axis_tx_tuser(), .m_tlp_valid(s_valid),
            .m_tlp_ready(s_ready), .m_tlp_data(s_data), .m_tlp_keep(s_keep), .m_tlp_last(s_last), .m_tlp_bar(s_bar),
            .s_tlp_valid(m_valid), .s_tlp_ready(m_ready), .s_tlp_data(m_data), .s_tlp_keep(m_keep), .s_tlp_last(m_last)
        );
      end
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate

  root_complex #(.GIVES_UP(3 * TICK), .ID(ID)) u_root (
      .clk, .rst, .node_id, .rd_latency, .reg_pending, .pio_pending, .s_tlp_valid(down_valid),
      .s_tlp_ready(down_ready),
      .s_tlp_data(down_data), .s_tlp_keep(down_keep), .s_tlp_last(down_last), .s_tlp_bar(down_bar), .rx_np_ok,
      .m_tlp_valid(up_valid), .m_tlp_ready(up_ready), .m_tlp_data(up_data), .m_tlp_keep(up_keep), .m_tlp_last(up_last),
      .np_ok, .bus_master, .mps, .mrrs, .window_answers(pio_bvalid && pio_bready), .lines_up, .irq, .resets,
      .counters({32'h0, write_errors, unexpected, failed, timeouts, poisoned, unsupported, malformed}), .ext_sel,
      .ext_write, .ext_addr, .ext_wdata, .ext_known, .ext_writable, .ext_rdata, .idle(root_idle)
  );
  assign idle   = root_idle && nic_idle && phy_idle;
  assign active = !idle;
endmodule
