// pcie_nics: NICs behind one PCIe function, from the TLP streams of a shim on.
//
// Job: joins nic_pcie, two NICs whose links are joined (nic_pair) and their resets. Everything is
//   in one clock, the user clock of the hard block.
//     BAR 0  registers: NIC 0 at 0, NIC 1 at 1 MB
//     BAR 2  send windows: NIC 0 in the lower half, NIC 1 in the upper half; 2^WIN_W bytes in all
//     BAR 4  MSI-X table: vector 17 n for errors and stalls of NIC n, 17 n + v + 1 for its process v
//   A NIC's half of BAR 2 holds the send windows of its processes from 0 on, 32 MB each (WIN_W 28: 4 processes).
// Handshake: TLP streams of docs/decisions/0020, 64 bits; configuration as levels, as in nic_pcie.
//   rst: reset of the link. flr: function-level reset, as long as it is high.
// Backpressure: that of nic_pcie.
module pcie_nics #(
    parameter int WIN_W    = 28,
    parameter int TICK     = 1 << 20,
    parameter int VC_DEPTH = 16,
    parameter int TAGS     = 32
) (
    input  logic        clk,
    input  logic        rst,
    // configuration of the function
    input  logic [15:0] id,
    input  logic        bus_master,
    input  logic        ext_tag_enable,
    input  logic [2:0]  mps,
    input  logic [2:0]  mrrs,
    input  logic        msix_enable,
    input  logic        msix_mask,
    input  logic        flr,
    output logic        flr_done,
    output logic        transactions_pending,
    // TLPs from the shim, and to it
    input  logic        s_tlp_valid,
    output logic        s_tlp_ready,
    input  logic [63:0] s_tlp_data,
    input  logic [1:0]  s_tlp_keep,
    input  logic        s_tlp_last,
    input  logic [2:0]  s_tlp_bar,
    output logic        rx_np_ok,
    output logic        m_tlp_valid,
    input  logic        m_tlp_ready,
    output logic [63:0] m_tlp_data,
    output logic [1:0]  m_tlp_keep,
    output logic        m_tlp_last,
    input  logic        np_ok,
    // of the NICs: running, an interrupt is pending
    output logic        up,
    output logic        irq_pending
);
  localparam int REG_W = 21;

  // ---- resets: links are released before the rest, since both ends start together. A
  // function-level reset waits until both streams are between two TLPs, at most PATIENCE cycles,
  // and TLPs wait until the NICs are out of reset ----
  localparam int PATIENCE = 4096;
  logic        nic_rst, link_rst, flr_wanted, hold, stop, rx_closed, tx_closed;
  logic [12:0] waited;
  assign stop = flr_wanted || nic_rst;
  always_ff @(posedge clk) begin
    if (rst) begin
      flr_wanted <= 1'b0;
      hold       <= 1'b0;
      waited     <= '0;
    end else begin
      flr_wanted <= flr || (flr_wanted && !(hold && nic_rst));
      hold       <= flr_wanted && (hold || (rx_closed && tx_closed) || waited == 13'(PATIENCE));
      waited     <= !flr_wanted || hold ? '0 : waited + 1'b1;
    end
  end
  /* verilator lint_off PINCONNECTEMPTY */
  reset_sequencer u_reset (.clk, .arst(rst), .hold, .together(1'b1), .rst(nic_rst), .link_rst, .down());
  /* verilator lint_on PINCONNECTEMPTY */
  assign up = !nic_rst;
  logic in_valid, in_ready, out_valid, out_ready, out_last;
  tlp_gate u_rx_gate (
      .clk, .rst, .stop, .closed(rx_closed), .s_valid(s_tlp_valid), .s_ready(s_tlp_ready), .s_last(s_tlp_last),
      .m_valid(in_valid), .m_ready(in_ready)
  );
  tlp_gate u_tx_gate (
      .clk, .rst, .stop, .closed(tx_closed), .s_valid(out_valid), .s_ready(out_ready), .s_last(out_last),
      .m_valid(m_tlp_valid), .m_ready(m_tlp_ready)
  );
  assign m_tlp_last = out_last;

  // ---- interrupts: a vector per NIC for errors and stalls, and one per process ----
  localparam int VECTORS = 2 * (nicloop_pkg::VPIDS + 1);
  logic [VECTORS-1:0] irq_lines, irq_lines_q;
  always_ff @(posedge clk) irq_lines_q <= nic_rst ? '0 : irq_lines;
  assign irq_pending = |irq_lines_q;

  logic        axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_bready, axil_arvalid,
      axil_arready, axil_rvalid, axil_rready;
  logic [31:0] axil_awaddr, axil_araddr;
  logic [63:0] axil_wdata, axil_rdata, win_wdata;
  logic [7:0]  axil_wstrb, win_awlen, win_wstrb;
  logic [1:0]  axil_bresp, axil_rresp, win_bresp;
  logic        win_awvalid, win_awready, win_wvalid, win_wready, win_wlast, win_bvalid, win_bready;
  logic [28:0] win_awaddr;
  logic        dma_awvalid, dma_awready, dma_wvalid, dma_wready, dma_wlast, dma_bvalid, dma_bready, dma_arvalid,
      dma_arready, dma_rvalid, dma_rready, dma_rlast;
  logic [63:0] dma_awaddr, dma_wdata, dma_araddr, dma_rdata;
  logic [7:0]  dma_awlen, dma_wstrb, dma_arlen;
  logic [1:0]  dma_bresp, dma_rresp;

  /* verilator lint_off PINCONNECTEMPTY */
  nic_pcie #(.W(64), .TAGS(TAGS), .TICK(TICK), .REG_W(REG_W), .WIN_W(WIN_W), .VECTORS(VECTORS)) u_pcie (
      .clk, .rst, .id, .bus_master, .ext_tag_enable, .mps, .mrrs, .msix_enable, .msix_mask,
      .flr(hold && nic_rst), .flr_done, .transactions_pending, .core_rst(nic_rst),
      .s_tlp_valid(in_valid), .s_tlp_ready(in_ready), .s_tlp_data,
      .s_tlp_keep, .s_tlp_last, .s_tlp_bar, .rx_np_ok, .m_tlp_valid(out_valid), .m_tlp_ready(out_ready), .m_tlp_data,
      .m_tlp_keep, .m_tlp_last(out_last), .np_ok,
      .m_axil_awvalid(axil_awvalid), .m_axil_awready(axil_awready), .m_axil_awaddr(axil_awaddr),
      .m_axil_wvalid(axil_wvalid), .m_axil_wready(axil_wready), .m_axil_wdata(axil_wdata), .m_axil_wstrb(axil_wstrb),
      .m_axil_bvalid(axil_bvalid), .m_axil_bready(axil_bready), .m_axil_bresp(axil_bresp),
      .m_axil_arvalid(axil_arvalid), .m_axil_arready(axil_arready), .m_axil_araddr(axil_araddr),
      .m_axil_rvalid(axil_rvalid), .m_axil_rready(axil_rready), .m_axil_rdata(axil_rdata), .m_axil_rresp(axil_rresp),
      .m_axi_awvalid(win_awvalid), .m_axi_awready(win_awready), .m_axi_awaddr(win_awaddr), .m_axi_awlen(win_awlen),
      .m_axi_wvalid(win_wvalid), .m_axi_wready(win_wready), .m_axi_wdata(win_wdata), .m_axi_wstrb(win_wstrb),
      .m_axi_wlast(win_wlast), .m_axi_bvalid(win_bvalid), .m_axi_bready(win_bready), .m_axi_bresp(win_bresp),
      .s_axi_awvalid(dma_awvalid), .s_axi_awready(dma_awready), .s_axi_awaddr(dma_awaddr), .s_axi_awlen(dma_awlen),
      .s_axi_wvalid(dma_wvalid), .s_axi_wready(dma_wready), .s_axi_wdata(dma_wdata), .s_axi_wstrb(dma_wstrb),
      .s_axi_wlast(dma_wlast), .s_axi_bvalid(dma_bvalid), .s_axi_bready(dma_bready), .s_axi_bresp(dma_bresp),
      .s_axi_arvalid(dma_arvalid), .s_axi_arready(dma_arready), .s_axi_araddr(dma_araddr), .s_axi_arlen(dma_arlen),
      .s_axi_rvalid(dma_rvalid), .s_axi_rready(dma_rready), .s_axi_rdata(dma_rdata), .s_axi_rresp(dma_rresp),
      .s_axi_rlast(dma_rlast), .irq(irq_lines_q), .malformed(), .unsupported(), .poisoned(), .timeouts(), .failed(),
      .unexpected(), .write_errors(), .idle()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  nic_pair #(.REG_W(REG_W), .WIN_W(WIN_W), .VC_DEPTH(VC_DEPTH)) u_nics (
      .clk, .rst(nic_rst), .link_rst, .s_axil_awvalid(axil_awvalid), .s_axil_awready(axil_awready),
      .s_axil_awaddr(axil_awaddr), .s_axil_wvalid(axil_wvalid), .s_axil_wready(axil_wready),
      .s_axil_wdata(axil_wdata), .s_axil_wstrb(axil_wstrb), .s_axil_bvalid(axil_bvalid), .s_axil_bready(axil_bready),
      .s_axil_bresp(axil_bresp), .s_axil_arvalid(axil_arvalid), .s_axil_arready(axil_arready),
      .s_axil_araddr(axil_araddr), .s_axil_rvalid(axil_rvalid), .s_axil_rready(axil_rready),
      .s_axil_rdata(axil_rdata), .s_axil_rresp(axil_rresp), .s_axi_awvalid(win_awvalid), .s_axi_awready(win_awready),
      .s_axi_awaddr(win_awaddr), .s_axi_awlen(win_awlen), .s_axi_wvalid(win_wvalid), .s_axi_wready(win_wready),
      .s_axi_wdata(win_wdata), .s_axi_wstrb(win_wstrb), .s_axi_wlast(win_wlast), .s_axi_bvalid(win_bvalid),
      .s_axi_bready(win_bready), .s_axi_bresp(win_bresp), .m_axi_awvalid(dma_awvalid), .m_axi_awready(dma_awready),
      .m_axi_awaddr(dma_awaddr), .m_axi_awlen(dma_awlen), .m_axi_wvalid(dma_wvalid), .m_axi_wready(dma_wready),
      .m_axi_wdata(dma_wdata), .m_axi_wstrb(dma_wstrb), .m_axi_wlast(dma_wlast), .m_axi_bvalid(dma_bvalid),
      .m_axi_bready(dma_bready), .m_axi_bresp(dma_bresp), .m_axi_arvalid(dma_arvalid), .m_axi_arready(dma_arready),
      .m_axi_araddr(dma_araddr), .m_axi_arlen(dma_arlen), .m_axi_rvalid(dma_rvalid), .m_axi_rready(dma_rready),
      .m_axi_rdata(dma_rdata), .m_axi_rresp(dma_rresp), .m_axi_rlast(dma_rlast), .irq_lines
  );
endmodule
