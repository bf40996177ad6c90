// nic_velo: a NIC of a few processes with VELO alone, one link and no router, for a small device.
//
// Job: joins the blocks of nic_core that VELO needs. Packets of a process leave over the link, and
//   packets from the link are for this node: the peer is the one other node, or this one. LINK 0:
//   no link; flits pass from the requester to the completer. Registers of RMA, of routes and of
//   processes that are not built do not exist (DECERR), PARAMS contains the number of processes,
//   descriptors are refused as through a window that is off; counters have COUNT_W bits, and
//   addresses of mailboxes ADDR_W.
// Handshake: as nic_core, but address and data of a register access are stable up to the second
//   cycle after its response; the AXI4 master is for writes alone, bursts of 8 quadwords.
// Backpressure: as nic_core. Without a session of the link packets wait; the rest of one that was
//   being sent when a session ended is discarded, and its other end has terminated it (see
//   router_output, which does the same).
module nic_velo #(
    parameter int VPIDS    = 2,   // processes: a power of two, 2 or more
    parameter int LINK     = 1,
    parameter int VC_DEPTH = 1,
    parameter int ADDR_W   = 12,
    parameter int COUNT_W  = 16,
    parameter int CYCLES_W = 40,
    localparam int USER_W  = hw_pkg::link_user_w(1, VC_DEPTH)  // one channel
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        link_rst,  // as in nic_core
    input  logic [11:0] node_id,
    input  logic [11:0] nodes,
    // registers: AXI4-Lite slave
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [31:0] s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [63:0] s_axil_wdata,
    input  logic [7:0]  s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [1:0]  s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [31:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [63:0] s_axil_rdata,
    output logic [1:0]  s_axil_rresp,
    // send windows: AXI4 write slave
    input  logic        s_axi_awvalid,
    output logic        s_axi_awready,
    input  logic [28:0] s_axi_awaddr,
    input  logic [7:0]  s_axi_awlen,
    input  logic [2:0]  s_axi_awsize,
    input  logic [1:0]  s_axi_awburst,
    input  logic        s_axi_wvalid,
    output logic        s_axi_wready,
    input  logic [63:0] s_axi_wdata,
    input  logic [7:0]  s_axi_wstrb,
    input  logic        s_axi_wlast,
    output logic        s_axi_bvalid,
    input  logic        s_axi_bready,
    output logic [1:0]  s_axi_bresp,
    // DMA: AXI4 write master
    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [63:0] m_axi_awaddr,
    output logic        m_axi_wvalid,
    input  logic        m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic        m_axi_wlast,
    input  logic        m_axi_bvalid,
    output logic        m_axi_bready,
    input  logic [1:0]  m_axi_bresp,
    // the link
    input  logic              carrier,
    output logic              m_axis_tvalid,
    input  logic              m_axis_tready,
    output logic [63:0]       m_axis_tdata,
    output logic [USER_W-1:0] m_axis_tuser,
    input  logic              s_axis_tvalid,
    output logic              s_axis_tready,
    input  logic [63:0]       s_axis_tdata,
    input  logic [USER_W-1:0] s_axis_tuser,
    output logic        irq,
    output logic        idle,    // nothing is buffered or under way
    output logic        active   // something moved or will move by itself
);
  localparam int COUNT = $clog2(VC_DEPTH + 1);
  localparam int LEVEL = $clog2(VC_DEPTH + 2);

  // ---- flits: out of the requester, over the link, into the completer ----
  logic        req_valid, req_ready, req_head, req_tail, tx_valid, tx_head, tx_tail, tx_credit, rx_valid, rx_head,
      rx_tail, rx_credit;
  logic        comp_valid, comp_ready, up;
  logic [63:0] req_data, tx_data, rx_data;
  nicloop_pkg::flit_t rx_flit, comp_flit;

  logic             credit, send, drop, midway, losing;  // losing: the rest of a packet whose session has ended
  logic [COUNT-1:0] credits;
  assign send      = req_valid && up && credit && !losing;
  assign drop      = req_valid && (losing || (midway && !up));
  assign req_ready = send || drop;
  credit_counter #(.DEPTH(VC_DEPTH), .START(LINK != 0 ? 0 : VC_DEPTH)) u_credit (
      .clk, .rst(LINK != 0 ? !up : rst), .spend(send), .give(tx_credit), .available(credit), .count(credits)
  );
  assign tx_valid  = send;
  assign tx_head   = req_head;
  assign tx_tail   = req_tail;
  assign tx_data   = req_data;
  always_ff @(posedge clk) begin
    if (rst) {midway, losing} <= '0;
    else if (req_ready) {midway, losing} <= {!req_tail, drop && !req_tail};
    else if (midway && !up) losing <= 1'b1;
  end

  logic [LEVEL-1:0] came;
  always_comb begin
    rx_flit.head = rx_head;
    rx_flit.tail = rx_tail;
    rx_flit.data = rx_data;
  end
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(nicloop_pkg::FLIT_W), .DEPTH(VC_DEPTH)) u_eject (  // who sends has a credit
      .clk, .rst, .wr_valid(rx_valid), .wr_ready(), .wr_data(rx_flit),
      .rd_valid(comp_valid), .rd_ready(comp_ready), .rd_data(comp_flit), .level(came)
  );
  /* verilator lint_on PINCONNECTEMPTY */
  always_ff @(posedge clk) rx_credit <= !rst && comp_valid && comp_ready;

  // ---- registers ----
  logic [31:0] x_wr_addr, x_rd_addr;
  logic [63:0] reg_data, domain_value, window_value, link_value;
  logic        x_wr_do, domain_wr_known, domain_writable, domain_rd_known, window_known, window_rd_known;
  logic        link_wr_known, link_writable, link_rd_known, link_failure, link_idle, link_active, reg_idle, reg_active;

  // ---- mailboxes ----
  logic         mb_busy, look_on, look_full, look_spent, look_timed, look_overflowed, begun, stall, overflow, ended,
      ended_bad, ended_lost, ended_irq;
  logic         mb_refused, mb_wr_ready, mb_rp_ready, mb_wr_base, mb_wr_slots, mb_wr_ctrl, mb_wr_rp, mb_wr_on, wr_hold,
      shut, commit, stranger;
  logic [3:0]   look_vpid, ended_vpid, mb_rd_vpid, mb_wr_vpid, level_vpid, waiting;
  logic [63:0]  look_addr, mb_rd_base, mb_rd_stall;
  nicloop_pkg::header_t packet_header;
  logic [31:0]  look_seq, ended_seq, mb_rd_wp, overflows;
  logic [23:0]  mb_rd_slots, hold;
  logic [8:0]   mb_rd_ctrl;
  logic [32:0]  mb_rd_rp;
  logic [15:0]  window_next, full, stranger_pdid, lines;
  logic [511:0] stamps;
  logic         drop_packet, comp_idle, comp_active, req_idle, req_active, win_idle, win_active, tx_packet, tx_stall;
  logic [6:0]   drop_reason, tx_reason;
  mailbox_table #(.VPIDS(VPIDS), .DEPTH(1), .ADDR_W(ADDR_W), .SLOTS_W(ADDR_W - 5), .COUNT_W(COUNT_W)) u_table (
      .clk, .rst, .busy(mb_busy), .look_vpid, .look_on, .look_full, .look_addr, .look_seq, .look_spent, .look_timed,
      .look_overflowed, .begun, .stall, .overflow, .ended, .ended_bad, .ended_vpid, .ended_seq, .ended_lost, .ended_irq,
      .rd_hold(hold), .rd_overflows(overflows), .wr_hold, .rd_vpid(mb_rd_vpid), .rd_base(mb_rd_base),
      .rd_slots(mb_rd_slots), .rd_ctrl(mb_rd_ctrl), .rd_wp(mb_rd_wp), .rd_rp(mb_rd_rp), .rd_stall(mb_rd_stall),
      .wr_ready(mb_wr_ready), .rp_ready(mb_rp_ready), .wr_vpid(mb_wr_vpid), .wr_data(reg_data), .wr_base(mb_wr_base),
      .wr_slots(mb_wr_slots), .wr_ctrl(mb_wr_ctrl), .wr_rp(mb_wr_rp), .shut, .ev_refused(mb_refused), .window_next,
      .wr_on(mb_wr_on)
  );
  domain_table #(.VPIDS(VPIDS), .COUNT_W(COUNT_W)) u_domains (
      .clk, .rst, .stamps, .restart(1'b0), .restart_vpid(4'd0), .shut, .level_vpid, .descriptors(3'd0),
      .fragments(5'd0), .lines(waiting), .wr_hold, .mailbox_hold(hold), .ring_hold(24'h0),
      .mailbox_overflows(overflows), .ring_overflows(32'h0), .ev_strangers({2'b00, stranger}),
      .stranger_header(packet_header), .stranger_pdid, .wr_addr(x_wr_addr), .wr_data(reg_data[15:0]), .wr_do(x_wr_do),
      .wr_known(domain_wr_known), .wr_writable(domain_writable), .rd_addr(x_rd_addr), .rd_known(domain_rd_known),
      .rd_value(domain_value)
  );

  // ---- sending ----
  /* verilator lint_off UNUSEDSIGNAL */  // those of RMA
  logic [1:0]  put, take;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [1:0]  put_words, ev_error;
  logic [3:0]  put_vpid;
  logic [2:0]  put_quad;
  logic [63:0] put_data;
  nicloop_pkg::pio_t line_addr;
  logic [31:0] line_stamp;
  pio_window #(.VPIDS(VPIDS), .RMA(0)) u_window (
      .clk, .clk_regs(clk), .rst, .nodes, .s_awvalid(s_axi_awvalid), .s_awready(s_axi_awready), .s_awaddr(s_axi_awaddr),
      .s_awlen(s_axi_awlen), .s_awsize(s_axi_awsize), .s_awburst(s_axi_awburst), .s_wvalid(s_axi_wvalid),
      .s_wready(s_axi_wready), .s_wdata(s_axi_wdata), .s_wstrb(s_axi_wstrb), .s_wlast(s_axi_wlast),
      .s_bvalid(s_axi_bvalid), .s_bready(s_axi_bready), .s_bresp(s_axi_bresp), .on_next({16'h0, window_next}),
      .full({16'h0, full}), .pop(1'b0), .head_vpid(4'd0), .stamps, .put, .put_vpid, .put_quad, .put_data, .put_words,
      .take, .ev_error, .line_addr, .line_stamp, .error_reason(tx_reason), .wr_addr(x_wr_addr), .wr_do(x_wr_do),
      .wr_known(window_known), .rd_addr(x_rd_addr), .rd_known(window_rd_known), .rd_value(window_value),
      .waiting_velo(waiting), .waiting_rma(3'd0), .idle(win_idle), .active(win_active)
  );
  /* verilator lint_off PINCONNECTEMPTY */
  velo_requester #(.VPIDS(VPIDS), .BLOCK(1)) u_requester (
      .clk, .rst, .here(node_id), .put(put[0]), .put_vpid, .put_quad, .put_data, .put_words, .take(take[0]), .line_addr,
      .line_stamp, .full, .tx_valid(req_valid), .tx_ready(req_ready), .tx_head(req_head), .tx_tail(req_tail),
      .tx_data(req_data), .ev_packet(tx_packet), .packet_vpid(), .ev_stall(tx_stall), .lines, .level_vpid,
      .level_of(waiting), .idle(req_idle), .active(req_active)
  );

  // ---- receiving ----
  velo_completer #(.DEPTH(1)) u_completer (
      .clk, .rst, .here(node_id), .in_valid(comp_valid), .in_ready(comp_ready), .in_flit(comp_flit),
      .table_busy(mb_busy), .look_vpid, .look_on, .look_full, .look_addr, .look_seq, .look_spent, .look_timed,
      .look_overflowed, .begun, .stall, .overflow, .ended, .ended_bad, .ended_vpid, .ended_seq, .ended_lost, .commit,
      .stamps, .m_awvalid(m_axi_awvalid), .m_awready(m_axi_awready), .m_awaddr(m_axi_awaddr), .m_wvalid(m_axi_wvalid),
      .m_wready(m_axi_wready), .m_wdata(m_axi_wdata), .m_wlast(m_axi_wlast), .m_bvalid(m_axi_bvalid),
      .m_bready(m_axi_bready), .m_bresp(m_axi_bresp), .ev_drop(drop_packet), .drop_reason, .packet_header,
      .slot_header(), .ev_stranger(stranger), .pdid(stranger_pdid), .idle(comp_idle), .active(comp_active)
  );

  nicloop_pkg::process_t line_src, line_dst, packet_src, packet_dst;
  /* verilator lint_off UNUSEDSIGNAL */
  nicloop_pkg::tx_level_t tx_level;
  /* verilator lint_on UNUSEDSIGNAL */
  always_comb begin
    line_src.node   = node_id;
    line_src.vpid   = line_addr.src_vpid;
    line_dst.node   = 12'(line_addr.dst_node);
    line_dst.vpid   = line_addr.dst_vpid;
    packet_src.node = packet_header.src_node;
    packet_src.vpid = packet_header.src_vpid;
    packet_dst.node = packet_header.dst_node;
    packet_dst.vpid = packet_header.dst_vpid;

    tx_level          = '0;
    tx_level.lines    = lines;
    tx_level.credits0 = 8'(credits);
    tx_level.credits1 = 8'(VC_DEPTH);  // classes that are not built have all their credits
    tx_level.credits2 = 8'(VC_DEPTH);
  end
  regfile #(.VC_DEPTH(VC_DEPTH), .PORTS(LINK != 0 ? 2 : 1), .VPIDS(VPIDS), .COUNT_W(COUNT_W), .CYCLES_W(CYCLES_W),
  .RMA(0), .HELD(1)) u_regs (
      .clk, .rst, .slept(64'h0), .here(node_id), .nodes, .dims({16'h0101, nodes[7:0]}), .s_awvalid(s_axil_awvalid),
      .s_awready(s_axil_awready), .s_awaddr(s_axil_awaddr), .s_wvalid(s_axil_wvalid), .s_wready(s_axil_wready),
      .s_wdata(s_axil_wdata), .s_wstrb(s_axil_wstrb), .s_bvalid(s_axil_bvalid), .s_bready(s_axil_bready),
      .s_bresp(s_axil_bresp), .s_arvalid(s_axil_arvalid), .s_arready(s_axil_arready), .s_araddr(s_axil_araddr),
      .s_rvalid(s_axil_rvalid), .s_rready(s_axil_rready), .s_rdata(s_axil_rdata), .s_rresp(s_axil_rresp), .mb_rd_vpid,
      .mb_rd_base, .mb_rd_slots, .mb_rd_ctrl, .mb_rd_wp, .mb_rd_rp, .mb_rd_stall, .mb_busy, .mb_wr_on, .mb_wr_ready,
      .mb_rp_ready, .mb_wr_vpid, .wr_data(reg_data), .mb_wr_base, .mb_wr_slots, .mb_wr_ctrl, .mb_wr_rp,
      .ext_wr_known(link_wr_known), .ext_rd_known(link_rd_known), .ext_rd_value(link_value), .ev_tx_packet(tx_packet),
      .ev_tx_error(ev_error != '0), .tx_reason, .tx_src(line_src), .tx_dst(line_dst),
      .tx_length(10'(line_addr.length)), .ev_tx_stall(tx_stall), .ev_rx_packet(commit), .ev_rx_irq(ended_irq),
      .arrival_vpid(ended_vpid), .ev_rx_drop(drop_packet), .rx_reason(drop_reason), .rx_src(packet_src),
      .rx_dst(packet_dst), .rx_length(packet_header.length), .rx_vpid(look_vpid), .ev_rx_stall(stall),
      .ev_ring_stall(1'b0), .route_errors(8'h0), .ev_link_failure(link_failure), .ev_rp_refused(mb_refused), .x_wr_addr,
      .x_wr_do, .x_wr_known(domain_wr_known || window_known),
      .x_wr_writable(domain_writable || window_known || link_writable), .x_wr_ready(!domain_writable || !mb_busy),
      .x_rd_addr, .x_rd_known(domain_rd_known || window_rd_known), .x_rd_value(domain_value | window_value),
      .x_busy(1'b0), .ev_rma_error(1'b0), .rma_reason(7'h0), .rma_src(16'h0), .rma_dst(16'h0), .rma_length(10'h0),
      .ev_noti_irq(1'b0), .noti_vpid(4'h0),
      .tx_level(40'(tx_level)), .rx_level(48'(came)),
      .irq, .irq_lines(), .writes(), .idle(reg_idle), .active(reg_active)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- the link ----
  generate
    if (LINK != 0) begin : g_link
      localparam int PATIENCE_W = nicloop_pkg::LINK_PATIENCE_CYCLES_W;
      logic [31:0]           crc_errors, retransmissions, timeouts, failures, cut, drained, resets, lost;
      logic [PATIENCE_W-1:0] patience;
      logic                  dead, drains, restart;
      /* verilator lint_off PINCONNECTEMPTY */
      link #(.VCS(1), .VC_DEPTH(VC_DEPTH), .COUNT_W(COUNT_W)) u_link (
          .clk, .rst(link_rst), .restart, .carrier, .patience, .drain(1'b0), .tx_valid, .tx_vc(1'b0), .tx_head,
          .tx_tail, .tx_data, .tx_credit, .rx_valid, .rx_vc(), .rx_head, .rx_tail, .rx_data, .rx_credit, .up, .drains,
          .ev_drained(1'b0), .ev_ended(1'b0), .m_tvalid(m_axis_tvalid), .m_tready(m_axis_tready),
          .m_tdata(m_axis_tdata), .m_tuser(m_axis_tuser), .s_tvalid(s_axis_tvalid), .s_tready(s_axis_tready),
          .s_tdata(s_axis_tdata), .s_tuser(s_axis_tuser), .dead, .crc_errors, .retransmissions, .timeouts, .failures,
          .cut, .drained, .resets, .lost, .ev_failure(link_failure), .idle(link_idle), .active(link_active)
      );
      link_regs #(.LINKS(1)) u_regs (  // what waits for the link is not discarded: drain does nothing
          .clk, .rst, .rd_addr(x_rd_addr), .connected(1'b1), .carrier, .dead, .crc_errors, .retransmissions, .timeouts,
          .failures, .cut, .drained, .resets, .lost, .drains, .up, .rd_known(link_rd_known), .rd_value(link_value),
          .wr_addr(x_wr_addr), .wr_data(reg_data[PATIENCE_W-1:0]), .wr_do(x_wr_do), .wr_known(link_wr_known),
          .wr_writable(link_writable), .patience, .drain(), .restart
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end else begin : g_link
      /* verilator lint_off UNUSEDSIGNAL */
      logic unused;
      assign unused = &{link_rst, carrier, m_axis_tready, s_axis_tvalid, s_axis_tdata, s_axis_tuser};
      /* verilator lint_on UNUSEDSIGNAL */
      assign {up, rx_valid, rx_head, rx_tail, rx_data, tx_credit} =
          {1'b1, tx_valid, tx_head, tx_tail, tx_data, rx_credit};
      assign {m_axis_tvalid, m_axis_tdata, m_axis_tuser, s_axis_tready} = '0;
      assign {link_wr_known, link_writable, link_rd_known, link_value, link_failure, link_active} = '0;
      assign link_idle = !tx_valid;
    end
  endgenerate

  assign idle   = reg_idle && win_idle && req_idle && comp_idle && !comp_valid && !rx_credit && !tx_valid &&
      link_idle && !mb_busy;
  assign active = reg_active || win_active || req_active || comp_active || (comp_valid && comp_ready) || rx_valid ||
      rx_credit || link_active;
endmodule
