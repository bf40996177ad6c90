// link_rx: the receiving half of a link.
//
// Job: delivers every sequenced word exactly once and in order. Corrupt, out-of-order and duplicate
//   words are discarded; link_tx is asked to send the matching ACK or NACK.
// Handshake: words in, with the result of the CRC check; flit channel out, one register behind.
// Backpressure: none; the sender holds a credit for every flit it sends. A gap is NACKed once,
//   since all words in flight behind the missing one arrive out of order, too; a corrupt word is
//   NACKed always.
//
// A truncated packet blocks the output of every router on its path. When the link is given up
// (give_up), it is terminated here by a tail of zeros, whose CRC fails at the destination. The
// rest, should it still arrive, is discarded up to its tail. To the sender the made-up tail takes
// the entry of the real one: the next entry that becomes free is withheld from it until that tail
// has arrived, so that credits stay correct (link_rx_vc has the states of a channel).
//
// Without a session (up) words are ignored. A packet that was open when its session ended is
// terminated, too, as soon as there is an entry and before anything of the next session is
// accepted, which starts with the entries that are free then.
module link_rx #(
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DATA_W   = 64,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int SLOT_W  = $clog2(VCS * VC_DEPTH + 1),
    localparam int SEQ_W   = SLOT_W + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = hw_pkg::link_ctrl_w(VCS, VC_DEPTH)
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 up,         // the link has a session; start: one starts
    input  logic                 start,
    input  logic                 in_valid,
    input  logic                 in_good,
    input  logic [CTRL_W-1:0]    in_ctrl,
    input  logic [DATA_W-1:0]    in_data,
    input  logic                 give_up,    // the rest of open packets will not arrive
    // flits to the router
    output logic                 out_valid,
    output logic [VC_W-1:0]      out_vc,
    output logic                 out_head,
    output logic                 out_tail,
    output logic [DATA_W-1:0]    out_data,
    input  logic [VCS-1:0]       out_credit,
    // for the sending half
    output logic                 peer_valid,
    output logic                 peer_nack,
    output logic [SEQ_W-1:0]     peer_ack,
    output logic [VCS*CNT_W-1:0] peer_freed,
    output logic                 ack_request,
    output logic                 nack_request,
    output logic [SEQ_W-1:0]     expected,
    output logic [VCS-1:0]       freed,      // entries returned to the sender: by the router, and by a discarded flit
    output logic [VCS-1:0]       discarded,
    output logic                 packet_open,
    output logic                 word_accepted,
    output logic                 ev_cut,        // a packet is terminated by a made-up tail
    output logic [SEQ_W-1:0]     accepted_heads,  // since reset
    output logic                 none_accepted,  // no head since reset; accepted_heads has no meaning then
    output logic [VCS*CNT_W-1:0] free_entries,  // in the next cycle, less those reserved for made-up tails
    output logic                 active
);
  hw_pkg::link_flags_t  flags;
  logic                 flit, head, tail, good, accept, nacked;
  logic [VC_W-1:0]      vc;
  logic [SEQ_W-1:0]     seq, ack, behind;
  logic [VCS*CNT_W-1:0] peer_count;
  assign {flags, vc, seq, ack, peer_count} = in_ctrl;
  assign {flit, head, tail} = {flags.flit, flags.head, flags.tail};

  // The result of the CRC check is known late in the cycle, so it is the last term.
  logic in_session, numbered, is_expected, in_order;
  assign in_session  = in_valid && !flags.hello && up;
  assign numbered    = in_session && flags.numbered;
  assign behind      = expected - seq;
  assign is_expected = seq == expected;  // by itself: the difference takes longer
  assign in_order    = numbered && is_expected && !late;
  assign good        = in_good && in_session;
  assign accept      = in_good && in_order;
  // Duplicates are acknowledged, too.
  assign ack_request = in_good && (in_order || (numbered && !is_expected && behind <= SEQ_W'(1 << SLOT_W)));
  assign nack_request = (up && in_valid && !in_good) || (in_good && numbered &&
      ((behind > SEQ_W'(1 << SLOT_W) && !nacked) || (is_expected && late)));

  // ---- packets that are terminated here ----
  logic [VCS-1:0]  into, open, orphan, room, cut;  // orphan: open when its session ended
  logic [VC_W-1:0] cut_vc;
  logic            pass, late;                                       // late: an orphan is terminated
  assign word_accepted = accept;
  assign packet_open   = open != '0;
  assign pass          = accept && into != '0;
  assign ev_cut        = late || (ends && give_up);
  // A packet is given up in a cycle without a word. give_up is known late.
  function automatic logic [VCS-1:0] lowest(input logic [VCS-1:0] x);
    for (int v = 0; v < VCS; v++) lowest[v] = x[v] && (x & VCS'((1 << v) - 1)) == '0;  // without a carry
  endfunction
  logic [VCS-1:0] cut_late, cut_up;
  logic           ends;  // an open packet is terminated if give_up is high
  assign late = (orphan & room) != '0;
  assign ends = !in_valid && up && !late && (open & room) != '0;
  always_comb begin
    cut_late = lowest(orphan & room);
    cut_up   = lowest(open & room) & {VCS{ends}};
    cut    = cut_late | (cut_up & {VCS{give_up}});
    cut_vc = '0;
    for (int v = 0; v < VCS; v++) if (cut[v]) cut_vc = cut_vc | VC_W'(v);
  end
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      link_rx_vc #(.VC_DEPTH(VC_DEPTH)) u_vc (
          .clk, .rst, .up, .accept, .flit(flit && vc == VC_W'(v)), .tail, .cut(cut[v]), .late,
          .out_credit(out_credit[v]), .open(open[v]), .orphan(orphan[v]), .room(room[v]), .into(into[v]),
          .discarded(discarded[v]), .freed(freed[v]), .free_entries(free_entries[v*CNT_W+:CNT_W])
      );
    end
  endgenerate

  always_ff @(posedge clk) begin
    if (rst || start) begin
      expected <= '0;
      nacked   <= 1'b0;
    end else begin
      if (accept) expected <= expected + 1'b1;
      if (accept || nack_request) nacked <= nack_request;
    end
    if (rst) begin
      accepted_heads <= '0;
      none_accepted  <= 1'b1;
      out_valid      <= 1'b0;
      peer_valid     <= 1'b0;
    end else begin
      if (accept) none_accepted <= 1'b0;
      if (accept && flit && head) accepted_heads <= accepted_heads + 1'b1;
      out_valid  <= pass || ev_cut;
      peer_valid <= good;
    end
    if (in_valid || ev_cut) begin
      out_vc   <= ev_cut ? cut_vc : vc;
      out_head <= !ev_cut && head;
      out_tail <= ev_cut || tail;
      out_data <= ev_cut ? '0 : in_data;
    end
    if (good) begin
      peer_nack  <= flags.nack;
      peer_ack   <= ack;
      peer_freed <= peer_count;
    end
  end
  assign active = in_valid || out_valid || peer_valid || ev_cut;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!ev_cut || late || give_up) else $error("link_rx %m: a packet is cut whose session goes on");
`endif
endmodule
