// link_tx: the sending half of a link.
//
// Job: gives every flit a sequence number and keeps it until the peer has acknowledged it. A NACK,
//   a timeout or a returning carrier retransmits everything from the oldest unacknowledged word on
//   (go-back-N). Acknowledgements and credits are piggybacked on every word; when there is nothing
//   else to send, they get a word of their own.
// Handshake: flit channel in; words out with valid/ready. A word without a sequence number is a
//   status word: it may be lost, since every word repeats the latest acknowledgement and credit
//   counts. Without a session (up) only the hellos of link_session are sent, which precede all
//   other words. When a session starts, numbering restarts at 0, and the router gets credits for
//   the entries that the peer has reported as free; it drops its own while there is no session.
// Backpressure: the credits of the flit channel. A flit keeps its entry here until it is
//   acknowledged; its credit cannot arrive earlier, because it is in a word with the
//   acknowledgement. So VCS * VC_DEPTH entries and one for an anchor are enough, and no flit is
//   ever refused.
//
// Credits are free-running counts, not pulses, so a lost word loses none. The last count of a burst
// must not be lost either: a change that no new numbered word has carried gets an anchor, a
// numbered word without a flit. At most one anchor is in flight.
//
// Unacknowledged flits are dropped when a session ends; they are not retransmitted in the next one.
// The peer reports how many packet heads it accepted, so the number of lost packets is exact. If
// the peer has been reset and lost that count, every packet whose head it had not acknowledged
// counts as lost.
//
// The round-trip time is measured from the first transmission of a word to its acknowledgement
// (acknowledgements are immediate); the minimum since the carrier came up is used, which losses
// cannot raise. The timeout is that minimum plus half of TIMEOUT.
module link_tx #(
    parameter int VCS        = nicloop_pkg::VCS,
    parameter int VC_DEPTH   = 16,
    parameter int DATA_W     = 64,
    parameter int TIMEOUT    = 64,  // minimum of cycles without progress before a retransmission
    // maximum, also while no round trip has been measured; equal to TIMEOUT: fixed timeout
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
    input  logic [1:0]           hello_flags,    // echoes, none_accepted
    input  logic [SEQ_W-1:0]     hello_accepted,
    input  logic [DATA_W-1:0]    hello_data,
    output logic                 hello_sent,
    input  logic                 start_none_accepted, // fields of the hello that starts the session
    input  logic [SEQ_W-1:0]     start_accepted,
    input  logic [VCS*CNT_W-1:0] start_freed,
    output logic [SEQ_W-1:0]     lost,         // with start: packets
    input  logic [VCS*CNT_W-1:0] free_entries,   // entries free here, sent as freed counts while there is no session
    // flits from the router
    input  logic                 in_valid,
    input  logic [VC_W-1:0]      in_vc,
    input  logic                 in_head,
    input  logic                 in_tail,
    input  logic [DATA_W-1:0]    in_data,
    output logic [VCS-1:0]       in_credit,
    // control information from the peer
    input  logic                 peer_valid,
    input  logic                 peer_nack,
    input  logic [SEQ_W-1:0]     peer_ack,    // the word it expects next
    input  logic [VCS*CNT_W-1:0] peer_freed,  // entries freed there since reset
    // control information to send to the peer
    input  logic                 ack_request,
    input  logic                 nack_request,
    input  logic [SEQ_W-1:0]     expected,
    input  logic [VCS-1:0]       freed,       // pulse per entry freed here
    input  logic [VCS-1:0]       discarded,   // pulse per received flit that takes no entry
    // words
    output logic                 out_valid,
    input  logic                 out_ready,
    output logic [CTRL_W-1:0]    out_ctrl,    // link_flags_t, VC, sequence number, acknowledged number, freed by VC
    output logic [DATA_W-1:0]    out_data,
    output logic                 dead,
    output logic                 ev_resend,   // a word is retransmitted
    output logic                 ev_timeout,
    output logic                 ev_dead,
    output logic                 idle,        // nothing unacknowledged, no control information pending
    output logic                 active       // something moves, or a timer runs
);
  localparam int TIMER_W = $clog2(TIMEOUT_MAX + 1);
  localparam int TRIES_W = $clog2(DEAD_AFTER + 1);

  typedef struct packed {  // payload of a word; an anchor has no flit
    logic              flit, head, tail;
    logic [VC_W-1:0]   vc;
    logic [DATA_W-1:0] data;
  } word_t;
  typedef struct packed {
    logic [SEQ_W-1:0] heads;  // before it
    word_t            word;
  } retry_entry_t;
  localparam int RETRY_W = SEQ_W + 3 + VC_W + DATA_W;

  logic [RETRY_W-1:0] mem[1<<SLOT_W];
  logic [SEQ_W-1:0] base, next_seq, high, last;  // oldest stored; next to send; end of sent; end of stored

  // ---- selection of the next word ----
  logic room, free, stored, direct, status, anchor, send, first;
  logic freed_unsent, status_pending, nack_pending, anchor_in_flight;
  logic [SEQ_W-1:0] anchor_seq;

  assign room   = carrier && (!out_valid || out_ready);
  assign hello_sent = room && hello_due;
  assign free   = room && !hello_due && up;
  assign stored = free && next_seq != last && (!dead || next_seq == base);
  assign direct = free && next_seq == last && in_valid && !dead;
  assign status = free && !stored && !direct && (status_pending || (freed_unsent && !anchor_in_flight));
  // An anchor takes the next number, so it must not overtake a flit that is stored or arrives in
  // this cycle.
  assign anchor = status && freed_unsent && !anchor_in_flight && next_seq == last && !in_valid;
  assign send   = stored || direct || anchor;
  assign first  = send && next_seq == high;

  word_t in_word, word;
  retry_entry_t retry_read, retry_write;
  logic [SEQ_W-1:0] heads;
  always_comb begin
    // A word without a flit carries zeros: the router's output may never have been written
    // then, and X in one bit of a word makes its whole CRC X in a four-state simulation.
    in_word = '0;
    if (in_valid) begin
      in_word.flit = 1'b1;
      in_word.head = in_head;
      in_word.tail = in_tail;
      in_word.vc   = in_vc;
      in_word.data = in_data;
    end
    retry_write.heads = heads;
    retry_write.word  = in_word;
    retry_read        = '0;
    if (stored || start) retry_read = mem[next_seq[SLOT_W-1:0]];
    word = stored ? retry_read.word : in_word;
  end

  // ---- packets lost with a session; next_seq is base while there is none ----
  logic before_first_session;
  always_ff @(posedge clk) begin
    if (rst) heads <= '0;
    else if (start) heads <= start_accepted;
    else if (in_valid && in_head) heads <= heads + 1'b1;
    if (rst) before_first_session <= 1'b1;
    else if (start) before_first_session <= 1'b0;
  end
  always_comb begin
    lost = '0;
    if (start && !before_first_session && base != last)
      lost = heads - (start_none_accepted ? retry_read.heads : start_accepted);
  end

  logic [VCS*CNT_W-1:0] freed_count;
  hw_pkg::link_flags_t hello_ctrl, word_ctrl;
  always_comb begin
    hello_ctrl       = '0;
    hello_ctrl.hello = 1'b1;
    hello_ctrl.nack  = up;
    {hello_ctrl.head, hello_ctrl.tail} = hello_flags;
    word_ctrl.hello    = 1'b0;
    word_ctrl.nack     = nack_pending;
    word_ctrl.numbered = send;
    word_ctrl.flit     = send && word.flit;
    word_ctrl.head     = word.head;
    word_ctrl.tail     = word.tail;
  end
  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else if (!carrier) out_valid <= 1'b0;
    else if (!out_valid || out_ready) out_valid <= send || status || hello_sent;
    // Whether a word is sent is known late; while out_valid is low these may have any value.
    if (room) begin
      out_ctrl <= hello_due ? {hello_ctrl, VC_W'(0), SEQ_W'(0), hello_accepted, freed_count} :
          {word_ctrl, word.vc, next_seq, expected, freed_count};
      out_data <= hello_due ? hello_data : word.data;
    end
  end
  always_ff @(posedge clk) if (in_valid || anchor) mem[last[SLOT_W-1:0]] <= retry_write;

  // ---- pointers ----
  logic [SEQ_W-1:0]   acked, next_seq_d;
  logic               progress, timeout, retransmit, carrier_q;
  logic [TIMER_W-1:0] timer, limit;
  logic [TRIES_W-1:0] tries;
  assign acked      = peer_ack - base;
  assign progress   = peer_valid && acked != '0 && acked <= high - base;
  assign next_seq_d = next_seq + SEQ_W'(send);
  assign timeout    = up && carrier && timer >= limit;
  assign retransmit = (peer_valid && peer_nack) || timeout || (carrier && !carrier_q);

  always_ff @(posedge clk) begin
    if (rst || start) begin
      base <= '0;
      next_seq <= '0;
      high <= '0;
      last <= '0;
    end else begin
      if (in_valid || anchor) last <= last + 1'b1;
      if (first) high <= next_seq_d;
      if (progress) base <= peer_ack;
      if (retransmit || !up) next_seq <= progress ? peer_ack : base;
      else if (progress && next_seq - base < acked) next_seq <= peer_ack;  // this may be the word sent now
      else if (send) next_seq <= next_seq_d;
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
      probe     <= next_seq;
      elapsed   <= '0;
    end
  end

  // ---- timeout ----
  always_ff @(posedge clk) begin
    carrier_q <= !rst && carrier;
    if (rst || !up || base == high || progress || retransmit || !carrier) timer <= '0;
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

  // ---- control information pending for the peer ----
  always_ff @(posedge clk) begin
    if (rst) begin
      status_pending   <= 1'b0;
      nack_pending     <= 1'b0;
      freed_unsent     <= 1'b0;
      anchor_in_flight <= 1'b0;
    end else begin
      // ack_request covers discarded flits, too.
      status_pending <= ack_request || nack_request || freed != '0 || (status_pending && !send && !status);
      nack_pending   <= nack_request || (nack_pending && !send && !status && !start);
      freed_unsent   <= (freed | discarded) != '0 || (freed_unsent && !first);
      if (anchor) anchor_in_flight <= 1'b1;
      else if (start) anchor_in_flight <= 1'b0;
      else if (progress && anchor_seq - base < acked) anchor_in_flight <= 1'b0;
    end
    if (anchor) anchor_seq <= next_seq;
  end

  // ---- credits ----
  function automatic logic [CNT_W-1:0] plus1(input logic [CNT_W-1:0] x);
    for (int i = 0; i < CNT_W; i++) plus1[i] = x[i] ^ &(x | ~((CNT_W'(1) << i) - 1'b1));
  endfunction
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [CNT_W-1:0] freed_here, freed_peer, credits_given, one_more, two_more;
      // discarded is known late, so all possible next values are precomputed.
      assign one_more = plus1(freed_here);
      assign two_more = plus1(one_more);
      assign freed_count[v*CNT_W+:CNT_W] = freed_here;
      assign in_credit[v] = up && freed_peer != credits_given;
      always_ff @(posedge clk) begin
        if (!up) freed_here <= free_entries[v*CNT_W+:CNT_W];
        else freed_here <= discarded[v] ? (freed[v] ? two_more : one_more) : freed[v] ? one_more : freed_here;
        if (rst) freed_peer <= '0;
        else if (start) freed_peer <= start_freed[v*CNT_W+:CNT_W];
        else if (peer_valid) freed_peer <= peer_freed[v*CNT_W+:CNT_W];
        if (rst || start) credits_given <= '0;
        else if (in_credit[v]) credits_given <= credits_given + 1'b1;
      end
    end
  endgenerate

  assign idle   = base == last && !status_pending && !freed_unsent && !out_valid && in_credit == '0;
  assign active = out_valid || in_valid || in_credit != '0 ||
      (carrier && (base != last || status_pending || freed_unsent));

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && up) begin
      assert (last - base <= SEQ_W'(VCS * VC_DEPTH + 1))
          else $error("link_tx %m: %0d words kept, room for %0d", last - base, VCS * VC_DEPTH + 1);
      assert (next_seq - base <= last - base)
          else $error("link_tx %m: word %0d is next, expected one that is kept: %0d to %0d", next_seq, base, last);
      assert (!peer_valid || acked <= high - base || -acked <= SEQ_W'(1 << SLOT_W))
          else $error("link_tx %m: word %0d acknowledged, %0d sent", peer_ack, high);
    end
  if (TIMEOUT < 16 || TIMEOUT_MAX < TIMEOUT)
      $fatal(1, "link_tx: TIMEOUT %0d to %0d, expected at least 16", TIMEOUT, TIMEOUT_MAX);
`endif
endmodule
