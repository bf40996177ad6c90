// velo_completer: checks VELO packets and writes them into mailboxes.
//
// Job: buffers a whole packet (two buffers: one fills while the other is written), checks frame,
//   CRC, type, length, node and domain, requests the slot from mailbox_table and writes 64 bytes by
//   DMA, the slot header last. Later packets are written while up to DEPTH responses are pending,
//   which arrive in order; each advances a write pointer. A packet that fails a check, or whose
//   mailbox was switched off before, is discarded and counted.
// Handshake: flits in by valid/ready, AXI4 write master out (one burst of 8 beats after the other).
//   A response counts in the next cycle.
// Backpressure: with DEPTH responses pending no packet is started. A full mailbox blocks all later
//   packets, unless its HOLD is used up (look_spent) and the packet is dropped: both buffers, the
//   FIFO of its virtual channel, then the credits of the network. This is VELO's contract; stall is
//   high in each such cycle.
module velo_completer #(
    parameter int DEPTH = nicloop_pkg::DMA_WRITES
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] here,
    input  logic        in_valid,
    output logic        in_ready,
    input  nicloop_pkg::flit_t in_flit,
    // mailbox_table
    input  logic        table_busy,
    output logic [3:0]  look_vpid,
    input  logic        look_on,
    input  logic        look_full,
    input  logic [63:0] look_addr,
    input  logic [31:0] look_seq,
    input  logic        look_spent,
    input  logic        look_timed,
    input  logic        look_overflowed,
    output logic        begun,
    output logic        stall,
    output logic        overflow,
    output logic        ended,
    output logic        ended_bad,
    output logic [3:0]  ended_vpid,
    output logic [31:0] ended_seq,
    input  logic        ended_lost,
    output logic        commit,      // a slot is in memory, and counts
    input  logic [511:0] stamps,    // {life, pdid} by VPID
    // AXI4 write master
    output logic        m_awvalid,
    input  logic        m_awready,
    output logic [63:0] m_awaddr,
    output logic        m_wvalid,
    input  logic        m_wready,
    output logic [63:0] m_wdata,
    output logic        m_wlast,
    input  logic        m_bvalid,
    output logic        m_bready,
    input  logic [1:0]  m_bresp,
    // events, one cycle each, about the packet with this header
    output logic        ev_drop,
    output logic [6:0]  drop_reason,
    output logic [63:0] packet_header,
    output logic [63:0] slot_header,   // valid with commit
    output logic        ev_stranger,   // it is from another domain, pdid
    output logic [15:0] pdid,
    // state
    output logic        idle,
    output logic        active
);
  // ---- collecting, from head to tail ----
  logic        framed, orphan;  // within a packet; within flits that have no head
  logic        head, tail, take, cut;
  logic [63:0] flit;
  /* verilator lint_off UNUSEDSIGNAL */  // its CRC is looked at elsewhere
  nicloop_pkg::tail_t tail_flit;  // it as a tail
  /* verilator lint_on UNUSEDSIGNAL */
  assign head      = in_flit.head;
  assign tail      = in_flit.tail;
  assign flit      = in_flit.data;
  assign tail_flit = flit;

  logic [1:0]  full;              // by buffer
  logic        fill_at, drain_at;
  logic        done;              // the packet in fill_at is complete, good or bad
  (* no_rw_check *) logic [63:0] quads[16];  // two packets; what is read is not written meanwhile
  logic [63:0] headers[2];
  logic [6:0]  reasons[2];
  logic [15:0] pdids[2];
  logic [3:0]  count;             // payload flits so far; 15 means more than can be

  assign cut      = in_valid && head && (framed || orphan);  // a head where a tail is missing: end the old packet first
  assign in_ready = !full[fill_at] && !cut;
  assign take     = in_valid && in_ready;
  assign done     = !full[fill_at] && (cut || (take && tail));

  logic other;  // in the cycle behind a tail: it names another CRC than the packet's
  crc32_receiver u_crc (.clk, .valid(in_valid), .take, .flit(in_flit), .differs(other));

  always_ff @(posedge clk) begin
    if (rst) begin
      framed <= 1'b0;
      orphan <= 1'b0;
    end else if (done) begin
      framed <= 1'b0;
      orphan <= 1'b0;
    end else if (take) begin
      framed <= framed || head;
      orphan <= orphan || (!head && !framed);
    end
  end
  always_ff @(posedge clk) begin
    if (take) begin
      count <= head ? '0 : count + 4'(count != 4'hf);
      if (head || !framed) headers[fill_at] <= head ? flit : '0;
      if (!head && !count[3]) quads[{fill_at, count[2:0]}] <= flit;
    end
  end

  // ---- judging at the tail, but for the CRC, which is compared in the cycle behind it ----
  nicloop_pkg::header_t in_header;
  logic [10:0] in_bytes;
  logic [6:0]  verdict;
  assign in_header = headers[fill_at];
  assign in_bytes  = 11'(in_header.length) + (in_header.piggyback ? 11'd2 : 11'd0);
  always_comb begin
    if (cut || !framed) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (in_header.type_ != nicloop_pkg::PACKET_TYPE_VELO) verdict = 7'(nicloop_pkg::DROP_REASON_BAD_TYPE);
    else if (in_bytes > 11'(nicloop_pkg::VELO_PAYLOAD)) verdict = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (8'(count) != 8'((in_bytes + 11'd7) >> 3)) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (in_header.dst_node != here) verdict = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
    else verdict = 7'(nicloop_pkg::DROP_REASON_NONE);
  end

  // Whether the domain is that of the mailbox is found out as the packet comes, and again in every
  // cycle in which it waits.
  generate
    for (genvar b = 0; b < 2; b++) begin : g_domain
      logic [15:0] theirs, ours;
      assign theirs = done && fill_at == 1'(b) ? tail_flit.pdid : pdids[b];
      assign ours   = stamps[{headers[b][nicloop_pkg::HEADER_DST_VPID_LSB+:4], 5'h0}+:16];
      always_ff @(posedge clk) sames[b] <= theirs != '0 && theirs == ours;
    end
  endgenerate

  logic release_buf;
  always_ff @(posedge clk) begin
    if (rst) begin
      full     <= '0;
      fill_at  <= 1'b0;
      drain_at <= 1'b0;
    end else begin
      if (done) full[fill_at] <= 1'b1;
      if (done) fill_at <= !fill_at;
      if (release_buf) full[drain_at] <= 1'b0;
      if (release_buf) drain_at <= !drain_at;
    end
  end
  always_ff @(posedge clk)
    if (done) begin
      reasons[fill_at] <= verdict;
      pdids[fill_at]   <= tail_flit.pdid;
    end
  logic        judged, judged_at, entire, wrong;  // entire: from head to tail, known before its CRC
  logic [1:0]  bad_crcs;
  logic [6:0]  reason;  // of the packet in drain_at
  assign wrong  = judged && judged_at == drain_at ? entire && other : bad_crcs[drain_at];
  assign reason = wrong ? 7'(nicloop_pkg::DROP_REASON_CRC) : reasons[drain_at];
  always_ff @(posedge clk) begin
    judged    <= !rst && done;
    judged_at <= fill_at;
    entire    <= framed && !cut;
    if (judged) bad_crcs[judged_at] <= entire && other;
  end

  // ---- writing ----
  // same: the mailbox is of the packet's domain, as of the cycle before
  logic        writing, start, have, good, same, refused, spoiled, room;
  logic [1:0]  sames;
  logic [63:0] slot_addr, quad;
  nicloop_pkg::header_t header;
  logic [31:0] slot_seq;
  logic        slot_overflow;
  logic [2:0]  beat, beat_next;
  logic        aw_sent, w_sent, aw_done, w_done, written;

  assign header      = headers[drain_at];
  assign look_vpid   = header.dst_vpid;
  assign have        = full[drain_at] && !table_busy && !writing;
  assign good        = !wrong && reasons[drain_at] == 7'(nicloop_pkg::DROP_REASON_NONE);
  assign pdid        = pdids[drain_at];
  assign same        = sames[drain_at];
  assign overflow    = have && good && same && look_on && look_full && look_spent && !spoiled;
  assign refused     = (have && (!good || !same || !look_on) && !spoiled) || overflow;
  assign stall       = have && good && same && look_on && look_full && !look_spent;
  assign start       = have && good && same && look_on && !look_full && room;
  assign ev_stranger = have && good && !same && !spoiled;
  assign written     = writing && aw_done && w_done;
  assign release_buf = refused || written;
  assign ev_drop     = refused || spoiled;
  always_comb begin
    if (spoiled)
        drop_reason = ended_bad ? 7'(nicloop_pkg::DROP_REASON_DMA_ERROR) : 7'(nicloop_pkg::DROP_REASON_MAILBOX_OFF);
    else if (!good) drop_reason = reason;
    else if (!same) drop_reason = 7'(nicloop_pkg::DROP_REASON_DOMAIN);
    else if (overflow) drop_reason = 7'(nicloop_pkg::DROP_REASON_OVERFLOW);
    else drop_reason = 7'(nicloop_pkg::DROP_REASON_MAILBOX_OFF);
  end

  always_ff @(posedge clk) begin
    if (rst) writing <= 1'b0;
    else writing <= start || (writing && !written);
    begun <= !rst && start;
  end

  assign m_awvalid = writing && !aw_sent;
  assign m_awaddr  = slot_addr;
  assign m_wvalid  = writing && !w_sent;
  assign m_wlast   = beat == 3'd7;
  assign beat_next = !writing ? '0 : m_wvalid && m_wready ? beat + 1'b1 : beat;
  assign aw_done = aw_sent || m_awready;
  assign w_done  = w_sent || (m_wready && m_wlast);
  always_ff @(posedge clk) begin
    if (!writing) begin
      aw_sent   <= 1'b0;
      w_sent    <= 1'b0;
      beat      <= '0;
    end else begin
      aw_sent <= aw_done;
      w_sent  <= w_done;
      beat    <= beat_next;
    end
    quad <= quads[{drain_at, beat_next}];  // a cycle before it is written, so that it may be block RAM
    if (!writing) begin
      slot_addr <= look_addr;
      slot_seq  <= look_seq;
      slot_overflow <= look_overflowed;
    end
  end

  // ---- answers, in the order of the writes: a packet that would be dropped beside one waits a
  // cycle ----
  /* verilator lint_off UNUSEDSIGNAL */
  logic        awaited;
  /* verilator lint_on UNUSEDSIGNAL */
  nicloop_pkg::header_t ended_header;
  logic        ended_overflow;
  logic [$clog2(DEPTH+2)-1:0] await_level;
  // The oldest is in a register: no response counts earlier than two cycles after its write.
  generate
    if (DEPTH > 1) begin : g_awaited
      fifo #(.W(97), .DEPTH(DEPTH - 1), .FALL_THROUGH(0)) u_awaited (
          .clk, .rst, .wr_valid(written), .wr_ready(room), .wr_data({slot_overflow, slot_seq, header}),
          .rd_valid(awaited), .rd_ready(ended), .rd_data({ended_overflow, ended_seq, ended_header}), .level(await_level)
      );
    end else begin : g_awaited
      assign room        = !awaited;
      assign await_level = 2'(awaited);
      always_ff @(posedge clk) begin
        awaited <= !rst && (written || (awaited && !ended));
        if (written) {ended_overflow, ended_seq, ended_header} <= {slot_overflow, slot_seq, header};
      end
    end
  endgenerate
  always_ff @(posedge clk) begin
    ended     <= !rst && m_bvalid;
    ended_bad <= m_bresp != 2'b00;
  end
  assign m_bready      = 1'b1;
  assign ended_vpid    = ended_header.dst_vpid;
  assign spoiled       = ended && (ended_bad || ended_lost);
  assign commit        = ended && !spoiled;
  assign packet_header = spoiled ? ended_header : header;
  assign slot_header   = ended_slot;

  // Bytes behind the payload are written as 0, whatever the sender left there.
  logic [6:0]  bytes, left;
  logic [63:0] keep;
  assign bytes = 7'(header.length[5:0]) + (header.piggyback ? 7'd2 : 7'd0);
  assign left  = bytes > {1'b0, beat, 3'h0} ? bytes - {1'b0, beat, 3'h0} : '0;
  assign keep  = left[6:3] != '0 ? '1 : ~(64'hffffffff_ffffffff << {left[2:0], 3'h0});
  nicloop_pkg::slot_t slot, ended_slot;  // slot header: of what is written; of what the memory has answered
  velo_slot u_slot (.header, .overflow(slot_overflow), .seq(slot_seq), .slot);
  velo_slot u_ended (.header(ended_header), .overflow(ended_overflow), .seq(ended_seq), .slot(ended_slot));
  assign m_wdata = m_wlast ? slot : quad & keep;

  assign idle   = !framed && !orphan && full == '0 && await_level == '0;
  // A packet is dropped, and the time of a full mailbox runs, also while all answers are awaited.
  assign active = take || done || refused || (stall ? look_timed : have && (room || ended)) ||
                  (m_awvalid && m_awready) || (m_wvalid && m_wready) || m_bvalid || ended || table_busy;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!ended || awaited) else $error("velo_completer: node %0d: an answer to nothing", here);
