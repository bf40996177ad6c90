// pcie_read: the core's DMA reads as PCIe memory reads, and their completions put in order.
//
// Job: AXI4 read slave. Joins the requests (pcie_read_requests), the tags (pcie_read_tags), the
//   completions (pcie_read_completions) and the data in order (pcie_read_order). A request fails,
//   and its beats answer SLVERR with zeros, if its completion reports an error, is poisoned or is
//   not complete within two to three times TICK cycles. Its tag then rests for as long before it is
//   reused, so that a late completion matches no request.
// Handshake: AXI4, INCR, 8 bytes a beat, answers in order. A sender without tickets of tlp_tx;
//   completions as tlp_rx delivers them. While bus_master is low nothing is sent, and every beat
//   answers SLVERR; so do those of a request that tlp_tx has discarded (np_dropped, with np_done).
//   core_rst, at least two cycles, resets the AXI side and the core: a request that is outstanding
//   keeps its tag until its completions have arrived or it times out, and its data is dropped. flr,
//   as long as core_rst, gives up outstanding requests: their completions are unexpected, and their
//   tags rest before they are reused.
// Backpressure: addresses wait for a tag and for their request to leave; data waits for s_rready. A
//   completion is always accepted: its space is allocated with its tag.
module pcie_read #(
    parameter int TAGS = 32,       // up to 256
    parameter int SLOT = 256,      // bytes: 64 to 512, a power of two
    parameter int TICK = 1 << 20,  // cycles
    parameter int HOLD = 3,        // cycles that a request may grow; 0: none does
    parameter int LONG = 40        // the same, while several requests are outstanding
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         core_rst,
    input  logic         flr,
    input  logic         bus_master,
    input  logic         hold,         // no address is taken
    input  logic         ext_tag_enable,  // low: tags below 32 only, as a requester without extended tags
    input  logic [2:0]   mrrs,         // 128 bytes << mrrs
    input  logic [15:0]  id,
    input  logic         s_arvalid,
    output logic         s_arready,
    input  logic [63:0]  s_araddr,
    input  logic [7:0]   s_arlen,
    output logic         s_rvalid,
    input  logic         s_rready,
    output logic [63:0]  s_rdata,
    output logic [1:0]   s_rresp,
    output logic         s_rlast,
    // requests
    output logic         np_valid,
    input  logic         np_done,
    input  logic         np_dropped,
    output logic [127:0] np_header,
    output logic         np_four,
    // completions
    input  logic         c_valid,
    input  logic         c_data,
    input  logic         c_poisoned,
    input  logic [2:0]   c_status,
    input  logic [11:0]  c_count,
    input  logic [6:0]   c_lower,
    input  logic [10:0]  c_len,
    input  logic [15:0]  c_requester,
    input  logic [7:0]   c_tag,
    input  logic         q_valid,
    input  logic [63:0]  q_data,
    input  logic         q_ok,
    input  logic         q_last,
    // events, one cycle each
    output logic         ev_timeout,
    output logic         ev_failed,      // a completion with an error status, or poisoned
    output logic         ev_unexpected,
    output logic         pending,        // a request is outstanding, or offered to the sender
    output logic         queued,         // a burst that was taken is not all requested
    output logic         idle
);
  localparam int T = $clog2(TAGS);
  localparam int S = $clog2(SLOT / 8);  // bits of a quadword's number in a slot

  logic core;  // the core, and with it the AXI side, is in reset
  assign core = core_rst || flr;

  // ---- requests ----
  logic         tag_take, joins, asks, piece_last, order_room, st_valid, open, several, found, may_take;
  logic [3:0]   piece_low;
  logic [S:0]   piece, joined_size;
  logic [T-1:0] found_tag, st_tag, req_tag;
  pcie_read_requests #(.SLOT(SLOT), .HOLD(HOLD), .LONG(LONG), .T(T), .S(S)) u_requests (
      .clk, .rst, .core, .bus_master, .hold, .mrrs, .id, .s_arvalid, .s_arready, .s_araddr, .s_arlen,
      .tag_ready(found && may_take), .found_tag, .several, .tag_take, .joins, .line_low4(piece_low), .joined_size,
      .order_room, .asks, .piece_last, .piece, .st_valid, .st_tag, .np_valid, .np_done, .np_tag(req_tag), .np_header,
      .np_four, .open
  );

  // ---- tags ----
  /* verilator lint_off UNUSEDSIGNAL */  // busy, left, gone and c_all are for the properties
  logic [TAGS-1:0] busy, waiting, resting, left, expires;
  logic            gone, c_all;
  logic [T-1:0]    gone_tag;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [T-1:0]    look_tag, failed_tag, now_tag, r_tag;
  logic [S:0]      look_size, look_got, now_got, r_size;
  logic [3:0]      look_low;
  logic            failed, c_ends, c_broken, r_ends;
  pcie_read_tags #(.TAGS(TAGS), .TICK(TICK), .T(T), .S(S)) u_tags (
      .clk, .rst, .core, .flr, .ext_tag_enable, .found, .found_tag, .may_take, .take(tag_take), .take_size(piece),
      .take_low(piece_low), .grow(joins), .grow_tag(st_tag), .grow_size(joined_size), .np_valid, .np_done, .np_dropped,
      .np_tag(req_tag), .look_tag, .look_size, .look_got, .look_low, .failed, .failed_tag, .ends(c_ends),
      .ends_broken(c_broken), .ends_tag(now_tag), .ends_got(now_got), .ends_all(c_all), .order_tag(r_tag),
      .order_size(r_size), .read_out(r_ends), .read_tag(r_tag), .busy, .waiting, .resting, .left, .expires, .gone,
      .gone_tag
  );
  always_ff @(posedge clk) several <= (waiting & (waiting - 1'b1)) != '0;

  // ---- completions ----
  logic         wr_valid, cpl_valid;
  logic [S-1:0] wr_at;
  logic [63:0]  wr_data;
  pcie_read_completions #(.TAGS(TAGS), .T(T), .S(S)) u_completions (
      .clk, .rst, .flr, .id, .c_valid, .c_data, .c_poisoned, .c_status, .c_count, .c_lower, .c_len, .c_requester,
      .c_tag, .q_valid, .q_data, .q_ok, .q_last, .waiting, .expires, .look_tag, .look_size, .look_got, .look_low,
      .failed, .failed_tag, .ends(c_ends), .ends_broken(c_broken), .ends_got(now_got), .wr_valid, .wr_tag(now_tag),
      .wr_at, .wr_data, .cpl_valid, .ev_failed, .ev_unexpected
  );
  always_ff @(posedge clk) ev_timeout <= !rst && |expires;

  // ---- data ----
  logic piece_queued;
  pcie_read_order #(.TAGS(TAGS), .SLOT(SLOT), .HOLD(HOLD), .T(T), .S(S)) u_order (
      .clk, .rst, .core, .order_room, .asks, .piece_none(!bus_master), .piece_last,
      .piece_tag(joins ? st_tag : found_tag), .piece_quads(piece), .waiting, .resting, .st_valid, .st_tag, .np_valid,
      .np_tag(req_tag), .read_out(r_ends), .read_tag(r_tag), .read_size(r_size), .wr_valid, .wr_tag(now_tag), .wr_at,
      .wr_data, .s_rvalid, .s_rready, .s_rdata, .s_rresp, .s_rlast, .queued(piece_queued)
  );
  always_ff @(posedge clk) pending <= !rst && (waiting != '0 || np_valid);
  assign queued = open || st_valid || np_valid;
  assign idle   = !open && !piece_queued && !s_rvalid && !cpl_valid && (waiting | resting) == '0 && !st_valid &&
      !np_valid;

`ifndef SYNTHESIS
  if (SLOT < 64 || SLOT > 512) $fatal(1, "pcie_read: SLOT %0d, expected 64 to 512", SLOT);
`endif
`ifdef FORMAL
  // Whatever completions come, and whenever core and function are reset. A tag is asked for, in
  // order and under way at most once; it waits, and rests, long enough. No tag is free while a
  // completion of a request with it may still arrive, which is until it has, or for 2 TICK.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    assume (!np_done || np_valid);
    assume (!np_dropped || np_done);
  end
  logic [TAGS-1:0] owed;          // sent, and its completions have not all arrived
  logic [5:0]      owed_for[TAGS];
  always_ff @(posedge clk)
    for (int t = 0; t < TAGS; t++) begin
      if (rst) owed[t] <= 1'b0;
      else if (np_done && !np_dropped && req_tag == T'(t)) owed[t] <= 1'b1;
      else if ((c_ends && !c_broken && now_tag == T'(t) && c_all) || (failed && failed_tag == T'(t)) ||
          32'(owed_for[t]) >= 2 * TICK)
          owed[t] <= 1'b0;
      owed_for[t] <= !owed[t] ? '0 : owed_for[t] + 6'd1;
    end
  logic [5:0]      since[TAGS];   // cycles since it began to wait, or to rest
  logic [TAGS-1:0] ordered;       // a piece of it has not left
  logic [TAGS-1:0] rested;        // busy, and resting, in the cycle before
  logic [5:0]      since_was[TAGS];
  always_ff @(posedge clk)
    for (int t = 0; t < TAGS; t++) begin
      rested[t]    <= !rst && busy[t] && resting[t];
      since_was[t] <= since[t];
      ordered[t] <= !rst && !core && ((ordered[t] && !(r_ends && r_tag == T'(t))) || (tag_take && found_tag == T'(t)));
      if (rst || (!waiting[t] && !resting[t]) || (waiting[t] && expires[t])) since[t] <= '0;
      else if ((failed && failed_tag == T'(t)) || (c_ends && c_broken && now_tag == T'(t)) || flr)
          since[t] <= waiting[t] ? '0 : since[t] + 6'(since[t] != '1);
      else since[t] <= since[t] + 6'(since[t] != '1);
    end
  always_comb
    if (formal_started && !rst) begin
      assert ((waiting & resting) == '0 && ((waiting | resting | ordered) & ~busy) == '0);
      assert ((owed & ~busy) == '0);
      assert (!np_valid || (busy[req_tag] && (ordered[req_tag] || left[req_tag]) && !waiting[req_tag] &&
          !resting[req_tag]));
      assert (!st_valid || (busy[st_tag] && ordered[st_tag] && !waiting[st_tag] && !resting[st_tag] &&
          !(np_valid && req_tag == st_tag)));
      assert (!tag_take || !(busy[found_tag] || ordered[found_tag]));
      assert (!r_ends || ordered[r_tag]);
      assert (!gone || (busy[gone_tag] && !ordered[gone_tag] && !waiting[gone_tag]));
      for (int t = 0; t < TAGS; t++) begin
        assert (!expires[t] || 32'(since[t]) >= 2 * TICK);
        assert (!rested[t] || busy[t] || 32'(since_was[t]) >= 2 * TICK);
      end
    end
  always_ff @(posedge clk) cover (formal_started && busy == '1 && |expires && |resting);
  always_ff @(posedge clk) cover (formal_started && c_ends && waiting == '1);
  always_ff @(posedge clk) cover (formal_started && c_ends && left[now_tag] && tag_take);
`endif
endmodule
