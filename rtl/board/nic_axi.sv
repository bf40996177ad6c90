// nic_axi: the NIC on a bus of AXI, in a clock of its own.
//
// Job: joins nic_core to what stands between it and two AXI slaves and an AXI master in the host's
//   clock (axi_front). README.md has a drawing, the board's page and what a reset does.
// Handshake: AXI. aclk is the host's clock, clk the core's; nothing is assumed of their rates. arst
//   resets all, at any time. flr: a function-level reset, from its rise until it falls, flr_done
//   when the core is reset and no answer of its DMA is awaited. Links are of clk, as in nic_core;
//   nic_rst and link_rst are the core's resets, for what stands around it there.
// Backpressure: every access is answered, by the core or in its stead, and every burst of DMA
//   ends, whatever resets do.
module nic_axi #(
    parameter int DIM_X       = 2,
    parameter int DIM_Y       = 1,
    parameter int DIM_Z       = 1,
    parameter int PORTS       = DIM_Z > 1 ? 7 : DIM_Y > 1 ? 5 : 3,
    parameter int VC_DEPTH    = 16,
    parameter int TORUS       = 0,
    parameter int SHAPE_INPUT = 0,
    parameter int ID_W        = 4,
    parameter int PATIENCE    = 4096,  // cycles of aclk for which the core may owe an answer
    localparam int VCS        = TORUS != 0 ? nicloop_pkg::TORUS_VCS : nicloop_pkg::VCS,
    localparam int LINKS      = PORTS - 1,
    localparam int USER_W     = hw_pkg::link_user_w(VCS, VC_DEPTH)
) (
    input  logic            arst,
    // ---- the host's clock ----
    input  logic            aclk,
    input  logic            flr,
    output logic            flr_done,
    input  logic            msix_enable,
    input  logic            msix_mask,
    // registers: AXI4-Lite slave
    input  logic            s_axil_awvalid,
    output logic            s_axil_awready,
    input  logic [20:0]     s_axil_awaddr,
    input  logic            s_axil_wvalid,
    output logic            s_axil_wready,
    input  logic [31:0]     s_axil_wdata,
    input  logic [3:0]      s_axil_wstrb,
    output logic            s_axil_bvalid,
    input  logic            s_axil_bready,
    output logic [1:0]      s_axil_bresp,
    input  logic            s_axil_arvalid,
    output logic            s_axil_arready,
    input  logic [20:0]     s_axil_araddr,
    output logic            s_axil_rvalid,
    input  logic            s_axil_rready,
    output logic [31:0]     s_axil_rdata,
    output logic [1:0]      s_axil_rresp,
    // send windows: AXI4 slave
    input  logic            s_axi_awvalid,
    output logic            s_axi_awready,
    input  logic [ID_W-1:0] s_axi_awid,
    input  logic [28:0]     s_axi_awaddr,
    input  logic [7:0]      s_axi_awlen,
    input  logic [2:0]      s_axi_awsize,
    input  logic [1:0]      s_axi_awburst,
    input  logic            s_axi_wvalid,
    output logic            s_axi_wready,
    input  logic [63:0]     s_axi_wdata,
    input  logic [7:0]      s_axi_wstrb,
    input  logic            s_axi_wlast,
    output logic            s_axi_bvalid,
    input  logic            s_axi_bready,
    output logic [ID_W-1:0] s_axi_bid,
    output logic [1:0]      s_axi_bresp,
    input  logic            s_axi_arvalid,
    output logic            s_axi_arready,
    input  logic [ID_W-1:0] s_axi_arid,
    input  logic [7:0]      s_axi_arlen,
    output logic            s_axi_rvalid,
    input  logic            s_axi_rready,
    output logic [ID_W-1:0] s_axi_rid,
    output logic [63:0]     s_axi_rdata,
    output logic [1:0]      s_axi_rresp,
    output logic            s_axi_rlast,
    // DMA and interrupts: AXI4 master
    output logic            m_axi_awvalid,
    input  logic            m_axi_awready,
    output logic [ID_W-1:0] m_axi_awid,
    output logic [63:0]     m_axi_awaddr,
    output logic [7:0]      m_axi_awlen,
    output logic [2:0]      m_axi_awsize,
    output logic [1:0]      m_axi_awburst,
    output logic            m_axi_wvalid,
    input  logic            m_axi_wready,
    output logic [63:0]     m_axi_wdata,
    output logic [7:0]      m_axi_wstrb,
    output logic            m_axi_wlast,
    input  logic            m_axi_bvalid,
    output logic            m_axi_bready,
    input  logic [ID_W-1:0] m_axi_bid,
    input  logic [1:0]      m_axi_bresp,
    output logic            m_axi_arvalid,
    input  logic            m_axi_arready,
    output logic [ID_W-1:0] m_axi_arid,
    output logic [63:0]     m_axi_araddr,
    output logic [7:0]      m_axi_arlen,
    output logic [2:0]      m_axi_arsize,
    output logic [1:0]      m_axi_arburst,
    input  logic            m_axi_rvalid,
    output logic            m_axi_rready,
    input  logic [ID_W-1:0] m_axi_rid,
    input  logic [63:0]     m_axi_rdata,
    input  logic [1:0]      m_axi_rresp,
    input  logic            m_axi_rlast,
    // ---- the core's clock ----
    input  logic                    clk,
    input  logic [11:0]             node_id,
    input  logic [59:0]             shape,
    input  logic [LINKS-1:0]        link_up,
    input  logic [LINKS-1:0]        carrier,
    output logic [LINKS-1:0]        m_axis_tvalid,
    input  logic [LINKS-1:0]        m_axis_tready,
    output logic [LINKS*64-1:0]     m_axis_tdata,
    output logic [LINKS*USER_W-1:0] m_axis_tuser,
    input  logic [LINKS-1:0]        s_axis_tvalid,
    output logic [LINKS-1:0]        s_axis_tready,
    input  logic [LINKS*64-1:0]     s_axis_tdata,
    input  logic [LINKS*USER_W-1:0] s_axis_tuser,
    output logic                    nic_rst,
    output logic                    link_rst
);
  logic [nicloop_pkg::VPIDS:0] irq_lines;
  logic        c_axil_awvalid, c_axil_awready, c_axil_wvalid, c_axil_wready, c_axil_bvalid, c_axil_bready,
      c_axil_arvalid, c_axil_arready, c_axil_rvalid, c_axil_rready;
  logic [16:0] c_axil_addr;
  logic [63:0] c_axil_wdata, c_axil_rdata, c_win_wdata, c_dma_awaddr, c_dma_wdata, c_dma_araddr, c_dma_rdata;
  logic [1:0]  c_axil_bresp, c_axil_rresp, c_win_awburst, c_win_bresp, c_dma_bresp, c_dma_rresp;
  logic        c_win_awvalid, c_win_awready, c_win_wvalid, c_win_wready, c_win_wlast, c_win_bvalid, c_win_bready;
  logic [28:0] c_win_awaddr;
  logic [7:0]  c_win_awlen, c_win_wstrb, c_dma_awlen, c_dma_wstrb, c_dma_arlen;
  logic [2:0]  c_win_awsize;
  logic        c_dma_awvalid, c_dma_awready, c_dma_wvalid, c_dma_wready, c_dma_bvalid, c_dma_bready, c_dma_arvalid,
      c_dma_arready, c_dma_rvalid, c_dma_rready, c_dma_rlast;
  /* verilator lint_off PINCONNECTEMPTY */
  axi_front #(.ID_W(ID_W), .PATIENCE(PATIENCE)) u_front (
      .arst, .aclk, .flr, .flr_done, .msix_enable, .msix_mask, .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr,
      .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb, .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
      .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
      .s_axi_awvalid, .s_axi_awready, .s_axi_awid, .s_axi_awaddr, .s_axi_awlen, .s_axi_awsize, .s_axi_awburst,
      .s_axi_wvalid, .s_axi_wready, .s_axi_wdata, .s_axi_wstrb, .s_axi_wlast, .s_axi_bvalid, .s_axi_bready, .s_axi_bid,
      .s_axi_bresp, .s_axi_arvalid, .s_axi_arready, .s_axi_arid, .s_axi_arlen, .s_axi_rvalid, .s_axi_rready, .s_axi_rid,
      .s_axi_rdata, .s_axi_rresp, .s_axi_rlast, .m_axi_awvalid, .m_axi_awready, .m_axi_awid, .m_axi_awaddr,
      .m_axi_awlen, .m_axi_awsize, .m_axi_awburst, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb,
      .m_axi_wlast, .m_axi_bvalid, .m_axi_bready, .m_axi_bid, .m_axi_bresp, .m_axi_arvalid, .m_axi_arready, .m_axi_arid,
      .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_rvalid, .m_axi_rready, .m_axi_rid,
      .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .clk, .nic_rst, .link_rst, .irq_lines, .c_axil_awvalid, .c_axil_awready,
      .c_axil_addr, .c_axil_wvalid, .c_axil_wready, .c_axil_wdata, .c_axil_bvalid, .c_axil_bready, .c_axil_bresp,
      .c_axil_arvalid, .c_axil_arready, .c_axil_rvalid, .c_axil_rready, .c_axil_rdata, .c_axil_rresp, .c_win_awvalid,
      .c_win_awready, .c_win_awaddr, .c_win_awlen, .c_win_awsize, .c_win_awburst, .c_win_wvalid, .c_win_wready,
      .c_win_wdata, .c_win_wstrb, .c_win_wlast, .c_win_bvalid, .c_win_bready, .c_win_bresp, .c_dma_awvalid,
      .c_dma_awready, .c_dma_awaddr, .c_dma_awlen, .c_dma_wvalid, .c_dma_wready, .c_dma_wdata, .c_dma_wstrb,
      .c_dma_bvalid, .c_dma_bready, .c_dma_bresp, .c_dma_arvalid, .c_dma_arready, .c_dma_araddr, .c_dma_arlen,
      .c_dma_rvalid, .c_dma_rready, .c_dma_rdata, .c_dma_rresp, .c_dma_rlast, .cuts(), .line_seen(), .rests()
  );

  nic_core #(.DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .PORTS(PORTS), .VC_DEPTH(VC_DEPTH), .TORUS(TORUS),
      .SHAPE_INPUT(SHAPE_INPUT)) u_nic (
      .clk, .clk_local(clk), .clk_rma(clk), .clk_link({LINKS{clk}}), .local_rests(), .rma_rests(), .link_rests(),
      .rst(nic_rst), .link_rst, .node_id,
      .shape, .slept(64'h0), .s_axil_awvalid(c_axil_awvalid), .s_axil_awready(c_axil_awready),
      .s_axil_awaddr({12'h0, c_axil_addr, 3'b000}), .s_axil_wvalid(c_axil_wvalid), .s_axil_wready(c_axil_wready),
      .s_axil_wdata(c_axil_wdata), .s_axil_wstrb(8'hff), .s_axil_bvalid(c_axil_bvalid), .s_axil_bready(c_axil_bready),
      .s_axil_bresp(c_axil_bresp), .s_axil_arvalid(c_axil_arvalid), .s_axil_arready(c_axil_arready),
      .s_axil_araddr({12'h0, c_axil_addr, 3'b000}), .s_axil_rvalid(c_axil_rvalid), .s_axil_rready(c_axil_rready),
      .s_axil_rdata(c_axil_rdata), .s_axil_rresp(c_axil_rresp), .s_axi_awvalid(c_win_awvalid),
      .s_axi_awready(c_win_awready), .s_axi_awaddr(c_win_awaddr), .s_axi_awlen(c_win_awlen),
      .s_axi_awsize(c_win_awsize), .s_axi_awburst(c_win_awburst), .s_axi_wvalid(c_win_wvalid),
      .s_axi_wready(c_win_wready), .s_axi_wdata(c_win_wdata), .s_axi_wstrb(c_win_wstrb), .s_axi_wlast(c_win_wlast),
      .s_axi_bvalid(c_win_bvalid), .s_axi_bready(c_win_bready), .s_axi_bresp(c_win_bresp),
      .m_axi_awvalid(c_dma_awvalid), .m_axi_awready(c_dma_awready), .m_axi_awaddr(c_dma_awaddr),
      .m_axi_awlen(c_dma_awlen), .m_axi_awsize(), .m_axi_awburst(), .m_axi_wvalid(c_dma_wvalid),
      .m_axi_wready(c_dma_wready), .m_axi_wdata(c_dma_wdata), .m_axi_wstrb(c_dma_wstrb), .m_axi_wlast(),
      .m_axi_bvalid(c_dma_bvalid), .m_axi_bready(c_dma_bready), .m_axi_bresp(c_dma_bresp),
      .m_axi_arvalid(c_dma_arvalid), .m_axi_arready(c_dma_arready), .m_axi_araddr(c_dma_araddr),
      .m_axi_arlen(c_dma_arlen), .m_axi_arsize(), .m_axi_arburst(), .m_axi_rvalid(c_dma_rvalid),
      .m_axi_rready(c_dma_rready), .m_axi_rdata(c_dma_rdata), .m_axi_rresp(c_dma_rresp), .m_axi_rlast(c_dma_rlast),
      .link_up, .carrier, .m_axis_tvalid, .m_axis_tready, .m_axis_tdata, .m_axis_tuser, .s_axis_tvalid, .s_axis_tready,
      .s_axis_tdata, .s_axis_tuser, .irq(), .irq_lines, .idle(), .active()
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule
