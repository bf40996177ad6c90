// nic_pcie: the NIC behind the hard block of a board's PCIe.
//
// Job: joins the blocks that make AXI of TLPs and TLPs of AXI: what the host writes and reads to
//   the register port and the send windows of nic_core, the core's DMA to memory requests, its
//   interrupts to MSI-X. README.md has a drawing.
// Handshake: two AXI-Streams of TLPs (docs/decisions/0020); the ports of nic_core, with their
//   directions turned; what the hard block knows of its configuration as levels. irq: the rise of a
//   bit is an interrupt of its vector. Counters of what went wrong count up and wrap. Three levels
//   reset different parts; each is synchronous to clk:
//     rst       the reset of the PCIe link (PERST#, hot reset, link down): everything, the tags too
//     core_rst  a reset of nic_core alone, at least two cycles, together with nic_core: outstanding
//               reads keep their tags until their completions have arrived, whose data is dropped
//     flr       function-level reset, as long as it is high: as core_rst; moreover queued requests
//               are discarded, outstanding reads are given up (completions that still arrive are
//               unexpected), and the MSI-X table is reset
//   transactions_pending is the bit of that name of Device Status: a read request is outstanding.
// Backpressure: s_tlp_ready and m_tlp_ready. rx_np_ok low asks the hard block to keep non-posted
//   requests back; np_ok low says that the other end has no credits for those of the NIC.
module nic_pcie #(
    parameter int W        = 128,
    parameter int TAGS     = 32,
    parameter int SLOT     = 256,
    parameter int TICK     = 1 << 20,
    parameter int QUADS    = 128,
    parameter int VECTORS  = 17,  // 2 to 64
    parameter int REG_BAR  = 0,
    parameter int WIN_BAR  = 2,
    parameter int MSIX_BAR = 4,
    parameter int REG_W    = 20,  // BAR sizes are 2^REG_W and 2^WIN_W bytes
    parameter int WIN_W    = 29
) (
    input  logic            clk,
    input  logic            rst,
    // configuration, as the hard block says it
    input  logic [15:0]     id,
    input  logic            bus_master,
    input  logic            ext_tag_enable,        // tags of 8 bits; low: below 32 only
    input  logic [2:0]      mps,
    input  logic [2:0]      mrrs,
    input  logic            msix_enable,
    input  logic            msix_mask,
    input  logic            flr,
    output logic            flr_done,              // nothing of before the flr is left; falls with flr
    output logic            transactions_pending,
    input  logic            core_rst,
    // TLPs from the hard block
    input  logic            s_tlp_valid,
    output logic            s_tlp_ready,
    input  logic [W-1:0]    s_tlp_data,
    input  logic [W/32-1:0] s_tlp_keep,
    input  logic            s_tlp_last,
    input  logic [2:0]      s_tlp_bar,
    output logic            rx_np_ok,
    // TLPs to it
    output logic            m_tlp_valid,
    input  logic            m_tlp_ready,
    output logic [W-1:0]    m_tlp_data,
    output logic [W/32-1:0] m_tlp_keep,
    output logic            m_tlp_last,
    input  logic            np_ok,
    // registers of the core
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
    // its send windows
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
    // its DMA
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
    input  logic [VECTORS-1:0] irq,        // levels, by vector
    // what went wrong
    output logic [31:0]     malformed,
    output logic [31:0]     unsupported,
    output logic [31:0]     poisoned,
    output logic [31:0]     timeouts,
    output logic [31:0]     failed,
    output logic [31:0]     unexpected,
    output logic [31:0]     write_errors,
    output logic            idle
);
  localparam int POSTED = 0, INTERRUPT = 1, COMPLETION = 2, SENDERS = 3;
  logic core, may_request, hold, sent_dropped, tx_idle;
  assign core        = core_rst || flr;

  // ---- receiving ----
  logic        in_valid, in_ready, in_both, in_last;
  logic [63:0] in_data;
  tlp_narrow #(.W(W)) u_narrow (
      .clk, .rst, .s_valid(s_tlp_valid), .s_ready(s_tlp_ready), .s_data(s_tlp_data), .s_keep(s_tlp_keep),
      .s_last(s_tlp_last), .m_valid(in_valid), .m_ready(in_ready), .m_data(in_data), .m_both(in_both), .m_last(in_last)
  );

  logic        w_valid, w_ready, n_valid, n_ready, n_ur, n_locked, c_valid, c_data, c_poisoned, q_valid, q_ready,
      q_to_cpl, q_ok, q_last;
  logic [1:0]  n_size;
  logic [2:0]  bar, tc, attr, c_status;
  logic [31:0] addr;
  logic [10:0] len;
  logic [3:0]  first_be, last_be;
  logic [15:0] requester;
  logic [7:0]  tag;
  logic [11:0] c_count;
  logic [6:0]  c_lower;
  logic [63:0] q_data;
  logic        ev_malformed, ev_unsupported, ev_poisoned, ev_timeout, ev_failed, ev_unexpected, ev_error;
  tlp_rx u_rx (
      .clk, .rst, .s_valid(in_valid), .s_ready(in_ready), .s_data(in_data), .s_both(in_both), .s_last(in_last),
      .s_bar(s_tlp_bar), .bars(8'(1 << REG_BAR | 1 << WIN_BAR | 1 << MSIX_BAR)), .w_valid, .w_ready, .n_valid, .n_ready,
      .n_ur, .n_locked, .n_size, .c_valid, .bar, .addr, .len, .first_be, .last_be, .requester, .tag, .tc, .attr,
      .c_data,
      .c_poisoned, .c_status, .c_count, .c_lower, .q_valid, .q_ready, .q_to_cpl, .q_data, .q_ok, .q_last, .ev_malformed,
      .ev_unsupported, .ev_poisoned
  );

  // ---- the host's writes and reads ----
  logic        settled, msix_wr;
  logic [11:0] msix_wr_addr, msix_rd_addr;
  logic [63:0] msix_wr_data, msix_rd_data;
  logic [7:0]  msix_wr_strb;
  mmio_write #(.REG_BAR(REG_BAR), .MSIX_BAR(MSIX_BAR), .REG_W(REG_W), .WIN_W(WIN_W)) u_mmio_write (
      .clk, .rst, .core_rst(core), .w_valid, .w_ready, .bar, .addr, .len, .first_be, .last_be,
      .q_valid(q_valid && !q_to_cpl), .q_ready,
      .q_data, .q_ok, .q_last, .m_axil_awvalid, .m_axil_awready, .m_axil_awaddr, .m_axil_wvalid, .m_axil_wready,
      .m_axil_wdata, .m_axil_wstrb, .m_axil_bvalid, .m_axil_bready, .m_axil_bresp, .m_axi_awvalid, .m_axi_awready,
      .m_axi_awaddr, .m_axi_awlen, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
      .m_axi_bvalid, .m_axi_bready, .m_axi_bresp, .msix_valid(msix_wr), .msix_addr(msix_wr_addr),
      .msix_data(msix_wr_data), .msix_strb(msix_wr_strb), .settled, .ev_error
  );

  logic [SENDERS-1:0]     ask, ticket, four, odd, done;
  logic [SENDERS*128-1:0] header;
  logic [SENDERS*11-1:0]  send_len;
  logic [SENDERS*64-1:0]  quad;
  logic [7:0]             index;
  logic                   read_idle, host_idle, write_idle, msix_idle;
  mmio_read #(.WIN_BAR(WIN_BAR), .MSIX_BAR(MSIX_BAR), .REG_W(REG_W)) u_mmio_read (
      .clk, .rst, .core_rst(core), .id, .n_valid, .n_ready, .n_ok(rx_np_ok), .n_ur, .n_locked, .n_size, .bar, .addr,
      .len_in(len), .first_be,
      .last_be, .requester, .tag, .tc, .attr, .settled, .m_axil_arvalid, .m_axil_arready, .m_axil_araddr,
      .m_axil_rvalid, .m_axil_rready, .m_axil_rdata, .m_axil_rresp, .msix_addr(msix_rd_addr), .msix_data(msix_rd_data),
      .ask(ask[COMPLETION]), .ticket(ticket[COMPLETION]), .header(header[COMPLETION*128+:128]), .four(four[COMPLETION]),
      .odd(odd[COMPLETION]), .len(send_len[COMPLETION*11+:11]), .quad(quad[COMPLETION*64+:64]), .index,
      .done(done[COMPLETION]), .idle(host_idle)
  );

  // ---- the core's DMA ----
  logic         np_valid, np_done, np_four, read_queued;
  logic [127:0] np_header;
  pcie_write #(.QUADS(QUADS)) u_write (
      .clk, .rst, .core_rst(core), .bus_master(may_request), .hold, .mps, .id, .s_awvalid(s_axi_awvalid),
      .s_awready(s_axi_awready), .s_awaddr(s_axi_awaddr),
      .s_awlen(s_axi_awlen), .s_wvalid(s_axi_wvalid), .s_wready(s_axi_wready), .s_wdata(s_axi_wdata),
      .s_wstrb(s_axi_wstrb), .s_wlast(s_axi_wlast), .s_bvalid(s_axi_bvalid), .s_bready(s_axi_bready),
      .s_bresp(s_axi_bresp), .ask(ask[POSTED]), .ticket(ticket[POSTED]), .header(header[POSTED*128+:128]),
      .four(four[POSTED]), .odd(odd[POSTED]), .len(send_len[POSTED*11+:11]), .quad(quad[POSTED*64+:64]), .index,
      .done(done[POSTED]), .dropped(sent_dropped), .idle(write_idle)
  );
  pcie_read #(.TAGS(TAGS), .SLOT(SLOT), .TICK(TICK)) u_read (
      .clk, .rst, .core_rst, .flr, .bus_master(may_request), .hold, .ext_tag_enable, .mrrs, .id,
      .s_arvalid(s_axi_arvalid), .s_arready(s_axi_arready),
      .s_araddr(s_axi_araddr), .s_arlen(s_axi_arlen), .s_rvalid(s_axi_rvalid), .s_rready(s_axi_rready),
      .s_rdata(s_axi_rdata), .s_rresp(s_axi_rresp), .s_rlast(s_axi_rlast), .np_valid, .np_done,
      .np_dropped(sent_dropped), .np_header, .np_four,
      .c_valid, .c_data, .c_poisoned, .c_status, .c_count, .c_lower, .c_len(len), .c_requester(requester), .c_tag(tag),
      .q_valid(q_valid && q_to_cpl), .q_data, .q_ok, .q_last, .ev_timeout, .ev_failed, .ev_unexpected,
      .pending(transactions_pending),
      .queued(read_queued), .idle(read_idle)
  );
  request_gate u_gate (.clk, .rst, .bus_master, .flr, .queued(!write_idle || read_queued), .may_request, .hold);

  // ---- interrupts ----
  pcie_msix #(.VECTORS(VECTORS)) u_msix (
      .clk, .rst, .id, .bus_master(may_request), .enable(msix_enable), .mask(msix_mask), .forget(flr),
      .line(irq),
      .wr_valid(msix_wr), .wr_addr(msix_wr_addr), .wr_data(msix_wr_data), .wr_strb(msix_wr_strb),
      .rd_addr(msix_rd_addr), .rd_data(msix_rd_data), .ask(ask[INTERRUPT]), .ticket(ticket[INTERRUPT]),
      .header(header[INTERRUPT*128+:128]), .four(four[INTERRUPT]), .odd(odd[INTERRUPT]),
      .len(send_len[INTERRUPT*11+:11]), .quad(quad[INTERRUPT*64+:64]), .done(done[INTERRUPT]), .dropped(sent_dropped),
      .idle(msix_idle)
  );

  // ---- sending ----
  logic        out_valid, out_ready, out_both, out_last;
  logic [63:0] out_data;
  tlp_tx #(.N(SENDERS), .REQUESTS(SENDERS'(1 << POSTED | 1 << INTERRUPT))) u_tx (
      .clk, .rst, .may_request, .ask, .ticket, .header, .four, .odd, .len(send_len), .quad, .index, .done,
      .dropped(sent_dropped), .np_valid, .np_done,
      .np_header, .np_four, .np_ok, .m_valid(out_valid), .m_ready(out_ready), .m_data(out_data), .m_both(out_both),
      .m_last(out_last), .idle(tx_idle)
  );
  tlp_widen #(.W(W)) u_widen (
      .clk, .rst, .s_valid(out_valid), .s_ready(out_ready), .s_data(out_data), .s_both(out_both), .s_last(out_last),
      .m_valid(m_tlp_valid), .m_ready(m_tlp_ready), .m_data(m_tlp_data), .m_keep(m_tlp_keep), .m_last(m_tlp_last)
  );
  always_ff @(posedge clk) flr_done <= flr && settled && host_idle && write_idle && !np_valid && tx_idle && !out_valid;
  assign idle = settled && host_idle && write_idle && read_idle && msix_idle && !in_valid && !out_valid;

  always_ff @(posedge clk)
    if (rst) begin
      malformed    <= '0;
      unsupported  <= '0;
      poisoned     <= '0;
      timeouts     <= '0;
      failed       <= '0;
      unexpected   <= '0;
      write_errors <= '0;
    end else begin
      malformed    <= malformed + 32'(ev_malformed);
      unsupported  <= unsupported + 32'(ev_unsupported);
      poisoned     <= poisoned + 32'(ev_poisoned);
      timeouts     <= timeouts + 32'(ev_timeout);
      failed       <= failed + 32'(ev_failed);
      unexpected   <= unexpected + 32'(ev_unexpected);
      write_errors <= write_errors + 32'(ev_error);
    end
endmodule
