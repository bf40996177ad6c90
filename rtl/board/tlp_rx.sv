// tlp_rx: what comes from PCIe, told apart.
//
// Job: reads headers of 3 and 4 dwords. Memory writes go to w_*, memory reads to n_*, completions
//   to c_*. A non-posted request that the NIC does not know, or whose header is wrong, goes to n_*
//   with n_ur, to be answered with UR. Poisoned writes, posted requests nobody knows and TLPs with
//   less than a header are dropped. A TLP with more or fewer dwords than its header says is counted
//   as malformed; what is missing of its payload comes as q_ok 0, what is too much is dropped.
//   Payload leaves as quadwords of memory: the first has its first dword in the upper half when bit
//   2 of the address (of a completion's lower address) is set.
// Handshake: words of tlp_narrow; bar with every word. w_valid stays until w_ready, then its
//   quadwords go by q_valid and q_ready; n_valid stays until n_ready; c_valid is a cycle, its
//   quadwords follow with q_valid. Fields hold until the next header. q_to_cpl says whose a
//   quadword is.
// Backpressure: a write waits for w_ready and q_ready, a non-posted request for n_ready. A
//   completion waits for nothing once it is here: who asked has room for it.
//
//   word    H0 {dw1, dw0}   H1 {dw3 or payload, dw2}   (judge)   payload …
//   state   FIRST           SECOND                     JUDGE     DATA / HEAD, DATA / NONPOSTED …
module tlp_rx (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_valid,
    output logic        s_ready,
    input  logic [63:0] s_data,
    input  logic        s_both,
    input  logic        s_last,
    input  logic [2:0]  s_bar,
    input  logic [7:0]  bars,        // which exist
    output logic        w_valid,
    input  logic        w_ready,
    output logic        n_valid,
    input  logic        n_ready,
    output logic        n_ur,
    output logic        n_locked,    // its completion is one for a locked read
    // byte count of its completion: 0 as for a memory read, 1: four (I/O, configuration), 2: its
    // length (FetchAdd, Swap), 3: half its length (CAS)
    output logic [1:0]  n_size,
    output logic        c_valid,
    // of w, n and c
    output logic [2:0]  bar,
    output logic [31:0] addr,        // of a request: its lower bits, of which bit 1 and 0 are 0
    output logic [10:0] len,         // dwords, 1..1024
    output logic [3:0]  first_be,
    output logic [3:0]  last_be,
    output logic [15:0] requester,   // of a completion: to whom it goes
    output logic [7:0]  tag,
    output logic [2:0]  tc,
    output logic [2:0]  attr,
    output logic        c_data,      // it has data
    output logic        c_poisoned,
    output logic [2:0]  c_status,
    output logic [11:0] c_count,
    output logic [6:0]  c_lower,
    // payload
    output logic        q_valid,
    input  logic        q_ready,
    output logic        q_to_cpl,
    output logic [63:0] q_data,
    output logic        q_ok,
    output logic        q_last,
    // events, one cycle each
    output logic        ev_malformed,
    output logic        ev_unsupported,
    output logic        ev_poisoned
);
  typedef enum logic [2:0] {FIRST, SECOND, JUDGE, HEAD, NONPOSTED, DATA, SKIP} state_t;
  state_t      state;
  logic        take;
  assign take = s_valid && s_ready;

  // ---- the header ----
  logic [31:0] dw0, dw1, dw2, dw3;
  logic        four, has_data, poisoned, is_memory, is_cpl, is_message, is_locked, is_known, nonposted;
  logic [2:0]  fmt;
  logic [4:0]  kind;
  assign fmt        = dw0[31:29];
  assign kind       = dw0[28:24];
  assign four       = fmt[0];
  assign has_data   = fmt[1];
  assign poisoned   = dw0[14] && has_data;
  assign is_memory  = kind == 5'b00000;
  assign is_locked  = kind == 5'b00001 && !has_data;
  assign is_cpl     = kind == 5'b01010 && !four;
  assign is_message = kind[4:3] == 2'b10 && four;
  // Non-posted: locked reads, I/O, configuration, atomics.
  assign nonposted  = (is_memory && !has_data) || is_locked || (kind == 5'b00010 && !four) ||
      (kind[4:1] == 4'b0010 && !four) ||
                      (has_data && kind[4:2] == 3'b011 && kind[1:0] != 2'b11);
  assign is_known   = !fmt[2] && (is_memory || is_cpl || is_message || nonposted);
  assign len        = {dw0[9:0] == '0, dw0[9:0]};
  assign tc         = dw0[22:20];
  assign attr       = {dw0[18], dw0[13:12]};
  assign addr       = {is_cpl ? {25'h0, dw2[6:2]} : four ? dw3[31:2] : dw2[31:2], 2'b00};
  assign first_be   = dw1[3:0];
  assign last_be    = dw1[7:4];
  assign requester  = is_cpl ? dw2[31:16] : dw1[31:16];
  assign tag        = is_cpl ? dw2[15:8] : dw1[15:8];
  assign c_status   = dw1[15:13];
  assign c_count    = dw1[11:0];
  assign c_lower    = dw2[6:0];
  assign c_data     = has_data;
  assign c_poisoned = poisoned;
  assign n_locked   = is_locked;
  assign n_size     = is_memory || is_locked ? 2'd0 : !kind[3] ? 2'd1 : kind[1] ? 2'd3 : 2'd2;

  logic be_ok, page_ok, legal, was_legal;
  assign be_ok   = len == 11'd1 ? last_be == '0 : first_be != '0 && last_be != '0;
  assign page_ok = 12'(addr[11:2]) + 12'(len) <= 12'd1024;
  assign legal   = is_memory && be_ok && page_ok && bars[bar];

  // ---- where the TLP has to end: counted from what its first word says as it comes, so that a
  // flag tells ----
  logic [11:0] beyond;       // dwords beyond three
  logic [10:0] until_end;       // words between the next one and the last
  logic        at_end, past, end_both, wrong, short, ended, broken;
  assign beyond = (s_data[30] ? {1'b0, s_data[9:0] == '0, s_data[9:0]} : 12'd0) + 12'(s_data[29]) + 12'(s_data[15]);
  assign wrong  = s_valid && s_last && !(at_end && s_both == end_both);
  assign short  = s_valid && s_last && (at_end ? end_both && !s_both : !past);

  // ---- payload ----
  // shift: a quadword is made of the upper half of one word and the lower of the next.
  logic [31:0] hold;         // upper half of the word before
  logic        shift, from_hold, q_first, streams;
  logic [10:0] quads, quads_left;
  assign quads     = 11'((12'(addr[2]) + 12'(len) + 12'd1) >> 1);
  assign shift     = four == addr[2];
  assign from_hold = (q_first && !four && !shift) || ended;
  assign streams   = state == DATA && !from_hold;
  assign q_valid   = state == DATA && (from_hold || s_valid);
  assign q_data    = shift ? {from_hold ? 32'h0 : s_data[31:0], hold} : from_hold ? {hold, 32'h0} :
      {s_both ? s_data[63:32] : 32'h0, s_data[31:0]};
  assign q_ok      = !broken && !(streams && short);
  assign q_to_cpl  = is_cpl;
  logic q_take, finished;
  assign q_take   = q_valid && (is_cpl || q_ready);
  assign finished = ended || (streams && s_last);  // with the last quadword

  assign s_ready = state == FIRST || state == SECOND || state == SKIP || (streams && (is_cpl || q_ready));
  assign w_valid = state == HEAD;
  assign n_valid = state == NONPOSTED;
  always_ff @(posedge clk) begin
    if (rst) state <= FIRST;
    else
      case (state)
        FIRST: if (take && !s_last) state <= SECOND;
        SECOND: if (take) state <= s_last && !s_both && four ? FIRST : JUDGE;
        JUDGE:
        if (is_known && is_cpl && has_data) state <= DATA;
        else if (is_known && nonposted) state <= NONPOSTED;
        else if (is_known && legal && !poisoned) state <= HEAD;
        else state <= ended ? FIRST : SKIP;
        HEAD: if (w_ready) state <= DATA;
        NONPOSTED: if (n_ready) state <= ended ? FIRST : SKIP;
        DATA: if (q_take && q_last) state <= finished ? FIRST : SKIP;
        default: if (take && s_last) state <= FIRST;
      endcase
  end
  assign n_ur    = !was_legal || broken;
  assign c_valid = state == JUDGE && is_known && is_cpl;

  always_ff @(posedge clk) begin
    if (state == FIRST && take) begin
      {dw1, dw0} <= s_data;
      bar        <= s_bar;
      until_end  <= beyond[11:1];
      at_end     <= beyond[11:1] == '0;
      past       <= 1'b0;
      end_both   <= beyond[0];
      ended      <= 1'b0;
      broken     <= 1'b0;
      q_first    <= 1'b1;
    end else if (take) begin
      until_end <= until_end - 1'b1;
      at_end    <= until_end == 11'd1 && !past;
      past   <= past || at_end;
      ended  <= s_last;
      broken <= broken || (nonposted ? wrong : short);
    end
    if (state == SECOND && take) begin
      {dw3, dw2} <= s_data;
      hold       <= s_data[63:32];
    end else if (take) hold <= s_data[63:32];
    was_legal <= legal;
    if (state == JUDGE) begin
      quads_left <= quads;
      q_last     <= quads == 11'd1;
    end else if (q_take) begin
      quads_left <= quads_left - 1'b1;
      q_last     <= quads_left == 11'd2;
      q_first    <= 1'b0;
    end
  end

  // A TLP is malformed once: where it ends in the wrong place, or when it has no header that can be
  // read.
  always_ff @(posedge clk) begin
    ev_malformed   <= !rst && ((state == FIRST && take && s_last) || (state != FIRST && take && wrong && is_known) ||
        (state == JUDGE && !is_known));
    ev_unsupported <= !rst && ((state == NONPOSTED && n_ready && n_ur) ||
        (state == JUDGE && is_known && !nonposted && !is_cpl && !is_message && !legal));
    ev_poisoned    <= !rst && state == JUDGE && is_known && poisoned && !nonposted;
  end
`ifdef FORMAL
  // Whatever words come: what is offered stays until it is taken, a write or completion has the
  // quadwords that its header says, each dword of them is the one that came at its place (of dword
  // WATCHED), a TLP is told malformed once, and while nobody behind it waits the stream does not.
  localparam int WATCHED = 2;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  logic        was, was_w, was_n, was_q;
  logic [66:0] word_was;
  logic [7:0]  bars_was;
  logic [67:0] fields, fields_was;
  logic [65:0] quad_was;
  assign fields = {bar, addr, len, first_be, last_be, tag, attr, tc};
  always_ff @(posedge clk) begin
    was        <= !rst && s_valid && !s_ready;
    was_w      <= !rst && w_valid && !w_ready;
    was_n      <= !rst && n_valid && !n_ready;
    was_q      <= !rst && q_valid && !q_to_cpl && !q_ready;
    word_was   <= {s_data, s_both, s_last, 1'b0};
    fields_was <= fields;
    bars_was   <= bars;
    quad_was   <= {q_data, q_ok, q_last};
  end
  always_comb begin
    if (!formal_started) assume (rst);
    if (formal_started && was) assume (s_valid && word_was == {s_data, s_both, s_last, 1'b0});
    assume (s_last || s_both);
    if (formal_started) assume (bars == bars_was);
  end

  logic [10:0] taken, all;   // quadwords of the payload that have gone; that there are
  logic [11:0] came;         // dwords of the TLP that have come
  logic        seen;         // the watched dword has come
  logic [31:0] watched;
  logic [11:0] at;           // where it is in the TLP
  logic [11:0] watch_half;  // and among the dwords of the quadwords
  logic [2:0]  stood;
  logic        told;
  assign all         = 11'((12'(addr[2]) + 12'(len) + 12'd1) >> 1);
  assign at          = 12'd3 + 12'(four) + 12'(WATCHED);
  assign watch_half = 12'(addr[2]) + 12'(WATCHED);
  logic        here;
  logic [31:0] now;
  assign here = s_valid && came <= at && at <= came + 12'(s_both);
  assign now  = at[0] ? s_data[63:32] : s_data[31:0];
  always_ff @(posedge clk) begin
    if (rst || state == JUDGE) taken <= '0;
    else if (q_take) taken <= taken + 1'b1;
    if (rst || (take && s_last)) came <= '0;
    else if (take) came <= came + 12'd2;
    if (rst || state == FIRST) seen <= 1'b0;
    else if (take && here) seen <= 1'b1;
    if (state != FIRST && take && here) watched <= now;
    stood <= rst || !s_valid || s_ready || (w_valid && !w_ready) || (n_valid && !n_ready) ||
        (q_valid && !q_to_cpl && !q_ready) ? '0 : stood + 1'b1;
    told  <= !rst && !(state == FIRST && take) && (told || ev_malformed);
  end
  always_comb
    if (formal_started && !rst) begin
      assert (!was_w || (w_valid && fields == fields_was));
      assert (!was_n || (n_valid && fields == fields_was));
      assert (!was_q || (q_valid && !q_to_cpl && quad_was == {q_data, q_ok, q_last}));
      assert (!(w_valid && n_valid) && !(c_valid && (w_valid || n_valid)));
      assert (state != DATA || (taken < all && quads_left == all - taken && q_last == (taken + 11'd1 == all)));
      assert (!w_valid || (legal && !poisoned && is_memory && has_data));
      if (q_valid && q_ok && len > 11'(WATCHED) && taken == watch_half[11:1])
        assert ((seen || here) && (watch_half[0] ? q_data[63:32] : q_data[31:0]) == (here ? now : watched));
      assert (ended || stood <= 3'd3);
      assert (!(told && ev_malformed));
    end
  always_ff @(posedge clk) cover (formal_started && q_valid && q_last && q_ok && !q_to_cpl && len == 11'd3 && shift &&
      seen);
  always_ff @(posedge clk) cover (formal_started && q_valid && !q_ok && q_to_cpl && ended && taken == 11'd2);
  always_ff @(posedge clk) cover (formal_started && state == NONPOSTED && n_ur && n_ready && ended);
`endif
endmodule