`endif
`ifdef FORMAL
  // The rules of the write port, and every answer told exactly once, whatever network and mailbox
  // table say.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    assume (look_addr[5:0] == '0);  // a slot is a line of 64 bytes
  end
  // Nothing is written for a packet that was not good, or of another domain than its mailbox had a
  // cycle before it was looked at.
  logic was_check, was_welcome, was_answered, was_bad;
  logic [15:0] domains[2];  // a cycle ago
  always_ff @(posedge clk) begin
    was_answered <= !rst && m_bvalid && m_bready;
    was_bad      <= m_bresp != 2'b00;
    was_check   <= !rst && !writing;
    was_welcome <= full[drain_at] && reason == '0 && pdids[drain_at] == domains[drain_at] && pdids[drain_at] != '0;
    for (int b = 0; b < 2; b++) domains[b] <= stamps[{headers[b][nicloop_pkg::HEADER_DST_VPID_LSB+:4], 5'h0}+:16];
  end
  always_comb if (formal_started && !rst && was_check && m_awvalid) assert (was_welcome);
  // What begins was shown on, for the same process, in the cycle before: mailbox_table counts on
  // it.
  logic       was_on;
  logic [3:0] was_vpid;
  always_ff @(posedge clk) {was_on, was_vpid} <= {look_on, look_vpid};
  always_comb if (formal_started && !rst && begun) assert (was_on && look_vpid == was_vpid);
  logic       seen_aw, seen_w;
  logic [7:0] seen_len, seen_beat;
  logic [5:0] due;
  axi_write_check #(.W_WAIT(0)) u_port (
      .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .awaddr(m_awaddr), .awlen(8'd7), .wvalid(m_wvalid),
      .wready(m_wready), .wdata(m_wdata), .wstrb(8'hff), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready),
      .bresp(m_bresp), .idle(idle), .aw_gone(seen_aw), .w_gone(seen_w), .len(seen_len), .beat(seen_beat), .awaited(due)
  );
  always_comb
    if (formal_started && !rst) begin
      assert (!ended || commit != spoiled);
      assert (sames[0] == (pdids[0] == domains[0] && pdids[0] != '0) &&
          sames[1] == (pdids[1] == domains[1] && pdids[1] != '0));
      assert (!commit || !ended_bad);
      assert (!spoiled || (ev_drop && !refused && packet_header == ended_header));
      assert (ended == was_answered && (!ended || ended_bad == was_bad));
      // what makes it inductive
      assert (due + 6'(ended) == 6'(await_level) && 32'(await_level) <= DEPTH);
      assert (!writing || (full[drain_at] && await_level != DEPTH));
      assert (full == '0 || full[drain_at]);
      assert ((fill_at == drain_at) == (full == '0 || full == '1));
      assert (seen_aw == (writing && aw_sent) && seen_w == (writing && w_sent) && !(seen_aw && seen_w));
      if (writing && !seen_w) assert (seen_beat == 8'(beat));
      if (!writing) assert (seen_beat == '0);
      if (seen_aw) assert (seen_len == 8'd7);
      if (writing) assert (m_awaddr[5:0] == '0);
    end
`endif
endmodule
