// axi_front: what stands between a host's AXI and nic_core, in two clocks.
//
// Job: all of nic_axi but the core: registers and the board's page on AXI4-Lite of 32 bits
//   (axi_regs), send windows on an AXI4 slave with IDs (axi_windows), DMA and interrupts on an AXI4
//   master with IDs (axi_dma). Register slices (skid) stand at every channel of the host, FIFOs
//   (async_fifo) between the clocks.
// Handshake: AXI on both sides. aclk is the host's clock, clk the core's; arst, flr and flr_done as
//   nic_axi. nic_rst and link_rst are the core's resets.
// Backpressure: every access is answered, by the core or in its stead, and every burst of DMA
//   ends, whatever resets do.
module axi_front #(
    parameter int ID_W     = 4,
    parameter int PATIENCE = 4096  // cycles of aclk for which the core may owe an answer
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
    input  logic            clk,
    output logic            nic_rst,
    output logic            link_rst,
    input  logic [nicloop_pkg::VPIDS:0] irq_lines,  // see regfile: a vector of MSI-X each
    // registers; a quadword's address is that of a write and of a read
    output logic            c_axil_awvalid,
    input  logic            c_axil_awready,
    output logic [16:0]     c_axil_addr,
    output logic            c_axil_wvalid,
    input  logic            c_axil_wready,
    output logic [63:0]     c_axil_wdata,
    input  logic            c_axil_bvalid,
    output logic            c_axil_bready,
    input  logic [1:0]      c_axil_bresp,
    output logic            c_axil_arvalid,
    input  logic            c_axil_arready,
    input  logic            c_axil_rvalid,
    output logic            c_axil_rready,
    input  logic [63:0]     c_axil_rdata,
    input  logic [1:0]      c_axil_rresp,
    // send windows
    output logic            c_win_awvalid,
    input  logic            c_win_awready,
    output logic [28:0]     c_win_awaddr,
    output logic [7:0]      c_win_awlen,
    output logic [2:0]      c_win_awsize,
    output logic [1:0]      c_win_awburst,
    output logic            c_win_wvalid,
    input  logic            c_win_wready,
    output logic [63:0]     c_win_wdata,
    output logic [7:0]      c_win_wstrb,
    output logic            c_win_wlast,
    input  logic            c_win_bvalid,
    output logic            c_win_bready,
    input  logic [1:0]      c_win_bresp,
    // DMA
    input  logic            c_dma_awvalid,
    output logic            c_dma_awready,
    input  logic [63:0]     c_dma_awaddr,
    input  logic [7:0]      c_dma_awlen,
    input  logic            c_dma_wvalid,
    output logic            c_dma_wready,
    input  logic [63:0]     c_dma_wdata,
    input  logic [7:0]      c_dma_wstrb,
    output logic            c_dma_bvalid,
    input  logic            c_dma_bready,
    output logic [1:0]      c_dma_bresp,
    input  logic            c_dma_arvalid,
    output logic            c_dma_arready,
    input  logic [63:0]     c_dma_araddr,
    input  logic [7:0]      c_dma_arlen,
    output logic            c_dma_rvalid,
    input  logic            c_dma_rready,
    output logic [63:0]     c_dma_rdata,
    output logic [1:0]      c_dma_rresp,
    output logic            c_dma_rlast,
    // for a simulation: a reset is under way; the interrupt line as it is known in aclk; no edge of
    // either clock changes anything
    output logic            cuts,
    output logic [nicloop_pkg::VPIDS:0] line_seen,
    output logic            rests
);
  // ---- resets ----
  logic arst_a, clear_a, open, cut, starts, cleared, asked, lost_regs, lost_windows, busy_regs, busy_windows;
  core_reset #(.PATIENCE(PATIENCE)) u_reset (
      .arst, .aclk, .asked, .flr, .lost(lost_regs || lost_windows), .busy(busy_regs || busy_windows), .arst_a, .clear_a,
      .open, .cut, .starts, .cleared, .clk, .nic_rst, .link_rst
  );

  // A slice in reset keeps nothing, so nothing is taken: its host may be out of reset before it.
  logic [5:0] takes;
  assign {s_axi_arready, s_axi_wready, s_axi_awready, s_axil_arready, s_axil_wready, s_axil_awready} = takes &
      {6{!arst_a}};

  // ---- registers ----
  logic        la_valid, la_ready, lw_valid, lw_ready, lb_valid, lb_ready, lr_valid, lr_ready, ln_valid, ln_ready;
  logic [20:0] la_addr, lr_addr;
  logic [31:0] lw_data, ln_data, brd_data, brd_value;
  logic [3:0]  lw_strb;
  logic [1:0]  lb_resp, ln_resp;
  logic        req_valid, req_ready, req_write, rsp_valid, rsp_ready, brd_write, refused_regs, refused_windows;
  logic [16:0] req_addr;
  logic [17:0] brd_addr;
  logic [63:0] req_data, rsp_data;
  logic [1:0]  rsp_resp;
  skid #(.W(21)) u_law (.clk(aclk), .rst(arst_a), .s_valid(s_axil_awvalid), .s_ready(takes[0]), .s_data(s_axil_awaddr),
                        .m_valid(la_valid), .m_ready(la_ready), .m_data(la_addr));
  skid #(.W(36)) u_lw (.clk(aclk), .rst(arst_a), .s_valid(s_axil_wvalid), .s_ready(takes[1]),
      .s_data({s_axil_wstrb, s_axil_wdata}),
                       .m_valid(lw_valid), .m_ready(lw_ready), .m_data({lw_strb, lw_data}));
  skid #(.W(2)) u_lb (.clk(aclk), .rst(arst_a), .s_valid(lb_valid), .s_ready(lb_ready), .s_data(lb_resp),
                      .m_valid(s_axil_bvalid), .m_ready(s_axil_bready), .m_data(s_axil_bresp));
  skid #(.W(21)) u_lar (.clk(aclk), .rst(arst_a), .s_valid(s_axil_arvalid), .s_ready(takes[2]), .s_data(s_axil_araddr),
                        .m_valid(lr_valid), .m_ready(lr_ready), .m_data(lr_addr));
  skid #(.W(34)) u_lr (.clk(aclk), .rst(arst_a), .s_valid(ln_valid), .s_ready(ln_ready), .s_data({ln_resp, ln_data}),
                       .m_valid(s_axil_rvalid), .m_ready(s_axil_rready), .m_data({s_axil_rresp, s_axil_rdata}));
  axi_regs #(.PATIENCE(PATIENCE)) u_regs (
      .clk(aclk), .rst(arst_a), .s_awvalid(la_valid), .s_awready(la_ready), .s_awaddr(la_addr), .s_wvalid(lw_valid),
      .s_wready(lw_ready), .s_wdata(lw_data), .s_wstrb(lw_strb), .s_bvalid(lb_valid), .s_bready(lb_ready),
      .s_bresp(lb_resp), .s_arvalid(lr_valid), .s_arready(lr_ready), .s_araddr(lr_addr), .s_rvalid(ln_valid),
      .s_rready(ln_ready), .s_rdata(ln_data), .s_rresp(ln_resp), .open, .cut, .req_valid, .req_ready, .req_write,
      .req_addr, .req_data, .rsp_valid, .rsp_ready, .rsp_resp, .rsp_data, .brd_write, .brd_addr, .brd_data, .brd_value,
      .busy(busy_regs), .lost(lost_regs), .refused(refused_regs)
  );
  logic c_req_valid, c_req_ready, c_req_write, c_rsp_valid, c_rsp_ready;
  async_fifo #(.W(82), .A(1)) u_req (
      .wr_clk(aclk), .wr_rst(clear_a), .wr_valid(req_valid), .wr_ready(req_ready),
      .wr_data({req_write, req_addr, req_data}), .rd_clk(clk), .rd_rst(nic_rst), .rd_valid(c_req_valid),
      .rd_ready(c_req_ready), .rd_data({c_req_write, c_axil_addr, c_axil_wdata})
  );
    async_fifo #(.W(66), .A(1)) u_rsp (
      .wr_clk(clk), .wr_rst(nic_rst), .wr_valid(c_rsp_valid), .wr_ready(c_rsp_ready),
      .wr_data({c_axil_bvalid ? c_axil_bresp : c_axil_rresp, c_axil_rdata}), .rd_clk(aclk), .rd_rst(clear_a),
      .rd_valid(rsp_valid), .rd_ready(rsp_ready), .rd_data({rsp_resp, rsp_data})
  );
  axil_issue u_issue (
      .clk, .rst(nic_rst), .req_valid(c_req_valid), .req_ready(c_req_ready), .req_write(c_req_write),
      .rsp_valid(c_rsp_valid), .rsp_ready(c_rsp_ready), .m_awvalid(c_axil_awvalid), .m_awready(c_axil_awready),
      .m_wvalid(c_axil_wvalid), .m_wready(c_axil_wready), .m_bvalid(c_axil_bvalid), .m_bready(c_axil_bready),
      .m_arvalid(c_axil_arvalid), .m_arready(c_axil_arready), .m_rvalid(c_axil_rvalid), .m_rready(c_axil_rready)
  );

  // ---- send windows ----
  logic            pa_valid, pa_ready, pw_valid, pw_ready, pb_valid, pb_ready, pr_valid, pr_ready, pn_valid, pn_ready,
      pn_last;
  logic [ID_W-1:0] pa_id, pb_id, pr_id, pn_id;
  logic [41:0]     pa;
  logic [72:0]     pw;
  logic [7:0]      pr_len;
  logic [1:0]      pb_resp, pn_resp, win_bresp;
  logic            win_aw, win_awready, win_w, win_wready, win_b, win_bready;
  skid #(.W(ID_W + 42)) u_paw (.clk(aclk), .rst(arst_a), .s_valid(s_axi_awvalid), .s_ready(takes[3]),
                               .s_data({s_axi_awid, s_axi_awburst, s_axi_awsize, s_axi_awlen, s_axi_awaddr}),
                               .m_valid(pa_valid), .m_ready(pa_ready), .m_data({pa_id, pa}));
  skid #(.W(73)) u_pw (.clk(aclk), .rst(arst_a), .s_valid(s_axi_wvalid), .s_ready(takes[4]),
      .s_data({s_axi_wlast, s_axi_wstrb, s_axi_wdata}),
                       .m_valid(pw_valid), .m_ready(pw_ready), .m_data(pw));
  skid #(.W(ID_W + 2)) u_pb (.clk(aclk), .rst(arst_a), .s_valid(pb_valid), .s_ready(pb_ready),
      .s_data({pb_id, pb_resp}),
                             .m_valid(s_axi_bvalid), .m_ready(s_axi_bready), .m_data({s_axi_bid, s_axi_bresp}));
  skid #(.W(ID_W + 8)) u_par (.clk(aclk), .rst(arst_a), .s_valid(s_axi_arvalid), .s_ready(takes[5]),
      .s_data({s_axi_arid, s_axi_arlen}),
                              .m_valid(pr_valid), .m_ready(pr_ready), .m_data({pr_id, pr_len}));
  skid #(.W(ID_W + 3)) u_pr (.clk(aclk), .rst(arst_a), .s_valid(pn_valid), .s_ready(pn_ready),
      .s_data({pn_id, pn_resp, pn_last}),
                             .m_valid(s_axi_rvalid), .m_ready(s_axi_rready),
                             .m_data({s_axi_rid, s_axi_rresp, s_axi_rlast}));
  assign s_axi_rdata = '0;
  axi_windows #(.ID_W(ID_W), .PATIENCE(PATIENCE)) u_windows (
      .clk(aclk), .rst(arst_a), .s_awvalid(pa_valid), .s_awready(pa_ready), .s_awid(pa_id), .s_wvalid(pw_valid),
      .s_wready(pw_ready), .s_wlast(pw[72]), .s_bvalid(pb_valid), .s_bready(pb_ready), .s_bid(pb_id), .s_bresp(pb_resp),
      .s_arvalid(pr_valid), .s_arready(pr_ready), .s_arid(pr_id), .s_arlen(pr_len), .s_rvalid(pn_valid),
      .s_rready(pn_ready), .s_rid(pn_id), .s_rresp(pn_resp), .s_rlast(pn_last), .open, .cut, .aw_valid(win_aw),
      .aw_ready(win_awready), .w_valid(win_w), .w_ready(win_wready), .b_valid(win_b), .b_ready(win_bready),
      .b_resp(win_bresp), .busy(busy_windows), .lost(lost_windows), .refused(refused_windows)
  );
  async_fifo #(.W(42), .A(2)) u_win_aw (.wr_clk(aclk), .wr_rst(clear_a), .wr_valid(win_aw), .wr_ready(win_awready),
      .wr_data(pa),
                                        .rd_clk(clk), .rd_rst(nic_rst), .rd_valid(c_win_awvalid),
                                        .rd_ready(c_win_awready),
                                        .rd_data({c_win_awburst, c_win_awsize, c_win_awlen, c_win_awaddr}));
  async_fifo #(.W(73), .A(4)) u_win_w (.wr_clk(aclk), .wr_rst(clear_a), .wr_valid(win_w), .wr_ready(win_wready),
      .wr_data(pw),
                                       .rd_clk(clk), .rd_rst(nic_rst), .rd_valid(c_win_wvalid), .rd_ready(c_win_wready),
                                       .rd_data({c_win_wlast, c_win_wstrb, c_win_wdata}));
  async_fifo #(.W(2), .A(2)) u_win_b (.wr_clk(clk), .wr_rst(nic_rst), .wr_valid(c_win_bvalid), .wr_ready(c_win_bready),
      .wr_data(c_win_bresp),
                                      .rd_clk(aclk), .rd_rst(clear_a), .rd_valid(win_b), .rd_ready(win_bready),
                                      .rd_data(win_bresp));

  // ---- DMA ----
  logic        dma_aw, dma_awready, dma_w, dma_wready, dma_b, dma_bready, dma_ar, dma_arready, dma_r, dma_rready;
  logic [71:0] dma_awd, dma_ard, da;
  logic [71:0] dma_wd;
  logic        da_valid, da_ready, dw_valid, dw_ready, dw_last, db_valid, db_ready, dr_valid, dr_ready, dn_valid,
      dn_ready, settled;
  logic [1:0]  stray;
  logic [ID_W-1:0] da_id, db_id, dr_id, dn_id;
  logic [63:0] dw_data;
  logic [7:0]  dw_strb;
  logic [1:0]  db_resp;
  logic [66:0] dn;
  logic        msi_send, msi_done;
  logic [61:0] msi_to;
  logic [31:0] msi_word;
  async_fifo #(.W(72), .A(2)) u_dma_aw (.wr_clk(clk), .wr_rst(nic_rst), .wr_valid(c_dma_awvalid),
      .wr_ready(c_dma_awready), .wr_data({c_dma_awlen, c_dma_awaddr}),
                                        .rd_clk(aclk), .rd_rst(clear_a), .rd_valid(dma_aw), .rd_ready(dma_awready),
                                        .rd_data(dma_awd));
  async_fifo #(.W(72), .A(4)) u_dma_w (.wr_clk(clk), .wr_rst(nic_rst), .wr_valid(c_dma_wvalid), .wr_ready(c_dma_wready),
      .wr_data({c_dma_wstrb, c_dma_wdata}),
                                       .rd_clk(aclk), .rd_rst(clear_a), .rd_valid(dma_w), .rd_ready(dma_wready),
                                       .rd_data(dma_wd));
  async_fifo #(.W(2), .A(3)) u_dma_b (.wr_clk(aclk), .wr_rst(clear_a), .wr_valid(dma_b), .wr_ready(dma_bready),
      .wr_data(db_resp),
                                      .rd_clk(clk), .rd_rst(nic_rst), .rd_valid(c_dma_bvalid), .rd_ready(c_dma_bready),
                                      .rd_data(c_dma_bresp));
  async_fifo #(.W(72), .A(2)) u_dma_ar (.wr_clk(clk), .wr_rst(nic_rst), .wr_valid(c_dma_arvalid),
      .wr_ready(c_dma_arready), .wr_data({c_dma_arlen, c_dma_araddr}),
                                        .rd_clk(aclk), .rd_rst(clear_a), .rd_valid(dma_ar), .rd_ready(dma_arready),
                                        .rd_data(dma_ard));
  async_fifo #(.W(67), .A(4)) u_dma_r (.wr_clk(aclk), .wr_rst(clear_a), .wr_valid(dma_r), .wr_ready(dma_rready),
      .wr_data(dn),
                                       .rd_clk(clk), .rd_rst(nic_rst), .rd_valid(c_dma_rvalid), .rd_ready(c_dma_rready),
                                       .rd_data({c_dma_rlast, c_dma_rresp, c_dma_rdata}));
  axi_dma #(.ID_W(ID_W)) u_dma (
      .clk(aclk), .rst(arst_a), .cut, .aw_valid(dma_aw), .aw_ready(dma_awready), .aw_addr(dma_awd[63:0]),
      .aw_len(dma_awd[71:64]), .w_valid(dma_w), .w_ready(dma_wready), .w_data(dma_wd[63:0]), .w_strb(dma_wd[71:64]),
      .b_valid(dma_b), .b_ready(dma_bready), .ar_valid(dma_ar), .ar_ready(dma_arready), .r_valid(dma_r),
      .r_ready(dma_rready), .msi_valid(msi_send), .msi_addr(msi_to), .msi_word, .msi_done, .m_awvalid(da_valid),
      .m_awready(da_ready), .m_awid(da_id), .m_awaddr(da[63:0]), .m_awlen(da[71:64]), .m_wvalid(dw_valid),
      .m_wready(dw_ready), .m_wdata(dw_data), .m_wstrb(dw_strb), .m_wlast(dw_last), .m_bvalid(db_valid),
      .m_bready(db_ready), .m_bid(db_id), .m_arvalid(dr_valid), .m_arready(dr_ready), .m_arid(dr_id),
      .m_rvalid(dn_valid), .m_rready(dn_ready), .m_rid(dn_id), .m_rlast(dn[66]), .settled, .stray
  );
  skid #(.W(ID_W + 72)) u_daw (.clk(aclk), .rst(arst_a), .s_valid(da_valid), .s_ready(da_ready), .s_data({da_id, da}),
                               .m_valid(m_axi_awvalid), .m_ready(m_axi_awready),
                               .m_data({m_axi_awid, m_axi_awlen, m_axi_awaddr}));
  skid #(.W(73)) u_dw (.clk(aclk), .rst(arst_a), .s_valid(dw_valid), .s_ready(dw_ready),
      .s_data({dw_last, dw_strb, dw_data}),
                       .m_valid(m_axi_wvalid), .m_ready(m_axi_wready),
                       .m_data({m_axi_wlast, m_axi_wstrb, m_axi_wdata}));
  skid #(.W(ID_W + 2)) u_db (.clk(aclk), .rst(arst_a), .s_valid(m_axi_bvalid), .s_ready(m_axi_bready),
      .s_data({m_axi_bid, m_axi_bresp}),
                             .m_valid(db_valid), .m_ready(db_ready), .m_data({db_id, db_resp}));
  skid #(.W(ID_W + 72)) u_dar (.clk(aclk), .rst(arst_a), .s_valid(dr_valid), .s_ready(dr_ready),
      .s_data({dr_id, dma_ard}),
                               .m_valid(m_axi_arvalid), .m_ready(m_axi_arready),
                               .m_data({m_axi_arid, m_axi_arlen, m_axi_araddr}));
  skid #(.W(ID_W + 67)) u_dr (.clk(aclk), .rst(arst_a), .s_valid(m_axi_rvalid), .s_ready(m_axi_rready),
      .s_data({m_axi_rid, m_axi_rlast, m_axi_rresp, m_axi_rdata}),
                              .m_valid(dn_valid), .m_ready(dn_ready), .m_data({dn_id, dn}));
  assign m_axi_awsize  = 3'd3;
  assign m_axi_awburst = 2'b01;
  assign m_axi_arsize  = 3'd3;
  assign m_axi_arburst = 2'b01;

  // ---- the board's page ----
  localparam int VECTORS = nicloop_pkg::VPIDS + 1;
  logic [VECTORS-1:0] irq_c, irq_a, irq_settled;
  always_ff @(posedge clk) irq_c <= nic_rst ? '0 : irq_lines;
  generate
    for (genvar v = 0; v < VECTORS; v++) begin : g_irq
      sync_line u_irq (.clk_s(clk), .rst_s(nic_rst), .d(irq_c[v]), .settled(irq_settled[v]), .clk_m(aclk),
          .rst_m(arst_a), .q(irq_a[v]));
    end
  endgenerate
  axi_page #(.VECTORS(VECTORS)) u_page (
      .clk(aclk), .rst(arst_a), .wr(brd_write), .addr(brd_addr), .data(brd_data), .value(brd_value),
      .enable(msix_enable), .mask(msix_mask), .forget(flr && cut), .line(irq_a & {VECTORS{!cut}}),
      .send(msi_send), .to(msi_to), .word(msi_word), .done(msi_done), .asked, .starts, .open, .settled,
      .ev_lost(lost_regs || lost_windows), .ev_refused({refused_windows, refused_regs}), .ev_stray(stray)
  );
  assign flr_done = flr && cleared && settled;
  assign cuts      = cut;
  assign line_seen = irq_a;
`ifdef SYNTHESIS
  assign rests = 1'b0;
`else
  assign rests = !(la_valid || lw_valid || s_axil_bvalid || lr_valid || s_axil_rvalid || pa_valid || pw_valid ||
      s_axi_bvalid || pr_valid || s_axi_rvalid || m_axi_awvalid ||
                   m_axi_wvalid || db_valid || m_axi_arvalid || dn_valid) &&
                 u_req.rests && u_rsp.rests && u_win_aw.rests && u_win_w.rests && u_win_b.rests && u_dma_aw.rests &&
                 u_dma_w.rests && u_dma_b.rests && u_dma_ar.rests && u_dma_r.rests &&
                 open && !u_page.asked && !flr && settled && u_page.u_msix.idle &&
                 {irq_c, irq_a} == {2{irq_lines}} && &irq_settled;
`endif
endmodule
