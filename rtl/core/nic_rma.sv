// nic_rma: remote memory access, from the window to the memory.
//
// Job: joins the RMA units with the translation unit, the notification rings, the write limiter and
//   the AXI master, which they share with the VELO completer.
// Handshake: descriptors from pio_window; flits out (0 requests, 1 answers) and in (0 completer, 1
//   responder, 2 answers) by valid/ready; AXI4 master; registers as rma_regs. Events are pulses.
// Backpressure: a full notification ring blocks the unit that notifies; requests wait behind it,
//   answers only behind an answer that notifies.
module nic_rma (
    input  logic         clk,
    input  logic         clk_memory,    // of the way to memory
    input  logic         clk_units,     // of the units, which are all but that and the registers
    output logic         units_rest,    // nothing is buffered or under way in these
    output logic         memory_rests,  // none of its timers runs; only the units and VELO access it
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
    output logic         restart,       // the ring of the process of wr_addr is switched on
    output logic [1:0]   ev_strangers,  // requests from another domain: header and domain of one
    output nicloop_pkg::header_t stranger_header,
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
    input  nicloop_pkg::flit_t request_flit,
    input  nicloop_pkg::flit_t answer_flit,
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
  // Units by number: clients of the ATU and of the notifier; receivers of flits, which discard
  // packets; senders.
  localparam int REQUESTER = 0, RESPONDER = 1, COMPLETER = 2, ANSWERS = 3;
  localparam int IN_COMPLETER = 0, IN_RESPONDER = 1, IN_ANSWERS = 2;
  localparam int TX_REQUESTS = 0, TX_ANSWERS = 1;
  logic [3:0]   atu_valid, atu_done, atu_hold, noti_valid, noti_done, stalled;
  logic [191:0] atu_nla;
  logic [15:0]  atu_vpid, noti_of;
  logic [7:0]   atu_need;
  logic [3:0]   atu_error;
  logic [63:0]  atu_addr;
  logic [511:0] noti_words;
  logic [127:0] noti_stamp, stranger_headers;
  logic [31:0]  stranger_pdids;
  // Write masters.
  localparam int W_VELO = 0, W_COMPLETER = 1, W_ANSWERS = 2, W_RESPONDER = 3, W_NOTIFIER = 4, W_COMMANDS = 5;
  localparam int W = 6;
  logic [W-1:0]    aw_valid, aw_ready, w_valid, w_ready, w_last, b_valid, b_ready;
  logic [W*64-1:0] aw_addr, w_data;
  logic [W*8-1:0]  aw_len, w_strb;
  // Read masters.
  localparam int R_REQUESTER = 0, R_RESPONDER = 1, R_ATU = 2;
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

  /* verilator lint_off UNUSEDSIGNAL */  // which page, rma_regs finds out
  nicloop_pkg::page_addr_t wr_at, rd_at;
  /* verilator lint_on UNUSEDSIGNAL */
  assign wr_at = wr_addr;
  assign rd_at = rd_addr;

  rma_window u_window (
      .clk(clk_units), .rst, .put, .put_vpid, .put_quad, .put_data, .put_words, .take, .take_vpid(line_vpid), .full,
      .window_on, .waiting, .head_vpid, .head, .head_dead, .pop, .level(descriptors), .level_vpid,
      .level_of(level_descriptors), .idle(win_idle), .active(win_active)
  );

  rma_requester u_requester (
      .clk(clk_units), .rst, .here, .nodes, .waiting, .head_vpid, .head, .head_dead, .stamps, .pop, .ev_purged,
      .level_vpid, .level_of(level_fragments), .atu_valid(atu_valid[REQUESTER]), .atu_nla(atu_nla[REQUESTER*48+:48]),
      .atu_vpid(atu_vpid[REQUESTER*4+:4]), .atu_done(atu_done[REQUESTER]), .atu_error, .atu_addr, .fence,
      .atu_hold(atu_hold[REQUESTER]), .m_arvalid(ar_valid[R_REQUESTER]), .m_arready(ar_ready[R_REQUESTER]),
      .m_araddr(ar_addr[R_REQUESTER*64+:64]), .m_arlen(ar_len[R_REQUESTER*8+:8]), .m_rvalid(r_valid[R_REQUESTER]),
      .m_rready(r_ready[R_REQUESTER]), .m_rdata, .m_rresp, .m_rlast, .tx_valid(tx_valid[TX_REQUESTS]),
      .tx_ready(tx_ready[TX_REQUESTS]), .tx_head(tx_head[TX_REQUESTS]), .tx_tail(tx_tail[TX_REQUESTS]),
      .tx_data(tx_data[TX_REQUESTS*64+:64]), .noti_valid(noti_valid[REQUESTER]), .noti_vpid(noti_of[REQUESTER*4+:4]),
      .noti_words(noti_words[REQUESTER*128+:128]), .noti_stamp(noti_stamp[REQUESTER*32+:32]),
      .noti_done(noti_done[REQUESTER]), .ev_packet(ev_tx[TX_REQUESTS]), .ev_error(ev_fail[REQUESTER]), .idle(req_idle),
      .active(req_active)
  );
  assign atu_need[REQUESTER*2+:2] = 2'b01;

  rma_responder u_responder (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut), .wr_vpid(wr_at.copy), .wr_pdid(wr_data[15:0]),
      .in_valid(in_valid[IN_RESPONDER]), .in_ready(in_ready[IN_RESPONDER]), .in_flit(request_flit),
      .busy(responder_busy), .err_valid, .err_ready, .err_header, .err_ext, .err_stamp, .err_code,
      .atu_valid(atu_valid[RESPONDER]), .atu_nla(atu_nla[RESPONDER*48+:48]), .atu_vpid(atu_vpid[RESPONDER*4+:4]),
      .atu_need(atu_need[RESPONDER*2+:2]), .atu_done(atu_done[RESPONDER]), .atu_error, .atu_addr, .fence,
      .atu_hold(atu_hold[RESPONDER]), .m_arvalid(ar_valid[R_RESPONDER]), .m_arready(ar_ready[R_RESPONDER]),
      .m_araddr(ar_addr[R_RESPONDER*64+:64]), .m_arlen(ar_len[R_RESPONDER*8+:8]), .m_rvalid(r_valid[R_RESPONDER]),
      .m_rready(r_ready[R_RESPONDER]), .m_rdata, .m_rresp, .m_rlast, .m_awvalid(aw_valid[W_RESPONDER]),
      .m_awready(aw_ready[W_RESPONDER]), .m_awaddr(aw_addr[W_RESPONDER*64+:64]), .m_awlen(aw_len[W_RESPONDER*8+:8]),
      .m_wvalid(w_valid[W_RESPONDER]), .m_wready(w_ready[W_RESPONDER]), .m_wdata(w_data[W_RESPONDER*64+:64]),
      .m_wstrb(w_strb[W_RESPONDER*8+:8]), .m_wlast(w_last[W_RESPONDER]), .m_bvalid(b_valid[W_RESPONDER]),
      .m_bready(b_ready[W_RESPONDER]), .m_bresp, .tx_valid(tx_valid[TX_ANSWERS]), .tx_ready(tx_ready[TX_ANSWERS]),
      .tx_head(tx_head[TX_ANSWERS]), .tx_tail(tx_tail[TX_ANSWERS]), .tx_data(tx_data[TX_ANSWERS*64+:64]),
      .noti_valid(noti_valid[RESPONDER]), .noti_vpid(noti_of[RESPONDER*4+:4]),
      .noti_words(noti_words[RESPONDER*128+:128]), .noti_stamp(noti_stamp[RESPONDER*32+:32]),
      .noti_done(noti_done[RESPONDER]), .ev_rx(ev_rx[IN_RESPONDER]), .ev_drop(ev_drop[IN_RESPONDER]),
      .drop_reason(drop_reasons[IN_RESPONDER*7+:7]), .ev_packet(ev_tx[TX_ANSWERS]), .ev_error(ev_fail[RESPONDER]),
      .ev_stranger(ev_strangers[IN_RESPONDER]), .stranger_header(stranger_headers[IN_RESPONDER*64+:64]),
      .stranger_pdid(stranger_pdids[IN_RESPONDER*16+:16]), .idle(rsp_idle), .active(rsp_active)
  );

  rma_completer #(.ANSWERS(0)) u_completer (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut), .wr_vpid(wr_at.copy), .wr_pdid(wr_data[15:0]),
      .in_valid(in_valid[IN_COMPLETER]), .in_ready(in_ready[IN_COMPLETER]), .in_flit(request_flit),
      .busy(completer_busy), .err_valid, .err_ready, .err_header, .err_ext, .err_stamp, .err_code,
      .atu_valid(atu_valid[COMPLETER]), .atu_nla(atu_nla[COMPLETER*48+:48]), .atu_vpid(atu_vpid[COMPLETER*4+:4]),
      .atu_done(atu_done[COMPLETER]), .atu_error, .atu_addr, .fence, .atu_hold(atu_hold[COMPLETER]),
      .m_awvalid(aw_valid[W_COMPLETER]), .m_awready(aw_ready[W_COMPLETER]), .m_awaddr(aw_addr[W_COMPLETER*64+:64]),
      .m_awlen(aw_len[W_COMPLETER*8+:8]), .m_wvalid(w_valid[W_COMPLETER]), .m_wready(w_ready[W_COMPLETER]),
      .m_wdata(w_data[W_COMPLETER*64+:64]), .m_wstrb(w_strb[W_COMPLETER*8+:8]), .m_wlast(w_last[W_COMPLETER]),
      .m_bvalid(b_valid[W_COMPLETER]), .m_bready(b_ready[W_COMPLETER]), .m_bresp, .noti_valid(noti_valid[COMPLETER]),
      .noti_vpid(noti_of[COMPLETER*4+:4]), .noti_words(noti_words[COMPLETER*128+:128]),
      .noti_stamp(noti_stamp[COMPLETER*32+:32]), .noti_done(noti_done[COMPLETER]), .ev_rx(ev_rx[IN_COMPLETER]),
      .ev_drop(ev_drop[IN_COMPLETER]), .drop_reason(drop_reasons[IN_COMPLETER*7+:7]), .ev_error(ev_fail[COMPLETER]),
      .ev_stranger(ev_strangers[IN_COMPLETER]), .stranger_header(stranger_headers[IN_COMPLETER*64+:64]),
      .stranger_pdid(stranger_pdids[IN_COMPLETER*16+:16]), .idle(cmp_idle), .active(cmp_active)
  );

  /* verilator lint_off PINCONNECTEMPTY */
  rma_completer #(.ANSWERS(1)) u_answers (
      .clk(clk_units), .rst, .here, .rma_on, .stamps, .moves(shut || restart), .wr_vpid(wr_at.copy),
      .wr_pdid(wr_data[15:0]), .in_valid(in_valid[IN_ANSWERS]), .in_ready(in_ready[IN_ANSWERS]), .in_flit(answer_flit),
      .busy(), .err_valid(), .err_ready(1'b0), .err_header(), .err_ext(), .err_stamp(), .err_code(), .ev_stranger(),
      .stranger_header(), .stranger_pdid(), .atu_valid(atu_valid[ANSWERS]), .atu_nla(atu_nla[ANSWERS*48+:48]),
      .atu_vpid(atu_vpid[ANSWERS*4+:4]), .atu_done(atu_done[ANSWERS]), .atu_error, .atu_addr, .fence,
      .atu_hold(atu_hold[ANSWERS]), .m_awvalid(aw_valid[W_ANSWERS]), .m_awready(aw_ready[W_ANSWERS]),
      .m_awaddr(aw_addr[W_ANSWERS*64+:64]), .m_awlen(aw_len[W_ANSWERS*8+:8]), .m_wvalid(w_valid[W_ANSWERS]),
      .m_wready(w_ready[W_ANSWERS]), .m_wdata(w_data[W_ANSWERS*64+:64]), .m_wstrb(w_strb[W_ANSWERS*8+:8]),
      .m_wlast(w_last[W_ANSWERS]), .m_bvalid(b_valid[W_ANSWERS]), .m_bready(b_ready[W_ANSWERS]), .m_bresp,
      .noti_valid(noti_valid[ANSWERS]), .noti_vpid(noti_of[ANSWERS*4+:4]), .noti_words(noti_words[ANSWERS*128+:128]),
      .noti_stamp(noti_stamp[ANSWERS*32+:32]), .noti_done(noti_done[ANSWERS]), .ev_rx(ev_rx[IN_ANSWERS]),
      .ev_drop(ev_drop[IN_ANSWERS]), .drop_reason(drop_reasons[IN_ANSWERS*7+:7]), .ev_error(ev_fail[ANSWERS]),
      .idle(ans_idle), .active(ans_active)
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign atu_need[COMPLETER*2+:2] = 2'b10;
  assign atu_need[ANSWERS*2+:2]   = 2'b10;

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
      .stamp(noti_stamp), .stamps, .done(noti_done), .rma_on, .window_on, .window_next,
      .m_awvalid(aw_valid[W_NOTIFIER]), .m_awready(aw_ready[W_NOTIFIER]), .m_awaddr(aw_addr[W_NOTIFIER*64+:64]),
      .m_awlen(aw_len[W_NOTIFIER*8+:8]), .m_wvalid(w_valid[W_NOTIFIER]), .m_wready(w_ready[W_NOTIFIER]),
      .m_wdata(w_data[W_NOTIFIER*64+:64]), .m_wstrb(w_strb[W_NOTIFIER*8+:8]), .m_wlast(w_last[W_NOTIFIER]),
      .m_bvalid(b_valid[W_NOTIFIER]), .m_bready(b_ready[W_NOTIFIER]), .m_bresp, .rd_vpid(rd_at.copy),
      .rd_base(ring_base), .rd_slots(ring_slots), .rd_ctrl(ring_ctrl), .rd_wp(ring_wp), .rd_rp(ring_rp),
      .rd_stall(ring_stall), .wr_ready(rings_ready), .rp_ready(rings_rp_ready), .wr_on(ring_wr_on),
      .wr_vpid(wr_at.copy), .wr_data, .wr_base, .wr_slots, .wr_ctrl, .wr_rp, .shut, .restart, .wr_hold,
      .rd_hold(ring_hold), .rd_overflows(ring_overflows), .ev_stall, .ev_overflow, .ev_written(ev_noti),
      .ev_off(ev_noti_off), .ev_refused(ev_rp_refused), .ev_irq(ev_noti_irq), .ended_vpid(noti_vpid),
      .at_vpid(ring_vpid), .stalled, .awaiting, .active(noti_active)
  );

  // ---- translation ----
  logic        flush_page, flush_vpid, flush_all;
  logic [3:0]  flush_table, flush_owner;
  logic [23:0] flush_number;
  atu #(.N(4)) u_atu (
      .clk(clk_units), .rst, .valid(atu_valid), .nla(atu_nla), .vpid(atu_vpid), .need(atu_need), .done(atu_done),
      .error(atu_error), .addr(atu_addr), .m_arvalid(ar_valid[R_ATU]), .m_arready(ar_ready[R_ATU]),
      .m_araddr(ar_addr[R_ATU*64+:64]), .m_rvalid(r_valid[R_ATU]), .m_rready(r_ready[R_ATU]), .m_rdata, .m_rresp,
      .flush_page, .flush_vpid, .flush_all, .flush_table, .flush_number, .flush_owner, .rd_table(rd_at.copy),
      .rd_base(table_base), .rd_pages(table_pages), .wr_table(wr_at.copy), .wr_data, .wr_base(wr_table_base),
      .wr_pages(wr_table_pages), .ev_hit, .ev_miss, .ev_fault, .fault, .active(atu_active)
  );
  assign ar_len[R_ATU*8+:8] = '0;
  atu_commands #(.N(4)) u_commands (
      .clk(clk_units), .rst, .put(command_put), .command(wr_data), .done_set, .done_addr, .hold(atu_hold), .fence,
      .flush_page, .flush_vpid, .flush_all, .flush_table, .flush_number, .flush_owner, .m_awvalid(aw_valid[W_COMMANDS]),
      .m_awready(aw_ready[W_COMMANDS]), .m_awaddr(aw_addr[W_COMMANDS*64+:64]), .m_awlen(aw_len[W_COMMANDS*8+:8]),
      .m_wvalid(w_valid[W_COMMANDS]), .m_wready(w_ready[W_COMMANDS]), .m_wdata(w_data[W_COMMANDS*64+:64]),
      .m_wstrb(w_strb[W_COMMANDS*8+:8]), .m_wlast(w_last[W_COMMANDS]), .m_bvalid(b_valid[W_COMMANDS]),
      .m_bready(b_ready[W_COMMANDS]), .m_bresp, .count(commands_done), .refused(commands_refused), .errors(done_errors),
      .queued(commands_queued), .active(cmd_active)
  );

  // ---- memory ----
  assign aw_valid[W_VELO]       = velo_awvalid;
  assign aw_addr[W_VELO*64+:64] = velo_awaddr;
  assign aw_len[W_VELO*8+:8]    = 8'd7;
  assign w_valid[W_VELO]        = velo_wvalid;
  assign w_data[W_VELO*64+:64]  = velo_wdata;
  assign w_strb[W_VELO*8+:8]    = 8'hff;
  assign w_last[W_VELO]         = velo_wlast;
  assign b_ready[W_VELO]        = velo_bready;
  assign velo_awready           = aw_ready[W_VELO];
  assign velo_wready            = w_ready[W_VELO];
  assign velo_bvalid            = b_valid[W_VELO];
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
      .rd_range(rd_at.copy[1:0]), .rd_which(rd_at.offset[5:3]), .rd_value(nvm_value), .wr_valid(wr_nvm),
      .wr_range(wr_at.copy[1:0]), .wr_which(wr_at.offset[4:3]), .wr_data, .active(nvm_active)
  );
  axi_read_mux #(.N(3), .DEPTH(BURSTS)) u_reads (
      .clk(clk_memory), .rst, .s_arvalid(ar_valid), .s_arready(ar_ready), .s_araddr(ar_addr), .s_arlen(ar_len),
      .s_rvalid(r_valid), .s_rready(r_ready), .m_arvalid, .m_arready, .m_araddr, .m_arlen, .m_rvalid, .m_rready,
      .m_rlast
  );

  // ---- what was discarded: the first of those that fail in one cycle ----
  assign ev_late         = ev_drop[IN_ANSWERS] && drop_reasons[IN_ANSWERS*7+:7] == 7'(nicloop_pkg::DROP_REASON_LATE);
  assign stranger_header = ev_strangers[IN_COMPLETER] ? stranger_headers[IN_COMPLETER*64+:64] :
      stranger_headers[IN_RESPONDER*64+:64];
  assign stranger_pdid   = ev_strangers[IN_COMPLETER] ? stranger_pdids[IN_COMPLETER*16+:16] :
      stranger_pdids[IN_RESPONDER*16+:16];
  logic stranger, overflows;  // and nothing before it
  assign stranger     = !ev_refused && ev_drop == '0 && ev_strangers != '0;
  assign overflows    = !ev_refused && ev_drop == '0 && ev_strangers == '0;
  assign ev_error     = ev_refused || ev_drop != '0 || ev_strangers != '0 || ev_overflow;
  assign error_reason = stranger ? 7'(nicloop_pkg::DROP_REASON_DOMAIN) :
      overflows ? 7'(nicloop_pkg::DROP_REASON_OVERFLOW) :
      ev_refused ? refuse_reason :
      ev_drop[IN_COMPLETER] ? drop_reasons[IN_COMPLETER*7+:7] :
      ev_drop[IN_RESPONDER] ? drop_reasons[IN_RESPONDER*7+:7] : drop_reasons[IN_ANSWERS*7+:7];
  nicloop_pkg::process_t src, dst;
  always_comb begin
    src.node = stranger ? stranger_header.src_node : here;
    src.vpid = stranger ? stranger_header.src_vpid : ev_refused ? line_vpid : overflows ? ring_vpid : 4'h0;
    dst.node = stranger ? stranger_header.dst_node : '0;
    dst.vpid = stranger ? stranger_header.dst_vpid : '0;
  end
  assign error_src    = src;
  assign error_dst    = dst;
  assign error_length = stranger ? stranger_header.length : '0;

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
