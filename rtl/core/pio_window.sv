// pio_window: the send windows of all processes, written over a bus.
//
// Job: AXI4 write slave. A process has two windows, VELO and RMA, which consist of lines of 64
//   bytes; an address selects line and window (nicloop_pkg PIO_*, RMA_PIO_*). A line arrives in
//   pieces, bursts of any part of it in any order, and is complete when it has all words that its
//   address announces. Then it is accepted if its process has a free entry (full), discarded
//   permanently if it is wrong, or refused; in that case all later lines in the window are refused,
//   too, until software writes VELO_WINDOW or RMA_WINDOW. One line per window can be partial. Words
//   are forwarded to the storage of lines (put_*) as they arrive; take completes the line.
// Handshake: AXI4 write channels. put_* with every beat; take is a pulse two cycles after the last
//   beat, for line_addr. A word counts when all of its four strobes are set. Registers by regfile's
//   protocol (wr_known and rd_known refer to the address of the previous cycle, rd_value is valid
//   in the second; wr_do is a pulse).
// Backpressure: only on B: an address is accepted within two cycles, a beat at once, and the
//   response follows in the second cycle after the last beat.
module pio_window #(
    parameter int VPIDS = nicloop_pkg::VPIDS,  // processes: a power of two, 2 or more; windows of others are off
    parameter int RMA   = 1                    // 0: windows of descriptors are off
) (
    input  logic         clk,
    input  logic         clk_regs,    // of what registers read: clk, which a simulation may stop before (nic_core)
    input  logic         rst,
    input  logic [11:0]  nodes,       // that exist
    // AXI4 write slave
    input  logic         s_awvalid,
    output logic         s_awready,
    input  logic [28:0]  s_awaddr,
    input  logic [7:0]   s_awlen,
    input  logic [2:0]   s_awsize,
    input  logic [1:0]   s_awburst,
    input  logic         s_wvalid,
    output logic         s_wready,
    input  logic [63:0]  s_wdata,
    input  logic [7:0]   s_wstrb,
    input  logic         s_wlast,
    output logic         s_bvalid,
    input  logic         s_bready,
    output logic [1:0]   s_bresp,     // SLVERR: the piece, or with it its line, was discarded
    // processes; index 0 VELO, 1 RMA
    input  logic [31:0]  on_next,     // RMA, VELO by VPID: as they will be in the next cycle
    input  logic [31:0]  full,        // the same, if nothing is taken in this, nor leaves RMA's of head_vpid (pop)
    input  logic         pop,
    input  logic [3:0]   head_vpid,
    input  logic [511:0] stamps,      // {life, pdid} by VPID
    // lines
    output logic [1:0]   put,
    output logic [3:0]   put_vpid,
    output logic [2:0]   put_quad,
    output logic [63:0]  put_data,
    output logic [1:0]   put_words,
    output logic [1:0]   take,
    output logic [1:0]   ev_error,
    output logic [28:0]  line_addr,   // of take and ev_error
    output logic [31:0]  line_stamp,
    output logic [6:0]   error_reason,
    // registers
    input  logic [31:0]  wr_addr,
    input  logic         wr_do,
    output logic         wr_known,
    input  logic [31:0]  rd_addr,
    output logic         rd_known,
    output logic [63:0]  rd_value,
    input  logic [3:0]   waiting_velo,  // of the VPID that rd_addr names
    input  logic [2:0]   waiting_rma,
    output logic         idle,
    output logic         active
);
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_USER_STRIDE);
  localparam logic [1:0] OKAY = hw_pkg::RESP_OKAY, SLVERR = hw_pkg::RESP_SLVERR;
  localparam int VPID_W = $clog2(VPIDS);
  localparam int WINDOWS = RMA != 0 ? 2 * VPIDS : VPIDS;  // {rma, vpid}
  localparam int AT_W = $clog2(WINDOWS);

  // ---- a piece on the bus ----
  logic        open, aw_take, w_take, w_end, shape_ok, strobes_ok, rma;
  logic [28:0] addr;
  logic [2:0]  quad;
  logic [15:0] words, words_now;  // of the line, in this piece
  logic [1:0]  halves;
  assign s_awready = !open;
  assign aw_take   = s_awvalid && s_awready;
  assign s_wready  = open && !(s_wlast && s_bvalid && !s_bready);
  assign w_take    = s_wvalid && s_wready;
  assign w_end     = w_take && s_wlast;
  assign halves    = {&s_wstrb[7:4], &s_wstrb[3:0]};
  assign words_now = words | (16'(halves) << {quad, 1'b0});
  assign rma       = addr[nicloop_pkg::RMA_PIO_RMA_LSB+:nicloop_pkg::RMA_PIO_RMA_W] == 7'(nicloop_pkg::RMA_LINE);
  assign put       = {2{w_take && 5'(put_vpid) < 5'(VPIDS)}} & {rma, !rma};
  assign put_vpid  = addr[nicloop_pkg::PIO_SRC_VPID_LSB+:4];
  assign put_quad  = quad;
  assign put_data  = s_wdata;
  assign put_words = halves;
  always_ff @(posedge clk) begin
    if (rst) open <= 1'b0;
    else if (aw_take) open <= 1'b1;
    else if (w_end) open <= 1'b0;
    if (aw_take) begin
      addr       <= s_awaddr;
      quad       <= s_awaddr[5:3];
      words      <= '0;
      strobes_ok <= 1'b1;
      // An address may name the upper half of a quadword; strobes then say the same.
      shape_ok   <= s_awaddr[1:0] == '0 && s_awsize == 3'd3 && s_awburst == 2'b01 &&
          9'(s_awaddr[5:3]) + 9'(s_awlen) < 9'd8;
    end else if (w_take) begin
      quad       <= quad + 1'b1;
      words      <= words_now;
      strobes_ok <= strobes_ok && (halves[1] || s_wstrb[7:4] == '0) && (halves[0] || s_wstrb[3:0] == '0);
    end
  end

  // The quadwords that a line needs, at least the first.
  logic [6:0]  bytes;
  logic [3:0]  quads;
  logic [15:0] need_now;
  assign bytes = 7'(addr[nicloop_pkg::PIO_LENGTH_LSB+:6]) + (addr[nicloop_pkg::PIO_PIGGYBACK_LSB] ? 7'd2 : 7'd0);
  assign quads = rma ? 4'd3 : bytes == '0 ? 4'd1 : bytes > 7'd56 ? 4'd8 : 4'((bytes + 7'd7) >> 3);
  always_comb for (int i = 0; i < 8; i++) need_now[2*i+:2] = {2{4'(i) < quads}};
  logic rsvd_bad[VPIDS];  // by VPID: the reserved bit of the descriptor that is in parts
  logic rsvd_comes, rsvd_now;
  assign rsvd_comes = put[1] && quad == '0 && halves[1];
  assign rsvd_now   = rsvd_comes ? s_wdata[nicloop_pkg::RMA_DESC_RSVD_LSB] : rsvd_bad[put_vpid[VPID_W-1:0]];
  always_ff @(posedge clk) if (rsvd_comes) rsvd_bad[put_vpid[VPID_W-1:0]] <= s_wdata[nicloop_pkg::RMA_DESC_RSVD_LSB];

  // What was here before of the line that has begun, if it is this one: pieces come one by one, so
  // nothing of it changes while one is on the bus.
  logic [15:0] here[WINDOWS];      // words of the partial line, by window
  logic [18:0] which[WINDOWS];     // and its address
  logic [AT_W-1:0] at_now;
  logic [15:0] here_now;
  logic        same_now;           // if there is a partial line
  assign at_now   = AT_W'({rma, addr[nicloop_pkg::PIO_SRC_VPID_LSB+:VPID_W]});
  assign here_now = here[at_now];
  // A word that is here already is of another line with the same address: the first will not be
  // whole any more.
  assign same_now = which[at_now] == addr[nicloop_pkg::PIO_SRC_VPID_LSB-1:nicloop_pkg::PIO_LENGTH_LSB] &&
      (here_now & words_now & need_now) == '0;

  // ---- a cycle later: what becomes of it ----
  logic [WINDOWS-1:0] begun, retry;  // by window
  logic               ack;           // by software, of a window
  logic [AT_W-1:0]    ack_at, rd_at;
  logic [WINDOWS-1:0] ons;           // those that are built
  logic               j_on, j_full;
  logic [3:0]         j_vpid;
  always_ff @(posedge clk) ons <= rst ? '0 : WINDOWS'({on_next[16+:VPIDS], on_next[0+:VPIDS]});
  // j_all: the piece is the line; j_rest: with what was here it is
  logic        judge, j_rma, j_domain, j_piece_ok, j_line_ok, j_node_ok, j_same, j_all, j_rest, j_nothing;
  logic        j_begun, j_retry;  // the window has a partial line; it refuses all
  logic [28:0] j_addr;
  logic [15:0] j_words, j_here;
  logic [AT_W-1:0] at;  // window
  always_ff @(posedge clk) begin
    judge <= w_end && !rst;
    if (w_end) begin
      j_rma      <= rma;
      j_domain   <= stamps[{put_vpid, 5'h0}+:16] != '0;  // if it changes now the windows go off, and j_on knows
      j_addr     <= addr;
      j_words    <= words_now & need_now;
      j_here     <= here_now;
      j_same     <= same_now;
      j_on       <= on_next[{rma, put_vpid}];
      // What leaves is known last.
      j_full     <= full[{rma, put_vpid}] && !(rma && head_vpid == put_vpid && pop);
      // As they will be then: nothing is judged now, so only software can change them.
      j_begun    <= begun[at_now] && ons[at_now] && !(ack && ack_at == at_now);
      j_retry    <= retry[at_now] && ons[at_now] && !(ack && ack_at == at_now);
      j_all      <= (need_now & ~words_now) == '0;
      j_rest     <= (need_now & ~words_now & ~here_now) == '0;
      j_nothing  <= (need_now & words_now) == '0;  // behind what the line announces
      j_piece_ok <= shape_ok && strobes_ok && (halves[1] || s_wstrb[7:4] == '0) && (halves[0] || s_wstrb[3:0] == '0);
      j_line_ok  <= rma ? addr[nicloop_pkg::RMA_PIO_RSVD_LSB+:nicloop_pkg::RMA_PIO_RSVD_W] == '0 && !rsvd_now :
          bytes <= 7'(nicloop_pkg::VELO_PAYLOAD);
      j_node_ok  <= rma || 12'(addr[nicloop_pkg::PIO_DST_NODE_LSB+:6]) < nodes;
    end
  end
  assign at         = AT_W'({j_rma, j_vpid[VPID_W-1:0]});
  assign j_vpid     = j_addr[nicloop_pkg::PIO_SRC_VPID_LSB+:4];
  assign line_addr  = j_addr;
  assign line_stamp = stamps[{j_vpid, 5'h0}+:32];

  logic [18:0] j_which;
  logic [15:0] have;
  logic        same, lost, whole, refused, wrong;
  logic [6:0]  reason;
  assign j_which = j_addr[nicloop_pkg::PIO_SRC_VPID_LSB-1:nicloop_pkg::PIO_LENGTH_LSB];
  assign same    = j_begun && j_same;
  assign have    = (same ? j_here : '0) | j_words;
  // What it would be if its window were on, which is known last.
  logic counts, would_lose, would_be_whole, would_be_wrong;
  assign counts         = j_domain && j_piece_ok && !j_nothing;
  assign would_lose     = counts && j_begun && !j_same;
  assign would_be_whole = counts && (same ? j_rest : j_all);
  assign would_be_wrong = would_be_whole && !j_retry && !would_lose && (!j_line_ok || !j_node_ok);
  always_comb begin
    if (!j_on) reason = 7'(nicloop_pkg::DROP_REASON_WINDOW_OFF);
    else if (!j_domain) reason = 7'(nicloop_pkg::DROP_REASON_DOMAIN);
    else if (!j_piece_ok) reason = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (!would_be_wrong) reason = 7'(nicloop_pkg::DROP_REASON_NONE);
    else if (!j_line_ok) reason = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else reason = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
  end
  logic heard, spoilt;  // the piece is valid; it is invalid and its line is discarded
  assign spoilt  = judge && j_on && j_domain && !j_piece_ok;
  assign heard   = judge && j_on && counts;
  assign lost    = judge && j_on && would_lose;
  assign whole   = judge && j_on && would_be_whole;
  assign wrong   = judge && j_on && would_be_wrong;
  assign refused = judge && j_on && would_be_whole && !would_be_wrong && (j_retry || would_lose || j_full);
  assign take    = {2{judge && j_on && would_be_whole && !would_be_wrong && !(j_retry || would_lose || j_full)}} &
      {j_rma, !j_rma};
  assign error_reason = reason;
  assign ev_error     = {2{judge && reason != 7'(nicloop_pkg::DROP_REASON_NONE)}} & {j_rma, !j_rma};

  // ---- registers ----
  /* verilator lint_off UNUSEDSIGNAL */  // not every bit
  function automatic logic [1:0] window_of(input logic [31:0] a);  // of a register: 2 VELO, 3 RMA, 0 none
  /* verilator lint_on UNUSEDSIGNAL */
    window_of = 2'd0;
    if (a[31:16] == 16'(nicloop_pkg::PAGE_USER_BASE >> 16) && 5'(a[PAGE_W+:4]) < 5'(VPIDS)) begin
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_VELO_WINDOW) window_of = 2'd2;
      if (RMA != 0 && 19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_RMA_WINDOW) window_of = 2'd3;
    end
  endfunction
  logic [1:0] wr_window, rd_window;
  always_ff @(posedge clk) wr_window <= window_of(wr_addr);
  always_ff @(posedge clk_regs) rd_window <= window_of(rd_addr);
  assign wr_known  = wr_window[1];
  assign rd_known  = rd_window[1];
  assign ack       = wr_do && wr_window[1];
  assign ack_at    = AT_W'({wr_window[0], wr_addr[PAGE_W+:VPID_W]});
  assign rd_at     = AT_W'({rd_window[0], rd_addr[PAGE_W+:VPID_W]});

  // ---- state of the windows; a counter that is fresh reads 0 ----
  logic [23:0] done[WINDOWS];  // {wrong, taken}
  logic [15:0] missed[WINDOWS];
  logic [WINDOWS-1:0] fresh_done, fresh_missed;
  logic [23:0] done_now;
  logic [15:0] missed_now;
  assign done_now   = fresh_done[at] ? '0 : done[at];
  assign missed_now = fresh_missed[at] ? '0 : missed[at];
  always_ff @(posedge clk) begin
    if (whole && !refused) done[at] <= {done_now[23:16] + 8'(wrong), done_now[15:0] + 1'b1};
    if (refused) missed[at] <= missed_now + 1'b1;
    if (heard && !whole) here[at] <= have;
    if (heard && !whole) which[at] <= j_which;
  end
  always_ff @(posedge clk)
    for (int w = 0; w < WINDOWS; w++)
      if (rst || !ons[w]) begin
        begun[w]        <= 1'b0;
        retry[w]        <= 1'b0;
        fresh_done[w]   <= 1'b1;
        fresh_missed[w] <= 1'b1;
      end else begin
        if (at == AT_W'(w)) begin
          if (heard) begun[w] <= !whole;
          if (spoilt) begun[w] <= 1'b0;
          if (lost || refused) retry[w] <= 1'b1;
          if (whole && !refused) fresh_done[w] <= 1'b0;
          if (refused) fresh_missed[w] <= 1'b0;
        end
        if (ack && ack_at == AT_W'(w)) begin
          begun[w]        <= 1'b0;
          retry[w]        <= 1'b0;
          fresh_missed[w] <= 1'b1;
        end
      end
  always_ff @(posedge clk_regs) begin
    rd_value <= '0;
    if (rd_known && ons[rd_at]) begin
      rd_value[nicloop_pkg::VELO_WINDOW_WAITING_LSB+:4] <= rd_window[0] ? 4'(waiting_rma) : waiting_velo;
      if (!fresh_done[rd_at])
        {rd_value[nicloop_pkg::VELO_WINDOW_WRONG_LSB+:8], rd_value[nicloop_pkg::VELO_WINDOW_TAKEN_LSB+:16]} <=
            done[rd_at];
      if (!fresh_missed[rd_at]) rd_value[nicloop_pkg::VELO_WINDOW_REFUSED_LSB+:16] <= missed[rd_at];
      rd_value[nicloop_pkg::VELO_WINDOW_BEGUN_LSB] <= begun[rd_at];
      rd_value[nicloop_pkg::VELO_WINDOW_RETRY_LSB] <= retry[rd_at];
    end
  end

  // ---- answers ----
  always_ff @(posedge clk) begin
    if (rst) s_bvalid <= 1'b0;
    else if (judge) s_bvalid <= 1'b1;
    else if (s_bready) s_bvalid <= 1'b0;
    if (judge) s_bresp <= ev_error != '0 ? SLVERR : OKAY;
  end

  assign idle   = !open && !judge && !s_bvalid;
  assign active = aw_take || w_take || judge || (s_bvalid && s_bready);

`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // ---- the bus waits for nothing: neither entries nor registers nor what was refused are
  // asked ----
  logic judge_was, held_was;
  always_ff @(posedge clk) begin
    judge_was <= judge && !rst;
    held_was  <= s_bvalid && !s_bready && !rst;
  end
  always_comb
    if (formal_started && !rst) begin
      assert (s_awready || open);
      assert (!(open && s_wvalid) || s_wready || (s_bvalid && !s_bready));
      assert (!(judge && (open || s_bvalid)));  // no answer is written over
      assert (!(judge_was || held_was) || s_bvalid);
    end

  // ---- any word of any window: a line that is taken has it, from a piece with its own address,
  // and from no line before ----
  (* anyconst *) logic [4:0] some;
  (* anyconst *) logic [3:0] word;
  logic [28:0] addr_seen, addr_judged;  // of the piece on the bus, and of the one that is judged
  logic [2:0]  quad_seen;
  logic        got, got_now, got_judged;
  assign got_now = got || (w_take && quad_seen == word[3:1] && s_wstrb[word[0]*4+:4] == 4'hf);
  always_ff @(posedge clk) begin
    if (aw_take) addr_seen <= s_awaddr;
    quad_seen <= aw_take ? s_awaddr[5:3] : quad_seen + 3'(w_take);
    got       <= got_now && !aw_take;
    if (w_end) addr_judged <= addr_seen;
    if (w_end) got_judged <= got_now;
  end
  logic        of_rma, announced, hit, has, blocked, full_was;
  always_ff @(posedge clk) full_was <= full[some] && !(some[4] && head_vpid == some[3:0] && pop);
  logic [6:0]  size;
  logic [18:0] line;
  assign of_rma    = addr_judged[12:6] == 7'd127;
  assign size      = 7'(addr_judged[11:6]) + {5'h0, addr_judged[12], 1'b0};
  assign announced = of_rma ? word < 4'd6 : word < 4'd2 || size > {1'b0, word[3:1], 3'h0};
  assign hit       = heard && {of_rma, addr_judged[28:25]} == some;
  always_ff @(posedge clk) begin
    if (hit) has <= !whole && (same && has || got_judged && announced);
    if (hit) line <= addr_judged[24:6];
    if (spoilt && at == some) has <= 1'b0;
    if (hit && (lost || (whole && take == '0 && ev_error == '0))) blocked <= 1'b1;
    if (rst || !ons[some] || (ack && ack_at == some)) begin
      has     <= 1'b0;
      blocked <= 1'b0;
    end
  end
  always_comb
    if (formal_started && !rst) begin
      assert (!open || (addr_seen == addr && quad_seen == quad && words[word] == got));
      assert (!judge || (addr_judged == j_addr && j_words[word] == (got_judged && announced)));
      assert (!judge || (j_here == here[at] && (!j_same || (which[at] == j_which && (here[at] & j_words) == '0))));
      if (judge && announced) assert ((!j_all || j_words[word]) && (!j_rest || j_words[word] || j_here[word]));
      assert (!judge || (j_rma == of_rma && j_which == addr_judged[24:6] && at == {of_rma, addr_judged[28:25]}));
      assert (!judge || (j_begun == begun[at] && j_retry == retry[at]));
      assert (blocked == retry[some] || !ons[some]);
      if (ons[some]) assert (has == (begun[some] && here[some][word]));
      if (ons[some] && begun[some]) assert (line == which[some]);
      if (hit && same) assert (begun[some] && line == addr_judged[24:6] && !(has && got_judged && announced));
      assert (!judge || j_on == ons[at]);
      if (hit && take != '0) begin
        assert (take == {of_rma, !of_rma} && !blocked && ons[some] && !full_was);
        assert (!announced || got_judged || (has && line == addr_judged[24:6]));
      end
      assert (take == '0 || (judge && heard));
    end
  always_ff @(posedge clk) begin
    cover (formal_started && hit && take != '0 && same && announced && !got_judged);
    cover (formal_started && hit && blocked && whole);
    cover (formal_started && hit && lost);
  end
`endif
endmodule
