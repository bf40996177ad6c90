// pcie_read: the core's DMA reads as memory reads, and their completions put in order.
//
// Job: AXI4 read slave. Cuts bursts at multiples of the maximum read request size and of SLOT,
//   which no 4 KB boundary lies within, and joins to a request what goes on where it ends, if that
//   comes within HOLD cycles, or LONG while two requests or more are under way and whole lines are
//   read: the core asks for a line when one has come, and would be told line by line for ever; each
//   request has a tag and a slot of SLOT bytes for its data. Completions may come in any order of
//   tags and in parts; data leaves in the order of the addresses, that of a request when all of it
//   is here. A request fails, and its beats answer SLVERR with zeros, when its completion says so,
//   is poisoned or has not all come within two to three times TICK cycles. Its tag then rests as
//   long before it is used again, so that what comes late meets nobody. A completion that nobody
//   waits for, or that does not go on where its tag is, is dropped and counted.
// Handshake: AXI4, INCR, 8 bytes a beat, answers in order. A sender without tickets of tlp_tx;
//   completions as tlp_rx gives them. While bus_master is low nothing is sent, and every beat
//   answers SLVERR; so do those of a request that tlp_tx has discarded (np_dropped, with np_done).
//   core_rst, at least two cycles, resets the AXI side and the core: a request that is outstanding
//   keeps its tag until its completions have arrived or it times out, and its data is dropped. flr,
//   as long as core_rst, gives outstanding requests up: their completions are unexpected, and their
//   tags rest before they are used again.
// Back-pressure: addresses wait for a tag and for their request to leave; data for rready. A
//   completion is always taken: its room is its tag's. What its tag has is looked up as it comes:
//   it counts, and its data is written, a cycle later.
//
//   a tag    free ─ask─► busy ─sent─► waiting ─all is here─► busy ─last beat left─► free
//                                        └─time-out, error─► resting ─2..3 TICK, last beat left─► free
//                                        └─flr─────────────► resting
//   With core_rst the last beat of every tag counts as left.
module pcie_read #(
    parameter int TAGS = 32,       // up to 256
    parameter int SLOT = 256,      // bytes: 64 to 512, a power of two
    parameter int TICK = 1 << 20,  // cycles
    parameter int HOLD = 3,        // cycles that a request may grow; 0: none does
    parameter int LONG = 40        
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
    output logic         ev_failed,      // a completion said so, or was poisoned
    output logic         ev_unexpected,
    output logic         pending,        // a request is outstanding, or offered to the sender
    output logic         queued,         // a burst that was taken is not all asked for
    output logic         idle
);
  localparam int T = $clog2(TAGS);
  localparam int F = $clog2(LONG + 1);
  localparam int S = $clog2(SLOT / 8);  // bits of a quadword's number in a slot

  logic core;  // the core, and with it the AXI side, is in reset
  assign core = core_rst || flr;

  // ---- tags ----
  logic [TAGS-1:0] busy, waiting, resting, old, expires, gives_up, free_grant;
  logic [TAGS-1:0] left;  // its last beat has gone to the core, or the core has been reset since
  logic [1:0]      age[TAGS];
  logic [S:0]      size[TAGS], got[TAGS];                     // quadwords
  logic [3:0]      low[TAGS];                                 // of its address, in quadwords
  logic            found, tag_take;
  logic [T-1:0]    found_tag, free_tag;
  logic [TAGS-1:0] usable;  // with a tag field of 5 bits, or of 8
  logic            may_take;
  always_comb for (int t = 0; t < TAGS; t++) usable[t] = t < 32 || ext_tag_enable;
  rr_arbiter #(.N(TAGS)) u_tags (.clk, .rst, .req(~busy & usable), .advance(!found), .grant(free_grant));
  always_comb begin
    free_tag = '0;
    for (int t = 0; t < TAGS; t++) if (free_grant[t]) free_tag = T'(t);
  end
  // One is kept at hand. Only who takes it makes it busy, so it stays free.
  always_ff @(posedge clk) begin
    if (rst) found <= 1'b0;
    else found <= found ? !tag_take && may_take : (~busy & usable) != '0;
    if (!found) found_tag <= free_tag;
  end
  assign may_take = TAGS <= 32 || ext_tag_enable || 32'(found_tag) < 32;

  // ---- requests ----
  logic         open, asks, order_room;
  logic [60:0]  line;
  logic [8:0]   beats;                 // left
  logic [6:0]   to_edge;               // quadwords up to where a piece has to end
  logic [6:0]   edge_quads, line_low;
  logic [S:0]   piece;
  logic         piece_last;
  // One that has a tag, and may grow.
  logic         st_valid, st_edge, st_leaves, st_line_whole, same_block, goes_on, joins, many;
  logic [60:0]  st_line, st_end, line_next;
  logic [T-1:0] st_tag;
  logic [S:0]   st_quads;
  logic [F-1:0] st_for;
  // A piece is known late, and 64 quadwords at most: what is above them grows by one or not,
  // without a carry behind it.
  assign line_low  = {1'b0, line[5:0]} + 7'(piece);
  assign line_next = {line_low[6] ? line[60:6] + 1'b1 : line[60:6], line_low[5:0]};
  assign st_edge   = (st_end[6:0] & (edge_quads - 7'd1)) == '0;
  assign same_block = line[60:6] == st_end[60:6];
  assign goes_on   = HOLD != 0 && open && st_valid && !st_edge && bus_master && same_block && line[5:0] == st_end[5:0];
  assign joins     = goes_on && order_room;
  assign st_leaves = st_valid && !np_valid && !joins &&
      (st_edge || (open && !goes_on) || st_for == F'(LONG) || (st_for >= F'(HOLD) && !(many && st_line_whole)));
  assign edge_quads = SLOT / 8 <= 16 || mrrs == 3'd0 ? 7'(SLOT / 8 < 16 ? SLOT / 8 : 16) :
                      SLOT / 8 <= 32 || mrrs == 3'd1 ? 7'd32 : 7'd64;
  assign to_edge    = edge_quads - (7'(line[5:0]) & (edge_quads - 7'd1));
  assign piece_last = beats <= 9'(to_edge);
  assign piece      = piece_last ? (S + 1)'(beats) : (S + 1)'(to_edge);
  assign s_arready  = !open && !hold;
  assign asks       = open && order_room && (joins || !bus_master || (found && may_take && !st_valid));
  assign tag_take   = asks && bus_master && !joins;
  always_ff @(posedge clk) begin
    if (rst || core) open <= 1'b0;
    else open <= open ? !(asks && piece_last) : s_arvalid && s_arready;
    if (!open) begin
      line  <= s_araddr[63:3];
      beats <= {1'b0, s_arlen} + 9'd1;
    end else if (asks) begin
      line  <= line_next;
      beats <= beats - 9'(piece);
    end
  end
  logic [60:0]  req_line;
  logic [T-1:0] req_tag;
  logic [S:0]   req_quads;
  always_ff @(posedge clk) begin
    if (rst || core || st_leaves) st_valid <= 1'b0;
    else if (tag_take) st_valid <= 1'b1;
    if (tag_take) begin
      st_line  <= line;
      st_tag   <= found_tag;
      st_quads <= piece;
    end else if (joins) st_quads <= st_quads + piece;
    if (tag_take || joins) begin
      st_end        <= line_next;
      st_for        <= '0;
      st_line_whole <= line[2:0] == '0 && piece[2:0] == '0;
    end else if (st_for != F'(LONG)) st_for <= st_for + 1'b1;
    many <= (waiting & (waiting - 1'b1)) != '0;
    if (rst || np_done) np_valid <= 1'b0;
    else if (st_leaves && !core) np_valid <= 1'b1;
    if (st_leaves) begin
      req_line  <= st_line;
      req_tag   <= st_tag;
      req_quads <= st_quads;
    end
  end
  assign np_four   = req_line[60:29] != '0;
  assign np_header = {req_line[28:0], 3'b000, np_four ? req_line[60:29] : {req_line[28:0], 3'b000}, id, 8'(req_tag),
      8'hff, 2'b00, np_four,
                      5'b00000, 14'h0, 10'({req_quads, 1'b0})};

  // ---- completions: looked up as they come, weighed in the cycle behind it; their data is a cycle
  // behind, too ----
  typedef struct packed {
    logic         mine;   // a tag of this function
    logic         fails;  // it says so, or is poisoned
    logic [T-1:0] slot;
    logic [11:0]  count;
    logic [6:0]   lower;
    logic [10:0]  len;
    logic [S:0]   size, got;  // of its tag; they stand while it waits, but for what ends in this very cycle
    logic [3:0]   low;
  } completion_t;
  typedef struct packed {
    logic        ok, last;
    logic [63:0] data;
  } quad_t;
  completion_t  comes, cpl;
  quad_t        arrives, quad;
  logic         cpl_valid, quad_valid, c_ends;
  logic [T-1:0] now_tag;
  logic [S:0]   now_at, now_got;
  always_comb begin
    comes.mine  = 32'(c_tag) < TAGS && c_requester == id;
    comes.fails = c_status != '0 || !c_data || c_poisoned;
    comes.slot  = c_tag[T-1:0];
    comes.count = c_count;
    comes.lower = c_lower;
    comes.len   = c_len;
    comes.size  = size[comes.slot];
    comes.got   = c_ends && now_tag == comes.slot ? now_got : got[comes.slot];
    comes.low   = low[comes.slot];
    arrives.ok   = q_ok;
    arrives.last = q_last;
    arrives.data = q_data;
  end
  always_ff @(posedge clk) begin
    cpl_valid  <= !rst && c_valid;
    quad_valid <= !rst && q_valid;
    if (c_valid) cpl <= comes;
    if (q_valid) quad <= arrives;
  end
  // What one has to be, so that it counts.
  logic         c_known, c_fits, c_fails, c_counts, accepted;
  logic [S:0]   c_left;
  assign c_known  = cpl.mine && waiting[cpl.slot];
  assign c_left   = cpl.size - cpl.got;
  assign c_fits   = cpl.count == 12'({c_left, 3'h0}) && cpl.lower == {4'(cpl.low + 4'(cpl.got)), 3'h0} &&
      !cpl.len[0] && cpl.len <= 11'({c_left, 1'b0});
  assign c_fails  = cpl_valid && c_known && cpl.fails;
  assign c_counts = cpl_valid && c_known && !cpl.fails && c_fits;
  always_ff @(posedge clk) begin
    if (cpl_valid) begin
      now_tag  <= cpl.slot;
      now_at   <= cpl.got;
      now_got  <= cpl.got + (S + 1)'(cpl.len >> 1);
      accepted <= c_counts;
    end else if (quad_valid) now_at <= now_at + 1'b1;
    if (rst || flr || (!cpl_valid && expires[now_tag])) accepted <= 1'b0;
  end
  // A tag hears of it a cycle later; the next completion comes later still.
  logic         failed;
  logic [T-1:0] failed_tag;
  always_ff @(posedge clk) begin
    failed     <= !rst && c_fails;
    failed_tag <= cpl.slot;
  end
  logic c_broken, broken;
  assign c_ends   = quad_valid && quad.last && accepted && waiting[now_tag];
  assign c_broken = broken || !quad.ok;
  always_ff @(posedge clk) broken <= !cpl_valid && (broken || (quad_valid && !quad.ok));

  // ---- time, and what becomes of a tag ----
  logic [$clog2(TICK)-1:0] cycles;
  logic                    tick;
  assign tick = cycles == $clog2(TICK)'(TICK - 1);
  // It stands while nobody waits or rests, so that nothing depends on for how long nothing
  // happened.
  always_ff @(posedge clk) cycles <= rst || tick || (waiting | resting) == '0 ? '0 : cycles + 1'b1;

  logic            r_ends, gone;  // the last beat of a piece goes to the core; went in the cycle before
  logic [T-1:0]    r_tag, gone_tag;
  always_ff @(posedge clk) begin
    gone     <= !rst && !core && r_ends;
    gone_tag <= r_tag;
  end
  always_ff @(posedge clk)
    for (int t = 0; t < TAGS; t++) begin
      if (rst) begin
        busy[t]    <= 1'b0;
        waiting[t] <= 1'b0;
        resting[t] <= 1'b0;
      end else if (!busy[t]) begin
        busy[t] <= tag_take && found_tag == T'(t) && !core;
        left[t] <= 1'b0;
      end else if (waiting[t]) begin
        if (core) left[t] <= 1'b1;
        if (gives_up[t]) begin
          waiting[t] <= 1'b0;
          resting[t] <= 1'b1;
        end else if (c_ends && now_tag == T'(t)) waiting[t] <= now_got != size[now_tag];
      end else begin
        if (core || (gone && gone_tag == T'(t))) left[t] <= 1'b1;
        if (np_valid && req_tag == T'(t)) begin
          waiting[t] <= np_done && !np_dropped && !flr;
          resting[t] <= np_done && (np_dropped || flr);
        end else if (resting[t] ? left[t] && age[t] == 2'd3 : left[t] || (gone && gone_tag == T'(t))) begin
          busy[t]    <= 1'b0;
          resting[t] <= 1'b0;
        end
      end
      // From when it waits, and again from when it rests.
      if (!waiting[t] && !resting[t]) age[t] <= '0;
      else if (waiting[t] && gives_up[t]) age[t] <= '0;
      else if (tick && age[t] != 2'd3) age[t] <= age[t] + 1'b1;
      if (tag_take && found_tag == T'(t)) got[t] <= '0;
      else if (c_ends && now_tag == T'(t)) got[t] <= now_got;
    end
  always_ff @(posedge clk)
    if (tag_take) begin
      size[found_tag] <= piece;
      low[found_tag]  <= line[3:0];
    end else if (joins) size[st_tag] <= st_quads + piece;
  // One in a cycle, so that each is counted.
  always_comb for (int t = 0; t < TAGS; t++) old[t] = waiting[t] && age[t] == 2'd3;
  assign expires = old & (~old + 1'b1);
  always_comb
    for (int t = 0; t < TAGS; t++)
      gives_up[t] = (failed && failed_tag == T'(t)) || (c_ends && c_broken && now_tag == T'(t)) || expires[t] || flr;
  always_ff @(posedge clk) begin
    ev_timeout    <= !rst && |expires;
    ev_failed     <= !rst && (c_fails || (c_ends && c_broken));
    ev_unexpected <= !rst && cpl_valid && !c_fails && !c_counts;
  end

  // ---- data: pieces in order ----
  typedef struct packed {
    logic         none;   // nothing was asked for
    logic         last;   // of its burst
    logic [T-1:0] tag;
    logic [S:0]   quads;
  } piece_t;
  piece_t      now;
  logic        have, here, pop, piece_ends;
  logic [S:0]  at, of_tag;  // the next beat, of its piece and of its request
  logic [63:0] mem[TAGS*(SLOT/8)];
  logic [63:0] read;
  logic        bad;
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(T + S + 3), .DEPTH(TAGS)) u_order (
      .clk, .rst(rst || core), .wr_valid(asks), .wr_ready(order_room),
      .wr_data({!bus_master, piece_last, joins ? st_tag : found_tag, piece}), .rd_valid(have), .rd_ready(piece_ends),
      .rd_data(now), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  // here: not to be asked for, or asked for and neither under way nor waiting.
  assign here       = have && (now.none || (!waiting[now.tag] && !(st_valid && st_tag == now.tag) &&
      !(np_valid && req_tag == now.tag)));
  assign pop        = here && (!s_rvalid || s_rready);
  assign piece_ends = pop && at == now.quads - 1'b1;
  assign r_ends     = !now.none && (HOLD == 0 ? piece_ends : pop && of_tag == size[now.tag] - 1'b1);
  assign r_tag      = now.tag;
  always_ff @(posedge clk) begin
    // What ends is known last: by and/or, not by an enable or a reset.
    at     <= (at + (S + 1)'(pop)) & {S + 1{!rst && !core && !piece_ends}};
    of_tag <= (of_tag + (S + 1)'(pop && !now.none)) & {S + 1{!rst && !core && !r_ends}};
    if (rst || core) s_rvalid <= 1'b0;
    else if (pop) s_rvalid <= 1'b1;
    else if (s_rready) s_rvalid <= 1'b0;
    if (pop) begin
      bad     <= now.none || resting[now.tag];
      s_rlast <= piece_ends && now.last;
    end
  end
  always_ff @(posedge clk) begin
    if (quad_valid && accepted) mem[{now_tag, now_at[S-1:0]}] <= quad.data;
    if (pop) read <= mem[{now.tag, of_tag[S-1:0]}];
  end
  assign s_rdata = bad ? '0 : read;
  assign s_rresp = {bad, 1'b0};
  always_ff @(posedge clk) pending <= !rst && (waiting != '0 || np_valid);
  assign queued  = open || st_valid || np_valid;
  assign idle    = !open && !have && !s_rvalid && !cpl_valid && (waiting | resting) == '0 && !st_valid && !np_valid;

`ifndef SYNTHESIS
  if (SLOT < 64 || SLOT > 512) $fatal(1, "pcie_read: SLOT %0d, expected 64 to 512", SLOT);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!tag_take || !busy[found_tag]) else $error("pcie_read %m: tag %0d is in use", found_tag);
      assert (!r_ends || busy[r_tag]) else $error("pcie_read %m: data of a tag that nobody has");
    end
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
      else if ((c_ends && !c_broken && now_tag == T'(t) && now_got == size[t]) || (failed && failed_tag == T'(t)) ||
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
