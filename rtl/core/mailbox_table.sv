// mailbox_table: ring, switches and pointers of every VPID's mailbox.
//
// Job: answers the completer about one VPID (is it on, is it full, where does the next slot lie),
//   counts the slots whose write was begun, and those that are in memory; gives the register file
//   read and write access. Words live in small RAMs with one write port, so a clear sequence of
//   VPIDS cycles follows reset (busy). A read pointer to which the ring cannot have been read is
//   refused: the old one stays. A mailbox whose memory refuses a slot is switched off, since the
//   slots behind that one may be under way already.
// Handshake: look_* is combinational. begun is a pulse for look_vpid, in the cycle behind the one
//   in which it was looked at; ended a pulse for the oldest slot under way, ended_vpid's. A
//   register write is taken when wr_ready (wr_rp: when rp_ready, and its VPID and data stand since
//   the cycle before). Switches act at once: slots under way whose mailbox was switched off in the
//   meantime do not count (ended_lost), and rd_ctrl.busy tells software that there are some.
//   Whether a ring is full is a flag, kept when a pointer moves, so that nobody waits for a
//   subtraction.
// Back-pressure: register writes wait while reset clears; all but the read pointer's also in the
//   cycles of begun and ended, which need the same memory, the read pointer's in that of begun and
//   the next, in which the flag changes. A full mailbox blocks none.
module mailbox_table #(
    parameter int VPIDS = nicloop_pkg::VPIDS,       // processes: a power of two, 2 or more
    parameter int DEPTH = nicloop_pkg::DMA_WRITES,  // slots under way, at most
    // What a small memory needs no more of: bits that are not kept read 0.
    parameter int ADDR_W  = 64,  // bits of an address
    parameter int SLOTS_W = 24,  // of a number of slots
    parameter int COUNT_W = 64   // of a counter of events
) (
    input  logic        clk,
    input  logic        rst,
    output logic        busy,
    // completer
    input  logic [3:0]  look_vpid,
    output logic        look_on,
    output logic        look_full,
    output logic [63:0] look_addr,   // of the next slot
    output logic [31:0] look_seq,    // number of the next packet, from 1
    output logic        look_spent,  // it may hold nobody any more: a packet that finds it full is dropped
    output logic        look_timed,  // it holds others for some cycles, not for good
    output logic        look_overflowed,  // and some were since the last slot
    input  logic        begun,       // a slot of look_vpid is being written
    input  logic        stall,       // look_vpid holds the completer in this cycle
    input  logic        overflow,    // a packet for look_vpid is dropped because it is full
    input  logic        ended,       // the oldest slot under way
    input  logic        ended_bad,   // not written
    input  logic [3:0]  ended_vpid,
    input  logic [31:0] ended_seq,
    output logic        ended_lost,  // its mailbox was switched off since
    output logic        ended_irq,   // which wants an interrupt
    // registers
    input  logic [3:0]  rd_vpid,
    output logic [63:0] rd_base,
    output logic [23:0] rd_slots,
    output logic [8:0]  rd_ctrl,
    output logic [31:0] rd_wp,
    output logic [32:0] rd_rp,
    output logic [63:0] rd_stall,
    output logic [23:0] rd_hold,
    output logic [31:0] rd_overflows,
    input  logic        wr_hold,     // taken when !busy
    output logic        wr_ready,
    output logic        rp_ready,
    input  logic [3:0]  wr_vpid,
    input  logic [63:0] wr_data,
    input  logic        wr_base,
    input  logic        wr_slots,
    input  logic        wr_ctrl,
    input  logic        wr_rp,
    input  logic        shut,        // wr_vpid gets another domain: mailbox and window go off
    output logic        ev_refused,  // a read pointer
    output logic [15:0] window_next,  // windows that will be on in the next cycle
    // the mailbox of wr_vpid, in the next cycle if no register is written in this: base and size
    // stand still
    output logic        wr_on
);
  localparam int VPID_W = $clog2(VPIDS);
  localparam int OVERFLOW_W = COUNT_W < 32 ? COUNT_W : 32;

  // Numbers of processes that are built; of others look_on and window_next say no, and nobody
  // writes their registers.
  logic [VPID_W-1:0] looks, ends, reads, writes;
  assign looks  = look_vpid[VPID_W-1:0];
  assign ends   = ended_vpid[VPID_W-1:0];
  assign reads  = rd_vpid[VPID_W-1:0];
  assign writes = wr_vpid[VPID_W-1:0];

  logic [ADDR_W-7:0] base[VPIDS];  // without the six zero bits of a 64-byte address
  logic [SLOTS_W-1:0] slots[VPIDS];
  logic [31:0] wp[VPIDS];     // slots in memory
  logic [31:0] ahead[VPIDS];  // and those under way
  logic [SLOTS_W-1:0] index[VPIDS];  // the same modulo slots
  logic [31:0] rp[VPIDS];
  logic [COUNT_W-1:0] stalls[VPIDS];
  logic [23:0] left[VPIDS];   // cycles that it may still hold the completer; all ones: for good
  logic [VPIDS-1:0] spents, timeds;  // there are none; they are counted
  logic [OVERFLOW_W-1:0] overflows[VPIDS];
  logic [VPIDS-1:0] overflowed;
  logic [VPIDS-1:0] enable, window, window_now, irq_arrival, refused;
  logic [VPIDS-1:0] fulls, exist;   // no room; the ring has slots

  // ---- clear after reset ----
  logic [VPID_W:0] clear;
  assign busy = !clear[VPID_W];
  always_ff @(posedge clk) begin
    if (rst) clear <= '0;
    else if (busy) clear <= clear + 1'b1;
  end

  logic begun_was;
  assign wr_ready = !busy && !begun && !ended;
  assign rp_ready = !busy && !begun && !begun_was;
  always_ff @(posedge clk) begun_was <= !rst && begun;

  // Switching on starts all pointers at 0.
  logic restart, off, failed, commit, under_way;
  assign restart = wr_ctrl && wr_data[nicloop_pkg::MBOX_CTRL_ENABLE_LSB] && !enable[writes];
  assign off     = shut || (wr_ctrl && !wr_data[nicloop_pkg::MBOX_CTRL_ENABLE_LSB]);
  assign failed  = ended && ended_bad && !ended_lost;
  assign commit  = ended && !ended_bad && !ended_lost;
  writes_under_way #(.DEPTH(DEPTH), .VPIDS(VPIDS)) u_writes (
      .clk, .rst, .begun, .begun_vpid(looks), .ended, .failed, .ended_vpid(ends), .lost(ended_lost), .off,
      .off_vpid(writes), .busy_vpid(reads), .busy(under_way)
  );

  // Software may have seen a slot under way before the memory has acknowledged it, but none that
  // began while its write was on the way to here: the distance is that of a cycle ago.
  logic [31:0] behind;
  logic [SLOTS_W-1:0] ring;
  logic        rp_good;
  always_ff @(posedge clk) begin
    behind <= ahead[writes] - wr_data[31:0];
    ring   <= slots[writes];
  end
  assign rp_good    = behind <= 32'(ring);
  assign ev_refused = wr_rp && !rp_good;
  always_ff @(posedge clk) begin
    if (rst) refused <= '0;
    else if (wr_rp || restart) refused[writes] <= wr_rp && !rp_good;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      enable      <= '0;
      window      <= '0;
      irq_arrival <= '0;
    end else begin
      window <= window_now;
      if (wr_ctrl) begin
        enable[writes]      <= wr_data[nicloop_pkg::MBOX_CTRL_ENABLE_LSB];
        irq_arrival[writes] <= wr_data[nicloop_pkg::MBOX_CTRL_IRQ_ARRIVAL_LSB];
      end else if (shut) enable[writes] <= 1'b0;
      if (failed) enable[ends] <= 1'b0;
    end
  end
  assign window_next = 16'(window_now);
  always_comb
    for (int v = 0; v < VPIDS; v++)
      window_now[v] = (wr_ctrl || shut) && writes == VPID_W'(v) ? wr_ctrl &&
          wr_data[nicloop_pkg::MBOX_CTRL_WINDOW_LSB] : window[v];
  // Of the switches nothing changes beside a register write but what a failed slot does.
  assign wr_on = enable[writes] && !(failed && ends == writes);

  // ---- one write port each ----
  logic [VPID_W-1:0] reg_at, begun_at, ended_at;  // where registers write; where the completer counts
  assign reg_at   = busy ? clear[VPID_W-1:0] : writes;
  assign begun_at = begun ? looks : reg_at;
  assign ended_at = ended ? ends : reg_at;

  logic [SLOTS_W-1:0] index_next;
  // What a slot has begun with stands in registers since it was looked at: nothing changes it
  // meanwhile.
  logic [SLOTS_W-1:0] index_was, ring_was;
  logic [31:0]        seq_was;
  always_ff @(posedge clk) begin
    index_was <= index[looks];
    ring_was  <= slots[looks];
    seq_was   <= look_seq;
  end
  assign index_next  = index_was + 1'b1 >= ring_was ? '0 : index_was + 1'b1;
  // What counts is read in one cycle and grows in the next.
  logic                  stalls_grow, drops_grow;
  logic [VPID_W-1:0]     stalls_at, drops_at;
  logic [COUNT_W-1:0]    stalls_was, stalls_next;
  logic [OVERFLOW_W-1:0] drops_was, drops_next;
  assign stalls_next = stalls_was + 1'b1;
  assign drops_next  = drops_was + 1'b1;
  always_ff @(posedge clk) begin
    stalls_grow <= !rst && stall;
    stalls_at   <= looks;
    stalls_was  <= stalls_grow && stalls_at == looks ? stalls_next : stalls[looks];
    drops_grow  <= !rst && overflow;
    drops_at    <= looks;
    drops_was   <= drops_grow && drops_at == looks ? drops_next : overflows[looks];
  end

  always_ff @(posedge clk) begin
    if (busy || wr_base) base[reg_at] <= busy ? '0 : wr_data[ADDR_W-1:6];
    if (busy || wr_slots) slots[reg_at] <= busy ? '0 : wr_data[SLOTS_W-1:0];
    if (busy || (wr_rp && rp_good) || restart) rp[reg_at] <= wr_rp && !busy ? wr_data[31:0] : '0;
    if (busy || restart || commit) wp[ended_at] <= ended ? ended_seq : '0;
    if (busy || restart || begun) ahead[begun_at] <= begun ? seq_was : '0;
    if (busy || restart || begun) index[begun_at] <= begun ? index_next : '0;
    if (stall && timeds[looks]) left[looks] <= left[looks] - 1'b1;
    if (busy || wr_hold) left[reg_at] <= busy ? '1 : wr_data[23:0];
    if (busy || drops_grow) overflows[busy ? clear[VPID_W-1:0] : drops_at] <= busy ? '0 : drops_next;
    if (busy || stalls_grow) stalls[busy ? clear[VPID_W-1:0] : stalls_at] <= busy ? '0 : stalls_next;
  end

  // That the completer is held is known last.
  logic [VPIDS-1:0] ends_now;  // the time of which it would be over, if it held the completer
  always_comb for (int v = 0; v < VPIDS; v++) ends_now[v] = looks == VPID_W'(v) && left[looks] == 24'd1;
  always_ff @(posedge clk)
    for (int v = 0; v < VPIDS; v++) begin
      if (rst) {spents[v], timeds[v]} <= '0;
      else if (wr_hold && writes == VPID_W'(v)) {spents[v], timeds[v]} <= {wr_data[23:0] == '0, wr_data[23:0] != '1};
      else spents[v] <= spents[v] || (ends_now[v] && stall);
    end

  always_ff @(posedge clk) begin
    if (rst) overflowed <= '0;
    else begin
      if (restart) overflowed[writes] <= 1'b0;
      if (begun || overflow) overflowed[looks] <= overflow;  // the slot tells it
    end
  end

  // ---- room: what was behind the slot that has begun, with it; what a read pointer leaves ----
  // fill == fill_ring: software moved the read pointer back while this slot began, so the ring
  // holds one more than its size. It is full then, too.
  logic [31:0] fill;
  logic [SLOTS_W-1:0] fill_ring;
  logic [VPID_W-1:0] fill_vpid;
  always_ff @(posedge clk) begin
    fill      <= ahead[looks] - rp[looks];
    fill_ring <= slots[looks];
    fill_vpid <= looks;
    if (rst) fulls <= '0;
    else begin
      if (begun_was) fulls[fill_vpid] <= fill + 1'b1 == 32'(fill_ring) || fill == 32'(fill_ring);
      if (wr_rp && rp_good) fulls[writes] <= behind == 32'(ring);
      if (restart) fulls[writes] <= 1'b0;
    end
    if (rst) exist <= '0;
    else if (wr_slots) exist[writes] <= wr_data[SLOTS_W-1:0] != '0;
  end

  // ---- completer's view ----
  assign look_on   = 5'(look_vpid) < 5'(VPIDS) && enable[looks] && exist[looks];  // a ring of no slots is no mailbox
  assign look_full = fulls[looks];
  logic [ADDR_W-7:0] look_line;
  assign look_line = base[looks] + (ADDR_W - 6)'(index[looks]);
  assign look_addr = 64'({look_line, 6'h0});
  assign look_seq  = ahead[looks] + 1'b1;
  assign look_spent = spents[looks];
  assign look_timed = timeds[looks];
  assign look_overflowed = overflowed[looks];
  assign ended_irq = irq_arrival[ends];

  // ---- registers' view ----
  assign rd_base  = 64'({base[reads], 6'h0});
  assign rd_slots = 24'(slots[reads]);
  assign rd_wp    = wp[reads];
  assign rd_rp    = {refused[reads], rp[reads]};
  assign rd_stall = stalls_grow && stalls_at == reads ? 64'(stalls_next) : 64'(stalls[reads]);
  assign rd_hold  = left[reads];
  assign rd_overflows = drops_grow && drops_at == reads ? 32'(drops_next) : 32'(overflows[reads]);
  always_comb begin
    rd_ctrl = '0;
    rd_ctrl[nicloop_pkg::MBOX_CTRL_ENABLE_LSB]      = enable[reads];
    rd_ctrl[nicloop_pkg::MBOX_CTRL_WINDOW_LSB]      = window[reads];
    rd_ctrl[nicloop_pkg::MBOX_CTRL_IRQ_ARRIVAL_LSB] = irq_arrival[reads];
    rd_ctrl[nicloop_pkg::MBOX_CTRL_BUSY_LSB]        = under_way;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!((begun || ended) && (wr_base || wr_slots || wr_ctrl)))
        else $error("mailbox_table %m: a register write fell into the beginning or end of a slot write");
      assert (!commit || ended_seq == wp[ends] + 1'b1)
          else $error("mailbox_table %m: slot %0d of VPID %0d out of order", ended_seq, ends);
      assert (!((wr_base || wr_slots) && enable[writes]))
          else $error("mailbox_table %m: base or size of a ring that is on");
      assert (!wr_rp || rp_ready) else $error("mailbox_table %m: a read pointer moves while a slot begins");
      assert (!look_on || look_full == (ahead[looks] - rp[looks] >= 32'(slots[looks])) || begun || begun_was)
        else $error("mailbox_table %m: VPID %0d: full %0d, and the pointers say else", looks, look_full);
      assert (busy || (look_spent == (left[looks] == '0) && look_timed == (left[looks] != '1)))
        else $error("mailbox_table %m: VPID %0d: %0d cycles left, and its flags say else", looks, left[looks]);
      assert (!busy || !(wr_base || wr_slots || wr_ctrl || wr_rp || begun || ended || stall))
        else $error("mailbox_table %m: used before it was cleared");
    end
`endif
`ifdef FORMAL
  // The slot that the completer is shown lies in the ring, as long as the mailbox is on. The
  // mailbox of any process, which the solver chooses. Taken for granted is what regfile keeps: base
  // and size of a mailbox that is on are not written, and nothing while reset clears; and that the
  // completer begins only what it was shown the cycle before.
  (* anyconst *) logic [VPID_W-1:0] some_vpid;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  logic              was_on;  // what was looked at a cycle ago could begin
  logic [VPID_W-1:0] looks_was;
  always_ff @(posedge clk) begin
    was_on    <= !rst && look_on && !begun;
    looks_was <= looks;
  end
  always_comb begin
    if (!formal_started) assume (rst);
    if (formal_started && !rst) begin
      assume (!(wr_base || wr_slots || wr_ctrl) || wr_ready);
      assume (!(wr_base || wr_slots) || !(enable[writes] || wr_ctrl));
      assume (!wr_rp || rp_ready);
      assume (!busy || !(begun || ended || stall || overflow));
      assume (!begun || (was_on && had_room && looks == looks_was));
      assume (!wr_rp || (rp_still && !reg_was && !wr_ctrl && !wr_slots && !shut));
    end
  end
  always_comb
    if (formal_started && !rst) begin
      if (look_on && looks == some_vpid) begin
        assert (look_addr[63:6] - 58'(base[some_vpid]) < 58'(slots[some_vpid]));
        assert (enable[some_vpid]);
      end
      // What makes it inductive.
      if (!busy) assert (exist[some_vpid] == (slots[some_vpid] != '0));
      else assert (enable == '0 && exist == '0 && (some_vpid >= clear[VPID_W-1:0] || slots[some_vpid] == '0));
      if (enable[some_vpid] && exist[some_vpid]) assert (index[some_vpid] < slots[some_vpid]);
      if (was_on && looks_was == some_vpid)
          assert (index_was == index[some_vpid] && ring_was == slots[some_vpid] && index_was < ring_was);
    end
  // The flag is the distance of the pointers, whenever software moves the read pointer and however
  // far: in the two cycles in which a slot begins it is not looked at.
  logic [31:0] distance, rp_data_was;
  logic [VPID_W-1:0] rp_vpid_was;
  logic        begins, begins_was, had_room, rp_still, reg_was;
  assign distance = ahead[some_vpid] - rp[some_vpid];
  assign begins   = begun && looks == some_vpid;
  assign rp_still = writes == rp_vpid_was && wr_data[31:0] == rp_data_was;
  always_ff @(posedge clk) begin
    rp_vpid_was <= writes;
    rp_data_was <= wr_data[31:0];
    begins_was  <= !rst && begins;
    had_room    <= !look_full && !begun_was;
    reg_was     <= rst || busy || wr_slots || restart || wr_rp;
  end
  always_comb
    if (formal_started && !rst) begin
      if (!busy && enable[some_vpid] && exist[some_vpid]) begin
        assert (distance <= 32'(slots[some_vpid]) + 32'(!begins));
        if (begins_was) assert (fill + 1'b1 == distance && fill_ring == slots[some_vpid]);
        else if (!begins) assert (fulls[some_vpid] == (distance >= 32'(slots[some_vpid])));
        if (was_on && looks_was == some_vpid && had_room && !begins && !begins_was)
            assert (distance <= 32'(slots[some_vpid]));
        if (wr_rp && writes == some_vpid)
            assert (behind == ahead[some_vpid] - wr_data[31:0] && ring == slots[some_vpid]);
      end
      assert (begins_was == (begun_was && fill_vpid == some_vpid));
      assert (!(was_on && had_room && begun_was));
      if (was_on && looks_was == some_vpid) assert (seq_was == ahead[some_vpid] + 1'b1);
    end
  logic [1:0] slot;
  always_ff @(posedge clk) begin
    slot <= rst ? '0 : slot + 2'(begun && look_on && looks == some_vpid && slots[some_vpid] == 24'd2 && slot != '1);
    cover (formal_started && !rst && slot == 2'd3 && look_on && looks == some_vpid && index[some_vpid] == 24'd1);
  end
`endif
endmodule
