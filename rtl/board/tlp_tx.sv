// tlp_tx: TLPs of all senders, in an order that PCIe allows, as words.
//
// Job: posted requests and completions leave in the order in which they got a ticket, so none
//   passes another: no completion a posted write ahead of it, no interrupt the writes before it. A
//   non-posted request leaves when all that had a ticket before it was shown have left, and does
//   not hold others while np_ok is low. Puts header and payload together. While may_request is low
//   no request begins: those of the senders in REQUESTS, and the non-posted one, are discarded when
//   it is their turn, completions leave. A request that has a ticket from before may_request rose
//   is discarded too, so none leaves long after it was queued; requests get tickets again when all
//   those are gone.
// Handshake: a sender (index i) raises ask while it has a TLP without a ticket, whole; ticket is a
//   pulse. It shows header, form, length and the quadword that index names (at once) of its oldest
//   TLP that has a ticket, until done, a pulse. Quadwords are those of memory: odd says that the
//   first dword is an upper half. A non-posted request has no ticket: np_valid stays until np_done.
//   dropped, with done or np_done: the TLP was discarded. Words go out as tlp_widen takes them;
//   what is offered stays until it is taken.
// Backpressure: ready of the words stops all; np_ok low (the other end has no credits for them)
//   non-posted requests alone. Up to DEPTH tickets are given.
module tlp_tx #(
    parameter int N     = 3,
    parameter int DEPTH = 16,
    parameter logic [N-1:0] REQUESTS = N'(3)  // which senders have requests; the others have completions
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             may_request,
    input  logic [N-1:0]     ask,
    output logic [N-1:0]     ticket,
    input  logic [N*128-1:0] header,    // dword 0 in the lowest bits
    input  logic [N-1:0]     four,      // header of 4 dwords
    input  logic [N-1:0]     odd,
    input  logic [N*11-1:0]  len,       // dwords of payload, 0: none
    input  logic [N*64-1:0]  quad,
    output logic [7:0]       index,
    output logic [N-1:0]     done,
    output logic             dropped,
    input  logic             np_valid,
    output logic             np_done,
    input  logic [127:0]     np_header,
    input  logic             np_four,
    input  logic             np_ok,
    output logic             m_valid,
    input  logic             m_ready,
    output logic [63:0]      m_data,
    output logic             m_both,
    output logic             m_last,
    output logic             idle       // no TLP is being sent, no ticket is given
);
  localparam int N_W = N > 1 ? $clog2(N) : 1;
  localparam int LEVEL_W = $clog2(DEPTH + 2);

  // ---- tickets ----
  logic [N-1:0]       grant;
  logic [N_W-1:0]     granted, next;
  logic               room, have, start_posted, start_np;
  logic [LEVEL_W-1:0] level;
  // closed: tickets from before may_request rose may still be there.
  logic               closed, drop_next;
  logic [N-1:0]       asking;
  assign asking = ask & ~(REQUESTS & {N{closed && may_request}});
  always_ff @(posedge clk) closed <= !rst && (!may_request || (closed && have));
  rr_arbiter #(.N(N)) u_arbiter (.clk, .rst, .req(asking), .advance(room), .grant);
  assign ticket = grant & {N{room}};
  assign drop_next = REQUESTS[next] && (!may_request || closed);
  always_comb begin
    granted = '0;
    for (int i = 0; i < N; i++) if (grant[i]) granted = N_W'(i);
  end
  fifo #(.W(N_W), .DEPTH(DEPTH)) u_order (
      .clk, .rst, .wr_valid(|asking), .wr_ready(room), .wr_data(granted), .rd_valid(have), .rd_ready(start_posted),
      .rd_data(next), .level
  );

  // ---- the non-posted request: how many tickets are ahead of it ----
  logic               np_seen, np_may, np_was, np_going, np_drop;
  logic [LEVEL_W-1:0] ahead;
  assign np_drop = np_valid && !may_request && !np_going;
  assign np_may = np_valid && np_seen && ahead == '0 && np_ok && !np_going;
  always_ff @(posedge clk) begin
    if (rst || np_done) np_seen <= 1'b0;
    else if (np_valid) np_seen <= 1'b1;
    if (!np_seen) ahead <= level + LEVEL_W'(|ticket) - LEVEL_W'(start_posted);
    else if (start_posted && ahead != '0) ahead <= ahead - 1'b1;
  end

  // ---- what is sent ----
  typedef enum logic [2:0] {IDLE = 3'd0, FIRST = 3'd1, SECOND = 3'd2, DATA = 3'd3, DROP = 3'd4} state_t;
  state_t         state;
  logic [N_W-1:0] who;
  logic           np, free, take, now_four, now_odd, now_data, shift, ends;
  logic [127:0]   now_header;
  logic [10:0]    now_len, left;
  logic [63:0]    now_quad;
  logic [31:0]    hold;
  assign take         = m_valid && m_ready;
  assign ends         = (take && m_last) || state == DROP;
  assign free         = state == IDLE || ends;
  // In turns, so that neither waits for more than one of the other.
  assign start_np     = free && ((np_may && (!have || !np_was)) || np_drop);
  assign start_posted = free && have && !start_np;
  always_ff @(posedge clk) begin
    if (rst) begin
      state    <= IDLE;
      np_was   <= 1'b0;
      np_going <= 1'b0;
    end else begin
      if (start_np || start_posted) np_was <= start_np;
      np_going <= start_np || (np_going && !ends);
      if (free) state <= start_np ? (np_drop ? DROP : FIRST) : start_posted ? (drop_next ? DROP : FIRST) : IDLE;
      else if (take) state <= state == FIRST ? SECOND : DATA;
    end
    if (free) begin
      np  <= start_np;
      who <= next;
    end
  end
  always_comb begin
    now_header = np_header;
    now_four   = np_four;
    now_odd    = 1'b0;
    now_len    = '0;
    now_quad   = '0;
    if (!np) begin
      now_header = '0;
      now_four   = 1'b0;
      for (int i = 0; i < N; i++)
        if (who == N_W'(i)) begin
          now_header = header[i*128+:128];
          now_four   = four[i];
          now_odd    = odd[i];
          now_len    = len[i*11+:11];
          now_quad   = quad[i*64+:64];
        end
    end
  end
  assign np_done = ends && np;
  assign dropped = state == DROP;
  assign idle    = state == IDLE && !have;
  always_comb for (int i = 0; i < N; i++) done[i] = ends && !np && who == N_W'(i);

  // ---- words: in SECOND the payload begins behind a header of 3 dwords; with shift a word has
  // halves of two quadwords ----
  assign now_data = now_len != '0;
  assign shift    = now_four == now_odd;
  assign m_valid  = state != IDLE && state != DROP;
  always_comb begin
    case (state)
      FIRST: m_data = now_header[63:0];
      SECOND: m_data = {now_four ? now_header[127:96] : now_odd ? now_quad[63:32] : now_quad[31:0], now_header[95:64]};
      default: m_data = shift ? {now_quad[31:0], hold} : now_quad;
    endcase
    if (!m_both) m_data[63:32] = '0;
  end
  // What the next word is, is known when the one before it is taken.
  always_ff @(posedge clk) begin
    if (free) {m_both, m_last} <= 2'b10;
    else if (take)
      case (state)
        FIRST: {m_both, m_last} <= {now_four || now_data, now_four ? !now_data : now_len <= 11'd1};
        SECOND: {m_both, m_last} <= {left != 11'd1, left <= 11'd2};
        default: {m_both, m_last} <= {left != 11'd3, left <= 11'd4};
      endcase
  end
  always_ff @(posedge clk) begin
    if (take) hold <= now_quad[63:32];
    if (state == FIRST) begin
      index <= '0;
      left  <= now_len - 11'(!now_four && now_data);
    end else if (take) begin
      if (state != SECOND || !now_four || now_odd) index <= index + 1'b1;
      if (state == DATA) left <= left - 11'd2;
    end
  end
`ifdef FORMAL
  // A TLP has the dwords that its header says, from the quadwords where they lie; no request passes
  // a ticket that was given before it was shown, and none waits for ever; no request begins while
  // may_request is low, and none that had its ticket by then begins later: closed from then on
  // until no ticket is left, and while it lasts requests are discarded and get no ticket that
  // counts.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  logic          same_four, same_odd;
  logic [10:0]   same_len;
  logic [11:0]   sent, low_dword;   // dwords that have gone; that of the payload, from the quadword on, which is next
  logic [DEPTH:0] old;              // of the tickets, oldest first: given before the request was shown
  logic [1:0]    passed;
  logic          must_drop, may_drop, must_close;
  assign low_dword = 12'(now_odd) + sent - (now_four ? 12'd4 : 12'd3);
  always_ff @(posedge clk) begin
    same_four <= now_four;
    same_odd  <= now_odd;
    same_len  <= now_len;
    sent      <= state == IDLE || ends ? '0 : sent + (take ? 12'd2 : 12'd0);
    for (int i = 0; i < DEPTH; i++)
      old[i] <= (start_posted ? old[i+1] && LEVEL_W'(i + 1) < level : old[i] && LEVEL_W'(i) < level) ||
          (np_valid && !np_seen && LEVEL_W'(i) < level + LEVEL_W'(|ticket) - LEVEL_W'(start_posted));
    must_close <= !rst && (!may_request || (closed && level != '0));
    may_drop  <= !rst && (!may_request || closed);
    must_drop <= !rst && ((start_np && !may_request) ||
        (start_posted && REQUESTS[next] && (!may_request || closed)));
    if (rst || np_done) old <= '0;
    passed <= rst || !np_may || start_np ? '0 : passed + 2'(start_posted);
  end
  always_comb begin
    if (!formal_started) assume (rst);
    for (int i = 0; i < N; i++) assume (len[i*11+:11] <= 11'd1024);
    assume (!np_done || np_valid);
    if (formal_started && m_valid && state != FIRST)
        assume (now_four == same_four && now_odd == same_odd && now_len == same_len);
    if (formal_started && np_seen) assume (np_valid);
    if (formal_started && !rst) begin
      assert (state != FIRST || sent == '0);
      assert (state != SECOND || (sent == 12'd2 && index == '0 && left == now_len - 11'(!now_four && now_len != '0)));
      assert (state != DATA || (left != '0 && sent + 12'(left) == 12'd3 + 12'(now_four) + 12'(now_len)));
      assert (state != DATA || index == 8'((low_dword + 12'd1) >> 1));
      assert (state != DATA || shift == low_dword[0]);
      assert (!must_drop || dropped);
      assert (!dropped || may_drop);
      assert (!(closed && may_request) || (ticket & REQUESTS) == '0);
      assert (!must_close || closed);
      assert (!ends || dropped || sent + 12'd1 + 12'(m_both) == 12'd3 + 12'(now_four) + 12'(now_len));
      for (int i = 0; i < DEPTH; i++) begin
        assert (!np_seen || (old[i] == (LEVEL_W'(i) < ahead)));
        assert (!start_np || np_drop || !old[i]);
      end
      assert (ahead <= level || !np_seen);
      assert (passed <= 2'd1);
    end
  end
  always_ff @(posedge clk) cover (formal_started && start_np && have && old == '0 && passed != '0);
  always_ff @(posedge clk) cover (formal_started && ends && shift && left == 11'd2 && index == 8'd2);
  always_ff @(posedge clk) cover (formal_started && dropped && may_request && !np && closed);
`endif
endmodule
