// nic_rma: remote memory access, from the window to the memory.
//
// Job: joins the RMA units with the translation unit, the notification rings, the write limiter and the AXI master,
//   which they share with the VELO completer.
// Handshake: descriptors as pio_window hands them on; flits out (0 requests, 1 answers) and in (0 completer, 1
//   responder, 2 answers) by valid/ready; AXI4 master; registers as rma_regs. Events are pulses.
// Back-pressure: a full notification ring holds the unit that notifies; requests wait behind it, answers only behind
//   an answer that notifies.
module nic_rma (
    input  logic         clk,
    input  logic         clk_memory,    // of the way to memory
    input  logic         clk_units,     // of the units, which are all but that and the registers
    output logic         units_rest,    // nothing is buffered or under way in these
    output logic         memory_rests,  // none of its timers runs; who reads or writes is the units, or VELO
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [11:0]  nodes,
    input  logic [511:0] stamps,        // {life, pdid} by VPID
    input  logic         shut,          // the process of wr_addr gets another domain
    output logic         ev_stall,      // a unit begins to wait for a full ring
    input  logic         wr_hold,
    output logic [23:0]  ring_hold,
    output logic [31:0]  ring_overflows,
    input  logic [3:0]   level_vpid,
    output logic [2:0]   level_descriptors,
    output logic [4:0]   level_fragments,
    output logic         restart,       // the ring of the process of wr_addr goes on
    output logic [1:0]   ev_strangers,  // requests from another domain: header and domain of one
    output logic [63:0]  stranger_header,
    output logic [15:0]  stranger_pdid,
    // descriptors, as pio_window has them
    input  logic         put,
    input  logic [3:0]   put_vpid,
    input  logic [2:0]   put_quad,
    input  logic [63:0]  put_data,
    input  logic [1:0]   put_words,
    input  logic         take,
    input  logic [3:0]   line_vpid,
    input  logic         ev_refused,     // a piece or a descriptor was discarded
    input  logic [6:0]   refuse_reason,
    output logic [15:0]  window_next,
    output logic [15:0]  full,
    output logic         pop,            // of head_vpid's
    output logic [3:0]   head_vpid,
    // flits
    output logic [1:0]   tx_valid,
    input  logic [1:0]   tx_ready,
    output logic [1:0]   tx_head,
    output logic [1:0]   tx_tail,
    output logic [127:0] tx_data,
    input  logic [2:0]   in_valid,
    output logic [2:0]   in_ready,
    input  logic [65:0]  request_flit,
    input  logic [65:0]  answer_flit,
    output logic         completer_busy,
    output logic         responder_busy,
    // the VELO completer's writes
    input  logic         velo_awvalid,
    output logic         velo_awready,
    input  logic [63:0]  velo_awaddr,
    input  logic         velo_wvalid,
    output logic         velo_wready,
    input  logic [63:0]  velo_wdata,
    input  logic         velo_wlast,
    output logic         velo_bvalid,
    input  logic         velo_bready,
    // AXI4 master
    output logic         m_awvalid,
    input  logic         m_awready,
    output logic [63:0]  m_awaddr,
    output logic [7:0]   m_awlen,
    output logic         m_wvalid,
    input  logic         m_wready,
    output logic [63:0]  m_wdata,
    output logic [7:0]   m_wstrb,
    output logic         m_wlast,
    input  logic         m_bvalid,
    output logic         m_bready,
    input  logic [1:0]   m_bresp,
    output logic         m_arvalid,
    input  logic         m_arready,
    output logic [63:0]  m_araddr,
    output logic [7:0]   m_arlen,
    input  logic         m_rvalid,
    output logic         m_rready,
    input  logic [63:0]  m_rdata,
    input  logic [1:0]   m_rresp,
    input  logic         m_rlast,
    // registers
    input  logic [31:0]  wr_addr,
    input  logic [63:0]  wr_data,
    input  logic         wr_do,
    output logic         wr_known,
    output logic         wr_writable,
    output logic         wr_ready,
    input  logic [31:0]  rd_addr,
    output logic         rd_known,
    output logic [63:0]  rd_value,
    output logic         reg_busy,
    // events: something was discarded; a notification wants an interrupt
    output logic         ev_error,
    output logic [6:0]   error_reason,
    output logic [15:0]  error_src,
    output logic [15:0]  error_dst,
    output logic [9:0]   error_length,
    output logic         ev_rp_refused,  // a read pointer of a ring
    output logic         ev_noti_irq,
    output logic [3:0]   noti_vpid,
    output logic         idle,
    output logic         active
);
  // Clients of the ATU and of the notifier: 0 requester, 1 responder, 2 completer, 3 completer of answers.
  logic [3:0]   atu_valid, atu_done, atu_hold, noti_valid, noti_done, stalled;
  logic [191:0] atu_nla;
  logic [15:0]  atu_vpid, noti_of;
  logic [7:0]   atu_need;
  logic [3:0]   atu_error;
  logic [63:0]  atu_addr;
  logic [511:0] noti_words;
  logic [127:0] noti_stamp, stranger_headers;
  logic [31:0]  stranger_pdids;
  // Write masters: 0 VELO, 1 completer, 2 completer of answers, 3 responder, 4 notifier, 5 commands.
  localparam int W = 6;
  logic [W-1:0]    aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, b_ready;
  logic [W*64-1:0] aw_addr, w_data;
  logic [W*8-1:0]  aw_len, w_strb;
  // Read masters: 0 requester, 1 responder, 2 ATU.
  logic [2:0]   ar_valid, ar_ready, r_valid, r_ready;
  logic [191:0] ar_addr;
  logic [23:0]  ar_len;

  logic         fence;
  logic [15:0]  rma_on, window_on, waiting, descriptors;
  logic [191:0] head;
  logic         ev_overflow;
  logic         head_dead, ev_purged, ev_late;
  logic [3:0]   ring_vpid;  // whose the notifier looks at
  logic         win_idle, win_active, req_idle, req_active, rsp_idle, rsp_active, cmp_idle, cmp_active, ans_idle,
      ans_active;
  logic [4:0]   awaiting;  // notifications
  logic         noti_active, atu_active, cmd_active, nvm_active;
  logic [1:0]   ev_tx;
  logic [2:0]   ev_rx, ev_drop;
  logic [3:0]   ev_fail;
  logic         ev_noti, ev_noti_off, ev_hit, ev_miss, ev_fault;
  logic [63:0]  fault;
  logic [20:0]  drop_reasons;
  logic         err_valid, err_ready;
  logic [63:0]  err_header, err_ext;
  logic [31:0]  err_stamp;
  logic [3:0]   err_code;

  rma_window u_window (
      .clk(clk_units), .rst, .put, .put_vpid, .put_quad, .put_data, .put_words, .take, .take_vpid(line_vpid), .full,
      .window_on, .waiting, .head_vpid, .head, .head_dead, .pop, .level(descriptors), .level_vpid,
      .level_of(level_descriptors), .idle(win_idle), .active(win_active)
  );

  rma_requester u_requester (
      .clk(clk_units), .rst, .here, .nodes, .waiting, .head_vpid, .head, .head_dead, .stamps, .pop, .ev_purged,
      .level_vpid, .level_of(level_fragments), .atu_valid(atu_valid[0]), .atu_nla(atu_nla[47:0]),
      .atu_vpid(atu_vpid[3:0]), .atu_done(atu_done[0]), .atu_error, .atu_addr, .fence, .atu_hold(atu_hold[0]),
      .m_arvalid(ar_valid[0]), .m_arready(ar_ready[0]), .m_araddr(ar_addr[63:0]), .m_arlen(ar_len[7:0]),
      .m_rvalid(r_valid[0]), .m_rready(r_ready[0]), .m_rdata, .m_rresp, .m_rlast, .tx_valid(tx_valid[0]),
      .tx_ready(tx_ready[0]), .tx_head(tx_head[0]), .tx_tail(tx_tail[0]), .tx_data(tx_data[63:0]),
      .noti_valid(noti_valid[0]), .noti_vpid(noti_of[3:0]), .noti_words(noti_words[127:0]),
      .noti_stamp(noti_stamp[31:0]), .noti_done(noti_done[0]), .ev_packet(ev_tx[0]), .ev_error(ev_fail[0]),
      .idle(req_idle), .active(req_active)
  );
  assign atu_need[1:0] = 2'b01;

  rma_responder u_responder (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut), .wr_vpid(wr_addr[15:12]), .wr_pdid(wr_data[15:0]),
      .in_valid(in_valid[1]), .in_ready(in_ready[1]), .in_flit(request_flit), .busy(responder_busy), .err_valid,
      .err_ready, .err_header, .err_ext, .err_stamp, .err_code, .atu_valid(atu_valid[1]), .atu_nla(atu_nla[95:48]),
      .atu_vpid(atu_vpid[7:4]), .atu_need(atu_need[3:2]), .atu_done(atu_done[1]), .atu_error, .atu_addr, .fence,
      .atu_hold(atu_hold[1]), .m_arvalid(ar_valid[1]), .m_arready(ar_ready[1]), .m_araddr(ar_addr[127:64]),
      .m_arlen(ar_len[15:8]), .m_rvalid(r_valid[1]), .m_rready(r_ready[1]), .m_rdata, .m_rresp, .m_rlast,
      .m_awvalid(aw_valid[3]), .m_awready(aw_ready[3]), .m_awaddr(aw_addr[3*64+:64]), .m_awlen(aw_len[3*8+:8]),
      .m_wvalid(w_valid[3]), .m_wready(w_ready[3]), .m_wdata(w_data[3*64+:64]), .m_wstrb(w_strb[3*8+:8]),
      .m_wlast(w_last[3]), .m_bvalid(b_valid[3]), .m_bready(b_ready[3]), .m_bresp, .tx_valid(tx_valid[1]),
      .tx_ready(tx_ready[1]), .tx_head(tx_head[1]), .tx_tail(tx_tail[1]), .tx_data(tx_data[127:64]),
      .noti_valid(noti_valid[1]), .noti_vpid(noti_of[7:4]), .noti_words(noti_words[255:128]),
      .noti_stamp(noti_stamp[63:32]), .noti_done(noti_done[1]), .ev_rx(ev_rx[1]), .ev_drop(ev_drop[1]),
      .drop_reason(drop_reasons[13:7]), .ev_packet(ev_tx[1]), .ev_error(ev_fail[1]), .ev_stranger(ev_strangers[1]),
      .stranger_header(stranger_headers[127:64]), .stranger_pdid(stranger_pdids[31:16]), .idle(rsp_idle),
      .active(rsp_active)
  );

  rma_completer #(.ANSWERS(0)) u_completer (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut), .wr_vpid(wr_addr[15:12]), .wr_pdid(wr_data[15:0]),
      .in_valid(in_valid[0]), .in_ready(in_ready[0]), .in_flit(request_flit), .busy(completer_busy), .err_valid,
      .err_ready, .err_header, .err_ext, .err_stamp, .err_code, .atu_valid(atu_valid[2]), .atu_nla(atu_nla[143:96]),
      .atu_vpid(atu_vpid[11:8]), .atu_done(atu_done[2]), .atu_error, .atu_addr, .fence, .atu_hold(atu_hold[2]),
      .m_awvalid(aw_valid[1]), .m_awready(aw_ready[1]), .m_awaddr(aw_addr[64+:64]), .m_awlen(aw_len[8+:8]),
      .m_wvalid(w_valid[1]), .m_wready(w_ready[1]), .m_wdata(w_data[64+:64]), .m_wstrb(w_strb[8+:8]),
      .m_wlast(w_last[1]), .m_bvalid(b_valid[1]), .m_bready(b_ready[1]), .m_bresp, .noti_valid(noti_valid[2]),
      .noti_vpid(noti_of[11:8]), .noti_words(noti_words[383:256]), .noti_stamp(noti_stamp[95:64]),
      .noti_done(noti_done[2]), .ev_rx(ev_rx[0]), .ev_drop(ev_drop[0]), .drop_reason(drop_reasons[6:0]),
      .ev_error(ev_fail[2]), .ev_stranger(ev_strangers[0]), .stranger_header(stranger_headers[63:0]),
      .stranger_pdid(stranger_pdids[15:0]), .idle(cmp_idle), .active(cmp_active)
  );

  /* verilator lint_off PINCONNECTEMPTY */
  rma_completer #(.ANSWERS(1)) u_answers (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut || restart), .wr_vpid(wr_addr[15:12]),
      .wr_pdid(wr_data[15:0]), .in_valid(in_valid[2]), .in_ready(in_ready[2]), .in_flit(answer_flit), .busy(),
      .err_valid(), .err_ready(1'b0), .err_header(), .err_ext(), .err_stamp(), .err_code(), .ev_stranger(),
      .stranger_header(), .stranger_pdid(), .atu_valid(atu_valid[3]), .atu_nla(atu_nla[191:144]),
      .atu_vpid(atu_vpid[15:12]), .atu_done(atu_done[3]), .atu_error, .atu_addr, .fence, .atu_hold(atu_hold[3]),
      .m_awvalid(aw_valid[2]), .m_awready(aw_ready[2]), .m_awaddr(aw_addr[128+:64]), .m_awlen(aw_len[16+:8]),
      .m_wvalid(w_valid[2]), .m_wready(w_ready[2]), .m_wdata(w_data[128+:64]), .m_wstrb(w_strb[16+:8]),
      .m_wlast(w_last[2]), .m_bvalid(b_valid[2]), .m_bready(b_ready[2]), .m_bresp, .noti_valid(noti_valid[3]),
      .noti_vpid(noti_of[15:12]), .noti_words(noti_words[511:384]), .noti_stamp(noti_stamp[127:96]),
      .noti_done(noti_done[3]), .ev_rx(ev_rx[2]), .ev_drop(ev_drop[2]), .drop_reason(drop_reasons[20:14]),
      .ev_error(ev_fail[3]), .idle(ans_idle), .active(ans_active)
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign atu_need[7:4] = 4'b1010;

  // ---- registers, rings ----
  logic        wr_base, wr_slots, wr_ctrl, wr_rp, rings_busy, rings_ready, rings_rp_ready, ring_wr_on, wr_table_base,
      wr_table_pages, command_put, done_set, wr_nvm;
  logic [63:0] ring_base, ring_stall, table_base, done_addr, nvm_value;
  logic [12:0] ring_slots;
  logic [8:0]  ring_ctrl;
  logic [31:0] ring_wp, commands_done, commands_refused, done_errors;
  logic [32:0] ring_rp;
  logic [4:0]  commands_queued;
  logic [25:0] table_pages;
  rma_regs u_regs (
      .clk, .rst, .wr_addr, .wr_do, .wr_known, .wr_writable, .wr_ready, .rd_addr, .rd_known, .rd_value, .wr_data,
      .ring_wr_on, .rings_ready, .rings_rp_ready, .wr_base, .wr_slots, .wr_ctrl, .wr_rp, .ring_base, .ring_slots,
      .ring_ctrl, .ring_wp, .ring_rp, .ring_stall, .wr_table_base, .wr_table_pages, .table_base, .table_pages,
      .command_put, .done_set, .done_addr, .commands_done, .commands_refused, .done_errors, .commands_queued,
      .commands_busy(cmd_active), .ev_hit, .ev_miss, .ev_fault, .fault, .wr_nvm, .nvm_value, .ev_tx, .ev_rx,
      .ev_refused, .ev_drop, .ev_late, .ev_purged, .ev_error(ev_fail), .ev_noti, .ev_noti_off, .descriptors, .stalled,
      .ev_stall, .stall_vpid(ring_vpid)
  );
  assign reg_busy = rings_busy;

  rma_notifier #(.N(4)) u_notifier (
      .clk(clk_units), .rst, .busy(rings_busy), .valid(noti_valid), .vpid(noti_of), .words(noti_words),
      .stamp(noti_stamp), .stamps, .done(noti_done), .rma_on, .window_on, .window_next, .m_awvalid(aw_valid[4]),
      .m_awready(aw_ready[4]), .m_awaddr(aw_addr[4*64+:64]), .m_awlen(aw_len[4*8+:8]), .m_wvalid(w_valid[4]),
      .m_wready(w_ready[4]), .m_wdata(w_data[4*64+:64]), .m_wstrb(w_strb[4*8+:8]), .m_wlast(w_last[4]),
      .m_bvalid(b_valid[4]), .m_bready(b_ready[4]), .m_bresp, .rd_vpid(rd_addr[15:12]), .rd_base(ring_base),
      .rd_slots(ring_slots), .rd_ctrl(ring_ctrl), .rd_wp(ring_wp), .rd_rp(ring_rp), .rd_stall(ring_stall),
      .wr_ready(rings_ready), .rp_ready(rings_rp_ready), .wr_on(ring_wr_on), .wr_vpid(wr_addr[15:12]), .wr_data,
      .wr_base, .wr_slots, .wr_ctrl, .wr_rp, .shut, .restart, .wr_hold, .rd_hold(ring_hold),
      .rd_overflows(ring_overflows), .ev_stall, .ev_overflow, .ev_written(ev_noti), .ev_off(ev_noti_off),
      .ev_refused(ev_rp_refused), .ev_irq(ev_noti_irq), .ended_vpid(noti_vpid), .at_vpid(ring_vpid), .stalled,
      .awaiting, .active(noti_active)
  );

  // ---- translation ----
  logic        flush_page, flush_vpid, flush_all;
  logic [3:0]  flush_table, flush_owner;
  logic [23:0] flush_number;
  atu #(.N(4)) u_atu (
      .clk(clk_units), .rst, .valid(atu_valid), .nla(atu_nla), .vpid(atu_vpid), .need(atu_need), .done(atu_done),
      .error(atu_error), .addr(atu_addr), .m_arvalid(ar_valid[2]), .m_arready(ar_ready[2]), .m_araddr(ar_addr[191:128]),
      .m_rvalid(r_valid[2]), .m_rready(r_ready[2]), .m_rdata, .m_rresp, .flush_page, .flush_vpid, .flush_all,
      .flush_table, .flush_number, .flush_owner, .rd_table(rd_addr[15:12]), .rd_base(table_base),
      .rd_pages(table_pages), .wr_table(wr_addr[15:12]), .wr_data, .wr_base(wr_table_base), .wr_pages(wr_table_pages),
      .ev_hit, .ev_miss, .ev_fault, .fault, .active(atu_active)
  );
  assign ar_len[23:16] = '0;
  atu_commands #(.N(4)) u_commands (
      .clk(clk_units), .rst, .put(command_put), .command(wr_data), .done_set, .done_addr, .hold(atu_hold), .fence,
      .flush_page, .flush_vpid, .flush_all, .flush_table, .flush_number, .flush_owner, .m_awvalid(aw_valid[5]),
      .m_awready(aw_ready[5]), .m_awaddr(aw_addr[5*64+:64]), .m_awlen(aw_len[5*8+:8]), .m_wvalid(w_valid[5]),
      .m_wready(w_ready[5]), .m_wdata(w_data[5*64+:64]), .m_wstrb(w_strb[5*8+:8]), .m_wlast(w_last[5]),
      .m_bvalid(b_valid[5]), .m_bready(b_ready[5]), .m_bresp, .count(commands_done), .refused(commands_refused),
      .errors(done_errors), .queued(commands_queued), .active(cmd_active)
  );

  // ---- memory ----
  assign aw_valid[0]     = velo_awvalid;
  assign aw_addr[63:0]   = velo_awaddr;
  assign aw_len[7:0]     = 8'd7;
  assign w_valid[0]      = velo_wvalid;
  assign w_data[63:0]    = velo_wdata;
  assign w_strb[7:0]     = 8'hff;
  assign w_last[0]       = velo_wlast;
  assign b_ready[0]      = velo_bready;
  assign velo_awready    = aw_ready[0];
  assign velo_wready     = w_ready[0];
  assign velo_bvalid     = b_valid[0];
  logic lim_awvalid, lim_awready, lim_wvalid, lim_wready;
  // As many as all units can have under way: neither mux makes one wait for answers.
  localparam int BURSTS = 128;
  axi_write_mux #(.N(W), .DEPTH(BURSTS)) u_writes (
      .clk(clk_memory), .rst, .s_awvalid(aw_valid), .s_awready(aw_ready), .s_awaddr(aw_addr), .s_awlen(aw_len),
      .s_wvalid(w_valid), .s_wready(w_ready), .s_wdata(w_data), .s_wstrb(w_strb), .s_wlast(w_last), .s_bvalid(b_valid),
      .s_bready(b_ready), .m_awvalid(lim_awvalid), .m_awready(lim_awready), .m_awaddr, .m_awlen, .m_wvalid(lim_wvalid),
      .m_wready(lim_wready), .m_wdata, .m_wstrb, .m_wlast, .m_bvalid, .m_bready
  );
  nvm_write_limiter u_limiter (
      .clk(clk_memory), .rst, .s_awvalid(lim_awvalid), .s_awready(lim_awready), .s_awaddr(m_awaddr), .s_awlen(m_awlen),
      .s_wvalid(lim_wvalid), .s_wready(lim_wready), .s_wlast(m_wlast), .m_awvalid, .m_awready, .m_wvalid, .m_wready,
      .rd_range(rd_addr[13:12]), .rd_which(rd_addr[5:3]), .rd_value(nvm_value), .wr_valid(wr_nvm),
      .wr_range(wr_addr[13:12]), .wr_which(wr_addr[4:3]), .wr_data, .active(nvm_active)
  );
  axi_read_mux #(.N(3), .DEPTH(BURSTS)) u_reads (
      .clk(clk_memory), .rst, .s_arvalid(ar_valid), .s_arready(ar_ready), .s_araddr(ar_addr), .s_arlen(ar_len),
      .s_rvalid(r_valid), .s_rready(r_ready), .m_arvalid, .m_arready, .m_araddr, .m_arlen, .m_rvalid, .m_rready,
      .m_rlast
  );

  // ---- what was discarded: the first of those that fail in one cycle ----
  assign ev_late         = ev_drop[2] && drop_reasons[20:14] == 7'(nicloop_pkg::DROP_REASON_LATE);
  assign stranger_header = ev_strangers[0] ? stranger_headers[63:0] : stranger_headers[127:64];
  assign stranger_pdid   = ev_strangers[0] ? stranger_pdids[15:0] : stranger_pdids[31:16];
  logic stranger, overflows;  // and nothing before it
  assign stranger     = !ev_refused && ev_drop == '0 && ev_strangers != '0;
  assign overflows    = !ev_refused && ev_drop == '0 && ev_strangers == '0;
  assign ev_error     = ev_refused || ev_drop != '0 || ev_strangers != '0 || ev_overflow;
  assign error_reason = stranger ? 7'(nicloop_pkg::DROP_REASON_DOMAIN) : overflows ?
      7'(nicloop_pkg::DROP_REASON_OVERFLOW) : ev_refused ? refuse_reason : ev_drop[0] ? drop_reasons[6:0] : ev_drop[1] ?
      drop_reasons[13:7] : drop_reasons[20:14];
  assign error_src    = stranger ? stranger_header[nicloop_pkg::HEADER_SRC_VPID_LSB+:16] :
      {here, ev_refused ? line_vpid : overflows ? ring_vpid : 4'h0};
  assign error_dst    = stranger ? stranger_header[nicloop_pkg::HEADER_DST_VPID_LSB+:16] : '0;
  assign error_length = stranger ? stranger_header[nicloop_pkg::HEADER_LENGTH_LSB+:10] : '0;

  assign memory_rests = !nvm_active;
  assign units_rest = win_idle && req_idle && rsp_idle && cmp_idle && ans_idle && awaiting == '0 && !cmd_active &&
      !rings_busy &&
                      !(win_active || req_active || rsp_active || cmp_active || ans_active || noti_active ||
                      atu_active);
  assign idle   = win_idle && req_idle && rsp_idle && cmp_idle && ans_idle && awaiting == '0 && !cmd_active &&
      !rings_busy;
  assign active = win_active || req_active || rsp_active || cmp_active || ans_active || noti_active || atu_active ||
      cmd_active || nvm_active;
endmodule
