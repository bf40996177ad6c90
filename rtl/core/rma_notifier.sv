// rma_notifier: the notification rings of all processes.
//
// Job: keeps base, size, switches and pointers by VPID; writes the notifications of several units,
//   each into the ring of its process, numbered from 1. A unit whose ring is full waits, the others
//   pass. A read pointer to which the ring cannot have been read is refused: the old one stays. Up
//   to DEPTH are written before the memory has answered the first; answers come in order, and with
//   each a write pointer moves. A ring whose memory refuses a notification is switched off, since
//   those behind it may be under way already.
// Handshake: valid holds with vpid, words and stamp (life and domain of the process that it is for)
//   until done, a pulse: it is on its way. A notification for a ring that is off, or for another
//   life or domain than that of now, is done at once and counted, and so is one whose ring is
//   switched off while it is written (rd_ctrl.busy tells that it still is). An answer counts in the
//   cycle behind it. Register writes are taken when wr_ready (wr_rp: when rp_ready, and its VPID
//   and data stand since the cycle before). Whether a ring is full is a flag, kept when a pointer
//   moves.
// Back-pressure: a full ring holds its unit until the read pointer moves, the ring is switched off,
//   or the time is spent for which it may hold others (wr_hold): then notifications that find it
//   full are dropped, and before the next that is written stands one that says so. Of several rings
//   that hold units, that of the first unit pays. Register writes wait while reset clears, and in
//   the cycles in which a write begins or counts, which needs the same memory; those of read
//   pointers in that in which one begins and the next. With DEPTH answers awaited nothing is
//   picked.
module rma_notifier #(
    parameter int N = 4,
    parameter int DEPTH = nicloop_pkg::DMA_WRITES,
    localparam int VPIDS = nicloop_pkg::VPIDS,
    localparam int AWAIT_W = $clog2(DEPTH + 2)
) (
    input  logic             clk,
    input  logic             rst,
    output logic             busy,      // clearing after reset
    input  logic [N-1:0]     valid,
    input  logic [N*4-1:0]   vpid,
    input  logic [N*128-1:0] words,     // second quadword high, its seq 0
    input  logic [N*32-1:0]  stamp,
    input  logic [511:0]     stamps,    // {life, pdid} by VPID
    output logic [N-1:0]     done,
    output logic [VPIDS-1:0] rma_on,
    output logic [VPIDS-1:0] window_on,
    output logic [VPIDS-1:0] window_next,  // as it will be in the next cycle
    // AXI4 write master
    output logic             m_awvalid,
    input  logic             m_awready,
    output logic [63:0]      m_awaddr,
    output logic [7:0]       m_awlen,
    output logic             m_wvalid,
    input  logic             m_wready,
    output logic [63:0]      m_wdata,
    output logic [7:0]       m_wstrb,
    output logic             m_wlast,
    input  logic             m_bvalid,
    output logic             m_bready,
    input  logic [1:0]       m_bresp,
    // registers
    input  logic [3:0]       rd_vpid,
    output logic [63:0]      rd_base,
    output logic [12:0]      rd_slots,
    output logic [8:0]       rd_ctrl,
    output logic [31:0]      rd_wp,
    output logic [32:0]      rd_rp,
    output logic [63:0]      rd_stall,
    output logic [23:0]      rd_hold,
    output logic [31:0]      rd_overflows,
    input  logic             wr_hold,     // wr_data[55:32]; taken when !busy
    output logic             wr_ready,
    output logic             rp_ready,
    // the ring of wr_vpid, in the next cycle if no register is written in this: base and size stand
    // still
    output logic             wr_on,
    input  logic [3:0]       wr_vpid,
    input  logic [63:0]      wr_data,
    input  logic             wr_base,
    input  logic             wr_slots,
    input  logic             wr_ctrl,
    input  logic             wr_rp,
    input  logic             shut,      // wr_vpid gets another domain: ring and window go off
    output logic             restart,   // the ring of wr_vpid goes on
    // events
    output logic             ev_written,
    output logic             ev_off,
    output logic             ev_refused,  // a read pointer
    output logic             ev_irq,      // ended_vpid wants one
    output logic [3:0]       ended_vpid,
    output logic             ev_stall,    // a unit begins to wait for the ring of at_vpid
    output logic             ev_overflow, // what a unit had for it is dropped
    output logic [3:0]       at_vpid,
    output logic [N-1:0]     stalled,     // units that wait for a full ring
    output logic [AWAIT_W-1:0] awaiting,  // answers
    output logic             active
);
  // ---- which unit: those whose ring was found full wait until some ring changes ----
  localparam logic [1:0] PICK = 2'd0, LOAD = 2'd1, LOOK = 2'd2, WRITE = 2'd3;
  logic [1:0]   state;
  logic [N-1:0] asking, grant, unit;
  logic         room;
  assign asking = valid & ~stalled & ~done & {N{room}};
  // A unit that finds its ring full was not served: it comes before all that are served until its
  // ring has room.
  lrs_arbiter #(.N(N)) u_arbiter (.clk, .rst, .req(asking), .served(done), .grant);

  logic [3:0]   pick_vpid;
  logic [127:0] pick_words, held;
  logic [31:0]  pick_stamp, held_stamp;
  always_comb begin
    pick_vpid  = '0;
    pick_words = '0;
    pick_stamp = '0;
    for (int i = 0; i < N; i++)
      if (grant[i]) begin
        pick_vpid  = pick_vpid | vpid[i*4+:4];
        pick_words = pick_words | words[i*128+:128];
        pick_stamp = pick_stamp | stamp[i*32+:32];
      end
  end

  // ---- rings ----
  logic [59:0] base[VPIDS];   // without the four zero bits of a 16-byte address
  logic [12:0] slots[VPIDS], index[VPIDS];
  // in memory; and those under way, of which index is the same modulo slots
  logic [31:0] wp[VPIDS], ahead[VPIDS], rp[VPIDS];
  logic [63:0] stalls[VPIDS];
  logic [23:0] left[VPIDS];   // cycles that it may still hold units; all ones: for good
  logic [15:0] spent, patient; // by VPID: none are left; it holds them for good
  logic [31:0] overflows[VPIDS];
  logic [15:0] overflowed;
  logic        extra;         // what is written tells of dropped ones, and the unit's comes after it
  logic [15:0] enable, window, irq, refused;
  logic [15:0] fulls, exist;  // no room; the ring has places
  logic [4:0]  clear;
  assign busy      = !clear[4];
  assign rma_on    = enable;
  assign wr_on     = enable[wr_vpid] && !(failed && ended_vpid == wr_vpid);
  assign window_on = enable & window;
  always_ff @(posedge clk) begin
    if (rst) clear <= '0;
    else if (busy) clear <= clear + 1'b1;
  end

  logic        on, same, full, off, start, begun, ended, ended_bad, ended_lost, spoiled, failed, commit, under_way;
  logic [31:0] next_seq, ended_seq;
  logic        begun_was;
  logic [12:0] next_index, index_was;
  // As of the cycle before: with another domain a ring goes off in the same cycle, and with another
  // life on.
  always_ff @(posedge clk) same <= held_stamp == stamps[{at_vpid, 5'h0}+:32] && !(restart && wr_vpid == at_vpid);
  assign on         = enable[at_vpid] && exist[at_vpid] && same;
  assign full       = fulls[at_vpid];
  assign next_seq   = ahead[at_vpid] + 1'b1;
  // What a write has begun with stands in registers since its ring was looked at: nothing changes
  // it meanwhile.
  assign next_index = index_was + 1'b1 >= fill_ring ? '0 : index_was + 1'b1;
  assign restart    = wr_ctrl && wr_data[nicloop_pkg::NOTI_CTRL_ENABLE_LSB] && !enable[wr_vpid];
  assign off        = shut || (wr_ctrl && !wr_data[nicloop_pkg::NOTI_CTRL_ENABLE_LSB]);
  assign wr_ready   = !busy && !begun && !ended;
  assign rp_ready   = !busy && !begun && !begun_was;
  assign start      = state == LOOK && on && !full;
  always_ff @(posedge clk) begin
    begun     <= !rst && start;
    begun_was <= !rst && begun;
  end
  writes_under_way #(.DEPTH(DEPTH)) u_writes (
      .clk, .rst, .begun, .begun_vpid(at_vpid), .ended, .failed, .ended_vpid, .lost(ended_lost), .off,
      .off_vpid(wr_vpid), .busy_vpid(rd_vpid), .busy(under_way)
  );

  // Software may have seen a notification under way before the memory has acknowledged it, but none
  // that began while its write was on the way to here: the distance is that of a cycle ago.
  logic [31:0] behind;
  logic [12:0] ring;
  logic        rp_good;
  always_ff @(posedge clk) begin
    behind <= ahead[wr_vpid] - wr_data[31:0];
    ring   <= slots[wr_vpid];
  end
  assign rp_good    = behind <= 32'(ring);
  assign ev_refused = wr_rp && !rp_good;
  always_ff @(posedge clk) begin
    if (rst) refused <= '0;
    else if (wr_rp || restart) refused[wr_vpid] <= wr_rp && !rp_good;
  end

  // ---- room: what was behind the one that has begun, with it; what a read pointer leaves ----
  // fill == fill_ring: software moved the read pointer back while this notification began, so the
  // ring holds one more than its size. It is full then, too.
  logic [31:0] fill;
  logic [12:0] fill_ring;
  logic [3:0]  fill_vpid;
  always_ff @(posedge clk) begin
    fill      <= ahead[at_vpid] - rp[at_vpid];
    fill_ring <= slots[at_vpid];
    fill_vpid <= at_vpid;
    index_was <= index[at_vpid];
    if (rst) fulls <= '0;
    else begin
      if (begun_was) fulls[fill_vpid] <= fill + 1'b1 == 32'(fill_ring) || fill == 32'(fill_ring);
      if (wr_rp && rp_good) fulls[wr_vpid] <= behind == 32'(ring);
      if (restart) fulls[wr_vpid] <= 1'b0;
    end
    if (rst) exist <= '0;
    else if (wr_slots) exist[wr_vpid] <= wr_data[12:0] != '0;
  end

  logic [3:0] reg_at, begun_at, ended_at, stall_at;
  assign reg_at   = busy ? clear[3:0] : wr_vpid;
  assign begun_at = begun ? at_vpid : reg_at;
  assign ended_at = ended ? ended_vpid : reg_at;
  logic [15:0] enable_now, window_now;
  always_comb
    for (int v = 0; v < 16; v++) begin
      enable_now[v] = enable[v];
      window_now[v] = window[v];
      if ((wr_ctrl || shut) && wr_vpid == 4'(v)) begin
        enable_now[v] = wr_ctrl && wr_data[nicloop_pkg::NOTI_CTRL_ENABLE_LSB];
        window_now[v] = wr_ctrl && wr_data[nicloop_pkg::NOTI_CTRL_WINDOW_LSB];
      end
      if (failed && ended_vpid == 4'(v)) enable_now[v] = 1'b0;
    end
  assign window_next = enable_now & window_now;
  always_ff @(posedge clk) begin
    if (rst) begin
      enable <= '0;
      window <= '0;
      irq    <= '0;
    end else begin
      enable <= enable_now;
      window <= window_now;
      if (wr_ctrl) irq[wr_vpid] <= wr_data[nicloop_pkg::NOTI_CTRL_IRQ_LSB];
    end
  end
  always_ff @(posedge clk) begin
    if (busy || wr_base) base[reg_at] <= busy ? '0 : wr_data[63:4];
    if (busy || wr_slots) slots[reg_at] <= busy ? '0 : wr_data[12:0];
    if (busy || (wr_rp && rp_good) || restart) rp[reg_at] <= wr_rp && !busy ? wr_data[31:0] : '0;
    if (busy || restart || commit) wp[ended_at] <= ended ? ended_seq : '0;
    if (busy || restart || begun) ahead[begun_at] <= begun ? next_seq : '0;
    if (busy || restart || begun) index[begun_at] <= begun ? next_index : '0;
  end

  assign ev_stall    = state == LOOK && on && full && !spent[at_vpid];
  assign ev_overflow = state == LOOK && on && full && spent[at_vpid];
  always_ff @(posedge clk) if (state == LOOK) extra <= overflowed[at_vpid];
  always_ff @(posedge clk) begin
    if (rst) overflowed <= '0;
    else begin
      if (restart) overflowed[wr_vpid] <= 1'b0;
      if (ev_overflow || (begun && extra)) overflowed[at_vpid] <= ev_overflow;
    end
  end
  always_ff @(posedge clk) begin
    if (stalls_on && !patient[stall_at] && !spent[stall_at]) begin
      left[stall_at]  <= left[stall_at] - 1'b1;
      spent[stall_at] <= left[stall_at] == 24'd1;
    end
    if (busy || wr_hold) begin
      left[reg_at]    <= busy ? '1 : wr_data[55:32];
      spent[reg_at]   <= !busy && wr_data[55:32] == '0;
      patient[reg_at] <= busy || wr_data[55:32] == '1;
    end
    if (busy || ev_overflow) overflows[busy ? clear[3:0] : at_vpid] <= busy ? '0 : overflows[at_vpid] + 1'b1;
  end

  // ---- waiting, and how long: one ring's count per cycle, that of the first unit that waits ----
  logic         stalls_on;
  logic [N-1:0] first;  // of them
  logic [N*4-1:0] stalled_vpid;  // as vpid, while they wait
  always_ff @(posedge clk) if (ev_stall) for (int i = 0; i < N; i++) if (unit[i]) stalled_vpid[i*4+:4] <= at_vpid;
  assign stalls_on = stalled != '0;
  assign first     = stalled & (~stalled + 1'b1);
  // Whose ring that is stands in a register, for its time is looked up, counted and written in one
  // cycle.
  logic [N-1:0] stalled_next;
  logic [3:0]   stall_next, kept_at;
  logic [N-1:0] kept;
  logic         unit_first;  // it would be, with those that are kept
  assign kept = stalled & ~(stalls_on && spent[stall_at] ? first : '0);
  always_comb begin
    if (rst || (wr_rp && rp_good) || wr_ctrl || wr_slots || shut || failed) stalled_next = '0;
    else stalled_next = (stalled | (ev_stall ? unit : '0)) & ~(stalls_on && spent[stall_at] ? first : '0);
    // That of a unit that is stopped here may be any: it is not looked at. Whether one stalls is
    // known last.
    kept_at    = '0;
    unit_first = 1'b0;
    for (int i = N - 1; i >= 0; i--) begin
      if (kept[i]) {unit_first, kept_at} = {1'b0, stalled_vpid[i*4+:4]};
      if (unit[i]) unit_first = 1'b1;
    end
    stall_next = ev_stall && unit_first ? at_vpid : kept_at;
  end
  always_ff @(posedge clk) begin
    stalled  <= stalled_next;
    stall_at <= stall_next;
  end
  // A count is read in one cycle and grows in the next.
  logic        counts;
  logic [3:0]  counts_at;
  logic [63:0] count, counted;
  assign counted = count + 1'b1;
  always_ff @(posedge clk) begin
    counts    <= !rst && stalls_on;
    counts_at <= stall_at;
    count     <= counts && counts_at == stall_at ? counted : stalls[stall_at];
  end
  always_ff @(posedge clk)
    if (busy || counts) stalls[busy ? clear[3:0] : counts_at] <= busy ? '0 : counted;

  // ---- writing: two quadwords, the one with the number last ----
  logic        aw_sent, w_sent, aw_done, w_done, beat;
  logic [59:0] to;   // where it goes and its number, whatever registers say meanwhile
  logic [31:0] seq;
  logic        sent;
  always_ff @(posedge clk) begin
    if (rst) state <= PICK;
    else
      case (state)
        PICK: if (asking != '0 && !busy) state <= LOAD;
        LOAD: state <= LOOK;
        LOOK: if (on || !spoiled) state <= start ? WRITE : PICK;
        default: if (sent) state <= PICK;
      endcase
  end
  always_ff @(posedge clk)
    if (state == PICK) begin
      unit    <= grant;
      at_vpid <= pick_vpid;
      held    <= pick_words;
      held_stamp <= pick_stamp;
    end
  always_ff @(posedge clk)
    if (state == LOOK) begin
      to  <= base[at_vpid] + 60'(index[at_vpid]);
      seq <= next_seq;
    end
  always_ff @(posedge clk) begin
    if (state != WRITE) begin
      aw_sent <= 1'b0;
      w_sent  <= 1'b0;
      beat    <= 1'b0;
    end else begin
      aw_sent <= aw_done;
      w_sent  <= w_done;
      if (m_wvalid && m_wready) beat <= 1'b1;
    end
  end
  assign m_awvalid = state == WRITE && !aw_sent;
  assign m_awaddr  = {to, 4'h0};
  assign m_awlen   = 8'd1;
  assign m_wvalid  = state == WRITE && !w_sent;
  assign m_wdata   = extra ? (beat ? told_overflow : 64'(overflows[at_vpid])) : beat ? told : held[63:0];
  nicloop_pkg::rma_noti_t told, told_overflow;
  always_comb begin
    told     = held[127:64];
    told.seq = seq[13:0];

    told_overflow       = '0;
    told_overflow.last  = 1'b1;
    told_overflow.error = nicloop_pkg::RMA_ERROR_OVERFLOW;
    told_overflow.seq   = seq[13:0];
  end
  assign m_wstrb   = 8'hff;
  assign m_wlast   = beat;
  assign m_bready  = 1'b1;
  assign aw_done   = aw_sent || m_awready;
  assign w_done    = w_sent || (m_wready && m_wlast);

  assign sent      = state == WRITE && aw_done && w_done;

  // ---- answers, in the order of the writes; what is found off in the same cycle waits for the
  // next ----
  /* verilator lint_off UNUSEDSIGNAL */
  logic awaited;
  /* verilator lint_on UNUSEDSIGNAL */
  // The oldest stands in a register: no answer counts earlier than two cycles behind its write.
  fifo #(.W(36), .DEPTH(DEPTH - 1), .FALL_THROUGH(0)) u_awaited (
      .clk, .rst, .wr_valid(sent), .wr_ready(room), .wr_data({seq, at_vpid}), .rd_valid(awaited), .rd_ready(ended),
      .rd_data({ended_seq, ended_vpid}), .level(awaiting)
  );
  always_ff @(posedge clk) begin
    ended     <= !rst && m_bvalid;
    ended_bad <= m_bresp != 2'b00;
  end
  assign spoiled    = ended && (ended_bad || ended_lost);
  assign failed     = ended && ended_bad && !ended_lost;
  assign commit     = ended && !spoiled;
  assign ev_written = commit;
  assign ev_irq     = commit && irq[ended_vpid];
  assign ev_off     = (state == LOOK && !on) || spoiled;
  always_ff @(posedge clk) done <= rst ? '0 : unit & {N{(sent && !extra) || (state == LOOK && !on && !spoiled) ||
      ev_overflow}};
  assign active     = state != PICK || asking != '0 || done != '0 || ended || m_bvalid || busy ||
      (stalls_on && !patient[stall_at]);

  assign rd_base  = {base[rd_vpid], 4'h0};
  assign rd_slots = slots[rd_vpid];
  assign rd_wp    = wp[rd_vpid];
  assign rd_rp    = {refused[rd_vpid], rp[rd_vpid]};
  assign rd_stall = counts && counts_at == rd_vpid ? counted : stalls[rd_vpid];
  assign rd_hold  = left[rd_vpid];
  assign rd_overflows = overflows[rd_vpid];
  always_comb begin
    rd_ctrl = '0;
    rd_ctrl[nicloop_pkg::NOTI_CTRL_ENABLE_LSB] = enable[rd_vpid];
    rd_ctrl[nicloop_pkg::NOTI_CTRL_WINDOW_LSB] = window[rd_vpid];
    rd_ctrl[nicloop_pkg::NOTI_CTRL_IRQ_LSB]    = irq[rd_vpid];
    rd_ctrl[nicloop_pkg::NOTI_CTRL_BUSY_LSB]   = under_way;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!((begun || ended) && (wr_base || wr_slots || wr_ctrl)))
          else $error("rma_notifier %m: a register write fell into the beginning or end of a write");
      assert (!commit || ended_seq == wp[ended_vpid] + 1'b1)
          else $error("rma_notifier %m: notification %0d of VPID %0d out of order", ended_seq, ended_vpid);
      assert (!wr_rp || rp_ready) else $error("rma_notifier %m: a read pointer moves while a write begins");
      assert (state != LOOK || !on || full == (ahead[at_vpid] - rp[at_vpid] >= 32'(slots[at_vpid])) || begun ||
          begun_was)
        else $error("rma_notifier %m: VPID %0d: full %0d, and the pointers say else", at_vpid, full);
      if (!busy)
        assert (spent[stall_at] == (left[stall_at] == '0) && patient[stall_at] == (left[stall_at] == '1))
        else $error("rma_notifier %m: VPID %0d: time left %0d, and the flags say else", stall_at, left[stall_at]);
      assert (!ended || awaited) else $error("rma_notifier %m: an answer to nothing");
      assert ((done & ~valid) == '0) else $error("rma_notifier %m: a unit went away before it was served");
    end
`endif
`ifdef FORMAL
  // What is written lies in a ring: one that was on when the write began, with the base and the
  // size that it had then. The ring of any process, which the solver chooses. Taken for granted is
  // what rma_regs keeps: base and size of a ring that is on are not written, nothing but the
  // switches is written with wr_ctrl, and nothing while reset clears.
  (* anyconst *) logic [3:0] some_vpid;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    if (formal_started && !rst) begin
      assume (!(wr_base || wr_slots || wr_ctrl) || wr_ready);
      assume (!(wr_base || wr_slots) || !(enable[wr_vpid] || wr_ctrl));
      assume (!wr_rp || rp_ready);
    end
  end
  logic [59:0] ring_first;  // as the registers were when the write began
  logic [12:0] ring_slots;
  logic        theirs;
  assign theirs = at_vpid == some_vpid;
  always_ff @(posedge clk)
    if (start) begin
      ring_first <= base[at_vpid];
      ring_slots <= slots[at_vpid];
    end
  always_comb
    if (formal_started && !rst) begin
      if (m_awvalid && theirs) assert (to - ring_first < 60'(ring_slots));
      if (start) assert (enable[at_vpid]);
      // What makes it inductive.
      if (!busy) assert (exist[some_vpid] == (slots[some_vpid] != '0));
      else assert (enable == '0 && exist == '0 && !begun && state == PICK &&
          (some_vpid >= clear[3:0] || slots[some_vpid] == '0));
      if (enable[some_vpid] && exist[some_vpid]) assert (index[some_vpid] < slots[some_vpid]);
      if (begun) assert (state == WRITE && index_was == index[at_vpid] && fill_ring == slots[at_vpid]);
      if (state == WRITE && theirs) assert (to - ring_first < 60'(ring_slots));
    end
  // The flag is the distance of the pointers, whenever software moves the read pointer and however
  // far: in the two cycles in which a write begins it is not looked at.
  logic [31:0] distance, rp_data_was;
  logic [3:0]  rp_vpid_was;
  logic        begins, begins_was, rp_still;
  assign distance = ahead[some_vpid] - rp[some_vpid];
  assign begins   = begun && theirs;
  assign rp_still = wr_vpid == rp_vpid_was && wr_data[31:0] == rp_data_was;
  always_ff @(posedge clk) begin
    rp_vpid_was <= wr_vpid;
    rp_data_was <= wr_data[31:0];
    begins_was  <= !rst && begins;
  end
  logic reg_was;  // a register of the ring was written in the cycle before
  always_ff @(posedge clk) reg_was <= rst || busy || wr_slots || restart || wr_rp;
  always_comb
    if (formal_started && !rst) begin
      assume (!wr_rp || (rp_still && !reg_was && !wr_ctrl && !wr_slots && !shut));
      if (begun) assert (!beat && !w_sent);
      if (begun_was) assert (state == WRITE);
      if (!busy && enable[some_vpid] && exist[some_vpid]) begin
        assert (distance <= 32'(slots[some_vpid]) + 32'(begins_was || !(begins || begins_was)));
        if (begins_was) assert (fill_vpid == some_vpid && fill + 1'b1 == distance && fill_ring == slots[some_vpid]);
        else if (!begins) assert (fulls[some_vpid] == (distance >= 32'(slots[some_vpid])));
        if (begins) assert (begun && distance <= 32'(slots[some_vpid]));
      end
      assert (begins_was == (begun_was && fill_vpid == some_vpid));
      if (wr_rp && wr_vpid == some_vpid && enable[some_vpid] && exist[some_vpid])
          assert (behind == ahead[some_vpid] - wr_data[31:0] && ring == slots[some_vpid]);
    end
  logic again;
  always_ff @(posedge clk) begin
    again <= !rst && (again || (start && theirs));
    cover (formal_started && !rst && again && m_awvalid && theirs && to[12:0] == ring_first[12:0] + 13'd1 &&
        ring_slots == 13'd3);
  end
`endif
endmodule
