// router_output_vc: one virtual channel of a router's output port.
//
// Job: grants the channel to one packet at a time, from head to tail (round-robin over the queues
//   that want it), counts the credits of the receiver and decides what is sent and what is
//   discarded.
// Handshake: req and tail by queue; pop, one-hot, takes a flit. ready: a flit, or the tail of a
//   truncated packet, can move; granted, in the same cycle: this channel has the port. pull: a flit
//   is popped; send: a flit leaves the port in the next cycle. pull without send discards it, send
//   without pull sends the tail of a truncated packet.
// Backpressure: without a credit nothing is popped, unless it is discarded.
//
// State, by register (before the packet's next flit is popped):
//   idle | discarding | tail_owed | meaning
//     1  |     0      |     0     | no packet has the channel
//     0  |     0      |     0     | a packet has it, and all its flits so far were sent
//     0  |     1      |    0/1    | the rest of the packet is discarded up to its tail
//    any |    any     |     1     | a part was sent: the receiver is owed a tail of zeros, which is
//        |            |           | sent before anything else
// A packet is discarded from its first flit that finds drain or, in mid-packet, closed. closed
// clears tail_owed: the other end of the link ends the packets of a session that is over.
module router_output_vc #(
    parameter int K        = 3,         // queues that can lead here
    parameter int VC_DEPTH = 16,
    parameter int START    = VC_DEPTH,  // credits after reset
    parameter int LINKED   = 0          // 1: reset by closed alone, since credits are of a session
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         drain,        // packets are discarded instead of sent
    input  logic         closed,       // the link has no session
    input  logic [K-1:0] req,          // this queue offers a flit for this channel
    input  logic [K-1:0] tail,         // which is the last of its packet
    output logic [K-1:0] pop,
    input  logic         tx_credit,
    output logic         ready,
    input  logic         granted,
    output logic         pull,
    output logic         send,
    output logic         idle,         // no packet has the channel
    output logic         last,         // the flit that can be popped is a tail
    output logic         tail_owed,
    output logic         ev_drained,   // a packet is discarded of which nothing was sent
    output logic         ev_truncated  // the rest of a packet is discarded of which a part was sent
);
  logic [K-1:0] allowed, want, choice;  // allowed: all queues, or the one whose packet has the channel
  logic         in_hand, credit, discard, discarding, send_tail;
  assign want = req & allowed;
  /* verilator lint_off PINCONNECTEMPTY */
  credit_counter #(.DEPTH(VC_DEPTH), .START(START)) u_credit (
      .clk, .rst(LINKED != 0 ? closed : rst), .spend(send), .give(tx_credit), .available(in_hand), .count()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  rr_arbiter #(.N(K)) u_packet (.clk, .rst, .req(want), .advance(pull), .grant(choice));

  assign last      = (choice & tail) != '0;
  assign credit    = in_hand && !closed;
  assign discard   = drain || discarding || (closed && !idle);
  assign send_tail = tail_owed && credit;
  assign ready     = send_tail || (want != '0 && (discard || credit));
  assign pull      = granted && !send_tail;
  assign send      = granted && (send_tail || !discard);
  assign pop       = pull ? choice : '0;

  assign ev_drained   = pull && discard && idle;
  assign ev_truncated = pull && discard && !idle && !discarding && !closed;
  // granted is known late, so no clock enable depends on it.
  always_ff @(posedge clk) begin
    if (rst) begin
      allowed    <= '1;
      idle       <= 1'b1;
      discarding <= 1'b0;
      tail_owed  <= 1'b0;
    end else begin
      allowed    <= (allowed & {K{!pull}}) | ((choice | {K{last}}) & {K{pull}});
      idle       <= (idle && !pull) || (last && pull);
      discarding <= (discard && !last && pull) || ((discarding || (closed && !idle)) && !pull);
      tail_owed  <= !closed && (ev_truncated || (tail_owed && !send));
    end
  end
endmodule
