// link_tx: the sending half of a link.
//
// Job: gives every flit a sequence number and keeps it until the other end has acknowledged it. A
//   nack, a timeout or a returning carrier sends everything again from the oldest word without
//   acknowledgement (go-back-N). Acknowledgements and credits ride on whatever is sent; when
//   nothing is, they get a word of their own.
// Handshake: flit channel in; words out with valid/ready. A word without the seq'd bit is a status:
//   it may be lost, since every word repeats the latest acknowledgement and credit counts. Without
//   session (up) nothing leaves but hellos of link_session, which go before everything else. When
//   one starts, all is numbered from 0, and credits are given for the entries that the other end
//   told to be free; the router forgets its own while there is none.
// Back-pressure: the credits of the flit channel. A flit keeps its entry here until it is
//   acknowledged; its credit cannot come earlier, because it arrives in a word with the
//   acknowledgement. So VCS * VC_DEPTH entries and one for an anchor are enough, and no flit is
//   ever refused.
//
// Credits are counts, not pulses, so a lost word loses none. The last count of a burst must not be
// lost either: a change that no new sequenced word carried gets an anchor, a sequenced word without
// flit. At most one anchor is out.
//
// What was kept when a session ended is not sent in the next. The other end tells how many heads it
// has accepted, so the packets that are lost are known; of an end that forgot that too, lost are
// those whose heads it had not acknowledged.
//
// How long the wire is shows in the time from a word's first sending to its acknowledgement, which
// is sent at once: the shortest since the carrier came is the round trip, whatever was lost. The
// timeout is that and half of TIMEOUT.
module link_tx #(
    parameter int VCS        = nicloop_pkg::VCS,
    parameter int VC_DEPTH   = 16,
    parameter int DATA_W     = 64,
    parameter int TIMEOUT    = 64,  // least cycles without progress until all is sent again
    // most, and as long as no round trip has been measured; TIMEOUT: nothing is measured
    parameter int TIMEOUT_MAX = 512,
    parameter int DEAD_AFTER = 8,   // timeouts in a row until the link counts as dead
    localparam int VC_W      = VCS > 1 ? $clog2(VCS) : 1,
    localparam int SLOT_W    = $clog2(VCS * VC_DEPTH + 1),
    localparam int SEQ_W     = SLOT_W + 1,
    localparam int CNT_W     = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W    = hw_pkg::link_ctrl_w(VCS, VC_DEPTH)
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 carrier,  // the wire carries words, both ways
    // session
    input  logic                 up,
    input  logic                 start,
    input  logic                 hello_due,
    input  logic [1:0]           hello_says,   // up is what it is; echoes, forgot
    input  logic [SEQ_W-1:0]     hello_got,
    input  logic [DATA_W-1:0]    hello_data,
    output logic                 hello_sent,
    input  logic                 start_forgot, // what the hello says by which the session starts
    input  logic [SEQ_W-1:0]     start_got,
    input  logic [VCS*CNT_W-1:0] start_freed,
    output logic [SEQ_W-1:0]     lost,         // with start: packets
    input  logic [VCS*CNT_W-1:0] places,       // free here, told as freed while there is no session
    // flits from the router
    input  logic                 in_valid,
    input  logic [VC_W-1:0]      in_vc,
    input  logic                 in_head,
    input  logic                 in_tail,
    input  logic [DATA_W-1:0]    in_data,
    output logic [VCS-1:0]       in_credit,
    // what the other end says
    input  logic                 peer_valid,
    input  logic                 peer_nack,
    input  logic [SEQ_W-1:0]     peer_ack,    // the word it expects next
    input  logic [VCS*CNT_W-1:0] peer_freed,  // entries freed there since reset
    // what the other end must hear
    input  logic                 tell_ack,
    input  logic                 tell_nack,
    input  logic [SEQ_W-1:0]     expected,
    input  logic [VCS-1:0]       freed,       // pulse per entry freed here
    input  logic [VCS-1:0]       discarded,   // pulse per flit that came and takes no entry
    // words
    output logic                 out_valid,
    input  logic                 out_ready,
    output logic [CTRL_W-1:0]    out_ctrl,    // link_flags_t, VC, sequence number, acknowledged number, freed by VC
    output logic [DATA_W-1:0]    out_data,
    output logic                 dead,
    output logic                 ev_resend,   // a word is sent again
    output logic                 ev_timeout,
    output logic                 ev_dead,
    output logic                 idle,        // nothing unacknowledged, nothing to tell
    output logic                 active       // something moves, or a timer runs
);
  localparam int TIMER_W = $clog2(TIMEOUT_MAX + 1);
  localparam int TRIES_W = $clog2(DEAD_AFTER + 1);

  typedef struct packed {  // what a word carries; an anchor no flit
    logic              flit, head, tail;
    logic [VC_W-1:0]   vc;
    logic [DATA_W-1:0] data;
  } word_t;
  typedef struct packed {
    logic [SEQ_W-1:0] heads;  // before it
    word_t            word;
  } kept_t;
  localparam int KEPT_W = SEQ_W + 3 + VC_W + DATA_W;

  logic [KEPT_W-1:0] mem[1<<SLOT_W];
  logic [SEQ_W-1:0] base, next, high, last;  // oldest kept; next to send; behind all sent; behind all kept

  // ---- which word goes out ----
  logic room, free, stored, direct, status, anchor, send, first;
  logic dirty, due, nack_due, anchor_out;
  logic [SEQ_W-1:0] anchor_seq;

  assign room   = carrier && (!out_valid || out_ready);
  assign hello_sent = room && hello_due;
  assign free   = room && !hello_due && up;
  assign stored = free && next != last && (!dead || next == base);
  assign direct = free && next == last && in_valid && !dead;
  assign status = free && !stored && !direct && (due || (dirty && !anchor_out));
  // An anchor takes the next number, so it must not overtake a flit that waits or comes in this
  // cycle.
  assign anchor = status && dirty && !anchor_out && next == last && !in_valid;
  assign send   = stored || direct || anchor;
  assign first  = send && next == high;

  word_t in_word, word;
  kept_t kept, keeps;
  logic [SEQ_W-1:0] heads;
  always_comb begin
    // A word without a flit carries zeros: what the router's output shows then may never have been
    // written, and X in one bit of a word makes its whole CRC X in a four-state simulation.
    in_word = '0;
    if (in_valid) begin
      in_word.flit = 1'b1;
      in_word.head = in_head;
      in_word.tail = in_tail;
      in_word.vc   = in_vc;
      in_word.data = in_data;
    end
    keeps.heads  = heads;
    keeps.word   = in_word;
    kept = '0;
    if (stored || start) kept = mem[next[SLOT_W-1:0]];
    word = stored ? kept.word : in_word;
  end

  // ---- packets that a session took with it; without one next is base ----
  logic never;  // no session yet
  always_ff @(posedge clk) begin
    if (rst) heads <= '0;
    else if (start) heads <= start_got;
    else if (in_valid && in_head) heads <= heads + 1'b1;
    if (rst) never <= 1'b1;
    else if (start) never <= 1'b0;
  end
  always_comb begin
    lost = '0;
    if (start && !never && base != last) lost = heads - (start_forgot ? kept.heads : start_got);
  end

  logic [VCS*CNT_W-1:0] freed_count;
  hw_pkg::link_flags_t hello_flags, word_flags;
  always_comb begin
    hello_flags       = '0;
    hello_flags.hello = 1'b1;
    hello_flags.nack  = up;
    {hello_flags.head, hello_flags.tail} = hello_says;
    word_flags.hello    = 1'b0;
    word_flags.nack     = nack_due;
    word_flags.numbered = send;
    word_flags.flit     = send && word.flit;
    word_flags.head     = word.head;
    word_flags.tail     = word.tail;
  end
  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else if (!carrier) out_valid <= 1'b0;
    else if (!out_valid || out_ready) out_valid <= send || status || hello_sent;
    // Whether there is something to send is known late, and what is not valid may be anything.
    if (room) begin
      out_ctrl <= hello_due ? {hello_flags, VC_W'(0), SEQ_W'(0), hello_got, freed_count} :
          {word_flags, word.vc, next, expected, freed_count};
      out_data <= hello_due ? hello_data : word.data;
    end
  end
  always_ff @(posedge clk) if (in_valid || anchor) mem[last[SLOT_W-1:0]] <= keeps;

  // ---- pointers ----
  logic [SEQ_W-1:0]   acked, next_then;
  logic               progress, timeout, again, carrier_was;
  logic [TIMER_W-1:0] timer, limit;
  logic [TRIES_W-1:0] tries;
  assign acked     = peer_ack - base;
  assign progress  = peer_valid && acked != '0 && acked <= high - base;
  assign next_then = next + SEQ_W'(send);
  assign timeout   = up && carrier && timer >= limit;
  assign again     = (peer_valid && peer_nack) || timeout || (carrier && !carrier_was);

  always_ff @(posedge clk) begin
    if (rst || start) begin
      base <= '0;
      next <= '0;
      high <= '0;
      last <= '0;
    end else begin
      if (in_valid || anchor) last <= last + 1'b1;
      if (first) high <= next_then;
      if (progress) base <= peer_ack;
      if (again || !up) next <= progress ? peer_ack : base;
      else if (progress && next - base < acked) next <= peer_ack;  // what is sent now may be the last of them
      else if (send) next <= next_then;
    end
  end
  assign ev_resend = send && !first;

  // ---- round trip: TIMEOUT_MAX while it is not known ----
  function automatic logic [TIMER_W-1:0] limit_for(input logic [TIMER_W-1:0] trip);
    if (trip <= TIMER_W'(TIMEOUT / 2)) limit_for = TIMER_W'(TIMEOUT);
    else if (trip >= TIMER_W'(TIMEOUT_MAX - TIMEOUT / 2)) limit_for = TIMER_W'(TIMEOUT_MAX);
    else limit_for = trip + TIMER_W'(TIMEOUT / 2);
  endfunction
  logic [TIMER_W-1:0] elapsed, round_trip;
  logic [SEQ_W-1:0]   probe;
  logic               measuring;
  always_ff @(posedge clk) begin
    if (rst || start || !carrier) begin
      measuring  <= 1'b0;
      round_trip <= TIMER_W'(TIMEOUT_MAX);
      limit      <= TIMER_W'(TIMEOUT_MAX);
    end else if (measuring) begin
      if (elapsed != TIMER_W'(TIMEOUT_MAX)) elapsed <= elapsed + 1'b1;
      if (progress && probe - base < acked) begin
        measuring <= 1'b0;
        if (elapsed < round_trip) begin
          round_trip <= elapsed;
          limit      <= limit_for(elapsed);
        end
      end
    end else if (first) begin
      measuring <= 1'b1;
      probe     <= next;
      elapsed   <= '0;
    end
  end

  // ---- timeout ----
  always_ff @(posedge clk) begin
    carrier_was <= !rst && carrier;
    if (rst || !up || base == high || progress || again || !carrier) timer <= '0;
    else timer <= timer + 1'b1;
    if (rst) tries <= '0;
    else if (timeout || tries != '0) begin
      if (!up || progress || !carrier) tries <= '0;
      else if (timeout && !dead) tries <= tries + 1'b1;
    end
  end
  assign dead       = tries == TRIES_W'(DEAD_AFTER);
  assign ev_timeout = timeout;
  assign ev_dead    = timeout && tries == TRIES_W'(DEAD_AFTER - 1) && !progress;

  // ---- what must be told ----
  always_ff @(posedge clk) begin
    if (rst) begin
      due      <= 1'b0;
      nack_due <= 1'b0;
      dirty    <= 1'b0;
      anchor_out <= 1'b0;
    end else begin
      // a discarded flit is acknowledged
      due      <= tell_ack || tell_nack || freed != '0 || (due && !send && !status);
      nack_due <= tell_nack || (nack_due && !send && !status && !start);
      dirty    <= (freed | discarded) != '0 || (dirty && !first);
      if (anchor) anchor_out <= 1'b1;
      else if (start) anchor_out <= 1'b0;
      else if (progress && anchor_seq - base < acked) anchor_out <= 1'b0;
    end
    if (anchor) anchor_seq <= next;
  end

  // ---- credits ----
  function automatic logic [CNT_W-1:0] plus1(input logic [CNT_W-1:0] x);
    for (int i = 0; i < CNT_W; i++) plus1[i] = x[i] ^ &(x | ~((CNT_W'(1) << i) - 1'b1));
  endfunction
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [CNT_W-1:0] here, there, given, one_more, two_more;
      // whether a flit is discarded is known late, so all that may become of it are ready
      assign one_more = plus1(here);
      assign two_more = plus1(one_more);
      assign freed_count[v*CNT_W+:CNT_W] = here;
      assign in_credit[v] = up && there != given;
      always_ff @(posedge clk) begin
        if (!up) here <= places[v*CNT_W+:CNT_W];
        else here <= discarded[v] ? (freed[v] ? two_more : one_more) : freed[v] ? one_more : here;
        if (rst) there <= '0;
        else if (start) there <= start_freed[v*CNT_W+:CNT_W];
        else if (peer_valid) there <= peer_freed[v*CNT_W+:CNT_W];
        if (rst || start) given <= '0;
        else if (in_credit[v]) given <= given + 1'b1;
      end
    end
  endgenerate

  assign idle   = base == last && !due && !dirty && !out_valid && in_credit == '0;
  assign active = out_valid || in_valid || in_credit != '0 || (carrier && (base != last || due || dirty));

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && up) begin
      assert (last - base <= SEQ_W'(VCS * VC_DEPTH + 1))
          else $error("link_tx %m: %0d words kept, room for %0d", last - base, VCS * VC_DEPTH + 1);
      assert (next - base <= last - base)
          else $error("link_tx %m: word %0d is next, expected one that is kept: %0d to %0d", next, base, last);
      assert (!peer_valid || acked <= high - base || -acked <= SEQ_W'(1 << SLOT_W))
          else $error("link_tx %m: word %0d acknowledged, %0d sent", peer_ack, high);
    end
  if (TIMEOUT < 16 || TIMEOUT_MAX < TIMEOUT)
      $fatal(1, "link_tx: TIMEOUT %0d to %0d, expected at least 16", TIMEOUT, TIMEOUT_MAX);
`endif
endmodule
